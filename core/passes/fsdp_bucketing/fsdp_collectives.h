// Which collectives belong to FSDP, how big they are and which of them make a bucket (document 001).
// Source: torch/_inductor/fx_passes/fsdp.py and bucketing.py, PyTorch 2.15; agrees with golden/fsdp.
#pragma once

#include "passes/fsdp_bucketing/draft.h"

#include <functional>
#include <optional>

namespace gs {

/// Per node: an all-gather that derives from exactly one placeholder.
std::vector<bool> fsdpAllGathers(const Graph& graph);
/// The wait's value reaches only the graph's outputs, through nodes of one input each.
bool isFsdpReduceScatterWait(const Draft& draft, DraftId wait);

struct FsdpGroups {
    std::vector<StringId> names; ///< in program order of their first FSDP gather
    std::optional<int64_t> size; ///< of the first FSDP gather's group

    bool contains(StringId name) const;
};
FsdpGroups identifyFsdpGroups(const Draft& draft, const std::vector<bool>& fsdp_gathers);

struct CollectiveSize {
    std::string_view type; ///< "AG", "RS", "AR"
    double mib = 0;        ///< of the output (AG) or the input (RS, AR); rounded to 3 digits
    DraftId node = kNoNode;
};
/// Collectives of the FSDP groups: gathers, then reduce-scatters, then all-reduces, each in program order.
std::vector<CollectiveSize> fsdpCollectiveSizes(const Draft& draft, const FsdpGroups& groups);

struct FsdpCounts {
    size_t all_gather = 0, reduce_scatter = 0, all_reduce = 0;
};
FsdpCounts countFsdpCollectives(const Draft& draft, const FsdpGroups& groups);

enum class FsdpKind : uint8_t { AllGather, ReduceScatter, AllReduce };

struct ComposeOptions {
    FsdpKind kind = FsdpKind::AllGather;
    double cap_mib = 500;
    bool multidtype = false;              ///< gathers of all dtypes may share a bucket
    std::function<bool(DraftId)> accepts; ///< by the wait; none = every wait
};

using FsdpBucket = std::vector<DraftId>; ///< launches, in the order of their waits; at least two

struct FsdpBuckets {
    std::vector<FsdpBucket> buckets;
    std::vector<DraftId> unknown_size; ///< launches left out: their sizes are not known
};

/// Buckets are runs of accepted waits with one group, dtype and reduction, cut at the cap. A collective that
/// needs a member's result is left out for good, as in the reference.
FsdpBuckets composeFsdpBuckets(const Draft& draft, const ComposeOptions& options);

} // namespace gs
