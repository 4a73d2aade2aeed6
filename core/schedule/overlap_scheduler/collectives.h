// The collectives of a graph as document 003 identifies them.
#pragma once

#include "schedule/overlap_scheduler/overlap_scheduler.h"

namespace gs {

struct OverlapCollectives {
    std::vector<OverlapCollective> items;   ///< in program order of their first waits
    std::vector<int32_t> started_by;        ///< per node: index of the collective that it starts, or -1
    std::vector<int32_t> waited_by;         ///< per node: index of the collective that it waits for, or -1
    std::vector<ReferenceFailure> failures; ///< exceptions that the graph alone makes certain
};

OverlapCollectives findOverlapCollectives(const Graph& graph, std::span<const double> cost_ms);

} // namespace gs
