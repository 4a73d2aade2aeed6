#include "views/timeline/timeline_text.h"

#include "base/units.h"
#include "views/timeline/facts.h"
#include "views/timeline/measured_tips.h"
#include "views/timeline/timeline_data.h"

#include <QStringList>

namespace gs {

namespace {

/// "1,159.1 µs · imported: h100.json".
QString costText(const Program& program, NodeId node) {
    const CostEntry* entry = program.costs ? program.costs->entry(node) : nullptr;
    if (!entry)
        return {};
    if (entry->provenance == Provenance::Missing)
        return TimelineText::tr("missing, counted as 0");
    QString text = timeText(entry->ns) + QStringLiteral(" · ") + fromView(provenanceName(entry->provenance));
    if (!entry->source.empty())
        text += QStringLiteral(": ") + QString::fromStdString(entry->source);
    return text;
}

void addCollective(Facts& facts, const TimelineBand& band, int32_t index) {
    const Collective& item = band.collectives()[static_cast<size_t>(index)];
    const Transfer& transfer = band.timeline().transfers[static_cast<size_t>(index)];
    const Graph& graph = band.graph();
    if (item.inFlightAtEntry())
        facts.add(TimelineText::tr("wait"), fromView(graph.name(item.waits.front())));
    else
        facts.add(TimelineText::tr("collective"), fromView(collectiveKindName(item.kind)));
    facts.add(TimelineText::tr("parameter"), QString::fromStdString(gatheredParameters(graph, item)));
    facts.add(TimelineText::tr("group"), band.lanes[1 + transfer.stream].label);
    facts.add(TimelineText::tr("bytes"), bytesText(item.output_bytes));
    facts.add(TimelineText::tr("launched"), item.launch == kNoNode
                                                ? TimelineText::tr("before the graph starts")
                                                : timeText(transfer.launched_ns));
    QString start = timeText(transfer.start_ns);
    if (transfer.start_ns > transfer.launched_ns)
        start += TimelineText::tr(" · queued for %1").arg(timeText(transfer.start_ns - transfer.launched_ns));
    facts.add(TimelineText::tr("start"), start);
    facts.add(TimelineText::tr("end"), timeText(transfer.end_ns));
    QString took = timeText(transfer.end_ns - transfer.start_ns);
    if (transfer.end_ns - transfer.start_ns != transfer.alone_ns)
        took += TimelineText::tr(" · %1 without contention").arg(timeText(transfer.alone_ns));
    facts.add(TimelineText::tr("duration"), took);
    facts.add(TimelineText::tr("exposed"),
              transfer.exposed_ns > 0 ? timeText(transfer.exposed_ns) : TimelineText::tr("nothing, hidden"));
    const NodeId priced = item.inFlightAtEntry() ? item.input : item.launch;
    facts.add(TimelineText::tr("cost"), costText(*band.program, priced));
    const InFlightTime time = band.program->costs->inFlight(static_cast<size_t>(index));
    if (time.elapsed_ns > 0)
        facts.add(TimelineText::tr("elapsed at entry"), timeText(time.elapsed_ns));
}

} // namespace

QString timeText(int64_t ns) {
    return QString::fromStdString(formatTime(ns));
}

QString bytesText(int64_t bytes) {
    return QString::fromStdString(formatBytes(bytes));
}

QString headerText(const Analysis& analysis) {
    const Timeline* before = analysis.before.timeline.get();
    const Timeline* after = analysis.after.timeline ? analysis.after.timeline.get() : before;
    if (!after)
        return {};
    QStringList parts;
    if (after->comm_ns > 0)
        parts << TimelineText::tr("exposed %1 of %2")
                     .arg(timeText(after->exposed_ns), timeText(after->comm_ns));
    else
        parts << TimelineText::tr("no communication");
    if (before && before != after && before->step_ns > 0) {
        QString from = timeText(before->step_ns);
        const QString to = timeText(after->step_ns);
        const QString unit = to.section(QLatin1Char(' '), -1);
        if (from.section(QLatin1Char(' '), -1) == unit)
            from = from.section(QLatin1Char(' '), 0, -2);
        const double change =
            static_cast<double>(after->step_ns - before->step_ns) / static_cast<double>(before->step_ns);
        parts << TimelineText::tr("step %1 → %2 (%3)")
                     .arg(from, to, QString::fromStdString(formatPercent(change, true)));
    } else {
        parts << TimelineText::tr("step %1").arg(timeText(after->step_ns));
    }
    if (analysis.lower_bound_ns > 0)
        parts << TimelineText::tr("lower bound %1").arg(timeText(analysis.lower_bound_ns));
    return parts.join(QStringLiteral(" · "));
}

QString groupLabel(const Graph& graph, GroupId group, int32_t size, bool gathers_weights) {
    if (group == kNoGroup)
        return TimelineText::tr("group not known");
    const ProcessGroup& item = graph.groups()[group];
    QString name = fromView(graph.text(item.description));
    // PyTorch names a mesh dimension's group "mesh_DIM" and the world's "default_pg".
    if (name.startsWith(QLatin1String("mesh_")))
        name = name.mid(5);
    else if (name == QLatin1String("default_pg"))
        name = gathers_weights ? QStringLiteral("fsdp") : TimelineText::tr("world");
    if (name.isEmpty() || name == QLatin1String("undefined"))
        name = TimelineText::tr("group %1").arg(fromView(graph.text(item.name)));
    const int32_t ranks = item.size > 0 ? item.size : size;
    return ranks > 0 ? QStringLiteral("%1 · %2").arg(name).arg(ranks) : name;
}

QString groupTip(const Graph& graph, const CommStream& stream, size_t transfers, const QString& label) {
    Facts facts(label);
    if (stream.group != kNoGroup) {
        const ProcessGroup& group = graph.groups()[stream.group];
        facts.add(TimelineText::tr("name"), fromView(graph.text(group.name)));
        facts.add(TimelineText::tr("description"), fromView(graph.text(group.description)));
    }
    facts.add(TimelineText::tr("collectives"),
              QString::fromStdString(formatCount(static_cast<int64_t>(transfers))));
    facts.add(TimelineText::tr("busy"), timeText(stream.busy_ns));
    return facts.html();
}

QString computeLabel(const Graph& graph, NodeId node) {
    QString name = fromView(graph.name(node));
    const QLatin1String attention("scaled_dot_product_");
    const qsizetype at = name.indexOf(attention);
    if (at >= 0)
        name = name.mid(at + attention.size());
    while (name.startsWith(QLatin1Char('_')))
        name = name.mid(1);
    return name;
}

QString collectiveLabel(const Graph& graph, const Collective& collective) {
    if (collective.inFlightAtEntry())
        return TimelineText::tr("in flight at entry · %1")
            .arg(QString::fromStdString(parameterName(graph, collective.input)));
    if (!collective.weight_gather || collective.parameters.empty())
        return fromView(collectiveKindName(collective.kind));
    const QString full = QString::fromStdString(parameterName(graph, collective.parameters.front()));
    QStringList parts = full.split(QLatin1Char('.'), Qt::SkipEmptyParts);
    if (parts.size() > 1 && parts.back() == QLatin1String("weight"))
        parts.removeLast();
    QString name = parts.isEmpty() ? full : parts.back();
    if (parts.size() > 1 && name == QLatin1String("bias"))
        name = parts[parts.size() - 2] + QStringLiteral(".bias");
    if (collective.parameters.size() > 1)
        name += QStringLiteral(" +%1").arg(collective.parameters.size() - 1);
    return name;
}

QString sliceTip(const TimelineData& data, const SliceRef& ref) {
    const TimelineBand& band = data.bands[ref.band];
    const Slice& slice = data.slice(ref);
    const Graph& graph = band.graph();
    if (band.measured)
        return measuredSliceTip(data, ref);
    switch (static_cast<SliceKind>(slice.category)) {
    case SliceKind::Compute: {
        Facts facts(fromView(graph.name(slice.id)));
        facts.add(TimelineText::tr("op"), fromView(graph.targetText(slice.id)));
        facts.add(TimelineText::tr("module"), fromView(graph.text(graph.node(slice.id).module)));
        facts.add(TimelineText::tr("start"), timeText(slice.start_ns));
        facts.add(TimelineText::tr("end"), timeText(slice.end_ns));
        facts.add(TimelineText::tr("duration"), timeText(slice.duration()));
        facts.add(TimelineText::tr("cost"), costText(*band.program, slice.id));
        return facts.html();
    }
    case SliceKind::Stall: {
        const Stall& stall = band.timeline().stalls[slice.id];
        Facts facts(TimelineText::tr("exposed for %1").arg(timeText(slice.duration())));
        facts.add(TimelineText::tr("wait"), fromView(graph.name(stall.wait)));
        facts.add(TimelineText::tr("from"), timeText(slice.start_ns));
        facts.add(TimelineText::tr("to"), timeText(slice.end_ns));
        if (stall.collective >= 0)
            addCollective(facts, band, stall.collective);
        return facts.html();
    }
    default: {
        const Collective& item = band.collectives()[slice.id];
        Facts facts(item.inFlightAtEntry() ? collectiveLabel(graph, item)
                                           : fromView(graph.name(item.launch)));
        addCollective(facts, band, static_cast<int32_t>(slice.id));
        return facts.html();
    }
    }
}

QString runTip(const TimelineData& data, size_t band, size_t lane, const SliceRun& run) {
    if (run.count() == 1)
        return sliceTip(data, {band, lane, run.first});
    const SliceIndex& slices = data.bands[band].lanes[lane].slices;
    const CategoryTimes busy = slices.busyOf(run.first, run.last);
    Facts facts(TimelineText::tr("%1 slices, too short to tell apart here")
                    .arg(QString::fromStdString(formatCount(run.count()))));
    facts.add(TimelineText::tr("from"), timeText(run.start_ns));
    facts.add(TimelineText::tr("to"), timeText(run.end_ns));
    const char* names[kSliceCategories] = {QT_TRANSLATE_NOOP("gs::TimelineText", "compute"),
                                           QT_TRANSLATE_NOOP("gs::TimelineText", "exposed"),
                                           QT_TRANSLATE_NOOP("gs::TimelineText", "weight gathers"),
                                           QT_TRANSLATE_NOOP("gs::TimelineText", "other collectives"),
                                           QT_TRANSLATE_NOOP("gs::TimelineText", "in flight at entry")};
    for (size_t i = 0; i < kSliceCategories; ++i) {
        if (busy[i] > 0)
            facts.add(TimelineText::tr(names[i]), timeText(busy[i]));
    }
    return facts.html() + QStringLiteral("<hr/>") + TimelineText::tr("Longest: ") +
           sliceTip(data, {band, lane, run.longest});
}

} // namespace gs
