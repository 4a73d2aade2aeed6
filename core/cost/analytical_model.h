// The analytical source of the cost chain: roofline for compute, NCCL's tuner or linear links for
// collectives.
#pragma once

#include "cost/cost_model.h"
#include "cost/device_presets.h"

namespace gs {

/// Prices by structure alone. No estimate where a shape, a group size or FLOPs are not known, and for
/// collectives that the model does not know. Operators that start no kernel (size arithmetic, allocations,
/// `_unsafe_view`) cost 0, with a note that says so.
/// With `fused_regions` a run of nodes that a compiler fuses is one kernel: it reads its inputs and writes
/// its outputs once, and starts once.
CostModelPtr makeAnalyticalModel(const DevicePreset& device, bool fused_regions = false);

/// Per node: ns that a launch takes however little it moves: what the device's model says of its kind and
/// group, but never more than the least cost that a launch of this kind and group has in `costs`. 0 for other
/// nodes and where the group is not known.
std::vector<int64_t> launchLatencies(const DevicePreset& device, const Graph& graph,
                                     const CollectiveTable& collectives, const CostTable& costs);

/// Bytes of a collective as PyTorch counts them from a graph: inputs plus outputs, without a buffer given as
/// `out`. kUnknownSize if a size is unknown. Source: estimate_fx_collective_size, PyTorch 2.15.
int64_t collectiveMessageBytes(const Graph& graph, const Collective& collective);

/// Nodes of a collective's group by its ranks; 0 = the ranks are not known.
int32_t nodesOfGroup(const Graph& graph, const Collective& collective, int32_t gpus_per_node);

} // namespace gs
