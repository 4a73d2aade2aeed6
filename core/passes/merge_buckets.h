// Merges the buckets that a scheduler decided: the graph with real nodes for them, and its order.
#pragma once

#include "passes/pass.h"
#include "schedule/schedule.h"

namespace gs {

struct MergedBuckets {
    GraphPtr graph;               ///< null if no valid program has them all; the report says why
    Order order;                  ///< of `graph`: the scheduler's order with the buckets in it
    std::vector<NodeId> node_of;  ///< per node of the input graph: its node of `graph`, or what replaced its
                                  ///< value; kNoNode where it went away
    std::vector<NodeId> launches; ///< per bucket: its launch in `graph`; kNoNode = not merged
    PassReport report;
};

/// `order`: as the scheduler left it, without the buckets. `graph`'s program order is the one nearest to the
/// input's. New nodes name the members' launches as their origins. Diagnostics: "order-edges-kept" where
/// PyTorch's order would break a mutation or an effect, "reference-fails" where PyTorch raises an exception
/// (a launch with several waits: its bucket is left alone). Source: _apply_bucket and what follows it in
/// overlap_preserving_bucketer.py, PyTorch 2.15; equal to golden/overlap215.
MergedBuckets mergeScheduledBuckets(const Graph& graph, const Order& order, const ScheduledBuckets& buckets);

} // namespace gs
