// Orders around merged buckets: what the members had to keep, and programs near a wanted order.
#pragma once

#include "passes/fsdp_bucketing/draft.h"

namespace gs {

/// What a merge takes out of a draft.
struct ErasedNodes {
    std::vector<DraftId> starts, waits, casts;
};

/// The merged launch and wait inherit the order that the erased nodes had; what they had among themselves
/// goes. Pairs that would contradict one that is there are left out.
/// Source: transfer_erased_node_deps in augmented_graph_helper.py, PyTorch 2.15.
void transferOrder(const Draft& draft, ExtraOrder& extra, const ErasedNodes& erased, DraftId launch,
                   DraftId wait);

/// Takes out the pairs that close a cycle with data and the other pairs, one after the other in the order
/// they were added; returns how many. Source: check_and_maybe_autofix_cyclic_extra_deps, same file.
size_t removeCycles(const Draft& draft, ExtraOrder& extra);

/// Among the nodes whose inputs are there, always the one of the least key. Data and order edges are kept;
/// shorter than the draft if they form a cycle.
std::vector<DraftId> orderNearest(const Draft& draft, const std::vector<uint32_t>& key);
/// The valid order of the graph that is nearest to `wanted` in this sense.
Order orderNearest(const Graph& graph, const Order& wanted);

} // namespace gs
