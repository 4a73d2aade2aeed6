// The collectives of a graph as PyTorch 2.15's overlap scheduler identifies them.
#pragma once

#include "schedule/overlap_scheduler_upstream/overlap_upstream.h"

namespace gs {

struct UpstreamCollectives {
    std::vector<UpstreamCollective> items; ///< in program order of their first waits
    std::vector<int32_t> started_by;       ///< per node: index of the collective that it starts, or -1
    std::vector<int32_t> waited_by;        ///< per node: index of the collective that it waits for, or -1
    std::vector<uint32_t> group;           ///< per collective: number of its process group
    uint32_t groups = 0;
    std::vector<uint32_t> bucket; ///< per collective: number of its bucket kind; others share one
    uint32_t buckets = 0;
    /// Per collective: number of its group, reduction and dtype alone, or -1 where it is never bucketed.
    std::vector<int32_t> family;
    int32_t families = 0;
};

UpstreamCollectives findUpstreamCollectives(const Graph& graph, std::span<const double> cost_ms,
                                            std::span<const double> latency_ms);

/// Name of the group a launch states; kEmptyString if it states none as a text.
StringId groupNameOf(const Graph& graph, NodeId launch);

/// What makes collectives mergeable: kind, group, reduction, dtype. Text for use as a key; empty for kinds
/// that are never merged. Source: get_full_bucket_key of bucketing.py, mode "default".
std::string bucketKeyOf(const Graph& graph, NodeId launch);

} // namespace gs
