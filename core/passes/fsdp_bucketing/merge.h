// Merges one bucket of collectives into one: the nodes that PyTorch traces for it, at their place.
#pragma once

#include "passes/fsdp_bucketing/fsdp_collectives.h"

#include <string>

namespace gs {

/// How a merged collective is packed and unpacked.
enum class FsdpMergeMode : uint8_t {
    Default,  ///< plain ATen nodes
    CustomOps ///< bucketing._pre_bucket_* and split_with_sizes_copy
};

/// Why a bucket cannot be merged; empty = it can.
std::string whyNotMergeable(const Draft& draft, const FsdpBucket& bucket);

/// Merges by the operator of the bucket's members, which must be mergeable, in front of `place`. Returns the
/// new launch.
DraftId mergeBucket(Draft& draft, const FsdpBucket& bucket, FsdpMergeMode mode, DraftId place);
/// The private cast in front of a gather that goes away with it, or kNoNode.
DraftId privateCast(const Draft& draft, DraftId launch);

/// A packed gradient "split → pad each chunk → cat" that equals its source but for padding at the end.
struct PaddedPack {
    DraftId source = kNoNode;
    std::vector<DraftId> nodes; ///< cat, split, items, pads
};
/// Source: _match_dim0_padded_cat of bucketing.py, PyTorch 2.15.
std::optional<PaddedPack> matchPaddedPack(const Draft& draft, DraftId cat, int64_t group_size);

} // namespace gs
