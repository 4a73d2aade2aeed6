#include "views/timeline/measured_tips.h"

#include "base/units.h"
#include "explain/names.h"
#include "views/timeline/facts.h"
#include "views/timeline/timeline_text.h"

#include <QFileInfo>
#include <QStringList>

namespace gs {

namespace {

QString signedTime(int64_t ns) {
    return (ns < 0 ? QStringLiteral("−") : QStringLiteral("+")) + timeText(ns < 0 ? -ns : ns);
}

QString countText(size_t count) {
    return QString::fromStdString(formatCount(static_cast<int64_t>(count)));
}

QString kindText(CollectiveKind kind) {
    return kind == CollectiveKind::None ? TimelineText::tr("all") : fromView(collectiveKindName(kind));
}

QString exposedText(int64_t ns) {
    return ns < 0 ? TimelineText::tr("not known") : timeText(ns);
}

/// What the duration is, and how much waiting for other ranks is in it.
QString skewText(const MeasuredRun& run, const MeasuredTransfer& item) {
    if (run.single_rank)
        return TimelineText::tr("part of the duration, not known from one rank");
    return item.skew_ns < 0 ? TimelineText::tr("not known") : timeText(item.skew_ns);
}

void addTransfer(Facts& facts, const TimelineData& data, const TimelineBand& band, int32_t collective) {
    const auto index = static_cast<size_t>(collective);
    const Analysis& analysis = *data.snapshot;
    const Collective& item = band.collectives()[index];
    const Transfer& predicted = analysis.after.timeline->transfers[index];
    const MeasuredTransfer& measured = band.measured->transfers[index];
    facts.add(TimelineText::tr("collective"), fromView(collectiveKindName(item.kind)));
    facts.add(TimelineText::tr("parameter"), QString::fromStdString(gatheredParameters(band.graph(), item)));
    facts.add(TimelineText::tr("group"), band.lanes[1 + band.timeline().transfers[index].stream].label);
    facts.add(TimelineText::tr("bytes"), bytesText(item.output_bytes));
    facts.add(TimelineText::tr("predicted"), timeText(predicted.end_ns - predicted.start_ns));
    QString took = timeText(measured.ns);
    if (!band.measured->single_rank)
        took += TimelineText::tr(" · the shortest of %1 ranks").arg(band.measured->files.size());
    else if (band.measured->steps > 1)
        took += TimelineText::tr(" · median of %1 steps").arg(countText(band.measured->steps));
    facts.add(TimelineText::tr("measured"), took);
    facts.add(TimelineText::tr("error"), measuredErrorText(analysis, collective));
    facts.add(TimelineText::tr("start"), TimelineText::tr("%1 · predicted %2 (%3)")
                                             .arg(timeText(measured.start_ns), timeText(predicted.start_ns),
                                                  signedTime(measured.start_ns - predicted.start_ns)));
    if (measured.shown_ns != measured.ns)
        facts.add(TimelineText::tr("in this step"), timeText(measured.shown_ns));
    facts.add(TimelineText::tr("exposed"),
              TimelineText::tr("%1 · predicted %2")
                  .arg(exposedText(measured.exposed_ns), timeText(predicted.exposed_ns)));
    facts.add(TimelineText::tr("waiting for ranks (skew)"), skewText(*band.measured, measured));
}

} // namespace

QString measuredErrorText(const Analysis& analysis, int32_t collective) {
    const auto index = static_cast<size_t>(collective);
    const MeasuredTransfer& measured = analysis.measured->transfers[index];
    if (measured.collective < 0)
        return {};
    const Transfer& transfer = analysis.after.timeline->transfers[index];
    const int64_t predicted = transfer.end_ns - transfer.start_ns;
    QString text = signedTime(measured.ns - predicted);
    if (predicted > 0)
        text += QStringLiteral(" (%1)").arg(QString::fromStdString(formatPercent(
            static_cast<double>(measured.ns - predicted) / static_cast<double>(predicted), true)));
    return text;
}

QString measuredSliceTip(const TimelineData& data, const SliceRef& ref) {
    const TimelineBand& band = data.bands[ref.band];
    const Slice& slice = data.slice(ref);
    switch (static_cast<SliceKind>(slice.category)) {
    case SliceKind::Compute: {
        Facts facts(TimelineText::tr("compute in the trace"));
        facts.add(TimelineText::tr("start"), timeText(slice.start_ns));
        facts.add(TimelineText::tr("end"), timeText(slice.end_ns));
        facts.add(TimelineText::tr("without a gap"), timeText(slice.duration()));
        return facts.html();
    }
    case SliceKind::Stall: {
        Facts facts(TimelineText::tr("exposed for %1: nothing computed").arg(timeText(slice.duration())));
        addTransfer(facts, data, band, band.timeline().stalls[slice.id].collective);
        return facts.html();
    }
    default: {
        const Collective& item = band.collectives()[slice.id];
        Facts facts(item.launch == kNoNode ? collectiveLabel(band.graph(), item)
                                           : fromView(band.graph().name(item.launch)));
        addTransfer(facts, data, band, static_cast<int32_t>(slice.id));
        return facts.html();
    }
    }
}

QString measuredNote(const Analysis& analysis) {
    const MeasuredRun& run = *analysis.measured;
    QStringList parts{TimelineText::tr("%1 of %2 collectives matched")
                          .arg(countText(run.matched), countText(run.transfers.size()))};
    for (const MeasuredErrors& row : run.errors) {
        // "all" says nothing new where there is one kind.
        if (row.kind != CollectiveKind::None && row.count > 0)
            parts << TimelineText::tr("%1 %2 on average, spread %3, worst %4")
                         .arg(kindText(row.kind), signedTime(row.bias_ns), timeText(row.spread_ns),
                              signedTime(row.worst_ns));
    }
    return parts.join(QStringLiteral(" · "));
}

QString measuredErrorTip(const Analysis& analysis) {
    const MeasuredRun& run = *analysis.measured;
    QStringList names;
    for (const std::string& file : run.files)
        names << QFileInfo(QString::fromStdString(file)).fileName();
    QString html = QStringLiteral("<b>%1</b><table cellspacing='0'>")
                       .arg(TimelineText::tr("Measured − predicted: %1")
                                .arg(names.join(QStringLiteral(", ")))
                                .toHtmlEscaped());
    const auto row = [&](const QStringList& cells, const QString& tag) {
        html += QStringLiteral("<tr>");
        for (qsizetype i = 0; i < cells.size(); ++i)
            html +=
                QStringLiteral("<%1 align='%2'>%3&nbsp;&nbsp;</%1>")
                    .arg(tag,
                         i == 0 || i + 1 == cells.size() ? QStringLiteral("left") : QStringLiteral("right"),
                         cells[i].toHtmlEscaped());
        html += QStringLiteral("</tr>");
    };
    row({TimelineText::tr("kind"), TimelineText::tr("count"), TimelineText::tr("predicted"),
         TimelineText::tr("measured"), TimelineText::tr("bias"), TimelineText::tr("spread"),
         TimelineText::tr("worst"), TimelineText::tr("where")},
        QStringLiteral("th"));
    for (const MeasuredErrors& errors : run.errors) {
        const QString where = errors.worst < 0
                                  ? QString()
                                  : QString::fromStdString(gatherLabel(
                                        *analysis.after.graph,
                                        (*analysis.after.collectives)[static_cast<size_t>(errors.worst)]));
        row({kindText(errors.kind), countText(errors.count), timeText(errors.predicted_ns),
             timeText(errors.measured_ns), signedTime(errors.bias_ns), timeText(errors.spread_ns),
             signedTime(errors.worst_ns), where},
            QStringLiteral("td"));
    }
    html += QStringLiteral("</table>");
    const MeasuredErrors& all = run.errors.front();
    html += TimelineText::tr("exposed: %1 predicted, %2 measured")
                .arg(timeText(all.predicted_exposed_ns), exposedText(all.measured_exposed_ns));
    html += QStringLiteral("<br/>") +
            (run.single_rank ? TimelineText::tr("Durations include waiting for slower ranks (skew).")
                             : TimelineText::tr("Of the ranks the shortest duration counts."));
    return html + QStringLiteral("<br/>") + TimelineText::tr("A click selects the worst.");
}

} // namespace gs
