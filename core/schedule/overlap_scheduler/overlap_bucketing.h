// Which collectives the overlap scheduler's order lets merge without losing what is hidden. Source:
// PyTorch 2.10, torch/_inductor/fx_passes/overlap_preserving_bucketer.py, the first released version;
// document 003 calls it.
#pragma once

#include "schedule/overlap_scheduler/overlap_scheduler.h"

namespace gs {

struct OverlapBucketParameters {
    double max_bucket_memory_gb = 1.0; ///< input bytes of one bucket, in GiB; the document's value
    int64_t max_coll_distance = 1000;  ///< in collectives of one kind and group
};

struct OverlapBuckets {
    /// Indices into OverlapResult::collectives, at least two per bucket, in the order they joined.
    std::vector<std::vector<size_t>> buckets;
    /// The result's order, changed so that the launches of a bucket follow each other, and so do its waits.
    Order order;
};

/// Buckets are of one kind (gathers of any dtype; reductions of one dtype and operation) and one process
/// group. A merge is kept only if it closes no cycle and every collective still runs beside the compute that
/// hides it, where the collectives of a group run one after the other. Collectives with several waits stay
/// alone.
OverlapBuckets bucketPreservingOverlap(const Graph& graph, const OverlapResult& result,
                                       const OverlapBucketParameters& parameters);

} // namespace gs
