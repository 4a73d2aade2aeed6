// What a person should know before using an exported file: for the command line and the Export dialog.
#pragma once

#include "analysis/analysis.h"

#include <string>
#include <vector>

namespace gs {

/// About any file made from the analysis: missing costs, costs that are only modelled, faults of the input.
std::vector<std::string> commonWarnings(const Analysis& analysis);

/// About a schedule that will be run: nodes displaced, merged collectives and their numerics, peak of held
/// bytes, edits by hand, gathers that stay exposed.
std::vector<std::string> scheduleWarnings(const Analysis& analysis);

} // namespace gs
