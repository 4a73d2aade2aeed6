// Document 001 with plain parameters: deduplication of reduce-scatters and pre-bucketing of all FSDP
// collectives. bucketFsdp() in pass.h reads the settings.
#pragma once

#include "cost/saturation.h"
#include "passes/fsdp_bucketing/merge.h"
#include "passes/pass.h"

namespace gs {

/// Replaces RS(a) + RS(b) by RS(a + b) until there is nothing left to replace; sums and averages only.
/// Returns the number of replacements. Source: dedup_fsdp_reduce_scatter of fsdp.py, PyTorch 2.15.
size_t dedupReduceScatters(Draft& draft);

/// One bucket as it was merged, or why it was not.
struct MergedBucket {
    FsdpKind kind = FsdpKind::AllGather;
    FsdpBucket members;
    DraftId launch = kNoNode; ///< kNoNode: not merged
    std::string reason;       ///< why not
};

struct PreBucketOptions {
    double cap_mib = 500;
    FsdpMergeMode mode = FsdpMergeMode::Default;
};

struct PreBucketResult {
    FsdpGroups groups;
    FsdpCounts before, after;
    std::vector<CollectiveSize> sizes_before, sizes_after;
    std::vector<MergedBucket> buckets;
    std::vector<DraftId> unknown_size;
};

/// Merges gathers, then reduce-scatters, then all-reduces of the FSDP groups into buckets up to the cap.
/// Nothing happens in a graph without FSDP gathers.
PreBucketResult preBucketFsdp(Draft& draft, const PreBucketOptions& options);

struct FsdpBucketOptions {
    bool dedup = false;
    std::optional<double> cap_mib; ///< none = from the size that saturates the link
    NcclSystem system;             ///< the machine the saturation size is for
};

PassResult bucketFsdp(const GraphPtr& graph, const FsdpBucketOptions& options);

} // namespace gs
