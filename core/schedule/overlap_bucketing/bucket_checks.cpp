// Whether a collective can join a bucket.
#include "schedule/overlap_bucketing/bucket_finder.h"

#include <algorithm>

namespace gs {

bool BucketFinder::waitBefore(NodeId wait, NodeId hiding_node) const {
    return waits_before_.isAncestor(static_cast<size_t>(wait_rows_[wait]),
                                    static_cast<size_t>(hiding_column_[hiding_node]));
}

/// Merging would be a cycle whatever the order.
bool BucketFinder::ancestorsConflict(const Bucket& bucket, size_t candidate) const {
    const HiddenCollective& joining = collectives_[candidate];
    for (const size_t index : bucket) {
        const HiddenCollective& member = collectives_[index];
        if (augmented_.related(member.start, joining.start) || augmented_.related(member.wait, joining.wait))
            return true;
        for (const NodeId node : member.hiding_nodes) {
            if (waitBefore(joining.wait, node))
                return true;
        }
        for (const NodeId node : joining.hiding_nodes) {
            if (waitBefore(member.wait, node))
                return true;
        }
    }
    return false;
}

/// At which of the two launches, and at which of the two waits? The early launch with the late wait first.
bool BucketFinder::canJoin(const Bucket& bucket, size_t candidate) {
    const HiddenCollective& first = collectives_[bucket.front()];
    const HiddenCollective& joining = collectives_[candidate];
    if (hides_[joining.start] || hides_[joining.wait] || ancestorsConflict(bucket, candidate))
        return false;
    for (const NodeId start : {first.start, joining.start}) {
        for (const NodeId wait : {joining.wait, first.wait}) {
            if (tryPlace(bucket, candidate, start, wait))
                return true;
        }
    }
    return false;
}

bool BucketFinder::tryPlace(const Bucket& bucket, size_t candidate, NodeId start, NodeId wait) {
    const HiddenCollective& first = collectives_[bucket.front()];
    const HiddenCollective& joining = collectives_[candidate];
    if (!keepsHiding(bucket, candidate, start, wait))
        return false;
    const NodeId moved_start = start == first.start ? joining.start : first.start;
    const Removed removed_start = takeOut(moved_start);
    if (pathBetween(first.start, joining.start)) {
        putBack(moved_start, removed_start);
        return false;
    }
    augmented_.merge(first.start, joining.start);
    const NodeId moved_wait = wait == first.wait ? joining.wait : first.wait;
    const Removed removed_wait = takeOut(moved_wait);
    if (pathBetween(first.wait, joining.wait)) {
        putBack(moved_wait, removed_wait);
        augmented_.unmerge(joining.start);
        putBack(moved_start, removed_start);
        return false;
    }
    augmented_.merge(first.wait, joining.wait);
    const int32_t start_event = timeline_.eventOf(start), wait_event = timeline_.eventOf(wait);
    for (const HiddenCollective* item : {&first, &joining}) {
        timeline_.setEvent(item->start, start_event);
        timeline_.setEvent(item->wait, wait_event);
    }
    return true;
}

void BucketFinder::addIntervals(const GroupEvent& event, std::vector<Interval>& execution,
                                std::vector<Interval>& hiding) const {
    if (event.kind == GroupEvent::Kind::Compute)
        return;
    const int32_t index =
        event.kind == GroupEvent::Kind::Launch ? started_by_[event.node] : waited_by_[event.node];
    const HiddenCollective& item = collectives_[static_cast<size_t>(index)];
    const uint32_t start = timeline_.position(item.start);
    execution.push_back({start, timeline_.position(item.wait)});
    for (const NodeId node : item.hiding_nodes)
        hiding.push_back({start, timeline_.position(node)});
}

/// What hides a member must stay between launch and wait; and, as launches of one group end in order, nothing
/// may be forced to end before what hides it: no hiding interval inside an execution interval.
bool BucketFinder::keepsHiding(const Bucket& bucket, size_t candidate, NodeId start, NodeId wait) const {
    const HiddenCollective& first = collectives_[bucket.front()];
    const HiddenCollective& joining = collectives_[candidate];
    const GroupEvent& new_start = timeline_.of(start);
    const GroupEvent& new_wait = timeline_.of(wait);
    std::vector<Interval> execution{{new_start.position, new_wait.position}}, hiding;
    std::vector<NodeId> own;
    const auto addMember = [&](const HiddenCollective& member) {
        own.insert(own.end(), {member.start, member.wait});
        for (const NodeId node : member.hiding_nodes)
            hiding.push_back({new_start.position, timeline_.position(node)});
    };
    addMember(joining);
    for (const size_t index : bucket)
        addMember(collectives_[index]);
    for (const Interval& interval : hiding) {
        if (interval.end <= new_start.position || interval.end >= new_wait.position)
            return false;
    }
    const auto addOther = [&](const GroupEvent& event) {
        if (std::find(own.begin(), own.end(), event.node) == own.end())
            addIntervals(event, execution, hiding);
    };
    const uint32_t latest_start =
        std::max(timeline_.position(joining.start), timeline_.position(first.start));
    const uint32_t earliest_wait = std::min(timeline_.position(joining.wait), timeline_.position(first.wait));
    for (int32_t at = new_start.next; at >= 0 && timeline_.event(at).position < latest_start;
         at = timeline_.event(at).next)
        addOther(timeline_.event(at));
    for (int32_t at = new_wait.previous; at >= 0 && timeline_.event(at).position > earliest_wait;
         at = timeline_.event(at).previous)
        addOther(timeline_.event(at));
    // Furthest end of an execution that begins before a given position.
    std::sort(execution.begin(), execution.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    for (size_t i = 1; i < execution.size(); ++i)
        execution[i].end = std::max(execution[i].end, execution[i - 1].end);
    return std::none_of(hiding.begin(), hiding.end(), [&](const Interval& inner) {
        const auto behind =
            std::lower_bound(execution.begin(), execution.end(), inner.begin,
                             [](const Interval& interval, uint32_t begin) { return interval.begin < begin; });
        return behind != execution.begin() && inner.end < std::prev(behind)->end;
    });
}

BucketFinder::Removed BucketFinder::takeOut(NodeId node) {
    const int32_t event = timeline_.eventOf(node);
    const Removed removed{event, timeline_.event(event).previous, timeline_.event(event).next};
    timeline_.unlink(event);
    ExtraOrder& order = augmented_.order();
    const NodeId before = removed.previous >= 0 ? timeline_.event(removed.previous).node : kNoNode;
    const NodeId after = removed.next >= 0 ? timeline_.event(removed.next).node : kNoNode;
    if (before != kNoNode)
        order.remove(before, node);
    if (after != kNoNode)
        order.remove(node, after);
    if (before != kNoNode && after != kNoNode)
        order.add(before, after);
    return removed;
}

/// As in the reference, the edge to the event behind does not come back where there is one in front.
void BucketFinder::putBack(NodeId node, const Removed& removed) {
    timeline_.insertBetween(removed.event, removed.previous, removed.next);
    ExtraOrder& order = augmented_.order();
    const NodeId before = removed.previous >= 0 ? timeline_.event(removed.previous).node : kNoNode;
    const NodeId after = removed.next >= 0 ? timeline_.event(removed.next).node : kNoNode;
    if (before != kNoNode)
        order.add(before, node);
    if (after != kNoNode && before == kNoNode)
        order.add(node, after);
    if (before != kNoNode && after != kNoNode)
        order.remove(before, after);
}

} // namespace gs
