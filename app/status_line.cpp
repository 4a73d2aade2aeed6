#include "app/status_line.h"

#include "app/elided_label.h"
#include "app/text.h"
#include "base/units.h"
#include "views/theme.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>

namespace gs {

namespace {

QString count(size_t value) {
    return toQString(formatCount(static_cast<int64_t>(value)));
}

QString editsText(size_t edits) {
    if (edits == 0)
        return {};
    return edits == 1 ? StatusLine::tr("1 change by hand")
                      : StatusLine::tr("%1 changes by hand").arg(count(edits));
}

QString time(int64_t ns) {
    return toQString(formatTime(ns));
}

} // namespace

QStringList statusParts(const Analysis& analysis) {
    const Summary summary = summarise(analysis);
    const Timeline& before = *analysis.before.timeline;
    const Timeline& after = *analysis.after.timeline;
    const double gain = before.step_ns > 0 ? static_cast<double>(after.step_ns - before.step_ns) /
                                                 static_cast<double>(before.step_ns)
                                           : 0;
    return {
        StatusLine::tr("%1 of %2 gathers hidden").arg(count(summary.hidden), count(summary.gathers)),
        StatusLine::tr("exposed %1 of %2").arg(time(after.exposed_ns), time(before.exposed_ns)),
        StatusLine::tr("step %1 (%2)").arg(time(after.step_ns), toQString(formatPercent(gain, true))),
        StatusLine::tr("lower bound %1").arg(time(analysis.lower_bound_ns)),
        StatusLine::tr("peak gathered %1").arg(toQString(formatBytes(after.peak_gathered_bytes))),
        summary.missing_costs == 1 ? StatusLine::tr("1 cost missing")
                                   : StatusLine::tr("%1 costs missing").arg(count(summary.missing_costs)),
        editsText(analysis.request.edits.size()),
    };
}

StatusLine::StatusLine(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("status"));
    setFixedHeight(32);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 0, 14, 0);
    layout->setSpacing(0);
    const QString tips[kParts] = {
        tr("Show the gathers"),
        tr("Show the stalls: exposed after, of before"),
        tr("Show the timeline: simulated step after, against before"),
        tr("No order can be faster: compute, communication or the longest path"),
        tr("Show gathered bytes alive on the timeline"),
        tr("Show the costs that no source knows"),
        tr("List the changes made by hand, and take them back"),
    };
    for (int i = 0; i < kParts; ++i) {
        dots_[i] = new QLabel(QStringLiteral(" · "));
        dots_[i]->setProperty("role", "subtitle");
        parts_[i] = new QPushButton;
        parts_[i]->setProperty("role", "link");
        parts_[i]->setCursor(Qt::PointingHandCursor);
        parts_[i]->setFocusPolicy(Qt::TabFocus);
        parts_[i]->setToolTip(tips[i]);
        connect(parts_[i], &QPushButton::clicked, this,
                [this, i] { emit partClicked(static_cast<Part>(i)); });
        if (i > 0)
            layout->addWidget(dots_[i]);
        else
            dots_[i]->hide();
        layout->addWidget(parts_[i]);
    }
    dots_[0]->setParent(this);
    idle_ = new QLabel(tr("Open a graph, or drop one here"));
    idle_->setProperty("role", "subtitle");
    layout->addWidget(idle_);
    layout->addStretch(1);
    run_ = new ElidedLabel;
    run_->setProperty("role", "subtitle");
    layout->addWidget(run_);
    setSnapshot(nullptr);
}

void StatusLine::setSnapshot(const SnapshotPtr& snapshot) {
    const bool open = snapshot != nullptr;
    const QStringList texts = open ? statusParts(*snapshot) : QStringList();
    for (int i = 0; i < kParts; ++i) {
        const bool shown = open && !texts[i].isEmpty();
        parts_[i]->setVisible(shown);
        dots_[i]->setVisible(shown && i > 0);
        if (open)
            parts_[i]->setText(texts[i]);
    }
    idle_->setVisible(!open);
    QString run;
    if (open) {
        const Schedule& schedule = *snapshot->after.schedule;
        run = toQString(schedule.scheduler);
        if (schedule.run_ms > 0)
            run += QStringLiteral(" · ") + time(static_cast<int64_t>(schedule.run_ms * 1e6));
    }
    run_->setFullText(run);
}

QString StatusLine::text() const {
    if (!idle_->isHidden())
        return {};
    QStringList texts;
    for (const QPushButton* part : parts_) {
        if (!part->text().isEmpty())
            texts.append(part->text());
    }
    return texts.join(QStringLiteral(" · "));
}

void StatusLine::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), theme.panel);
    painter.fillRect(QRect(0, 0, width(), 1), theme.border);
}

} // namespace gs
