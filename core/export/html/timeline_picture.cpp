#include "export/html/timeline_picture.h"

#include "base/units.h"
#include "explain/names.h"
#include "export/html/markup.h"
#include "lod/slice_index.h"
#include "lod/step_curve.h"
#include "lod/time_axis.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs::html {

namespace {

constexpr double kLabels = 168; ///< width of the column of labels
constexpr double kRight = 12;
constexpr double kRuler = 24;
constexpr double kTitle = 26;
constexpr double kComputeLane = 26;
constexpr double kGroupLane = 18;
constexpr double kGap = 4;
constexpr double kBetween = 14;
constexpr double kLeast = 1.5;  ///< what is narrower is drawn together with its neighbours
constexpr double kTooltip = 3;  ///< from this width on a slice has a tooltip
constexpr double kLetter = 5.4; ///< width of a letter of the labels inside slices
constexpr size_t kMostLanes = 8;

enum Category : uint8_t { kCompute, kStall, kGather, kOther };
constexpr std::string_view kClasses[] = {"s-compute", "s-stall", "s-gather", "s-other"};

/// The area of the picture where time runs.
struct Frame {
    TimeAxis axis;
    double x(int64_t ns) const { return kLabels + axis.pixelOf(ns); }
    double right() const { return kLabels + axis.width(); }
};

Frame frameOf(const Analysis& analysis) {
    const int64_t end =
        std::max({analysis.before.timeline->step_ns, analysis.after.timeline->step_ns, int64_t{1}});
    return {TimeAxis({0, end}, static_cast<int>(kPictureWidth - kLabels - kRight))};
}

std::string nodeTooltip(const Program& program, NodeId id, int64_t ns) {
    const Graph& graph = *program.graph;
    const std::string name = cleanText(graph.name(id), 80);
    if (graph.node(id).kind == NodeKind::Wait)
        return fmt::format("stall of {} at {}", formatTime(ns), name);
    return fmt::format("{} · {}\n{}", name, cleanText(graph.targetText(id), 80), formatTime(ns));
}

std::string transferLabel(const Program& program, const Transfer& transfer) {
    const Collective& item = (*program.collectives)[static_cast<size_t>(transfer.collective)];
    if (item.inFlightAtEntry())
        return "in flight at entry: " + parameterName(*program.graph, item.input);
    return gatherLabel(*program.graph, item);
}

std::string transferTooltip(const Program& program, const Transfer& transfer) {
    const Collective& item = (*program.collectives)[static_cast<size_t>(transfer.collective)];
    return fmt::format("{} {} · {} · {}{}", collectiveKindName(item.kind),
                       cleanText(transferLabel(program, transfer), 100), formatBytes(item.output_bytes),
                       formatTime(transfer.end_ns - transfer.start_ns),
                       transfer.exposed_ns > 0 ? " · exposed " + formatTime(transfer.exposed_ns) : "");
}

struct Lane {
    std::string label;
    SliceIndex slices;
    double height = kGroupLane;
    bool compute = false;
};

Lane computeLane(const Program& program) {
    std::vector<Slice> slices;
    for (const NodeId id : program.schedule->order) {
        const int64_t start = program.timeline->start_ns[id], end = program.timeline->end_ns[id];
        const bool wait = program.graph->node(id).kind == NodeKind::Wait;
        if (end > start)
            slices.push_back({start, end, id, wait ? kStall : kCompute, false});
    }
    return {"compute", SliceIndex(std::move(slices)), kComputeLane, true};
}

std::string streamLabel(const Program& program, const CommStream& stream) {
    if (stream.in_flight)
        return "in flight at entry";
    if (stream.group == kNoGroup)
        return "unknown group";
    const ProcessGroup& group = program.graph->groups()[stream.group];
    const std::string name = cleanText(program.graph->text(group.name), 14);
    return group.size > 0 ? fmt::format("group {} × {}", name, group.size) : fmt::format("group {}", name);
}

/// Lanes of the busiest streams, in their own order.
std::vector<Lane> transferLanes(const Program& program, size_t& left_out) {
    const Timeline& timeline = *program.timeline;
    std::vector<std::vector<Slice>> slices(timeline.streams.size());
    for (size_t i = 0; i < timeline.transfers.size(); ++i) {
        const Transfer& transfer = timeline.transfers[i];
        const Collective& item = (*program.collectives)[static_cast<size_t>(transfer.collective)];
        if (transfer.end_ns > transfer.start_ns)
            slices[transfer.stream].push_back({transfer.start_ns, transfer.end_ns, static_cast<uint32_t>(i),
                                               item.isGather() ? kGather : kOther, false});
    }
    std::vector<size_t> busiest;
    for (size_t i = 0; i < slices.size(); ++i) {
        if (!slices[i].empty())
            busiest.push_back(i);
    }
    std::stable_sort(busiest.begin(), busiest.end(), [&](size_t a, size_t b) {
        return timeline.streams[a].busy_ns > timeline.streams[b].busy_ns;
    });
    left_out = busiest.size() > kMostLanes ? busiest.size() - kMostLanes : 0;
    busiest.resize(std::min(busiest.size(), kMostLanes));
    std::sort(busiest.begin(), busiest.end());
    std::vector<Lane> lanes;
    for (const size_t i : busiest)
        lanes.push_back({streamLabel(program, timeline.streams[i]), SliceIndex(std::move(slices[i]))});
    return lanes;
}

/// Of several slices drawn as one mark: what a person should see first.
Category foremost(const CategoryTimes& busy) {
    if (busy[kStall] * 2 > busy[kCompute])
        return busy[kStall] > 0 ? kStall : kCompute;
    return busy[kCompute] > 0 ? kCompute : busy[kGather] >= busy[kOther] ? kGather : kOther;
}

void drawLane(Svg& svg, const Frame& frame, const Program& program, const Lane& lane, double y) {
    svg.block("lane", kLabels, y, frame.axis.width(), lane.height);
    svg.text("lane-label", kLabels - 10, y + lane.height / 2 + 3.5, lane.label, "end");
    const TimeRange& range = frame.axis.range();
    const int64_t least = frame.axis.span(kLeast);
    for (const SliceRun& run : lane.slices.query(range.begin_ns, range.end_ns, least, least)) {
        const double x = frame.x(run.start_ns);
        const double width = std::max(frame.x(run.end_ns) - x, 0.4);
        const Slice& slice = lane.slices[run.longest];
        const Category category = run.count() == 1 ? static_cast<Category>(slice.category)
                                                   : foremost(lane.slices.busyOf(run.first, run.last));
        if (run.count() > 1 || width < kTooltip) {
            svg.block(kClasses[category], x, y, width, lane.height);
            continue;
        }
        const std::string tooltip = lane.compute
                                        ? nodeTooltip(program, slice.id, slice.duration())
                                        : transferTooltip(program, program.timeline->transfers[slice.id]);
        svg.rect(kClasses[category], x, y, width - 0.5, lane.height, tooltip, 1);
        if (lane.compute)
            continue;
        const std::string label =
            cleanText(transferLabel(program, program.timeline->transfers[slice.id]), 60);
        if (static_cast<double>(characters(label)) * kLetter + 8 < width)
            svg.text("slice-label", x + 4, y + lane.height / 2 + 3.5, label);
    }
}

void drawRuler(Svg& svg, const Frame& frame, double bottom) {
    const Ticks ticks = niceTicks(frame.axis, 90);
    for (const int64_t time : ticks.times) {
        const double x = frame.x(time);
        svg.line("grid", x, kRuler - 4, x, bottom);
        svg.text("tick", x, kRuler - 9, formatTick(time, ticks.step_ns),
                 x > frame.right() - 30 ? "end"
                 : time == 0            ? "start"
                                        : "middle");
    }
}

double heightOf(const std::vector<Lane>& lanes) {
    double height = kTitle;
    for (const Lane& lane : lanes)
        height += lane.height + kGap;
    return height;
}

} // namespace

Svg timelinePicture(const Analysis& analysis) {
    struct Part {
        const Program& program;
        std::string title;
        std::vector<Lane> lanes;
    };
    std::vector<Part> parts;
    for (const Program* program : {&analysis.before, &analysis.after}) {
        size_t left_out = 0;
        std::vector<Lane> lanes = transferLanes(*program, left_out);
        lanes.insert(lanes.begin(), computeLane(*program));
        parts.push_back(
            {*program,
             fmt::format("{} — {}, {} exposed{}",
                         program == &analysis.before ? std::string("Program order")
                                                     : "After " + cleanText(program->schedule->scheduler, 40),
                         formatTime(program->timeline->step_ns), formatTime(program->timeline->exposed_ns),
                         left_out == 0 ? std::string()
                                       : fmt::format("; {} more streams not drawn", left_out)),
             std::move(lanes)});
    }
    const double height = kRuler + heightOf(parts[0].lanes) + kBetween + heightOf(parts[1].lanes) + 4;
    const Frame frame = frameOf(analysis);
    Svg svg(kPictureWidth, height, "Simulated step before and after scheduling");
    drawRuler(svg, frame, height - 4);
    double y = kRuler;
    for (const Part& part : parts) {
        svg.text("part-title", 0, y + 17, part.title);
        const double top = y + kTitle;
        y = top;
        for (const Lane& lane : part.lanes) {
            drawLane(svg, frame, part.program, lane, y);
            y += lane.height + kGap;
        }
        const double end = frame.x(part.program.timeline->step_ns);
        svg.line("step-end", end, top - 6, end, y);
        y += kBetween;
    }
    return svg;
}

Svg liveBytesPicture(const Analysis& analysis) {
    constexpr double kTop = 12, kHeight = 130, kBottom = 26;
    const Frame frame = frameOf(analysis);
    Svg svg(kPictureWidth, kTop + kHeight + kBottom, "Gathered bytes alive over the step");
    const int64_t peak = std::max({analysis.before.timeline->peak_gathered_bytes,
                                   analysis.after.timeline->peak_gathered_bytes, int64_t{1}});
    const auto y = [&](int64_t bytes) {
        return kTop + kHeight * (1 - static_cast<double>(bytes) / static_cast<double>(peak));
    };
    for (const double share : {0.0, 0.5, 1.0}) {
        const auto bytes = static_cast<int64_t>(static_cast<double>(peak) * share);
        svg.line("grid", kLabels, y(bytes), frame.right(), y(bytes));
        svg.text("tick", kLabels - 10, y(bytes) + 3.5, formatBytes(bytes), "end");
    }
    const Ticks ticks = niceTicks(frame.axis, 90);
    for (const int64_t time : ticks.times)
        svg.text("tick", frame.x(time), kTop + kHeight + 16, formatTick(time, ticks.step_ns),
                 frame.x(time) > frame.right() - 30 ? "end"
                 : time == 0                        ? "start"
                                                    : "middle");
    const TimeRange& range = frame.axis.range();
    for (const Program* program : {&analysis.after, &analysis.before}) {
        std::vector<CurvePoint> points;
        for (const BytesPoint& point : program->timeline->live_bytes)
            points.push_back({point.time_ns, point.bytes});
        const StepCurve curve(points);
        if (curve.empty())
            continue;
        std::string d = fmt::format("M{} {}", coordinate(frame.x(0)), coordinate(y(0)));
        for (const CurveColumn& column : curve.query(range.begin_ns, range.end_ns, frame.axis.span(1))) {
            const std::string x = coordinate(frame.x(column.begin_ns));
            for (const int64_t value : {column.first, column.high, column.low, column.last})
                d += fmt::format("L{} {}", x, coordinate(y(value)));
            // Flat until the next column.
        }
        const std::string end = coordinate(frame.x(program->timeline->step_ns));
        d += fmt::format("H{}V{}", end, coordinate(y(0)));
        if (program == &analysis.after)
            svg.path("bytes-area", d + "z");
        svg.path(program == &analysis.after ? "bytes-after" : "bytes-before", d);
    }
    return svg;
}

} // namespace gs::html
