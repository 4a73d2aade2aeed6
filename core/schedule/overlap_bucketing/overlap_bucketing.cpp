#include "schedule/overlap_bucketing/overlap_bucketing.h"

#include "passes/fsdp_bucketing/fsdp_collectives.h"
#include "schedule/overlap_bucketing/bucket_finder.h"
#include "schedule/overlap_scheduler_upstream/upstream_collectives.h"

#include <algorithm>
#include <unordered_map>

namespace gs {

BucketFinder::BucketFinder(const Graph& graph, const Order& scheduled,
                           std::span<const HiddenCollective> collectives, const std::vector<bool>& is_compute,
                           const OverlapBucketingOptions& options)
    : graph_(graph), scheduled_(scheduled), collectives_(collectives), is_compute_(is_compute),
      options_(options), dependencies_(graph, options.keep_order_edges), hiding_(hidingEdges()),
      augmented_(scheduled, dependencies_, hiding_, mergeable()), wait_rows_(findWaitRows()),
      waits_before_(scheduled, dependencies_, hiding_, waits_, hiding_nodes_), timeline_(graph.size()),
      position_(positionsOf(scheduled)), hides_(graph.size(), false) {
    for (const StringId group : groupsInOrder())
        buildTimeline(group);
    for (const HiddenCollective& item : collectives_) {
        if (item.exposed())
            continue;
        for (const NodeId node : item.hiding_nodes) {
            augmented_.order().add(item.start, node);
            augmented_.order().add(node, item.wait);
            hides_[node] = true;
        }
    }
}

/// start → hiding node → wait, of collectives that are hidden altogether.
ExtraOrder BucketFinder::hidingEdges() {
    ExtraOrder edges(graph_.size());
    started_by_.assign(graph_.size(), -1);
    waited_by_.assign(graph_.size(), -1);
    for (size_t i = 0; i < collectives_.size(); ++i) {
        const HiddenCollective& item = collectives_[i];
        started_by_[item.start] = static_cast<int32_t>(i);
        group_.push_back(groupNameOf(graph_, item.start));
        for (const NodeId wait : item.waits)
            waited_by_[wait] = static_cast<int32_t>(i);
        for (const NodeId node : item.hiding_nodes) {
            if (item.exposed())
                continue;
            edges.add(item.start, node);
            edges.add(node, item.wait);
        }
    }
    return edges;
}

std::vector<NodeId> BucketFinder::mergeable() const {
    std::vector<NodeId> nodes;
    for (const HiddenCollective& item : collectives_) {
        nodes.push_back(item.start);
        nodes.push_back(item.wait);
    }
    return nodes;
}

/// Rows and columns of waits_before_: which waits come before which hiding nodes.
std::vector<int32_t> BucketFinder::findWaitRows() {
    std::vector<int32_t> rows(graph_.size(), -1);
    hiding_column_.assign(graph_.size(), -1);
    for (const HiddenCollective& item : collectives_) {
        rows[item.wait] = static_cast<int32_t>(waits_.size());
        waits_.push_back(item.wait);
        for (const NodeId node : item.hiding_nodes) {
            if (hiding_column_[node] >= 0)
                continue;
            hiding_column_[node] = static_cast<int32_t>(hiding_nodes_.size());
            hiding_nodes_.push_back(node);
        }
    }
    return rows;
}

std::vector<StringId> BucketFinder::groupsInOrder() const {
    std::vector<StringId> groups;
    for (const StringId group : group_) {
        if (std::find(groups.begin(), groups.end(), group) == groups.end())
            groups.push_back(group);
    }
    return groups;
}

/// The group's events; each must stay behind the one before it.
void BucketFinder::buildTimeline(StringId group) {
    std::vector<std::pair<NodeId, GroupEvent::Kind>>& events = events_[group];
    std::vector<bool> hides(graph_.size(), false); // a collective of this group, launched before
    NodeId last = kNoNode;
    for (const NodeId node : scheduled_) {
        GroupEvent::Kind kind = GroupEvent::Kind::Compute;
        if (started_by_[node] >= 0 && group_[startedBy(node)] == group) {
            kind = GroupEvent::Kind::Launch;
            for (const NodeId hiding : collectives_[startedBy(node)].hiding_nodes)
                hides[hiding] = true;
        } else if (waited_by_[node] >= 0) {
            if (group_[static_cast<size_t>(waited_by_[node])] == group)
                kind = GroupEvent::Kind::Wait;
            else if (!hides[node])
                continue;
        } else if (!is_compute_[node] && !hides[node]) {
            continue;
        }
        if (last != kNoNode)
            augmented_.order().add(last, node);
        events.emplace_back(node, kind);
        last = node;
    }
}

/// Groups whose first all-gather is of a single parameter: taken to span machines.
std::vector<StringId> BucketFinder::internodeGroups() const {
    const std::vector<bool> fsdp = fsdpAllGathers(graph_);
    std::vector<StringId> checked, found;
    for (size_t i = 0; i < collectives_.size(); ++i) {
        const NodeId start = collectives_[i].start;
        if (graph_.target(start).traits.collective != CollectiveKind::AllGather ||
            std::find(checked.begin(), checked.end(), group_[i]) != checked.end())
            continue;
        checked.push_back(group_[i]);
        if (fsdp[start])
            found.push_back(group_[i]);
    }
    return found;
}

ScheduledBuckets BucketFinder::run() {
    const std::vector<StringId> internode = internodeGroups();
    ScheduledBuckets out;
    for (const StringId group : groupsInOrder()) {
        timeline_.clear();
        for (const auto& [node, kind] : events_[group])
            timeline_.append(node, kind);
        exposed_first_ = std::find(internode.begin(), internode.end(), group) != internode.end();
        std::vector<std::vector<size_t>> kinds;
        std::unordered_map<std::string, size_t> kind_of;
        for (size_t i = 0; i < collectives_.size(); ++i) {
            std::string key = group_[i] == group ? bucketKeyOf(graph_, collectives_[i].start) : std::string();
            if (key.empty())
                continue;
            const auto [found, added] = kind_of.try_emplace(std::move(key), kinds.size());
            if (added)
                kinds.emplace_back();
            kinds[found->second].push_back(i);
        }
        for (std::vector<size_t>& kind : kinds)
            findInKind(std::move(kind), out);
    }
    out.order = augmented_.order().all();
    return out;
}

double BucketFinder::hiddenShare(size_t index) const {
    const HiddenCollective& item = collectives_[index];
    return item.estimated_ms <= 0 ? 0 : (item.estimated_ms - item.exposed_ms) / item.estimated_ms;
}

/// Greedy: the first collective left opens a bucket, the following ones join it if they can.
void BucketFinder::findInKind(std::vector<size_t> kind, ScheduledBuckets& out) {
    constexpr size_t kMostFailures = 20;
    constexpr int64_t kNear = 20; // positions, where the least hidden come first
    const auto cap = static_cast<int64_t>(std::min(options_.max_bucket_memory_gb * 1024 * 1024 * 1024, 4e18));
    std::sort(kind.begin(), kind.end(), [&](size_t a, size_t b) {
        const double share_a = exposed_first_ ? hiddenShare(a) : 0;
        const double share_b = exposed_first_ ? hiddenShare(b) : 0;
        return std::pair(share_a, position_[collectives_[a].start]) <
               std::pair(share_b, position_[collectives_[b].start]);
    });
    std::vector<bool> taken(kind.size(), false);
    for (size_t first = 0; first < kind.size(); ++first) {
        const HiddenCollective& opener = collectives_[kind[first]];
        if (taken[first] || hides_[opener.start] || hides_[opener.wait])
            continue;
        std::vector<size_t> bucket{kind[first]};
        int64_t bytes = opener.size_bytes;
        taken[first] = true;
        size_t failures = 0;
        const auto distance = static_cast<size_t>(std::max<int64_t>(options_.max_coll_distance, 0));
        const size_t end = std::min(kind.size(), first + 1 + std::min(distance, kind.size()));
        for (size_t at = first + 1; at < end; ++at) {
            const HiddenCollective& candidate = collectives_[kind[at]];
            if (bytes + candidate.size_bytes > cap)
                break;
            if (taken[at] || (exposed_first_ && std::abs(int64_t{position_[candidate.start]} -
                                                         int64_t{position_[opener.start]}) > kNear))
                continue;
            if (canJoin(bucket, kind[at])) {
                bucket.push_back(kind[at]);
                bytes += candidate.size_bytes;
                taken[at] = true;
                failures = 0;
            } else if (++failures >= kMostFailures) {
                break;
            }
        }
        if (bucket.size() < 2)
            continue;
        out.members.emplace_back();
        for (const size_t index : bucket)
            out.members.back().push_back(collectives_[index].start);
    }
}

ScheduledBuckets findOverlapBuckets(const Graph& graph, const Order& scheduled,
                                    std::span<const HiddenCollective> collectives,
                                    const std::vector<bool>& is_compute,
                                    const OverlapBucketingOptions& options) {
    if (graph.info().level == GraphLevel::Scheduler)
        return {};
    return BucketFinder(graph, scheduled, collectives, is_compute, options).run();
}

} // namespace gs
