#include "cost/readers/trace_index.h"

namespace gs {

bool TraceIndex::build(TraceEvents& events, const JobContext& job) {
    events_ = &events;
    const auto nested = [](const HostRange& a, const HostRange& b) {
        return a.thread != b.thread ? a.thread < b.thread
               : a.start != b.start ? a.start < b.start
                                    : a.end > b.end;
    };
    const auto by_correlation = [](const LaunchCall& a, const LaunchCall& b) {
        return a.correlation < b.correlation;
    };
    if (!sortUnlessCancelled(events.ranges, nested, job) ||
        !sortUnlessCancelled(events.launches, by_correlation, job))
        return false;
    findParents();
    for (uint32_t i = 0; i < events.ranges.size(); ++i) {
        if (events.ranges[i].external >= 0)
            external_.emplace_back(events.ranges[i].external, i);
    }
    // Older files repeat the correlation id here, which says nothing of operators.
    size_t echoes = 0;
    size_t stated = 0;
    for (const DeviceWork& work : events.work) {
        if (work.external < 0 || work.correlation < 0)
            continue;
        ++stated;
        echoes += work.external == work.correlation ? 1 : 0;
    }
    external_tells_ = stated == 0 || echoes * 10 < stated * 9;
    return sortUnlessCancelled(external_, std::less<>(), job);
}

void TraceIndex::findParents() {
    const std::vector<HostRange>& ranges = events_->ranges;
    parents_.assign(ranges.size(), kNoRange);
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < ranges.size(); ++i) {
        if (i == 0 || ranges[i].thread != ranges[i - 1].thread) {
            open.clear();
            thread_begin_.resize(ranges[i].thread + 1, i);
        }
        while (!open.empty() && ranges[open.back()].end <= ranges[i].start &&
               ranges[open.back()].start < ranges[i].start)
            open.pop_back();
        parents_[i] = open.empty() ? kNoRange : open.back();
        open.push_back(i);
    }
    thread_begin_.push_back(static_cast<uint32_t>(ranges.size()));
}

const LaunchCall* TraceIndex::launch(int64_t correlation) const {
    if (correlation < 0)
        return nullptr;
    const auto found =
        std::lower_bound(events_->launches.begin(), events_->launches.end(), correlation,
                         [](const LaunchCall& item, int64_t wanted) { return item.correlation < wanted; });
    return found != events_->launches.end() && found->correlation == correlation ? &*found : nullptr;
}

uint32_t TraceIndex::innermost(uint32_t thread, int64_t time) const {
    if (thread + 1 >= thread_begin_.size())
        return kNoRange;
    const auto begin = events_->ranges.begin() + thread_begin_[thread];
    const auto end = events_->ranges.begin() + thread_begin_[thread + 1];
    const auto after = std::upper_bound(
        begin, end, time, [](int64_t wanted, const HostRange& range) { return wanted < range.start; });
    if (after == begin)
        return kNoRange;
    auto at = static_cast<uint32_t>(after - events_->ranges.begin()) - 1;
    while (at != kNoRange && events_->ranges[at].end < time)
        at = parents_[at];
    return at;
}

uint32_t TraceIndex::byExternal(int64_t external) const {
    if (external < 0)
        return kNoRange;
    const auto found = std::lower_bound(external_.begin(), external_.end(), std::pair(external, uint32_t{0}));
    return found != external_.end() && found->first == external ? found->second : kNoRange;
}

uint32_t TraceIndex::rangeOf(const DeviceWork& work) const {
    const LaunchCall* call = launch(work.correlation);
    uint32_t range = call ? innermost(call->thread, call->start) : kNoRange;
    if (range == kNoRange && external_tells_)
        range = byExternal(work.external);
    if (range == kNoRange && call && call->external != call->correlation)
        range = byExternal(call->external);
    return range;
}

} // namespace gs
