#include "views/models/costs_model.h"

#include "base/units.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>

namespace gs {

namespace {

QString text(const std::string& value) {
    return QString::fromStdString(value);
}

QString micros(int64_t ns) {
    return text(formatMicros(ns, 1) + " µs");
}

bool isCompute(const CostEntry& entry) {
    return entry.kind == "compute";
}

bool rightAligned(int column) {
    return column == CostsModel::Calls || column == CostsModel::PerCall || column == CostsModel::Total ||
           column == CostsModel::Share || column == CostsModel::Analytical || column >= CostsModel::Ratio;
}

} // namespace

qint64 parseTime(const QString& text) {
    static const QRegularExpression kForm(
        QStringLiteral("^\\s*([0-9][0-9,]*(?:\\.[0-9]*)?)\\s*(ns|µs|us|μs|ms|s)?\\s*$"));
    const QRegularExpressionMatch match = kForm.match(text);
    if (!match.hasMatch())
        return -1;
    const double number = match.captured(1).remove(QLatin1Char(',')).toDouble();
    const QString unit = match.captured(2);
    const double scale = unit == QLatin1String("ns")   ? 1
                         : unit == QLatin1String("ms") ? 1e6
                         : unit == QLatin1String("s")  ? 1e9
                                                       : 1e3;
    const double ns = number * scale;
    return ns > 1e15 ? -1 : std::llround(ns);
}

void CostsModel::setSnapshot(const AnalysisPtr& snapshot) {
    const CostTable* table = snapshot ? snapshot->after.costs.get() : nullptr;
    std::vector<const CostEntry*> entries;
    if (table) {
        for (const CostEntry& entry : table->entries())
            entries.push_back(&entry);
    }
    std::stable_sort(entries.begin(), entries.end(), [this](const CostEntry* a, const CostEntry* b) {
        const bool a_missing = a->provenance == Provenance::Missing;
        const bool b_missing = b->provenance == Provenance::Missing;
        if (a_missing != b_missing)
            return a_missing;
        return totalOf(*a) > totalOf(*b);
    });
    // An edited cost changes the order by time; then rows move, which a reset says most simply.
    const bool same = !entries.empty() && entries.size() == entries_.size() &&
                      std::equal(entries.begin(), entries.end(), entries_.begin(),
                                 [](const CostEntry* a, const CostEntry* b) { return a->key == b->key; });
    if (!same)
        beginResetModel();
    entries_ = std::move(entries);
    snapshot_ = snapshot; // keeps the entries alive
    row_of_entry_.assign(table ? table->entries().size() : 0, -1);
    edited_.assign(entries_.size(), false);
    totals_[0] = totals_[1] = 0;
    missing_ = edited_count_ = comparable_ = 0;
    for (size_t row = 0; row < entries_.size(); ++row) {
        const CostEntry& entry = *entries_[row];
        row_of_entry_[static_cast<size_t>(&entry - table->entries().data())] = static_cast<int>(row);
        edited_[row] = snapshot->request.cost_overrides.count(entry.key) > 0;
        edited_count_ += edited_[row];
        comparable_ += ratioOf(entry) >= 0;
        missing_ += entry.provenance == Provenance::Missing;
        totals_[isCompute(entry) ? 0 : 1] += totalOf(entry);
    }
    if (same)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    else
        endResetModel();
}

int64_t CostsModel::totalOf(const CostEntry& entry) const {
    return entry.provenance == Provenance::Missing ? 0 : entry.ns * static_cast<int64_t>(entry.nodes.size());
}

double CostsModel::shareOf(const CostEntry& entry) const {
    const int64_t all = totals_[isCompute(entry) ? 0 : 1];
    return all > 0 ? static_cast<double>(totalOf(entry)) / static_cast<double>(all) : 0;
}

int CostsModel::rowOf(NodeId node) const {
    if (!snapshot_ || node >= snapshot_->after.graph->size())
        return -1;
    const int32_t entry = snapshot_->after.costs->entryIndex(node);
    return entry < 0 ? -1 : row_of_entry_[static_cast<size_t>(entry)];
}

bool CostsModel::edited(int row) const {
    return edited_[static_cast<size_t>(row)];
}

QString CostsModel::pinned(int row) const {
    const auto& pins = snapshot_->request.cost_pins;
    const auto found = pins.find(entry(row).key);
    return found == pins.end() ? QString() : text(found->second);
}

double CostsModel::ratioOf(const CostEntry& entry) const {
    if (entry.provenance == Provenance::Missing || entry.provenance == Provenance::Analytical ||
        entry.analytical_ns <= 0)
        return -1;
    return static_cast<double>(entry.ns) / static_cast<double>(entry.analytical_ns);
}

int CostsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(entries_.size());
}

int CostsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CostsModel::display(int row, int column) const {
    const CostEntry& e = entry(row);
    const bool missing = e.provenance == Provenance::Missing;
    switch (column) {
    case Kind:
        return text(e.kind).replace(QLatin1Char('_'), QLatin1Char(' '));
    case Label:
        return text(e.label);
    case Calls:
        return text(formatCount(static_cast<int64_t>(e.nodes.size())));
    case PerCall:
        return missing ? tr("missing") : micros(e.ns);
    case Total:
        return missing ? QStringLiteral("–") : micros(totalOf(e));
    case Share:
        return missing ? QStringLiteral("–") : text(formatPercent(shareOf(e)));
    case Source:
        return provenanceText(e.provenance).word;
    case Analytical:
        return e.analytical_ns < 0 ? QStringLiteral("–") : micros(e.analytical_ns);
    case File:
        return text(e.source);
    case Ratio:
        return ratioOf(e) < 0 ? QStringLiteral("–") : QStringLiteral("×%1").arg(ratioOf(e), 0, 'f', 2);
    case Samples:
        return e.samples > 0 ? text(formatCount(e.samples)) : QStringLiteral("–");
    case Spread:
        return e.spread_ns >= 0 ? micros(e.spread_ns) : QStringLiteral("–");
    case Skew:
        return e.rank_skew_ns >= 0 ? micros(e.rank_skew_ns) : QStringLiteral("–");
    default:
        return {};
    }
}

QVariant CostsModel::sortValue(int row, int column) const {
    const CostEntry& e = entry(row);
    const bool missing = e.provenance == Provenance::Missing;
    switch (column) {
    case Calls:
        return static_cast<qint64>(e.nodes.size());
    case PerCall:
        return missing ? qint64(-1) : static_cast<qint64>(e.ns);
    case Total:
    case Share:
        return missing ? -1.0 : column == Share ? shareOf(e) : static_cast<double>(totalOf(e));
    case Source:
        return static_cast<int>(e.provenance);
    case Analytical:
        return static_cast<qint64>(e.analytical_ns);
    case Ratio:
        return ratioOf(e);
    case Samples:
        return static_cast<qint64>(e.samples);
    case Spread:
        return static_cast<qint64>(e.spread_ns);
    case Skew:
        return static_cast<qint64>(e.rank_skew_ns);
    default:
        return display(row, column);
    }
}

QString CostsModel::tip(int row) const {
    const CostEntry& e = entry(row);
    QStringList lines{text(e.label), provenanceText(e.provenance).meaning};
    if (!e.source.empty())
        lines << tr("Source: %1").arg(text(e.source));
    if (!e.note.empty())
        lines << text(e.note);
    if (e.samples > 1)
        lines << tr("%1 measurements, half of them within %2.")
                     .arg(text(formatCount(e.samples)), text(formatTime(std::max<int64_t>(0, e.spread_ns))));
    if (e.rank_skew_ns >= 0)
        lines << tr("The ranks differ by %1.").arg(text(formatTime(e.rank_skew_ns)));
    if (e.analytical_ns > 0 && e.provenance != Provenance::Missing && e.provenance != Provenance::Analytical)
        lines << tr("The model says %1: %2 times as much.")
                     .arg(micros(e.analytical_ns))
                     .arg(static_cast<double>(e.analytical_ns) /
                              static_cast<double>(std::max<int64_t>(1, e.ns)),
                          0, 'f', 2);
    lines << tr("Key: %1").arg(text(e.key));
    return lines.join(QLatin1Char('\n'));
}

QVariant CostsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const int row = index.row();
    const int column = index.column();
    const bool missing = entry(row).provenance == Provenance::Missing;
    switch (role) {
    case Qt::DisplayRole:
        return display(row, column);
    case Qt::EditRole:
        return column == PerCall
                   ? (missing ? QVariant(QString()) : QVariant(text(formatMicros(entry(row).ns, 3))))
                   : display(row, column);
    case Qt::ToolTipRole:
        return tip(row);
    case Qt::TextAlignmentRole:
        return int((rightAligned(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case SortRole:
        return sortValue(row, column);
    case NumericRole:
        return rightAligned(column);
    case BarRole:
        return column == Share && !missing ? QVariant(shareOf(entry(row))) : QVariant();
    case BadgeRole:
        return column == Source ? QVariant(static_cast<int>(entry(row).provenance)) : QVariant();
    case EditedRole:
        return (column == PerCall && edited_[static_cast<size_t>(row)]) ||
               (column == Source && !pinned(row).isEmpty());
    case FilterTextRole:
        return QStringList{text(entry(row).kind), text(entry(row).label), text(entry(row).key),
                           provenanceText(entry(row).provenance).word}
            .join(QLatin1Char(' '));
    case FilterKindsRole:
        return (missing ? Missing : 0) | (edited(row) ? Edited : 0);
    case MutedRole:
        return column == Kind || column == Analytical || column == File || column >= Samples ||
               display(row, column) == QStringLiteral("–");
    default:
        return {};
    }
}

bool CostsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || index.column() != PerCall)
        return false;
    const CostEntry& e = entry(index.row());
    const qint64 ns = parseTime(value.toString());
    const bool unchanged = value.toString() == data(index, Qt::EditRole).toString();
    if (ns < 0 || unchanged || (e.provenance != Provenance::Missing && ns == e.ns))
        return false;
    emit costEdited(text(e.key), ns);
    return true;
}

Qt::ItemFlags CostsModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid() && index.column() == PerCall)
        flags |= Qt::ItemIsEditable;
    return flags;
}

QVariant CostsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((rightAligned(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && section == Share)
        return tr("Share of all compute, or of all communication");
    if (role == Qt::ToolTipRole && section == Ratio)
        return tr("Time per call against the analytical model's");
    if (role == Qt::ToolTipRole && section == Spread)
        return tr("Half of the measurements lie within this of each other");
    if (role == Qt::ToolTipRole && section == Skew)
        return tr("How far the ranks' medians lie apart");
    if (role == Qt::ToolTipRole && section == PerCall)
        return tr("Double-click to try another time; Delete takes the edit back");
    if (role != Qt::DisplayRole)
        return {};
    static const char* const kNames[ColumnCount] = {
        QT_TR_NOOP("kind"),      QT_TR_NOOP("label"),   QT_TR_NOOP("calls"),   QT_TR_NOOP("per call"),
        QT_TR_NOOP("total"),     QT_TR_NOOP("share"),   QT_TR_NOOP("source"),  QT_TR_NOOP("analytical"),
        QT_TR_NOOP("file"),      QT_TR_NOOP("÷ model"), QT_TR_NOOP("samples"), QT_TR_NOOP("spread"),
        QT_TR_NOOP("rank skew"),
    };
    return tr(kNames[section]);
}

} // namespace gs
