#include "views/profile/profile_comparison.h"

#include "base/units.h"
#include "cost/profile_compare.h"
#include "cost/profile_store.h"
#include "views/docks/data_table.h"
#include "views/profile/cost_changes_table.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace gs {

namespace {

QString toText(const std::string& text) {
    return QString::fromStdString(text);
}

ProfileSummary summaryOf(const Profile& profile) {
    ProfileSummary summary;
    summary.id = profile.id;
    summary.unix_time_s = profile.unix_time_s;
    summary.device = profile.device;
    summary.ranks = profile.ranks;
    summary.entries = static_cast<int64_t>(profile.entries.size());
    return summary;
}

std::vector<CostChange> changesOf(const Profile& a, const Profile& b) {
    std::vector<CostChange> changes;
    for (const ProfileDifference& difference : compareProfiles(a, b)) {
        CostChange change;
        change.key = difference.key;
        change.kind = difference.kind;
        change.label = difference.label;
        change.calls = difference.calls;
        change.old_ns = difference.a_ns;
        change.new_ns = difference.b_ns;
        change.old_source = difference.a_ns < 0 ? Provenance::Missing : Provenance::Measured;
        change.new_source = difference.b_ns < 0 ? Provenance::Missing : Provenance::Measured;
        changes.push_back(std::move(change));
    }
    return changes;
}

/// Of the keys that both know, per step.
QString totalsText(const std::vector<CostChange>& changes) {
    int64_t a_ns = 0, b_ns = 0;
    for (const CostChange& change : changes) {
        if (change.old_ns < 0 || change.new_ns < 0)
            continue;
        a_ns += change.calls * change.old_ns;
        b_ns += change.calls * change.new_ns;
    }
    if (a_ns <= 0)
        return ProfileComparison::tr("No key is in both profiles.");
    return ProfileComparison::tr("All calls of a step, of the keys in both: %1 → %2 (%3)")
        .arg(toText(formatTime(a_ns)), toText(formatTime(b_ns)),
             toText(formatPercent(double(b_ns - a_ns) / double(a_ns), true)));
}

} // namespace

QString profileText(const ProfileSummary& profile) {
    return QStringList{
        QString::number(profile.id), toText(profile.device),
        profile.ranks == 1 ? ProfileComparison::tr("1 rank")
                           : ProfileComparison::tr("%1 ranks").arg(profile.ranks),
        ProfileComparison::tr("%1 keys").arg(toText(formatCount(profile.entries))),
        QDateTime::fromSecsSinceEpoch(profile.unix_time_s).toString(QStringLiteral("yyyy-MM-dd HH:mm"))}
        .join(QStringLiteral(" · "));
}

ProfileComparison::ProfileComparison(QWidget* parent)
    : QWidget(parent), a_(new QLabel(this)), b_(new QLabel(this)), totals_(new QLabel(this)),
      error_(new QLabel(this)), close_(new QPushButton(tr("Back to the costs"), this)),
      changes_(new CostChangesTable(CostChangesTable::Of::Profiles, this)) {
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    for (QLabel* label : {a_, b_, totals_, error_}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    for (QLabel* label : {totals_, error_})
        label->setProperty("role", "subtitle");
    auto* names = new QVBoxLayout;
    names->setSpacing(2);
    for (QLabel* label : {a_, b_, totals_})
        names->addWidget(label);
    auto* top = new QHBoxLayout;
    top->addLayout(names, 1);
    top->addWidget(close_, 0, Qt::AlignTop);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(10, 8, 10, 0);
    layout->setSpacing(8);
    layout->addLayout(top);
    layout->addWidget(error_);
    layout->addWidget(changes_, 1);
    connect(close_, &QPushButton::clicked, this, &ProfileComparison::closed);
}

void ProfileComparison::setProfiles(const Profile& a, const Profile& b) {
    std::vector<CostChange> changes = changesOf(a, b);
    a_->setText(tr("A  %1 (in use)").arg(profileText(summaryOf(a))));
    b_->setText(tr("B  %1").arg(profileText(summaryOf(b))));
    totals_->setText(totalsText(changes));
    changes_->setChanges(std::move(changes));
    changes_->table()->showRow(0);
    error_->hide();
    for (QWidget* widget : std::initializer_list<QWidget*>{a_, b_, totals_, changes_})
        widget->show();
}

void ProfileComparison::setError(const QString& text) {
    for (QWidget* widget : std::initializer_list<QWidget*>{a_, b_, totals_, changes_})
        widget->hide();
    error_->setText(text);
    error_->show();
}

QString ProfileComparison::words() const {
    QStringList lines;
    for (const QLabel* label : {a_, b_, totals_, error_})
        if (!label->isHidden())
            lines << label->text();
    return lines.join(QLatin1Char('\n'));
}

} // namespace gs
