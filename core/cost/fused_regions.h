// Runs of pointwise and reduction nodes that a compiler makes one kernel of. They are measured and priced as
// one (profiling.md, "Measuring"; Inductor's counterpart: fx_passes/fusion_regions.py).
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace gs {

/// At least two compute nodes, in program order. Between first and last stand only members and nodes that
/// cost nothing by definition, but no waits; every member's sizes are known without symbols. All iterate over
/// one space of `rows` × numel/rows elements:
/// - pointwise members over all elements, or over the rows once a reduction made rows (rows is numel if none
///   did); fills (full, zeros_like, …) of any shape;
/// - reductions and what contains them (softmax, layer norm) over the trailing dimensions that make a row.
/// A member reads another's element at its own position, or its row's, or repeats a fill: views between
/// them only rename dimensions (view, unsqueeze, expand, …). Values from outside may be broadcast and have
/// any strides. A region holds together: each member reads another or shares an operand with one.
struct FusedRegion {
    std::vector<NodeId> nodes;
    int64_t numel = 0;
    int64_t rows = 0;
};

/// Inductor's limit (max_fusion_size).
inline constexpr size_t kMostFusedNodes = 64;

/// In program order; no node is in two. Linear in the graph.
std::vector<FusedRegion> findFusedRegions(const Graph& graph);

/// "fused{KEY; KEY; …} -> (%1, %2)" with the operands that are results of earlier members written as %0, %1,
/// …, as %0[8192,1] where a view lies between, and as %0.1 for the second of several results. A value from
/// outside is written as in a StructuralKey where it is first read, and as $0, $1, … (index into the inputs
/// of regionOperands) where it is read again. Behind the arrow stand the outputs. Equal regions of repeated
/// layers share one key; equal keys are equal kernels. Never names.
std::string fusedRegionKey(const Graph& graph, const FusedRegion& region);

/// Values that come from outside (each once, in order of first use) and values that others than members read.
/// A fill's model (zeros_like's argument) is no operand. Of a member with several results the outputs are its
/// unpacks.
struct RegionOperands {
    std::vector<NodeId> inputs;
    std::vector<NodeId> outputs;
};
RegionOperands regionOperands(const Graph& graph, const FusedRegion& region);

/// The member whose result operand `id` is, through views and unpacks, or kNoNode for a value from outside.
NodeId regionMemberOf(const Graph& graph, const FusedRegion& region, NodeId id);

} // namespace gs
