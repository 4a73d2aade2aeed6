// The search for buckets. Private to this folder.
#pragma once

#include "schedule/overlap_bucketing/augmented_graph.h"
#include "schedule/overlap_bucketing/group_timeline.h"
#include "schedule/overlap_bucketing/overlap_bucketing.h"

#include <unordered_map>

namespace gs {

class BucketFinder {
public:
    BucketFinder(const Graph& graph, const Order& scheduled, std::span<const HiddenCollective> collectives,
                 const std::vector<bool>& is_compute, const OverlapBucketingOptions& options);
    ScheduledBuckets run();

private:
    using Bucket = std::vector<size_t>; ///< collectives
    struct Interval {
        uint32_t begin = 0, end = 0;
    };
    struct Removed {
        int32_t event = -1, previous = -1, next = -1;
    };

    ExtraOrder hidingEdges();
    std::vector<NodeId> mergeable() const;
    std::vector<int32_t> findWaitRows();
    std::vector<StringId> groupsInOrder() const;
    void buildTimeline(StringId group);
    std::vector<StringId> internodeGroups() const;
    double hiddenShare(size_t index) const;
    void findInKind(std::vector<size_t> kind, ScheduledBuckets& out);

    // Whether a collective can join a bucket (bucket_checks.cpp).
    bool canJoin(const Bucket& bucket, size_t candidate);
    bool ancestorsConflict(const Bucket& bucket, size_t candidate) const;
    bool tryPlace(const Bucket& bucket, size_t candidate, NodeId start, NodeId wait);
    bool keepsHiding(const Bucket& bucket, size_t candidate, NodeId start, NodeId wait) const;
    void addIntervals(const GroupEvent& event, std::vector<Interval>& execution,
                      std::vector<Interval>& hiding) const;
    bool pathBetween(NodeId a, NodeId b) { return augmented_.hasPath(a, b) || augmented_.hasPath(b, a); }
    Removed takeOut(NodeId node);
    void putBack(NodeId node, const Removed& removed);
    bool waitBefore(NodeId wait, NodeId hiding_node) const;

    size_t startedBy(NodeId node) const { return static_cast<size_t>(started_by_[node]); }

    const Graph& graph_;
    const Order& scheduled_;
    std::span<const HiddenCollective> collectives_;
    const std::vector<bool>& is_compute_;
    const OverlapBucketingOptions& options_;
    std::vector<int32_t> started_by_, waited_by_; ///< per node: index of the collective, or -1
    std::vector<StringId> group_;                 ///< per collective
    Dependencies dependencies_;
    ExtraOrder hiding_;
    AugmentedGraph augmented_;
    std::vector<NodeId> waits_, hiding_nodes_;
    std::vector<int32_t> hiding_column_; ///< per node, -1 = hides nothing
    std::vector<int32_t> wait_rows_;     ///< per node, -1 = no wait
    AncestorBits waits_before_;
    std::unordered_map<StringId, std::vector<std::pair<NodeId, GroupEvent::Kind>>> events_;
    GroupTimeline timeline_; ///< of the group at work
    std::vector<uint32_t> position_;
    std::vector<bool> hides_; ///< per node: hides a collective that is hidden altogether
    bool exposed_first_ = false;
};

} // namespace gs
