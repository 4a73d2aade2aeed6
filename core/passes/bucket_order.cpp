#include "passes/bucket_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace gs {

void transferOrder(const Draft& draft, ExtraOrder& extra, const ErasedNodes& erased, DraftId launch,
                   DraftId wait) {
    std::vector<std::pair<DraftId, DraftId>> moves; // old node, new node
    const auto add = [&](const std::vector<DraftId>& nodes, DraftId by) {
        for (const DraftId node : nodes)
            moves.emplace_back(node, by);
    };
    add(erased.starts, launch);
    add(erased.waits, wait);
    add(erased.casts, launch);
    std::unordered_map<DraftId, DraftId> now(moves.begin(), moves.end());
    const auto current = [&](DraftId node) {
        const auto found = now.find(node);
        return found == now.end() ? node : found->second;
    };
    const auto reads = [&](DraftId node, DraftId input) {
        const auto inputs = draft.inputs(node);
        return std::find(inputs.begin(), inputs.end(), input) != inputs.end();
    };
    for (const auto& [old, by] : moves) {
        const std::vector<ExtraOrder::Link> before = extra.before(old), after = extra.after(old);
        for (const ExtraOrder::Link& link : before) {
            const DraftId other = current(link.node);
            if (other != by && !extra.has(by, other) && !reads(other, by))
                extra.add(other, by);
        }
        for (const ExtraOrder::Link& link : after) {
            const DraftId other = current(link.node);
            if (other != by && !extra.has(other, by) && !reads(by, other))
                extra.add(by, other);
        }
    }
    for (const auto& [old, by] : moves)
        extra.clear(old);
}

namespace {

/// Draft and extra order as one graph.
class OrderedDraft {
public:
    OrderedDraft(const Draft& draft, const ExtraOrder& extra) : draft_(draft), extra_(extra) {}

    template <typename Visit>
    void before(DraftId id, Visit visit) const {
        for (const DraftId input : draft_.inputs(id))
            visit(input);
        for (const ExtraOrder::Link& link : extra_.before(id))
            visit(link.node);
    }
    template <typename Visit>
    void after(DraftId id, Visit visit) const {
        for (const DraftId user : draft_.users(id))
            visit(user);
        for (const ExtraOrder::Link& link : extra_.after(id))
            visit(link.node);
    }

    /// Nodes on cycles, and perhaps between two of them.
    std::vector<bool> cyclic() const {
        std::vector<bool> left(draft_.size(), false);
        for (const DraftId id : draft_.order())
            left[id] = true;
        peel(
            left, [&](DraftId id, auto visit) { before(id, visit); },
            [&](DraftId id, auto visit) { after(id, visit); });
        peel(
            left, [&](DraftId id, auto visit) { after(id, visit); },
            [&](DraftId id, auto visit) { before(id, visit); });
        return left;
    }

    /// Does `node` come before `of`, by nodes in `within`?
    bool comesBefore(DraftId node, DraftId of, const std::vector<bool>& within) const {
        std::unordered_set<DraftId> seen{of};
        std::vector<DraftId> stack{of};
        while (!stack.empty() && seen.count(node) == 0) {
            const DraftId id = stack.back();
            stack.pop_back();
            before(id, [&](DraftId other) {
                if (within[other] && seen.insert(other).second)
                    stack.push_back(other);
            });
        }
        return seen.count(node) != 0;
    }

private:
    /// Takes away, again and again, what needs nothing that is left.
    template <typename Needs, typename Frees>
    static void peel(std::vector<bool>& left, Needs needs, Frees frees) {
        std::vector<uint32_t> missing(left.size(), 0);
        std::vector<DraftId> ready;
        for (DraftId id = 0; id < left.size(); ++id) {
            if (!left[id])
                continue;
            needs(id, [&](DraftId other) { missing[id] += left[other] ? 1 : 0; });
            if (missing[id] == 0)
                ready.push_back(id);
        }
        while (!ready.empty()) {
            const DraftId id = ready.back();
            ready.pop_back();
            left[id] = false;
            frees(id, [&](DraftId other) {
                if (left[other] && --missing[other] == 0)
                    ready.push_back(other);
            });
        }
    }

    const Draft& draft_;
    const ExtraOrder& extra_;
};

} // namespace

size_t removeCycles(const Draft& draft, ExtraOrder& extra) {
    const OrderedDraft graph(draft, extra);
    const std::vector<bool> cyclic = graph.cyclic();
    size_t removed = 0;
    for (const auto& [before, after] : extra.all()) {
        if (!cyclic[before] || !cyclic[after] || !graph.comesBefore(after, before, cyclic))
            continue;
        extra.remove(before, after);
        ++removed;
    }
    return removed;
}

namespace {

/// Kahn's algorithm with the least key first. `before(id)` lists what must come before a node.
template <typename Before>
std::vector<uint32_t> leastFirst(const std::vector<uint32_t>& nodes, size_t count,
                                 const std::vector<uint32_t>& key, Before before) {
    std::vector<uint32_t> missing(count, 0);
    std::vector<std::vector<uint32_t>> after(count);
    for (const uint32_t id : nodes) {
        before(id, [&](uint32_t other) {
            after[other].push_back(id);
            ++missing[id];
        });
    }
    using Entry = std::pair<uint32_t, uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (const uint32_t id : nodes) {
        if (missing[id] == 0)
            ready.emplace(key[id], id);
    }
    std::vector<uint32_t> order;
    while (!ready.empty()) {
        const uint32_t id = ready.top().second;
        ready.pop();
        order.push_back(id);
        for (const uint32_t other : after[id]) {
            if (--missing[other] == 0)
                ready.emplace(key[other], other);
        }
    }
    return order;
}

} // namespace

std::vector<DraftId> orderNearest(const Draft& draft, const std::vector<uint32_t>& key) {
    const std::vector<std::vector<DraftId>> edges = draft.orderEdges();
    return leastFirst(draft.order(), draft.size(), key, [&](DraftId id, const auto& add) {
        std::for_each(draft.inputs(id).begin(), draft.inputs(id).end(), add);
        std::for_each(edges[id].begin(), edges[id].end(), add);
    });
}

Order orderNearest(const Graph& graph, const Order& wanted) {
    return leastFirst(wanted, graph.size(), positionsOf(wanted), [&](NodeId id, const auto& add) {
        std::for_each(graph.inputs(id).begin(), graph.inputs(id).end(), add);
        for (const OrderEdge& edge : graph.orderEdges(id))
            add(edge.node);
    });
}

} // namespace gs
