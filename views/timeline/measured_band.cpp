#include "views/timeline/measured_band.h"

#include "views/timeline/timeline_text.h"

#include <algorithm>
#include <map>

namespace gs {

namespace {

/// Matched transfers in the order in which they began.
std::vector<size_t> byStart(const MeasuredRun& run) {
    std::vector<size_t> order;
    for (size_t i = 0; i < run.transfers.size(); ++i) {
        if (run.transfers[i].collective >= 0)
            order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return run.transfers[a].start_ns < run.transfers[b].start_ns;
    });
    return order;
}

/// Streams are the simulation's, those without a transfer in the trace left out. A lane is serial: where a
/// trace has two transfers of a group at once, the earlier one is cut.
void addTransfers(const Analysis& analysis, const MeasuredRun& run, const std::vector<size_t>& order,
                  Timeline& out) {
    const Timeline& predicted = *analysis.after.timeline;
    out.transfers = predicted.transfers;
    for (Transfer& transfer : out.transfers)
        transfer.stream = 0;
    std::map<uint32_t, uint32_t> streams; // in the simulation's order
    for (const size_t i : order)
        streams[predicted.transfers[i].stream] = 0;
    for (auto& [from, to] : streams) {
        to = static_cast<uint32_t>(out.streams.size());
        out.streams.push_back({predicted.streams[from].group, false, 0, 0});
    }
    std::vector<Transfer*> last(out.streams.size(), nullptr);
    for (const size_t i : order) {
        const MeasuredTransfer& item = run.transfers[i];
        Transfer& transfer = out.transfers[i];
        transfer.stream = streams[predicted.transfers[i].stream];
        transfer.launched_ns = transfer.start_ns = item.start_ns;
        transfer.end_ns = item.start_ns + item.shown_ns;
        transfer.exposed_ns = std::max<int64_t>(item.exposed_ns, 0);
        out.streams[transfer.stream].busy_ns += item.shown_ns;
        out.step_ns = std::max(out.step_ns, transfer.end_ns);
        if (Transfer* before = std::exchange(last[transfer.stream], &transfer))
            before->end_ns = std::min(before->end_ns, transfer.start_ns);
    }
}

/// What of the transfers no compute covers, each moment once.
void addStalls(const Analysis& analysis, const MeasuredRun& run, const std::vector<size_t>& order,
               Timeline& out) {
    auto span = run.compute.begin();
    int64_t done = INT64_MIN;
    for (const size_t i : order) {
        const int64_t end = run.transfers[i].start_ns + run.transfers[i].shown_ns;
        const auto& waits = (*analysis.after.collectives)[i].waits;
        for (done = std::max(done, run.transfers[i].start_ns); done < end;) {
            while (span != run.compute.end() && span->second <= done)
                ++span;
            const int64_t until = span == run.compute.end() ? end : std::min(end, span->first);
            if (until > done)
                out.stalls.push_back(
                    {waits.empty() ? kNoNode : waits.front(), static_cast<int32_t>(i), done, until});
            done = until < end ? span->second : end;
        }
    }
}

TimelineLane computeLane(const MeasuredRun& run, const Timeline& timeline) {
    const auto slice = [](int64_t start, int64_t end, size_t id, SliceKind kind) {
        return Slice{start, end, static_cast<uint32_t>(id), static_cast<uint8_t>(kind), false};
    };
    std::vector<Slice> slices;
    slices.reserve(run.compute.size() + timeline.stalls.size());
    for (const auto& [start, end] : run.compute)
        slices.push_back(slice(std::max<int64_t>(start, 0), end, kNoNode, SliceKind::Compute));
    for (size_t i = 0; i < timeline.stalls.size(); ++i)
        slices.push_back(slice(timeline.stalls[i].start_ns, timeline.stalls[i].end_ns, i, SliceKind::Stall));
    TimelineLane lane;
    lane.label = TimelineText::tr("compute");
    lane.tip = TimelineText::tr(
        "Compute of the device in the trace; hatched where a transfer ran and nothing was computed.");
    lane.slices = SliceIndex(std::move(slices));
    return lane;
}

} // namespace

TimelineBand makeMeasuredBand(const Analysis& analysis) {
    const MeasuredRun& run = *analysis.measured;
    const std::vector<size_t> order = byStart(run);
    auto timeline = std::make_shared<Timeline>();
    const Graph& graph = *analysis.after.graph;
    timeline->start_ns.resize(graph.size());
    timeline->end_ns.resize(graph.size());
    addTransfers(analysis, run, order, *timeline);
    if (!run.compute.empty()) { // else nobody knows what was exposed
        addStalls(analysis, run, order, *timeline);
        timeline->step_ns = std::max(timeline->step_ns, run.compute.back().second);
    }
    auto program = std::make_shared<Program>(analysis.after);
    program->timeline = timeline;
    TimelineBand band;
    band.own = program;
    band.program = program.get();
    band.measured = &run;
    band.title = TimelineText::tr("measured");
    band.lanes.push_back(computeLane(run, *timeline));
    for (TimelineLane& lane : commLanes(band, std::vector<bool>(graph.size(), false)))
        band.lanes.push_back(std::move(lane));
    return band;
}

} // namespace gs
