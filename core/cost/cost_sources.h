// Turns the settings `cost_sources` and `device` and the cost files into a chain of cost models.
#pragma once

#include "analysis/settings.h"
#include "base/progress.h"
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

/// Traces of several ranks become one source (see mergeRanks). Files are read again only if they changed.
/// Error for an unknown source or device, or an unreadable cost file. `auto` is file alone where files are
/// given (what they lack is missing and counts as 0), else analytical.
Result<CostChain> makeCostChain(const std::vector<std::string>& files, const Settings& settings,
                                Diagnostics& diagnostics, const JobContext& job = {});

} // namespace gs
