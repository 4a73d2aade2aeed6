// Turns the settings `cost_sources`, `profile_store`, `profile` and `device` and the cost files into a chain
// of cost models.
#pragma once

#include "analysis/settings.h"
#include "base/progress.h"
#include "cost/cost_model.h"
#include "cost/profile.h"

#include <string>
#include <vector>

namespace gs {

/// Names and meanings of all cost sources, for `list cost-sources`.
struct CostSourceInfo {
    std::string_view name; ///< CostModel::name() of its models
    std::string_view meaning;
};
const std::vector<CostSourceInfo>& costSources();
/// Null if no source has this name.
const CostSourceInfo* findCostSource(std::string_view name);

/// The profile that the settings choose; null without a store. Errors: those of ProfileStore.
Result<std::shared_ptr<const Profile>> chosenProfile(const Settings& settings);

/// StructuralKey → name of the source that is asked first for it.
using CostPins = std::map<std::string, std::string>;

/// Traces of several ranks become one source (see mergeRanks). Files are read again only if they changed.
/// Error for an unknown source (in the setting or a pin) or device, or an unreadable cost file or profile.
/// `auto` is measured, file, interpolated, analytical where there is a store; else file alone where files are
/// given (what they lack is missing and counts as 0), else analytical. A source without its input (measured
/// without a store) answers nothing and is reported.
Result<CostChain> makeCostChain(const std::vector<std::string>& files, const Settings& settings,
                                Diagnostics& diagnostics, const JobContext& job = {},
                                const CostPins& pins = {});

} // namespace gs
