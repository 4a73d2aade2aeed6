#include "views/timeline/timeline_data.h"

#include "views/timeline/hand_edits.h"
#include "views/timeline/measured_band.h"
#include "views/timeline/timeline_text.h"

#include <algorithm>

namespace gs {

namespace {

Slice makeSlice(int64_t start, int64_t end, size_t id, SliceKind kind, bool marked) {
    return {start, end, static_cast<uint32_t>(id), static_cast<uint8_t>(kind), marked};
}

TimelineLane computeLane(const TimelineBand& band, const std::vector<bool>& on_path) {
    const Timeline& timeline = band.timeline();
    std::vector<Slice> slices;
    slices.reserve(band.graph().size() / 2 + timeline.stalls.size());
    const Order* order = band.program->schedule ? &band.program->schedule->order : nullptr;
    auto stall = timeline.stalls.begin();
    for (size_t i = 0; i < band.graph().size(); ++i) {
        const NodeId id =
            order && order->size() == band.graph().size() ? (*order)[i] : static_cast<NodeId>(i);
        if (timeline.end_ns[id] <= timeline.start_ns[id] || band.graph().node(id).kind == NodeKind::Wait)
            continue;
        for (; stall != timeline.stalls.end() && stall->start_ns < timeline.start_ns[id]; ++stall)
            slices.push_back(makeSlice(stall->start_ns, stall->end_ns,
                                       static_cast<size_t>(stall - timeline.stalls.begin()), SliceKind::Stall,
                                       on_path[stall->wait]));
        slices.push_back(
            makeSlice(timeline.start_ns[id], timeline.end_ns[id], id, SliceKind::Compute, on_path[id]));
    }
    for (; stall != timeline.stalls.end(); ++stall)
        slices.push_back(makeSlice(stall->start_ns, stall->end_ns,
                                   static_cast<size_t>(stall - timeline.stalls.begin()), SliceKind::Stall,
                                   on_path[stall->wait]));
    TimelineLane lane;
    lane.label = TimelineText::tr("compute");
    lane.tip = TimelineText::tr("The compute stream; hatched where it waits for a transfer.");
    lane.slices = SliceIndex(std::move(slices));
    return lane;
}

TimelineBand makeBand(const Program& program, const QString& title) {
    TimelineBand band;
    band.program = &program;
    band.title = title;
    std::vector<bool> on_path(band.graph().size(), false);
    for (const NodeId id : band.timeline().critical_path)
        on_path[id] = true;
    band.lanes.push_back(computeLane(band, on_path));
    for (TimelineLane& lane : commLanes(band, on_path))
        band.lanes.push_back(std::move(lane));
    std::vector<CurvePoint> points;
    points.reserve(band.timeline().live_bytes.size());
    for (const BytesPoint& point : band.timeline().live_bytes)
        points.push_back({point.time_ns, point.bytes});
    band.live_bytes = StepCurve(points);
    if (band.live_bytes.peak() > 0) {
        TimelineLane lane;
        lane.kind = TimelineLane::Kind::LiveBytes;
        lane.label = TimelineText::tr("live bytes");
        lane.tip =
            TimelineText::tr("Gathered bytes alive; the peak is %1.").arg(bytesText(band.live_bytes.peak()));
        band.lanes.push_back(std::move(lane));
    }
    return band;
}

std::optional<SliceRef> findSlice(const TimelineBand& band, size_t band_index, size_t lane, int64_t start,
                                  uint32_t id, bool stall) {
    const SliceIndex& slices = band.lanes[lane].slices;
    for (size_t i = slices.firstStartingFrom(start); i < slices.size() && slices[i].start_ns == start; ++i) {
        const bool is_stall = slices[i].category == static_cast<uint8_t>(SliceKind::Stall);
        if (slices[i].id == id && is_stall == stall)
            return SliceRef{band_index, lane, i};
    }
    return std::nullopt;
}

std::vector<LaunchPoint> findLaunches(const Analysis& analysis, const TimelineBand& band) {
    const auto edited = editedLaunches(analysis);
    std::vector<LaunchPoint> launches;
    for (const Transfer& transfer : band.timeline().transfers) {
        const NodeId launch = band.collectives()[static_cast<size_t>(transfer.collective)].launch;
        if (launch != kNoNode)
            launches.push_back({transfer.launched_ns, transfer.collective, edited[launch]});
    }
    std::stable_sort(launches.begin(), launches.end(),
                     [](const LaunchPoint& a, const LaunchPoint& b) { return a.time_ns < b.time_ns; });
    return launches;
}

} // namespace

std::vector<TimelineLane> commLanes(const TimelineBand& band, const std::vector<bool>& on_path) {
    const Timeline& timeline = band.timeline();
    std::vector<std::vector<Slice>> slices(timeline.streams.size());
    std::vector<int32_t> size(timeline.streams.size(), 0);
    std::vector<bool> gathers(timeline.streams.size(), false);
    for (const Transfer& transfer : timeline.transfers) {
        if (!band.has(static_cast<size_t>(transfer.collective)))
            continue;
        const Collective& item = band.collectives()[static_cast<size_t>(transfer.collective)];
        // Nothing in the graph launches what is in flight at entry; the path goes on at its wait.
        const bool marked = item.inFlightAtEntry() ? std::any_of(item.waits.begin(), item.waits.end(),
                                                                 [&](NodeId wait) { return on_path[wait]; })
                                                   : on_path[item.launch];
        const SliceKind kind = item.inFlightAtEntry() ? SliceKind::InFlight
                               : item.weight_gather   ? SliceKind::Gather
                                                      : SliceKind::OtherComm;
        slices[transfer.stream].push_back(makeSlice(transfer.start_ns, transfer.end_ns,
                                                    static_cast<size_t>(transfer.collective), kind, marked));
        gathers[transfer.stream] = gathers[transfer.stream] || item.weight_gather;
        size[transfer.stream] = std::max(size[transfer.stream], item.group_size);
    }
    std::vector<TimelineLane> lanes;
    for (size_t i = 0; i < slices.size(); ++i) {
        TimelineLane lane;
        lane.kind = TimelineLane::Kind::Comm;
        lane.label = timeline.streams[i].in_flight
                         ? TimelineText::tr("in flight at entry")
                         : groupLabel(band.graph(), timeline.streams[i].group, size[i], gathers[i]);
        lane.tip = groupTip(band.graph(), timeline.streams[i], slices[i].size(), lane.label);
        lane.slices = SliceIndex(std::move(slices[i]));
        lanes.push_back(std::move(lane));
    }
    return lanes;
}

std::shared_ptr<const TimelineData> TimelineData::build(SnapshotPtr snapshot) {
    auto data = std::make_shared<TimelineData>();
    data->snapshot = snapshot;
    if (!snapshot)
        return data;
    const auto add = [&](TimelineBand band) {
        data->bands.push_back(std::move(band));
        data->end_ns = std::max(data->end_ns, data->bands.back().timeline().step_ns);
        for (const TimelineLane& lane : data->bands.back().lanes) {
            for (const Slice& slice : lane.slices.slices())
                data->has_[slice.category] = true;
        }
    };
    for (const auto& [program, title] : {std::pair(&snapshot->before, TimelineText::tr("before")),
                                         std::pair(&snapshot->after, TimelineText::tr("after"))}) {
        if (program->graph && program->collectives && program->timeline)
            add(makeBand(*program, title));
    }
    data->simulated = data->bands.size();
    data->simulated_end_ns = data->end_ns;
    if (snapshot->measured && snapshot->after.timeline)
        add(makeMeasuredBand(*snapshot));
    if (const auto band = data->scheduledBand())
        data->launches = findLaunches(*snapshot, data->bands[*band]);
    return data;
}

std::optional<size_t> TimelineData::scheduledBand() const {
    if (simulated == 0 || bands[simulated - 1].program != &snapshot->after || !snapshot->after.schedule)
        return std::nullopt;
    return simulated - 1;
}

BandSelection TimelineData::resolve(size_t index, const Selection& selection) const {
    BandSelection found;
    if (selection.kind == Selection::Kind::None)
        return found;
    const TimelineBand& band = bands[index];
    const std::string name = selection.name.toStdString();
    if (const auto id = band.graph().find(name)) {
        const int32_t collective = band.collectives().indexOf(*id);
        if (collective >= 0 && band.has(static_cast<size_t>(collective)))
            found.collectives.push_back(collective);
        else if (collective < 0 && !band.measured) // a trace has no nodes
            found.node = *id;
        return found;
    }
    // A pass renamed or merged it: the launch here names it among its origins, or it names the launches here.
    for (size_t i = 0; i < band.collectives().size(); ++i) {
        const NodeId launch = band.collectives()[i].launch;
        if (launch == kNoNode || !band.has(i))
            continue;
        for (const StringId origin : band.graph().origins(launch)) {
            if (band.graph().text(origin) == name)
                found.collectives.push_back(static_cast<int32_t>(i));
        }
    }
    for (const TimelineBand& other : bands) {
        const auto id = &other == &band ? std::nullopt : other.graph().find(name);
        if (!id)
            continue;
        for (const StringId origin : other.graph().origins(*id)) {
            const auto here = band.graph().find(other.graph().text(origin));
            const int32_t collective = here ? band.collectives().indexOf(*here) : -1;
            if (collective >= 0 && band.has(static_cast<size_t>(collective)))
                found.collectives.push_back(collective);
        }
    }
    std::sort(found.collectives.begin(), found.collectives.end());
    found.collectives.erase(std::unique(found.collectives.begin(), found.collectives.end()),
                            found.collectives.end());
    return found;
}

std::optional<SliceRef> TimelineData::findCollective(size_t band, int32_t collective) const {
    const Transfer& transfer = bands[band].timeline().transfers[static_cast<size_t>(collective)];
    return findSlice(bands[band], band, 1 + transfer.stream, transfer.start_ns,
                     static_cast<uint32_t>(collective), false);
}

std::optional<SliceRef> TimelineData::findNode(size_t band, NodeId node) const {
    return findSlice(bands[band], band, 0, bands[band].timeline().start_ns[node], node, false);
}

Selection TimelineData::selectionFor(const SliceRef& ref) const {
    const TimelineBand& band = bands[ref.band];
    const Slice& item = slice(ref);
    NodeId node = item.id;
    int32_t collective = -1;
    if (static_cast<SliceKind>(item.category) == SliceKind::Stall) {
        node = band.timeline().stalls[item.id].wait;
        collective = band.timeline().stalls[item.id].collective;
    } else if (static_cast<SliceKind>(item.category) != SliceKind::Compute) {
        collective = static_cast<int32_t>(item.id);
        node = kNoNode;
    }
    auto kind = Selection::Kind::Node;
    if (collective >= 0) {
        const Collective& comm = band.collectives()[static_cast<size_t>(collective)];
        if (comm.launch != kNoNode) {
            node = comm.launch;
            kind = comm.isGather() ? Selection::Kind::Gather : Selection::Kind::Node;
        } else if (node == kNoNode && !comm.waits.empty()) {
            node = comm.waits.front();
        }
    }
    if (node == kNoNode)
        return {};
    const std::string_view name = band.graph().name(node);
    return {kind, QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))};
}

std::optional<TimeRange> TimelineData::spanOf(size_t index, const BandSelection& selection) const {
    if (selection.empty())
        return std::nullopt;
    const Timeline& timeline = bands[index].timeline();
    if (selection.node != kNoNode)
        return TimeRange{timeline.start_ns[selection.node], timeline.end_ns[selection.node]};
    TimeRange span{INT64_MAX, 0};
    for (const int32_t collective : selection.collectives) {
        const Transfer& transfer = timeline.transfers[static_cast<size_t>(collective)];
        span.begin_ns = std::min(span.begin_ns, transfer.launched_ns);
        span.end_ns = std::max(span.end_ns, transfer.end_ns);
        for (const NodeId wait : bands[index].collectives()[static_cast<size_t>(collective)].waits)
            span.end_ns = std::max(span.end_ns, timeline.end_ns[wait]);
    }
    return span;
}

TimeRange hidingWindow(const TimelineBand& band, int32_t collective) {
    const Timeline& timeline = band.timeline();
    const int64_t launched = timeline.transfers[static_cast<size_t>(collective)].launched_ns;
    TimeRange window{launched, INT64_MAX};
    for (const NodeId wait : band.collectives()[static_cast<size_t>(collective)].waits)
        window.end_ns = std::min(window.end_ns, timeline.start_ns[wait]);
    if (window.end_ns == INT64_MAX)
        window.end_ns = launched;
    return window;
}

} // namespace gs
