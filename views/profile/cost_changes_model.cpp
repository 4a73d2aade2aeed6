#include "views/profile/cost_changes_model.h"

#include "base/units.h"

#include <algorithm>
#include <cstdlib>

namespace gs {

namespace {

const QString kNothing = QStringLiteral("–");

QString toText(const std::string& value) {
    return QString::fromStdString(value);
}

QString micros(int64_t ns) {
    return ns < 0 ? kNothing : toText(formatMicros(ns, 1) + " µs");
}

/// With a sign, and a true minus.
QString signedMicros(int64_t ns) {
    const QString sign = ns > 0 ? QStringLiteral("+") : ns < 0 ? QStringLiteral("−") : QString();
    return sign + micros(std::abs(ns));
}

bool rightAligned(int column) {
    return (column >= CostChangesModel::Calls && column <= CostChangesModel::Step) ||
           (column >= CostChangesModel::Samples && column <= CostChangesModel::Skew);
}

} // namespace

int direction(const CostChange& change) {
    const double ratio = change.ratio();
    return ratio <= 0 ? 0 : ratio > 1 + kSameWithin ? 1 : ratio < 1 - kSameWithin ? -1 : 0;
}

bool isMeasured(const CostChange& change) {
    return change.new_source == Provenance::Measured || change.new_source == Provenance::Reused ||
           change.new_source == Provenance::Extrapolated;
}

void CostChangesModel::setChanges(std::vector<CostChange> changes) {
    beginResetModel();
    changes_ = std::move(changes);
    slower_ = faster_ = unmeasured_ = 0;
    for (const CostChange& change : changes_) {
        slower_ += direction(change) > 0;
        faster_ += direction(change) < 0;
        unmeasured_ += !isMeasured(change);
    }
    endResetModel();
}

int CostChangesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(changes_.size());
}

int CostChangesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QString CostChangesModel::display(int row, int column) const {
    const CostChange& c = change(row);
    switch (column) {
    case Kind:
        return toText(c.kind).replace(QLatin1Char('_'), QLatin1Char(' '));
    case Label:
        return toText(c.label);
    case Calls:
        return toText(formatCount(c.calls));
    case Old:
        return micros(c.old_ns);
    case New:
        return micros(c.new_ns);
    case Ratio:
        return c.ratio() > 0 ? QStringLiteral("×%1").arg(c.ratio(), 0, 'f', 2) : kNothing;
    case Step:
        return signedMicros(c.stepNs());
    case OldSource:
        return provenanceText(c.old_source).word;
    case NewSource:
        return provenanceText(c.new_source).word;
    case Samples:
        return c.samples > 0 ? toText(formatCount(c.samples)) : kNothing;
    case Spread:
        return micros(c.spread_ns);
    case Skew:
        return micros(c.rank_skew_ns);
    case Note:
        return toText(c.note);
    default:
        return {};
    }
}

QVariant CostChangesModel::sortValue(int row, int column) const {
    const CostChange& c = change(row);
    switch (column) {
    case Calls:
        return qint64(c.calls);
    case Old:
        return qint64(c.old_ns);
    case New:
        return qint64(c.new_ns);
    case Ratio:
        return c.ratio();
    case Step:
        return qint64(c.stepNs());
    case OldSource:
        return static_cast<int>(c.old_source);
    case NewSource:
        return static_cast<int>(c.new_source);
    case Samples:
        return qint64(c.samples);
    case Spread:
        return qint64(c.spread_ns);
    case Skew:
        return qint64(c.rank_skew_ns);
    default:
        return display(row, column);
    }
}

QString CostChangesModel::tip(int row) const {
    const CostChange& c = change(row);
    QStringList lines{toText(c.label), tr("Until now: %1").arg(provenanceText(c.old_source).meaning),
                      tr("Then: %1").arg(provenanceText(c.new_source).meaning)};
    if (!c.note.empty())
        lines << toText(c.note);
    lines << tr("Key: %1").arg(toText(c.key));
    return lines.join(QLatin1Char('\n'));
}

QVariant CostChangesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const int row = index.row();
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return display(row, column);
    case Qt::ToolTipRole:
        return tip(row);
    case Qt::TextAlignmentRole:
        return int((rightAligned(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case SortRole:
        return sortValue(row, column);
    case NumericRole:
        return rightAligned(column);
    case BadgeRole:
        if (column == OldSource || column == NewSource)
            return static_cast<int>(column == OldSource ? change(row).old_source : change(row).new_source);
        return {};
    case MutedRole:
        return column == Kind || column == Old || column >= Samples || display(row, column) == kNothing;
    default:
        return {};
    }
}

QVariant CostChangesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((rightAligned(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && section == Ratio)
        return tr("Time per call with the new costs against the time until now");
    if (role == Qt::ToolTipRole && section == Step)
        return tr("What all calls of a step take more or less");
    if (role != Qt::DisplayRole)
        return {};
    static const char* const kNames[ColumnCount] = {
        QT_TR_NOOP("kind"),       QT_TR_NOOP("label"),   QT_TR_NOOP("calls"),    QT_TR_NOOP("per call"),
        QT_TR_NOOP("new"),        QT_TR_NOOP("÷ old"),   QT_TR_NOOP("per step"), QT_TR_NOOP("source"),
        QT_TR_NOOP("new source"), QT_TR_NOOP("samples"), QT_TR_NOOP("spread"),   QT_TR_NOOP("rank skew"),
        QT_TR_NOOP("note"),
    };
    return tr(kNames[section]);
}

CostChangesFilter::CostChangesFilter(CostChangesModel* model) : QSortFilterProxyModel(model), model_(model) {
    setSortRole(SortRole);
    setSourceModel(model);
}

void CostChangesFilter::setText(const QString& text) {
    words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void CostChangesFilter::setSlowerOnly(bool on) {
    slower_only_ = on;
    invalidateFilter();
}

void CostChangesFilter::setFasterOnly(bool on) {
    faster_only_ = on;
    invalidateFilter();
}

void CostChangesFilter::setUnmeasuredOnly(bool on) {
    unmeasured_only_ = on;
    invalidateFilter();
}

/// Chips add to each other: slower and faster together show both.
bool CostChangesFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    const CostChange& c = model_->change(row);
    const bool any = slower_only_ || faster_only_ || unmeasured_only_;
    const bool wanted = (slower_only_ && direction(c) > 0) || (faster_only_ && direction(c) < 0) ||
                        (unmeasured_only_ && !isMeasured(c));
    if (any && !wanted)
        return false;
    if (words_.isEmpty())
        return true;
    const QString all = toText(c.kind) + QLatin1Char(' ') + toText(c.label) + QLatin1Char(' ') +
                        toText(c.key) + QLatin1Char(' ') + provenanceText(c.old_source).word +
                        QLatin1Char(' ') + provenanceText(c.new_source).word;
    return std::all_of(words_.begin(), words_.end(),
                       [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
}

} // namespace gs
