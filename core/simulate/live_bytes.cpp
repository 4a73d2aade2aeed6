#include "simulate/live_bytes.h"

#include <algorithm>

namespace gs {

namespace {

struct Event {
    uint32_t position = 0; ///< twice the program position of the node, + 1 behind it
    int64_t time_ns = 0;
    int64_t delta = 0;
};

/// The consumer that runs last, or the last wait, or the launch itself.
NodeId lastUse(const Collective& gather, const std::vector<uint32_t>& position) {
    NodeId last = gather.launch;
    const auto later = [&](NodeId id) {
        if (position[id] > position[last])
            last = id;
    };
    for (const NodeId wait : gather.waits)
        later(wait);
    for (const NodeId consumer : gather.consumers)
        later(consumer);
    return last;
}

} // namespace

void addLiveBytes(const Graph&, const CollectiveTable& collectives, const Order& order, Timeline& timeline) {
    const std::vector<uint32_t> position = positionsOf(order);
    std::vector<Event> events;
    for (const Collective& item : collectives.all()) {
        if (!item.isGather() || item.launch == kNoNode || item.output_bytes <= 0)
            continue;
        const NodeId last = lastUse(item, position);
        events.push_back({2 * position[item.launch], timeline.start_ns[item.launch], item.output_bytes});
        events.push_back({2 * position[last] + 1, timeline.end_ns[last], -item.output_bytes});
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.position < b.position; });
    int64_t live = 0;
    for (const Event& event : events) {
        if (__builtin_add_overflow(live, event.delta, &live))
            live = kHugeSize;
        timeline.peak_gathered_bytes = std::max(timeline.peak_gathered_bytes, live);
        if (!timeline.live_bytes.empty() && timeline.live_bytes.back().time_ns == event.time_ns)
            timeline.live_bytes.back().bytes = live;
        else
            timeline.live_bytes.push_back({event.time_ns, live});
    }
}

} // namespace gs
