#include "views/timeline/range_totals.h"

#include <algorithm>
#include <cstdlib>

namespace gs {

namespace {

constexpr auto kCompute = static_cast<size_t>(SliceKind::Compute);
constexpr auto kStall = static_cast<size_t>(SliceKind::Stall);

} // namespace

RangeTotals rangeTotals(const TimelineBand& band, TimeRange range) {
    RangeTotals totals;
    totals.length_ns = range.length();
    const SliceIndex& compute = band.lanes.front().slices;
    const CategoryTimes own = compute.busy(range.begin_ns, range.end_ns);
    totals.compute_ns = own[kCompute];
    totals.exposed_ns = own[kStall];
    std::vector<TimeRange> spans;
    for (const TimelineLane& lane : band.lanes) {
        if (lane.kind != TimelineLane::Kind::Comm)
            continue;
        int64_t busy = 0;
        for (const int64_t ns : lane.slices.busy(range.begin_ns, range.end_ns))
            busy += ns;
        totals.streams.push_back({lane.label, busy});
        const size_t last = lane.slices.firstStartingFrom(range.end_ns);
        for (size_t i = lane.slices.firstEndingAfter(range.begin_ns); i < last; ++i) {
            const Slice& slice = lane.slices[i];
            spans.push_back({std::max(slice.start_ns, range.begin_ns), std::min(slice.end_ns, range.end_ns)});
            totals.bytes += std::max<int64_t>(0, band.collectives()[slice.id].output_bytes);
            ++totals.transfers;
        }
    }
    std::sort(spans.begin(), spans.end(),
              [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; });
    for (size_t i = 0; i < spans.size();) {
        TimeRange joined = spans[i];
        for (++i; i < spans.size() && spans[i].begin_ns <= joined.end_ns; ++i)
            joined.end_ns = std::max(joined.end_ns, spans[i].end_ns);
        totals.comm_ns += joined.length();
        totals.overlapped_ns += compute.busy(joined.begin_ns, joined.end_ns)[kCompute];
    }
    return totals;
}

int64_t snapToSlice(const TimelineData& data, int64_t time_ns, int64_t reach_ns) {
    int64_t best = time_ns;
    int64_t distance = reach_ns + 1;
    for (const TimelineBand& band : data.bands) {
        for (const TimelineLane& lane : band.lanes) {
            const int64_t edge = lane.slices.nearestEdge(time_ns);
            if (!lane.slices.empty() && std::abs(edge - time_ns) < distance) {
                best = edge;
                distance = std::abs(edge - time_ns);
            }
        }
    }
    return best;
}

} // namespace gs
