// Costs of fused regions, given to their nodes: one kernel's time is shared out to the nodes it replaces.
#pragma once

#include "cost/cost_model.h"
#include "cost/fused_regions.h"

#include <functional>

namespace gs {

/// `total_ns` in whole parts in proportion to `weights`, whose sum is exactly the total; equal parts if all
/// weights are 0. Weights are not negative.
std::vector<int64_t> shareOut(int64_t total_ns, const std::vector<int64_t>& weights);

/// What one region costs as a kernel, or nothing if the source does not know.
using RegionCost = std::function<std::optional<CostEstimate>(const FusedRegion& region)>;

/// A model that answers for the members of the regions of `graph` that `cost` knows, and for no other node:
/// by bytes that each member would move by itself. For CostModel::boundTo.
CostModelPtr makeRegionModel(const Graph& graph, std::string name, std::string source,
                             const RegionCost& cost);

} // namespace gs
