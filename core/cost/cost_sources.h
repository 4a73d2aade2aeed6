// Turns the settings `cost_sources` and `device` and the cost files into a chain of cost models.
#pragma once

#include "analysis/settings.h"
#include "cost/cost_model.h"

#include <string>
#include <vector>

namespace gs {

/// Names and meanings of all cost sources, for `list cost-sources`.
struct CostSourceInfo {
    std::string_view name;
    std::string_view meaning;
};
const std::vector<CostSourceInfo>& costSources();

/// Error for an unknown source or device, or an unreadable cost file. `auto` is file alone where files are
/// given (what they lack is missing and counts as 0), else analytical.
Result<CostChain> makeCostChain(const std::vector<std::string>& files, const Settings& settings,
                                Diagnostics& diagnostics);

} // namespace gs
