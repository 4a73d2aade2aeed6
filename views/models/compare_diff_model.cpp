#include "views/models/compare_diff_model.h"

#include "base/units.h"
#include "views/models/compare_model.h"
#include "views/models/gathers_model.h"

#include <algorithm>

namespace gs {

namespace {

QString text(const std::string& value) {
    return QString::fromStdString(value);
}

QString place(const std::optional<GatherSide>& side) {
    if (!side)
        return QStringLiteral("–");
    QString out = text(formatCount(side->cur));
    if (side->target != side->cur)
        out += QStringLiteral(" → ") + text(formatCount(side->target));
    if (side->launches.size() > 1)
        out += QStringLiteral(" ×") + QString::number(side->launches.size());
    return out;
}

const std::optional<GatherSide>& sideOf(const GatherDiffRow& row, int column) {
    return column <= CompareDiffModel::ExposedA ? row.a : row.b;
}

bool isPlace(int column) {
    return column == CompareDiffModel::PlaceA || column == CompareDiffModel::PlaceB;
}

bool isNumber(int column) {
    return column == CompareDiffModel::ExposedA || column == CompareDiffModel::ExposedB ||
           column == CompareDiffModel::Before || column == CompareDiffModel::Change;
}

int64_t exposedBefore(const GatherDiffRow& row) {
    return row.a ? row.a->exposed_before_ns : row.b->exposed_before_ns;
}

QString differsText(const GatherDiffRow& row) {
    QStringList words;
    if (row.has(GatherDifference::OneSided))
        words << (row.a ? CompareDiffModel::tr("only in A") : CompareDiffModel::tr("only in B"));
    if (row.has(GatherDifference::Buckets))
        words << CompareDiffModel::tr("buckets");
    if (row.has(GatherDifference::Verdict))
        words << CompareDiffModel::tr("%1 → %2").arg(verdictText(row.a->verdict),
                                                     verdictText(row.b->verdict));
    if (row.has(GatherDifference::Place))
        words << CompareDiffModel::tr("place");
    if (words.isEmpty() && row.has(GatherDifference::Exposure))
        words << CompareDiffModel::tr("exposure");
    return words.isEmpty() ? CompareDiffModel::tr("nothing") : words.join(QStringLiteral(", "));
}

QString tipOf(const GatherDiffRow& row) {
    QStringList lines{text(row.label)};
    const auto add = [&](const QString& name, const std::optional<GatherSide>& side) {
        if (side)
            lines << CompareDiffModel::tr("%1: %2, %3; launched at %4")
                         .arg(name, verdictText(side->verdict), reasonText(side->reason),
                              text(formatTime(side->launched_ns)));
    };
    add(CompareDiffModel::tr("A"), row.a);
    add(CompareDiffModel::tr("B"), row.b);
    return lines.join(QLatin1Char('\n'));
}

} // namespace

void CompareDiffModel::setDiff(std::shared_ptr<const GatherDiff> diff) {
    if (diff == diff_)
        return;
    beginResetModel();
    diff_ = std::move(diff);
    row_of_.clear();
    longest_ns_ = 0;
    for (int i = 0; i < rowCount(); ++i) {
        row_of_.insert(text(row(i).name), i);
        longest_ns_ = std::max(longest_ns_, exposedBefore(row(i)));
        for (const auto* side : {&row(i).a, &row(i).b})
            longest_ns_ = *side ? std::max(longest_ns_, (*side)->exposed_after_ns) : longest_ns_;
    }
    endResetModel();
}

int CompareDiffModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !diff_ ? 0 : static_cast<int>(diff_->rows.size());
}

int CompareDiffModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QString CompareDiffModel::time(int64_t ns) const {
    return timeInUnitOf(ns, longest_ns_);
}

QString CompareDiffModel::display(const GatherDiffRow& row, int column) const {
    switch (column) {
    case Gather:
        return text(row.label);
    case PlaceA:
    case PlaceB:
        return place(sideOf(row, column));
    case ExposedA:
    case ExposedB:
        return sideOf(row, column) ? time(sideOf(row, column)->exposed_after_ns) : QStringLiteral("–");
    case Before:
        return time(exposedBefore(row));
    case Change:
        return (row.change_ns() > 0   ? QStringLiteral("+")
                : row.change_ns() < 0 ? QStringLiteral("−")
                                      : QString()) +
               time(std::abs(row.change_ns()));
    case Differs:
        return differsText(row);
    default:
        return {};
    }
}

QVariant CompareDiffModel::sortValue(const GatherDiffRow& row, int column) const {
    const auto& side = sideOf(row, column);
    switch (column) {
    case PlaceA:
    case PlaceB:
        return side ? static_cast<qlonglong>(side->target) : -1LL;
    case ExposedA:
    case ExposedB:
        return side ? static_cast<qlonglong>(side->exposed_after_ns) : -1LL;
    case Before:
        return static_cast<qlonglong>(exposedBefore(row));
    case Change:
        return static_cast<qlonglong>(row.change_ns());
    default:
        return display(row, column);
    }
}

QVariant CompareDiffModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const GatherDiffRow& r = row(index.row());
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return display(r, column);
    case Qt::ToolTipRole:
        return tipOf(r);
    case Qt::TextAlignmentRole:
        return int((isNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case SortRole:
        return sortValue(r, column);
    case NumericRole:
        return isNumber(column) || isPlace(column);
    case MarkRole:
        return isPlace(column) && sideOf(r, column)
                   ? QVariant(static_cast<int>(verdictMark(sideOf(r, column)->verdict)))
                   : QVariant();
    case MutedRole:
        if (column == ExposedA || column == ExposedB)
            return !sideOf(r, column) || sideOf(r, column)->exposed_after_ns == 0;
        return column == Before || (column == Change && r.change_ns() == 0) ||
               (column == Differs && r.differs == 0);
    default:
        return {};
    }
}

QVariant CompareDiffModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && section == Before)
        return tr("Exposure in program order, without buckets");
    if (role == Qt::ToolTipRole && section == Change)
        return tr("Exposure of B less that of A");
    if (role != Qt::DisplayRole)
        return {};
    static const char* const kNames[ColumnCount] = {
        QT_TR_NOOP("gather"),    QT_TR_NOOP("A place"), QT_TR_NOOP("A exposed"), QT_TR_NOOP("B place"),
        QT_TR_NOOP("B exposed"), QT_TR_NOOP("before"),  QT_TR_NOOP("change"),    QT_TR_NOOP("what differs"),
    };
    return tr(kNames[section]);
}

CompareDiffFilter::CompareDiffFilter(CompareDiffModel* model) : QSortFilterProxyModel(model), model_(model) {
    setSortRole(SortRole);
    setSourceModel(model);
}

void CompareDiffFilter::setDifferingOnly(bool on) {
    differing_only_ = on;
    invalidateFilter();
}

bool CompareDiffFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    return !differing_only_ || model_->row(row).differs != 0;
}

} // namespace gs
