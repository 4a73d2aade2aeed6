#include "lod/slice_index.h"

#include <algorithm>

namespace gs {

namespace {

/// Start of the bucket after the one that holds `time`; rounds towards −∞ also for negative times.
int64_t bucketEnd(int64_t time, int64_t bucket) {
    int64_t index = time / bucket;
    if (time % bucket < 0)
        --index;
    return (index + 1) * bucket;
}

} // namespace

SliceIndex::SliceIndex(std::vector<Slice> slices) : slices_(std::move(slices)) {
    const auto earlier = [](const Slice& a, const Slice& b) {
        return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns < b.end_ns;
    };
    if (!std::is_sorted(slices_.begin(), slices_.end(), earlier))
        std::stable_sort(slices_.begin(), slices_.end(), earlier);
    std::vector<int64_t> durations;
    durations.reserve(slices_.size());
    busy_.reserve(slices_.size() + 1);
    marked_ns_.reserve(slices_.size() + 1);
    CategoryTimes sum{};
    int64_t marked = 0;
    busy_.push_back(sum);
    marked_ns_.push_back(marked);
    for (const Slice& slice : slices_) {
        durations.push_back(slice.duration());
        sum[slice.category] += slice.duration();
        marked += slice.marked ? slice.duration() : 0;
        busy_.push_back(sum);
        marked_ns_.push_back(marked);
    }
    durations_ = MaxTree(std::move(durations));
}

std::vector<SliceRun> SliceIndex::query(int64_t begin_ns, int64_t end_ns, int64_t single_ns,
                                        int64_t bucket_ns) const {
    std::vector<SliceRun> runs;
    const auto emit = [&](size_t first, size_t last, size_t longest) {
        runs.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(last),
                        static_cast<uint32_t>(longest), slices_[first].start_ns, slices_[last - 1].end_ns});
    };
    // The first slice may have begun long before the range and must not be merged with what lies there.
    size_t at = std::min(firstEndingAfter(begin_ns), firstStartingFrom(begin_ns));
    while (at < slices_.size() && slices_[at].start_ns < end_ns) {
        const int64_t until = bucketEnd(slices_[at].start_ns, std::max<int64_t>(1, bucket_ns));
        const auto from = slices_.begin() + static_cast<std::ptrdiff_t>(at);
        const size_t last = static_cast<size_t>(
            std::lower_bound(from, slices_.end(), until,
                             [](const Slice& slice, int64_t time) { return slice.start_ns < time; }) -
            slices_.begin());
        const size_t longest = durations_.best(at, last);
        if (durations_.value(longest) < single_ns) {
            emit(at, last, longest);
            at = last;
            continue;
        }
        size_t single = longest; // the first long one
        while (single > at && durations_.value(durations_.best(at, single)) >= single_ns)
            single = durations_.best(at, single);
        if (single > at)
            emit(at, single, durations_.best(at, single));
        emit(single, single + 1, single);
        at = single + 1;
    }
    return runs;
}

CategoryTimes SliceIndex::busyOf(uint32_t first, uint32_t last) const {
    CategoryTimes times{};
    for (size_t i = 0; i < kSliceCategories; ++i)
        times[i] = busy_[last][i] - busy_[first][i];
    return times;
}

CategoryTimes SliceIndex::busy(int64_t begin_ns, int64_t end_ns) const {
    const size_t first = firstEndingAfter(begin_ns);
    const size_t last = firstStartingFrom(end_ns);
    if (first >= last)
        return {};
    CategoryTimes times = busyOf(static_cast<uint32_t>(first), static_cast<uint32_t>(last));
    const Slice& head = slices_[first];
    const Slice& tail = slices_[last - 1];
    times[head.category] -= std::max<int64_t>(0, begin_ns - head.start_ns);
    times[tail.category] -= std::max<int64_t>(0, tail.end_ns - end_ns);
    return times;
}

size_t SliceIndex::firstEndingAfter(int64_t time_ns) const {
    const auto it = std::partition_point(slices_.begin(), slices_.end(),
                                         [&](const Slice& slice) { return slice.end_ns <= time_ns; });
    return static_cast<size_t>(it - slices_.begin());
}

size_t SliceIndex::firstStartingFrom(int64_t time_ns) const {
    const auto it = std::partition_point(slices_.begin(), slices_.end(),
                                         [&](const Slice& slice) { return slice.start_ns < time_ns; });
    return static_cast<size_t>(it - slices_.begin());
}

int64_t SliceIndex::nearestEdge(int64_t time_ns) const {
    if (slices_.empty())
        return time_ns;
    const size_t after = firstEndingAfter(time_ns);
    int64_t best = after < size() ? slices_[after].start_ns : slices_.back().end_ns;
    const auto offer = [&](int64_t edge) {
        if (std::abs(edge - time_ns) < std::abs(best - time_ns))
            best = edge;
    };
    if (after < size())
        offer(slices_[after].end_ns);
    if (after > 0)
        offer(slices_[after - 1].end_ns);
    return best;
}

} // namespace gs
