// Buckets of collectives that keep what a schedule overlaps: used by both overlap schedulers.
// Source: torch/_inductor/fx_passes/overlap_preserving_bucketer.py, PyTorch 2.15; equal to golden/overlap215.
#pragma once

#include "schedule/overlap_scheduler/hidden_collective.h"

#include <span>

namespace gs {

/// Names and meanings as in the reference.
struct OverlapBucketingOptions {
    double max_bucket_memory_gb = 1.0;
    int64_t max_coll_distance = 1000; ///< candidates behind a bucket's first collective
    bool keep_order_edges = false;    ///< mutation and effect edges count as arguments
};

/// Finds all-gathers, reduce-scatters and all-reduces of one group, dtype and reduction that can be one:
/// without a cycle, each hidden collective still over its hiding nodes, and none forced to end before its own
/// hiding nodes, as collectives of one group end in the order of their launches. `scheduled`: the order the
/// scheduler chose; `is_compute`: per node. None on graphs of fused kernels, whose launches have no ATen
/// form.
ScheduledBuckets findOverlapBuckets(const Graph& graph, const Order& scheduled,
                                    std::span<const HiddenCollective> collectives,
                                    const std::vector<bool>& is_compute,
                                    const OverlapBucketingOptions& options);

} // namespace gs
