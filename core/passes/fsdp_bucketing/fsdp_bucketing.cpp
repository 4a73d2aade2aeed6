#include "passes/fsdp_bucketing/fsdp_bucketing.h"

namespace gs {

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
                merged.launch =
                    mergeBucket(draft, merged.members, options.mode, draft.next(merged.members.back()));
            result.buckets.push_back(std::move(merged));
        }
    }
    result.after = countFsdpCollectives(draft, result.groups);
    result.sizes_after = fsdpCollectiveSizes(draft, result.groups);
    return result;
}

} // namespace gs
