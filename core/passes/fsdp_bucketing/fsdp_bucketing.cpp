#include "passes/fsdp_bucketing/fsdp_bucketing.h"

#include <algorithm>

namespace gs {

namespace {

/// This rank's place in the group of a launch.
int64_t rankInGroup(const Draft& draft, DraftId launch) {
    const Graph& graph = draft.graph();
    const DraftComm comm = draft.comm(launch);
    for (const ProcessGroup& group : graph.groups()) {
        if (group.name != comm.group)
            continue;
        const auto found = std::find(group.ranks.begin(), group.ranks.end(), graph.info().rank);
        if (found != group.ranks.end())
            return found - group.ranks.begin();
    }
    return graph.info().rank > 0 && comm.group_size > 0 ? graph.info().rank % comm.group_size : 0;
}

DraftId mergeBucket(Draft& draft, FsdpKind kind, const FsdpBucket& bucket, FsdpMergeMode mode) {
    switch (kind) {
    case FsdpKind::AllGather:
        return mergeAllGathers(draft, bucket, mode, rankInGroup(draft, bucket.front()));
    case FsdpKind::ReduceScatter:
        return mergeReduceScatters(draft, bucket, mode);
    case FsdpKind::AllReduce:
        return mergeAllReduces(draft, bucket);
    }
    return kNoNode;
}

} // namespace

PreBucketResult preBucketFsdp(Draft& draft, const PreBucketOptions& options) {
    PreBucketResult result;
    const std::vector<bool> gathers = fsdpAllGathers(draft.graph());
    result.groups = identifyFsdpGroups(draft, gathers);
    if (result.groups.names.empty())
        return result;
    result.before = countFsdpCollectives(draft, result.groups);
    result.sizes_before = fsdpCollectiveSizes(draft, result.groups);
    for (const FsdpKind kind : {FsdpKind::AllGather, FsdpKind::ReduceScatter, FsdpKind::AllReduce}) {
        ComposeOptions compose;
        compose.kind = kind;
        compose.cap_mib = options.cap_mib;
        compose.accepts = [&](DraftId wait) {
            const DraftId launch = draft.inputs(wait)[0];
            return kind == FsdpKind::AllGather       ? !draft.added(launch) && gathers[launch]
                   : kind == FsdpKind::ReduceScatter ? isFsdpReduceScatterWait(draft, wait)
                                                     : result.groups.contains(draft.comm(launch).group);
        };
        FsdpBuckets composed = composeFsdpBuckets(draft, compose);
        result.unknown_size.insert(result.unknown_size.end(), composed.unknown_size.begin(),
                                   composed.unknown_size.end());
        for (FsdpBucket& bucket : composed.buckets) {
            MergedBucket merged{kind, std::move(bucket), kNoNode, {}};
            merged.reason = whyNotMergeable(draft, merged.members);
            if (merged.reason.empty())
                merged.launch = mergeBucket(draft, kind, merged.members, options.mode);
            result.buckets.push_back(std::move(merged));
        }
    }
    result.after = countFsdpCollectives(draft, result.groups);
    result.sizes_after = fsdpCollectiveSizes(draft, result.groups);
    return result;
}

} // namespace gs
