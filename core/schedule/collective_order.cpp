#include "schedule/collective_order.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace gs {

namespace {

/// Edges of a graph while its nodes are put in an order.
class Pending {
public:
    explicit Pending(const Graph& graph) : graph_(graph), missing_(graph.size(), 0), later_(graph.size()) {
        for (NodeId id = 0; id < graph.size(); ++id) {
            missing_[id] += static_cast<uint32_t>(graph.inputs(id).size());
            for (const OrderEdge& edge : graph.orderEdges(id))
                add(edge.node, id);
        }
    }

    void add(NodeId before, NodeId after) {
        later_[before].push_back(after);
        ++missing_[after];
    }
    bool ready(NodeId id) const { return missing_[id] == 0; }
    /// Calls `now_ready` with the nodes that waited for `id` alone.
    template <typename Callback>
    void done(NodeId id, Callback now_ready) {
        const auto release = [&](NodeId after) {
            if (--missing_[after] == 0)
                now_ready(after);
        };
        for (const NodeId user : graph_.users(id))
            release(user);
        for (const NodeId after : later_[id])
            release(after);
    }

private:
    const Graph& graph_;
    std::vector<uint32_t> missing_;          ///< per node: predecessors not yet done
    std::vector<std::vector<NodeId>> later_; ///< per node: successors beyond its users
};

/// Runs a rank's program up to the collectives that others must be ready for, too.
class RankWalk {
public:
    explicit RankWalk(const RankOrder& rank) : pending_(*rank.graph), number_(rank.graph->size(), -1) {
        for (size_t i = 0; i < rank.collectives.size(); ++i)
            number_[rank.collectives[i]] = static_cast<int32_t>(i);
        for (NodeId id = 0; id < rank.graph->size(); ++id) {
            if (pending_.ready(id))
                stack_.push_back(id);
        }
    }

    /// Calls `ready` with the number of each collective that nothing on this rank holds up any more.
    template <typename Callback>
    void advance(Callback ready) {
        while (!stack_.empty()) {
            const NodeId id = stack_.back();
            stack_.pop_back();
            if (number_[id] >= 0)
                ready(static_cast<uint32_t>(number_[id]));
            else
                finish(id);
        }
    }

    void finish(NodeId id) {
        pending_.done(id, [&](NodeId next) { stack_.push_back(next); });
    }

private:
    Pending pending_;
    std::vector<int32_t> number_; ///< per node; -1 = no collective
    std::vector<NodeId> stack_;
};

/// Where each collective comes among the rank's collectives.
std::vector<uint32_t> placesOf(const RankOrder& rank) {
    const std::vector<uint32_t> position = positionsOf(rank.order);
    std::vector<uint32_t> numbers(rank.collectives.size()), place(rank.collectives.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    std::sort(numbers.begin(), numbers.end(), [&](uint32_t a, uint32_t b) {
        return position[rank.collectives[a]] < position[rank.collectives[b]];
    });
    for (uint32_t i = 0; i < numbers.size(); ++i)
        place[numbers[i]] = i;
    return place;
}

} // namespace

std::vector<NodeId> collectiveNodes(const Graph& graph, const OpPatterns& communicating) {
    const std::vector<bool> communicates = matchTargets(graph, communicating);
    std::vector<NodeId> nodes;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.node(id).kind == NodeKind::Launch ||
            (graph.isCall(id) && communicates[graph.node(id).target]))
            nodes.push_back(id);
    }
    return nodes;
}

std::vector<uint32_t> slotsOf(const RankOrder& rank) {
    const std::vector<uint32_t> place = placesOf(rank);
    std::vector<uint32_t> at(place.size()), slot(place.size());
    for (uint32_t number = 0; number < place.size(); ++number)
        at[place[number]] = number;
    uint32_t least = static_cast<uint32_t>(place.size());
    for (size_t i = at.size(); i-- > 0;)
        slot[at[i]] = least = std::min(least, at[i]);
    return slot;
}

AgreedOrder agreeOnOrder(const std::vector<RankOrder>& ranks) {
    const size_t count = ranks.front().collectives.size();
    AgreedOrder agreed;
    agreed.slot.resize(count, 0);
    agreed.latest.resize(count, 0);
    std::vector<uint32_t> place(count, 0);
    for (size_t r = 0; r < ranks.size(); ++r) {
        const std::vector<uint32_t> slot = slotsOf(ranks[r]), of_rank = placesOf(ranks[r]);
        for (size_t i = 0; i < count; ++i) {
            if (slot[i] > agreed.slot[i])
                agreed.latest[i] = r;
            agreed.slot[i] = std::max(agreed.slot[i], slot[i]);
            place[i] = std::max(place[i], of_rank[i]);
        }
    }
    // Of one slot, what moved into it comes before the collective that was there.
    using Key = std::tuple<uint32_t, bool, uint32_t, uint32_t>;
    std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
    std::vector<size_t> ready_on(count, 0);
    std::vector<RankWalk> walks(ranks.begin(), ranks.end());
    const auto isReady = [&](uint32_t number) {
        if (++ready_on[number] == ranks.size())
            ready.emplace(agreed.slot[number], agreed.slot[number] == number, place[number], number);
    };
    for (RankWalk& walk : walks)
        walk.advance(isReady);
    while (!ready.empty()) {
        const uint32_t number = std::get<3>(ready.top());
        ready.pop();
        agreed.sequence.push_back(number);
        for (size_t r = 0; r < ranks.size(); ++r) {
            walks[r].finish(ranks[r].collectives[number]);
            walks[r].advance(isReady);
        }
    }
    return agreed;
}

Order withSequence(const RankOrder& rank, const std::vector<uint32_t>& sequence,
                   const std::vector<std::vector<NodeId>>& groups) {
    Pending pending(*rank.graph);
    for (size_t i = 1; i < sequence.size(); ++i) {
        const NodeId before = rank.collectives[sequence[i - 1]], launch = rank.collectives[sequence[i]];
        pending.add(before, launch);
        if (groups.empty())
            continue;
        for (const NodeId id : groups[sequence[i]]) { // its preparation would only hold memory
            if (id < launch)
                pending.add(before, id);
        }
    }
    const std::vector<uint32_t> position = positionsOf(rank.order);
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready; // positions
    for (NodeId id = 0; id < rank.graph->size(); ++id) {
        if (pending.ready(id))
            ready.push(position[id]);
    }
    Order order;
    order.reserve(rank.order.size());
    while (!ready.empty()) {
        const NodeId id = rank.order[ready.top()];
        ready.pop();
        order.push_back(id);
        pending.done(id, [&](NodeId next) { ready.push(position[next]); });
    }
    return order;
}

} // namespace gs
