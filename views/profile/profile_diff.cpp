#include "views/profile/profile_diff.h"

#include "base/units.h"
#include "views/theme.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QSignalBlocker>

namespace gs {

namespace {

enum GridColumn { Name, OldText, Arrow, NewText, Change };

QString toText(const std::string& text) {
    return QString::fromStdString(text);
}

QString count(size_t value) {
    return toText(formatCount(static_cast<int64_t>(value)));
}

/// "+3", "−3", or nothing.
QString countChange(size_t before, size_t after) {
    if (before == after)
        return {};
    return (after > before ? QStringLiteral("+") : QStringLiteral("−")) +
           count(after > before ? after - before : before - after);
}

QString timeChange(int64_t before, int64_t after) {
    if (before == after)
        return {};
    return before > 0 ? toText(formatPercent(double(after - before) / double(before), true)) : QString();
}

int sign(int64_t difference) {
    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

} // namespace

ProfileDiff::ProfileDiff(QWidget* parent)
    : QWidget(parent), changes_(new CostChangesTable(CostChangesTable::Of::Measurement, this)),
      grid_(new QGridLayout), facts_(new QLabel(this)), factor_(new QLabel(this)), mode_(new QLabel(this)),
      contention_(new QCheckBox(tr("Reckon with the measured contention"), this)) {
    for (QLabel* label : {facts_, factor_, mode_}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    for (QLabel* label : {facts_, factor_})
        label->setProperty("role", "subtitle");
    grid_->setHorizontalSpacing(14);
    grid_->setVerticalSpacing(3);
    grid_->setColumnMinimumWidth(OldText, 78);
    grid_->setColumnMinimumWidth(NewText, 78);
    auto* right = new QVBoxLayout;
    right->setSpacing(6);
    right->addWidget(facts_);
    right->addWidget(factor_);
    right->addWidget(contention_);
    right->addWidget(mode_);
    right->addStretch(1);
    auto* top = new QHBoxLayout;
    top->setSpacing(32);
    top->addLayout(grid_);
    top->addLayout(right, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addLayout(top);
    layout->addSpacing(4);
    layout->addWidget(changes_, 1);
    connect(contention_, &QCheckBox::toggled, this, &ProfileDiff::contentionToggled);
}

bool ProfileDiff::usesContention() const {
    return contention_->isChecked() && !contention_->isHidden();
}

void ProfileDiff::setWorking(bool working) {
    contention_->setEnabled(!working);
    grid_->setEnabled(!working);
    for (int i = 0; i < grid_->count(); ++i)
        grid_->itemAt(i)->widget()->setEnabled(!working);
}

void ProfileDiff::setDiff(const Profile& profile, const AnalysisPtr& before, const AnalysisPtr& after) {
    fillSummary(*before, *after);
    fillContention(profile, *before);
    changes_->setChanges(costChanges(*before, *after));
}

void ProfileDiff::addFigure(int row, const QString& name, const QString& old_text, const QString& new_text,
                            const QString& change, int better) {
    const QString texts[] = {name, old_text, QStringLiteral("→"), new_text, change};
    for (int column = Name; column <= Change; ++column) {
        auto* label = new QLabel(texts[column], this);
        const bool number = column == OldText || column == NewText || column == Change;
        label->setAlignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        if (row == 0)
            label->setProperty("role", "caption");
        else if (column == NewText)
            label->setFont(Theme::font(12, QFont::DemiBold));
        else if (column != OldText)
            label->setProperty("role", "subtitle");
        if (column == Change && better != 0 && row > 0) {
            label->setProperty("role", better > 0 ? "better" : "worse");
            label->setAccessibleDescription(better > 0 ? tr("better") : tr("worse"));
        }
        grid_->addWidget(label, row, column);
    }
    if (row == 0)
        grid_->itemAtPosition(0, Arrow)->widget()->hide();
}

void ProfileDiff::fillSummary(const Analysis& before, const Analysis& after) {
    while (QLayoutItem* item = grid_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    const Summary a = summarise(before), b = summarise(after);
    const Timeline& now = *before.after.timeline;
    const Timeline& then = *after.after.timeline;
    const auto time = [](int64_t ns) { return toText(formatTime(ns)); };
    addFigure(0, tr("schedule"), tr("now"), tr("measured"), tr("change"), 0);
    addFigure(1, tr("Gathers hidden"), tr("%1 of %2").arg(count(a.hidden), count(a.gathers)),
              tr("%1 of %2").arg(count(b.hidden), count(b.gathers)), countChange(a.hidden, b.hidden),
              sign(int64_t(b.hidden) - int64_t(a.hidden)));
    addFigure(2, tr("Exposed"), time(now.exposed_ns), time(then.exposed_ns),
              timeChange(now.exposed_ns, then.exposed_ns), sign(now.exposed_ns - then.exposed_ns));
    addFigure(3, tr("Step"), time(now.step_ns), time(then.step_ns), timeChange(now.step_ns, then.step_ns),
              sign(now.step_ns - then.step_ns));
    addFigure(4, tr("Launches moved"), count(a.moved), count(b.moved),
              tr("%1 elsewhere").arg(count(movedLaunches(before, after))), 0);
    addFigure(5, tr("Costs missing"), count(a.missing_costs), count(b.missing_costs),
              countChange(a.missing_costs, b.missing_costs),
              sign(int64_t(a.missing_costs) - int64_t(b.missing_costs)));
}

void ProfileDiff::fillContention(const Profile& profile, const Analysis& before) {
    const bool measured = !profile.contention.empty();
    const MeasuredContention overall = overallContention(profile);
    facts_->setText(QStringList{
        toText(profile.device), profile.ranks == 1 ? tr("1 rank") : tr("%1 ranks").arg(profile.ranks),
        tr("backend %1").arg(toText(profile.backend)), tr("%1 keys").arg(count(profile.entries.size()))}
                        .join(QStringLiteral(" · ")));
    const Settings& settings = before.request.settings;
    const QString sizes = profile.contention.size() == 1
                              ? tr("one size")
                              : tr("by time, over %1 sizes").arg(count(profile.contention.size()));
    factor_->setText(measured
                         ? tr("Contention factor %1, compute slow-down %2 (%3). The settings say %4 and %5.")
                               .arg(overall.factor, 0, 'f', 2)
                               .arg(overall.compute_slowdown, 0, 'f', 2)
                               .arg(sizes, toText(settings.text(Setting::Contention)),
                                    toText(settings.text(Setting::ComputeSlowdown)))
                         : tr("Contention was not measured: the settings count."));
    contention_->setVisible(measured);
    mode_->setVisible(!profile.mode.empty() && profile.mode != "identical");
    mode_->setText(profile.mode == "pinned"
                       ? tr("The ranks' collectives differ: no gather may pass another collective, so this "
                            "schedule is for rank 0 alone.")
                       : tr("The ranks' graphs differ, their collectives do not."));
}

QString ProfileDiff::summaryText() const {
    QStringList lines;
    for (int row = 0; row < grid_->rowCount(); ++row) {
        QStringList cells;
        for (int column = Name; column <= Change; ++column)
            if (const QLayoutItem* item = grid_->itemAtPosition(row, column))
                cells << static_cast<QLabel*>(item->widget())->text();
        lines << cells.join(QLatin1Char(' '));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace gs
