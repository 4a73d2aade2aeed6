// An analysis whose every label tries to break a file format.
#pragma once

#include "analysis/analysis.h"

#include <string>
#include <vector>

namespace gs::test {

/// Labels with quotes, tags, script, references, formulas, every control character, broken UTF-8, marks that
/// turn the direction of text, and one of 100,000 characters.
std::vector<std::string> hostileLabels();

/// A program with a gather, its wait and compute per label; the labels are names of nodes, parameters,
/// modules, groups, sources, edits and diagnostics.
AnalysisPtr hostileAnalysis();

} // namespace gs::test
