// Costs per node name from a file (`gatherscope.costs`, version 1).
#pragma once

#include "base/diagnostics.h"
#include "cost/cost_model.h"

namespace gs {

/// Longest time of one operator that is believed: one hour.
inline constexpr int64_t kMaxFileCostNs = 3'600'000'000'000;

/// Reads a cost file, plain or gzip: {"format":"gatherscope.costs","version":1,"unit":"ns","graph":…,
/// "model":…,"nodes":{"name":ns}}. Entries that are no integer from 0 to kMaxFileCostNs are ignored with a
/// diagnostic each ("bad-cost"), so that their nodes count as missing. Error codes: those of readInput,
/// "bad-json", "not-a-cost-file", "unsupported-version", "unsupported-unit"; each with line and column.
///
/// A launch that a pass made (Graph::origins) and that has no entry of its own gets the sum of its members'
/// costs, as Interpolated. CostModel::check tells which names a graph lacks.
Result<CostModelPtr> loadCostFile(const std::string& path, Diagnostics& diagnostics);

} // namespace gs
