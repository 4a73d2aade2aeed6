#include "schedule/overlap_scheduler_upstream/overlap_upstream.h"

#include "schedule/overlap_bucketing/overlap_bucketing.h"
#include "schedule/overlap_scheduler/overlap_scheduler.h"
#include "schedule/overlap_scheduler_upstream/upstream_run.h"

namespace gs {

UpstreamResult scheduleOverlapUpstream(const Graph& graph, std::span<const double> cost_ms,
                                       std::span<const double> latency_ms,
                                       const UpstreamParameters& parameters) {
    UpstreamResult result = UpstreamRun(graph, cost_ms, latency_ms, parameters).run();
    if (!parameters.collective_bucketing)
        return result;
    const std::vector<HiddenCollective> collectives(result.collectives.begin(), result.collectives.end());
    OverlapBucketingOptions options;
    options.max_bucket_memory_gb = parameters.max_bucket_memory_gb;
    options.max_coll_distance = parameters.max_coll_distance;
    options.keep_order_edges = parameters.keep_order_edges;
    result.buckets =
        findOverlapBuckets(graph, result.scheduled, collectives, overlapComputeNodes(graph, true), options);
    return result;
}

} // namespace gs
