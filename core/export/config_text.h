// What the exporters of configurations share: values for a target, and what the target cannot say.
#pragma once

#include "analysis/analysis.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace gs {

struct ConfigLine {
    std::string option;
    std::string value; ///< as the target writes it; empty: not set
    std::string comment;
};

/// A comment must not end early, whatever a graph is called: control characters become spaces, at most 200
/// bytes.
std::string oneLine(std::string text);

/// Sentences about everything of the analysis that a target has no word for: settings that matter and are
/// none of `expressed` (what was changed first), edits and costs by hand. Nothing is dropped silently.
std::vector<std::string> notExpressed(const Analysis& analysis, std::initializer_list<Setting> expressed);
/// Settings that shaped the prediction but are no option of any run: costs, device, simulation.
std::vector<std::string> analysisOnly(const Analysis& analysis);

/// Both lists as a section of comments.
std::string notExpressedSection(const std::vector<std::string>& not_expressed,
                                const std::vector<std::string>& analysis_only);

} // namespace gs
