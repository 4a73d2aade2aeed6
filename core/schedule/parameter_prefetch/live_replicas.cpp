#include "schedule/parameter_prefetch/live_replicas.h"

#include <algorithm>

namespace gs {

void LiveReplicas::sort() {
    if (unsorted_)
        std::stable_sort(events_.begin(), events_.end(),
                         [&](const Event& a, const Event& b) { return less(a, b); });
    unsorted_ = false;
}

void LiveReplicas::insert(const Event& event) {
    const auto place = std::upper_bound(events_.begin(), events_.end(), event,
                                        [&](const Event& a, const Event& b) { return less(a, b); });
    events_.insert(place, event);
    is_event_[event.node] = true;
}

void LiveReplicas::add(NodeId launch, NodeId first_user, int64_t bytes) {
    if (booked_[launch])
        return;
    booked_[launch] = true;
    sort();
    insert({launch, bytes, launch});
    insert({first_user, -bytes, launch});
}

bool LiveReplicas::fits(NodeId launch, NodeId target, NodeId first_user, int64_t bytes) {
    if (bytes < 0)
        return false;
    sort();
    const uint64_t begin = program_.label(target), end = program_.label(first_user);
    bool begun = false, ended = false;
    __int128 live = 0; // sums of sizes from a file may exceed 64 bits
    for (const Event& event : events_) {
        if (event.launch == launch)
            continue;
        const uint64_t at = program_.label(event.node);
        if (!begun && at >= begin) {
            live += bytes;
            begun = true;
            if (live > budget_bytes_)
                return false;
        }
        if (begun && !ended && at >= end) {
            live -= bytes;
            ended = true;
        }
        live += event.delta;
        if (live > budget_bytes_)
            return false;
    }
    return begun || live + bytes <= budget_bytes_;
}

} // namespace gs
