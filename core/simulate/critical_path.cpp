#include "simulate/critical_path.h"

#include <algorithm>

namespace gs {

std::vector<NodeId> findCriticalPath(const Graph& graph, const CollectiveTable& collectives,
                                     const Order& order, const Timeline& timeline) {
    const std::vector<uint32_t> position = positionsOf(order);
    // Per stream: transfers in the order of their starts, to find the one before.
    std::vector<int32_t> previous(timeline.transfers.size(), -1);
    std::vector<int32_t> last_on(timeline.streams.size(), -1);
    std::vector<int32_t> by_start;
    for (const Transfer& transfer : timeline.transfers)
        by_start.push_back(transfer.collective);
    std::stable_sort(by_start.begin(), by_start.end(), [&](int32_t a, int32_t b) {
        return timeline.transfers[static_cast<size_t>(a)].start_ns <
               timeline.transfers[static_cast<size_t>(b)].start_ns;
    });
    int32_t ends_last = -1;
    for (const int32_t index : by_start) {
        const Transfer& transfer = timeline.transfers[static_cast<size_t>(index)];
        previous[static_cast<size_t>(index)] = last_on[transfer.stream];
        last_on[transfer.stream] = index;
        if (ends_last < 0 || transfer.end_ns > timeline.transfers[static_cast<size_t>(ends_last)].end_ns)
            ends_last = index;
    }

    std::vector<NodeId> path;
    int64_t at = static_cast<int64_t>(order.size()) - 1;
    const auto follow_transfer = [&](int32_t index) {
        while (index >= 0) {
            const Transfer& transfer = timeline.transfers[static_cast<size_t>(index)];
            const NodeId launch = collectives[static_cast<size_t>(index)].launch;
            at = launch == kNoNode ? -1 : static_cast<int64_t>(position[launch]) - 1;
            if (launch != kNoNode)
                path.push_back(launch);
            index = transfer.start_ns > transfer.launched_ns ? previous[static_cast<size_t>(index)] : -1;
        }
    };
    const int64_t compute_end = order.empty() ? 0 : timeline.end_ns[order.back()];
    if (ends_last >= 0 && timeline.transfers[static_cast<size_t>(ends_last)].end_ns > compute_end)
        follow_transfer(ends_last);
    while (at >= 0) {
        const NodeId id = order[static_cast<size_t>(at)];
        if (timeline.end_ns[id] == timeline.start_ns[id]) {
            --at;
            continue;
        }
        path.push_back(id);
        if (graph.node(id).kind == NodeKind::Wait)
            follow_transfer(collectives.indexOf(id));
        else
            --at;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

} // namespace gs
