// Runs of pointwise and reduction nodes that a compiler makes one kernel of. They are measured and priced as
// one (profiling.md, "Measuring"; Inductor's counterpart: fx_passes/fusion_regions.py).
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace gs {

/// At least two compute nodes, in program order. Between first and last stand only members and nodes that
/// cost nothing by definition; every member's sizes are known without symbols.
struct FusedRegion {
    std::vector<NodeId> nodes;
};

/// In program order; no node is in two. Linear in the graph.
std::vector<FusedRegion> findFusedRegions(const Graph& graph);

/// "fused{KEY; KEY; …}" with the operands that are results of earlier members written as %0, %1, …: equal
/// regions of repeated layers share one key. Never names.
std::string fusedRegionKey(const Graph& graph, const FusedRegion& region);

/// Values that come from outside (each once, in order of first use) and values that others than members read.
struct RegionOperands {
    std::vector<NodeId> inputs;
    std::vector<NodeId> outputs;
};
RegionOperands regionOperands(const Graph& graph, const FusedRegion& region);

} // namespace gs
