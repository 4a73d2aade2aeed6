#include "passes/bucket_order.h"

#include <algorithm>
#include <functional>
#include <queue>

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
