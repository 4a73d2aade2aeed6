#include "schedule/overlap_scheduler/overlap_bucketing.h"

#include "schedule/overlap_scheduler/augmented_graph.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <queue>
#include <tuple>

namespace gs {

namespace {

/// A bucket is closed after so many candidates in a row did not fit.
constexpr int kMaxFailures = 20;

/// One start, wait or compute node in the sequence of a process group.
struct Event {
    enum class Kind : uint8_t { Start, Wait, Compute };
    NodeId node = kNoNode;
    Kind kind = Kind::Compute;
    size_t collective = 0; ///< of a Start or Wait
    int32_t prev = -1;
    int32_t next = -1;
};

struct Interval {
    int32_t first = 0;
    int32_t last = 0;
    bool encloses(const Interval& inner) const { return first < inner.first && inner.last < last; }
};

/// What may share a bucket: kind, process group, and for reductions dtype and operation.
using BucketKey = std::tuple<GroupId, CollectiveKind, DType, StringId>;

class Bucketer {
public:
    Bucketer(const Graph& graph, const OverlapResult& result, const OverlapBucketParameters& parameters)
        : graph_(graph), result_(result), parameters_(parameters), position_(positionsOf(result.order)),
          augmented_(graph, result.order, hidingEdges(), relatedNodes()),
          is_compute_(overlapComputeNodes(graph)) {}

    OverlapBuckets run() {
        std::vector<GroupId> groups; // in order of first appearance
        for (const size_t index : eligible_) {
            if (std::find(groups.begin(), groups.end(), groupOf(index)) == groups.end())
                groups.push_back(groupOf(index));
        }
        for (const GroupId group : groups)
            buildTimeline(group);
        OverlapBuckets out;
        for (const GroupId group : groups) {
            events_ = &timelines_[group];
            fillEventOf();
            std::vector<std::pair<BucketKey, std::vector<size_t>>> keyed;
            for (const size_t index : eligible_) {
                if (groupOf(index) != group)
                    continue;
                const BucketKey key = keyOf(index);
                auto found = std::find_if(keyed.begin(), keyed.end(),
                                          [&](const auto& item) { return item.first == key; });
                if (found == keyed.end())
                    found = keyed.insert(keyed.end(), {key, {}});
                found->second.push_back(index);
            }
            for (auto& [key, members] : keyed) {
                if (std::get<CollectiveKind>(key) != CollectiveKind::Other)
                    findBuckets(members, out.buckets);
            }
        }
        out.order = mergedOrder(out.buckets);
        return out;
    }

private:
    const OverlapCollective& item(size_t index) const { return result_.collectives[index]; }
    bool hidden(size_t index) const {
        return item(index).exposed_ms == 0 && item(index).hiding_node != kNoNode;
    }

    std::vector<ExtraEdge> hidingEdges() {
        std::vector<ExtraEdge> edges;
        for (size_t i = 0; i < result_.collectives.size(); ++i) {
            const NodeId start = item(i).start;
            if (graph_.node(start).kind == NodeKind::Launch && item(i).waits.size() == 1)
                eligible_.push_back(i);
            if (!hidden(i) || item(i).waits.size() != 1)
                continue;
            edges.push_back({start, item(i).hiding_node});
            edges.push_back({item(i).hiding_node, item(i).wait});
        }
        return edges;
    }

    std::vector<NodeId> relatedNodes() const {
        std::vector<NodeId> rows;
        for (const OverlapCollective& item : result_.collectives) {
            rows.push_back(item.start);
            rows.push_back(item.wait);
            if (item.hiding_node != kNoNode)
                rows.push_back(item.hiding_node);
        }
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        return rows;
    }

    const Arg* argument(size_t index, int8_t position) const {
        return position < 0 ? nullptr : graph_.arg(item(index).start, static_cast<size_t>(position));
    }

    GroupId groupOf(size_t index) const {
        const Arg* name = argument(index, graph_.target(item(index).start).traits.group_arg);
        return name && name->kind == Arg::Kind::String ? graph_.findGroup(graph_.text(name->text)) : kNoGroup;
    }

    BucketKey keyOf(size_t index) const {
        const OpTraits& traits = graph_.target(item(index).start).traits;
        const TensorMeta* value = graph_.value(item(index).start).firstTensor();
        const DType dtype = value ? value->dtype : DType::Unknown;
        const Arg* operation = argument(index, traits.reduce_op_arg);
        switch (traits.collective) {
        case CollectiveKind::AllGather:
            return {groupOf(index), traits.collective, DType::Unknown, kEmptyString};
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::AllReduce:
            return {groupOf(index), traits.collective, dtype, operation ? operation->text : kEmptyString};
        default:
            return {groupOf(index), CollectiveKind::Other, dtype, kEmptyString};
        }
    }

    /// Starts and waits of one group with all compute, in scheduled order: the group's collectives run one
    /// after the other, so a wait forces everything launched before.
    void buildTimeline(GroupId group) {
        std::vector<int32_t> role(graph_.size(), -1);
        for (const size_t index : eligible_) {
            if (groupOf(index) != group)
                continue;
            role[item(index).start] = static_cast<int32_t>(2 * index);
            role[item(index).wait] = static_cast<int32_t>(2 * index + 1);
        }
        std::vector<Event>& events = timelines_[group];
        for (const NodeId id : result_.order) {
            if (role[id] < 0 && !is_compute_[id])
                continue;
            Event event;
            event.node = id;
            if (role[id] >= 0) {
                event.kind = role[id] % 2 == 0 ? Event::Kind::Start : Event::Kind::Wait;
                event.collective = static_cast<size_t>(role[id] / 2);
            }
            event.prev = static_cast<int32_t>(events.size()) - 1;
            if (event.prev >= 0) {
                events.back().next = static_cast<int32_t>(events.size());
                augmented_.addDependency(id, events.back().node);
            }
            events.push_back(event);
        }
    }

    void fillEventOf() {
        event_of_.assign(graph_.size(), -1);
        for (size_t i = 0; i < events_->size(); ++i)
            event_of_[(*events_)[i].node] = static_cast<int32_t>(i);
    }

    /// Greedy: each bucket takes what fits of the rest, in scheduled order.
    void findBuckets(std::vector<size_t>& members, std::vector<std::vector<size_t>>& buckets) {
        const auto limit = static_cast<int64_t>(parameters_.max_bucket_memory_gb * 1024 * 1024 * 1024);
        std::sort(members.begin(), members.end(),
                  [&](size_t a, size_t b) { return position_[item(a).start] < position_[item(b).start]; });
        std::vector<bool> taken(members.size(), false);
        for (size_t i = 0; i < members.size(); ++i) {
            if (taken[i])
                continue;
            std::vector<size_t> bucket{members[i]};
            int64_t bytes = item(members[i]).size_bytes;
            int failures = 0;
            const size_t end =
                std::min(members.size(), i + 1 + static_cast<size_t>(parameters_.max_coll_distance));
            for (size_t j = i + 1; j < end && failures < kMaxFailures; ++j) {
                const int64_t more = item(members[j]).size_bytes;
                if (bytes + more > limit)
                    break;
                if (taken[j])
                    continue;
                if (tryAdd(bucket, members[j])) {
                    bucket.push_back(members[j]);
                    bytes += more;
                    taken[j] = true;
                    failures = 0;
                } else {
                    ++failures;
                }
            }
            if (bucket.size() > 1)
                buckets.push_back(std::move(bucket));
        }
    }

    bool tryAdd(const std::vector<size_t>& bucket, size_t candidate) {
        for (const size_t member : bucket) {
            if (conflicts(member, candidate))
                return false;
        }
        const size_t first = bucket.front();
        // The likeliest first: launch early, wait late.
        for (const bool early_start : {true, false}) {
            const std::array<size_t, 2> waits = {candidate, first};
            for (const size_t wait : waits) {
                if (tryPlace(bucket, candidate, early_start ? first : candidate, wait))
                    return true;
            }
        }
        return false;
    }

    bool conflicts(size_t a, size_t b) const {
        const auto related = [&](NodeId x, NodeId y) {
            return augmented_.isAncestor(x, y) || augmented_.isAncestor(y, x);
        };
        const auto blocksHiding = [&](size_t wait_of, size_t hidden_by) {
            const NodeId hiding = item(hidden_by).hiding_node;
            return hiding != kNoNode && augmented_.isAncestor(item(wait_of).wait, hiding);
        };
        return related(item(a).start, item(b).start) || related(item(a).wait, item(b).wait) ||
               blocksHiding(b, a) || blocksHiding(a, b);
    }

    int32_t eventOf(NodeId node) const { return event_of_[node]; }
    Event& event(int32_t index) { return (*events_)[static_cast<size_t>(index)]; }

    bool tryPlace(const std::vector<size_t>& bucket, size_t candidate, size_t start_at, size_t wait_at) {
        if (!preservesHiding(bucket, candidate, start_at, wait_at))
            return false;
        const size_t first = bucket.front();
        const NodeId start = item(start_at == first ? candidate : first).start;
        const auto start_place = takeOut(start);
        if (!mergeUnlessOrdered(item(first).start, item(candidate).start)) {
            putBack(start, start_place);
            return false;
        }
        const NodeId wait = item(wait_at == first ? candidate : first).wait;
        const auto wait_place = takeOut(wait);
        if (!mergeUnlessOrdered(item(first).wait, item(candidate).wait)) {
            putBack(wait, wait_place);
            augmented_.unmerge(item(candidate).start);
            putBack(start, start_place);
            return false;
        }
        const int32_t start_event = eventOf(item(start_at).start), wait_event = eventOf(item(wait_at).wait);
        event_of_[item(candidate).start] = event_of_[item(first).start] = start_event;
        event_of_[item(candidate).wait] = event_of_[item(first).wait] = wait_event;
        return true;
    }

    bool mergeUnlessOrdered(NodeId existing, NodeId added) {
        if (augmented_.hasPath(existing, added) || augmented_.hasPath(added, existing))
            return false;
        augmented_.merge(existing, added);
        return true;
    }

    std::pair<int32_t, int32_t> takeOut(NodeId node) {
        Event& out = event(eventOf(node));
        const auto place = std::pair(out.prev, out.next);
        if (out.prev >= 0)
            event(out.prev).next = out.next;
        if (out.next >= 0)
            event(out.next).prev = out.prev;
        out.prev = out.next = -1;
        if (place.first >= 0)
            augmented_.removeDependency(node, event(place.first).node);
        if (place.second >= 0)
            augmented_.removeDependency(event(place.second).node, node);
        if (place.first >= 0 && place.second >= 0)
            augmented_.addDependency(event(place.second).node, event(place.first).node);
        return place;
    }

    /// As in the reference, an event between two others gets back the dependency on the one before it only.
    void putBack(NodeId node, std::pair<int32_t, int32_t> place) {
        const int32_t index = eventOf(node);
        event(index).prev = place.first;
        event(index).next = place.second;
        if (place.first >= 0) {
            event(place.first).next = index;
            augmented_.addDependency(node, event(place.first).node);
        }
        if (place.second >= 0)
            event(place.second).prev = index;
        if (place.second >= 0 && place.first < 0)
            augmented_.addDependency(event(place.second).node, node);
        if (place.first >= 0 && place.second >= 0)
            augmented_.removeDependency(event(place.second).node, event(place.first).node);
    }

    /// With the bucket running from `start_at` to `wait_at`: does compute that hides a member lie in between,
    /// and is no collective's way to its hiding compute enclosed by another one's whole run?
    bool preservesHiding(const std::vector<size_t>& bucket, size_t candidate, size_t start_at,
                         size_t wait_at) {
        const Interval run{eventOf(item(start_at).start), eventOf(item(wait_at).wait)};
        std::vector<Interval> runs{run}, ways;
        std::vector<size_t> members(bucket);
        members.push_back(candidate);
        for (const size_t member : members) {
            if (item(member).hiding_node == kNoNode)
                continue;
            const int32_t at = eventOf(item(member).hiding_node);
            if (at <= run.first || at >= run.last)
                return false;
            ways.push_back({run.first, at});
        }
        const auto collect = [&](const Event& met) {
            if (met.kind == Event::Kind::Compute ||
                std::find(members.begin(), members.end(), met.collective) != members.end())
                return;
            const OverlapCollective& other = item(met.collective);
            const int32_t start = eventOf(other.start);
            runs.push_back({start, eventOf(other.wait)});
            if (other.hiding_node != kNoNode)
                ways.push_back({start, eventOf(other.hiding_node)});
        };
        const size_t first = bucket.front();
        const int32_t latest_start = std::max(eventOf(item(candidate).start), eventOf(item(first).start));
        const int32_t earliest_wait = std::min(eventOf(item(candidate).wait), eventOf(item(first).wait));
        for (int32_t at = event(run.first).next; at >= 0 && at < latest_start; at = event(at).next)
            collect(event(at));
        for (int32_t at = event(run.last).prev; at > earliest_wait; at = event(at).prev)
            collect(event(at));
        for (const Interval& way : ways) {
            if (std::any_of(runs.begin(), runs.end(),
                            [&](const Interval& other) { return other.encloses(way); }))
                return false;
        }
        return true;
    }

    /// Topological order of the merged graph that keeps the scheduled one where it can; the nodes of a set
    /// follow each other.
    Order mergedOrder(const std::vector<std::vector<size_t>>& buckets) const {
        std::vector<std::vector<NodeId>> sets(graph_.size());
        for (const auto& bucket : buckets) {
            for (const size_t index : bucket) {
                sets[augmented_.set(item(index).start)].push_back(item(index).start);
                sets[augmented_.set(item(index).wait)].push_back(item(index).wait);
            }
        }
        std::vector<std::vector<NodeId>> after(graph_.size());
        std::vector<uint32_t> missing(graph_.size(), 0);
        for (NodeId id = 0; id < graph_.size(); ++id) {
            if (sets[augmented_.set(id)].empty())
                sets[augmented_.set(id)] = {id};
            const auto depend = [&](NodeId before) {
                after[augmented_.set(before)].push_back(augmented_.set(id));
                ++missing[augmented_.set(id)];
            };
            for (const NodeId before : graph_.inputs(id))
                depend(before);
            for (const NodeId before : augmented_.extra(id))
                depend(before);
            for (const OrderEdge& edge : graph_.orderEdges(id))
                depend(edge.node);
        }
        std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready; // by scheduled position
        for (NodeId id = 0; id < graph_.size(); ++id) {
            if (augmented_.set(id) == id && missing[id] == 0)
                ready.push(position_[id]);
        }
        Order order;
        order.reserve(graph_.size());
        while (!ready.empty()) {
            const NodeId id = result_.order[ready.top()];
            ready.pop();
            order.insert(order.end(), sets[id].begin(), sets[id].end());
            for (const NodeId next : after[id]) {
                if (--missing[next] == 0)
                    ready.push(position_[next]);
            }
        }
        return order;
    }

    const Graph& graph_;
    const OverlapResult& result_;
    const OverlapBucketParameters& parameters_;
    std::vector<uint32_t> position_;
    std::vector<size_t> eligible_; ///< collectives with a launch and one wait
    AugmentedGraph augmented_;
    std::vector<bool> is_compute_;
    std::map<GroupId, std::vector<Event>> timelines_;
    std::vector<Event>* events_ =
        nullptr;                    ///< timeline of the group at work; an event's index is its position
    std::vector<int32_t> event_of_; ///< per node: where it is, or where its set has moved to
};

} // namespace

OverlapBuckets bucketPreservingOverlap(const Graph& graph, const OverlapResult& result,
                                       const OverlapBucketParameters& parameters) {
    return Bucketer(graph, result, parameters).run();
}

} // namespace gs
