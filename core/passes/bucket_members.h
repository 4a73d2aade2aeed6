// Which gathers join which bucket, and whether that is legal (passes.md §3a).
#pragma once

#include "passes/bucket_coalesced.h"

#include <map>

namespace gs {

struct GatherBucket {
    std::vector<uint32_t> members; ///< indices into the collective table, in program order
    std::vector<NodeId> hoisted;   ///< private preparation that moves in front of the launch
    int64_t shard_bytes = 0;       ///< kUnknownSize if a member's is not known
    uint32_t region = 0;
    bool by_hand = false; ///< made by an edit: no cap
};

struct BucketDecision {
    NodeId launch = kNoNode;
    int32_t bucket = -1;
    std::string reason; ///< why it is in no bucket; empty if it is in one
};

struct BucketPlan {
    std::vector<GatherBucket> buckets;     ///< in program order of their first launches; may have one member
    std::vector<BucketDecision> decisions; ///< one per all-gather of the graph, in program order
};

class BucketPlanner {
public:
    BucketPlanner(const Graph& graph, const CollectiveTable& collectives, const BucketOptions& options);
    BucketPlan run();

private:
    int32_t handGroupOf(NodeId launch) const;
    std::string candidateReason(const Collective& gather) const;
    void place(uint32_t collective, uint32_t region, BucketDecision& decision);
    bool fits(const GatherBucket& bucket, const Collective& gather) const;
    std::string collectPreparation(int32_t bucket, NodeId launch, std::vector<NodeId>& preparation);
    std::string immovableReason(int32_t bucket, NodeId before, NodeId launch, NodeId node) const;
    bool inBucket(int32_t bucket, NodeId node) const { return bucket_of_[node] == bucket; }

    const Graph& graph_;
    const CollectiveTable& collectives_;
    const BucketOptions& options_;
    BucketPlan plan_;
    std::map<std::pair<uint32_t, GroupId>, int32_t> open_; ///< (region, group) → bucket
    std::vector<int32_t> bucket_of_;                       ///< per node: launches and hoisted nodes
    std::vector<NodeId> seen_by_;                          ///< launch whose preparation a node was found in
};

} // namespace gs
