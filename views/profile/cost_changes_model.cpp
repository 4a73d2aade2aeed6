#include "views/profile/cost_changes_model.h"

#include "base/units.h"

#include <algorithm>
#include <cmath>
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

int kindsOf(const CostChange& change) {
    return (direction(change) > 0 ? CostChangesModel::Slower : 0) |
           (direction(change) < 0 ? CostChangesModel::Faster : 0) |
           (isMeasured(change) ? 0 : CostChangesModel::Unmeasured) |
           ((change.old_ns < 0) != (change.new_ns < 0) ? CostChangesModel::OneSided : 0);
}

/// A full bar is twice as long, or half.
double barOf(const CostChange& change) {
    return change.ratio() > 0 ? std::clamp(std::log2(change.ratio()), -1.0, 1.0) : 0;
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

void CostChangesModel::setNames(const QString& old_name, const QString& new_name, const QString& ratio) {
    old_name_ = old_name;
    new_name_ = new_name;
    ratio_name_ = ratio;
    emit headerDataChanged(Qt::Horizontal, Old, Ratio);
}

void CostChangesModel::setChanges(std::vector<CostChange> changes) {
    beginResetModel();
    changes_ = std::move(changes);
    endResetModel();
}

int CostChangesModel::count(Kinds kind) const {
    return static_cast<int>(std::count_if(changes_.begin(), changes_.end(), [kind](const CostChange& change) {
        return (kindsOf(change) & kind) != 0;
    }));
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
    case ChangeBarRole:
        return column == Ratio && change(row).ratio() > 0 ? QVariant(barOf(change(row))) : QVariant();
    case FilterTextRole:
        return QStringList{toText(change(row).kind), toText(change(row).label), toText(change(row).key),
                           provenanceText(change(row).old_source).word,
                           provenanceText(change(row).new_source).word}
            .join(QLatin1Char(' '));
    case FilterKindsRole:
        return kindsOf(change(row));
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
        return tr("Time per call afterwards against the time before; a full bar is twice as long, or half");
    if (role == Qt::ToolTipRole && section == Step)
        return tr("What all calls of a step take more or less");
    if (role != Qt::DisplayRole)
        return {};
    if (section >= Old && section <= Ratio)
        return section == Old ? old_name_ : section == New ? new_name_ : ratio_name_;
    static const char* const kNames[ColumnCount] = {
        QT_TR_NOOP("kind"),
        QT_TR_NOOP("label"),
        QT_TR_NOOP("calls"),
        "",
        "",
        "",
        QT_TR_NOOP("per step"),
        QT_TR_NOOP("source"),
        QT_TR_NOOP("new source"),
        QT_TR_NOOP("samples"),
        QT_TR_NOOP("spread"),
        QT_TR_NOOP("rank skew"),
        QT_TR_NOOP("note"),
    };
    return tr(kNames[section]);
}

} // namespace gs
