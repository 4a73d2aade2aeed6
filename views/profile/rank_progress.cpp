#include "views/profile/rank_progress.h"

#include "base/units.h"
#include "views/docks/cell_delegate.h"
#include "views/docks/data_table.h"
#include "views/models/table_roles.h"
#include "views/theme.h"

#include <QHeaderView>
#include <QPainter>
#include <algorithm>

namespace gs {

namespace {

QString toText(const std::string& text) {
    return QString::fromStdString(text);
}

/// A bar as wide as its cell.
class BarDelegate : public CellDelegate {
public:
    using CellDelegate::CellDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        if (option.state & QStyle::State_Selected)
            painter->fillRect(option.rect, theme.selection);
        QRectF track = QRectF(option.rect).adjusted(kPadding, 0, -kPadding, 0);
        track = QRectF(track.left(), track.center().y() - 3, track.width(), 6);
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme.field);
        painter->drawRoundedRect(track, 3, 3);
        const double share = std::clamp(index.data(BarRole).toDouble(), 0.0, 1.0);
        if (share > 0) {
            track.setWidth(std::max(6.0, track.width() * share));
            painter->setBrush(share < 1 ? theme.accent : theme.hidden_ok);
            painter->drawRoundedRect(track, 3, 3);
        }
        painter->restore();
    }
};

bool rightAligned(int column) {
    return column == RankProgressModel::Count || column == RankProgressModel::Left;
}

} // namespace

QString roughTime(int64_t ns) {
    const int64_t seconds = (ns + 999'999'999) / 1'000'000'000;
    if (seconds < 60)
        return RankProgressModel::tr("%1 s").arg(seconds);
    if (seconds < 3600)
        return RankProgressModel::tr("%1 min %2 s").arg(seconds / 60).arg(seconds % 60);
    return RankProgressModel::tr("%1 h %2 min").arg(seconds / 3600).arg(seconds / 60 % 60);
}

double RankProgressModel::Row::fraction() const {
    return progress.count > 0 ? double(std::min(progress.index + 1, progress.count)) / double(progress.count)
                              : 0;
}

RankProgressModel::RankProgressModel(QObject* parent) : QAbstractTableModel(parent) {
    timer_.setSingleShot(true);
    timer_.setInterval(kRefreshMs);
    connect(&timer_, &QTimer::timeout, this, &RankProgressModel::refresh);
}

void RankProgressModel::begin(int ranks) {
    beginResetModel();
    rows_.assign(static_cast<size_t>(std::max(ranks, 0)), {});
    endResetModel();
    emit refreshed();
}

RankProgressModel::Row* RankProgressModel::row(int rank) {
    return rank >= 0 && rank < rowCount() ? &rows_[static_cast<size_t>(rank)] : nullptr;
}

void RankProgressModel::setHello(int rank, const HelloMessage& message) {
    Row* found = row(rank);
    if (!found)
        return;
    found->hello = message;
    found->heard = true;
    if (!timer_.isActive())
        timer_.start();
}

void RankProgressModel::setProgress(int rank, const ProgressMessage& message) {
    Row* found = row(rank);
    if (!found)
        return;
    found->progress = message;
    found->heard = true;
    if (!timer_.isActive())
        timer_.start();
}

void RankProgressModel::refresh() {
    if (!rows_.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    emit refreshed();
}

double RankProgressModel::fraction() const {
    double least = rows_.empty() ? 0 : 1;
    for (const Row& row : rows_)
        least = std::min(least, row.fraction());
    return least;
}

int64_t RankProgressModel::leftNs() const {
    int64_t most = -1;
    for (const Row& row : rows_)
        most = std::max(most, row.progress.eta_ns);
    return most;
}

int RankProgressModel::heard() const {
    return static_cast<int>(
        std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.heard; }));
}

int RankProgressModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RankProgressModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QString RankProgressModel::display(const Row& row, int rank, int column) const {
    const ProgressMessage& progress = row.progress;
    switch (column) {
    case Rank:
        return QString::number(rank);
    case Device:
        return !row.heard ? tr("starting…")
                          : tr("%1 · %2").arg(toText(row.hello.device), toText(row.hello.host));
    case Phase:
        return toText(progress.phase);
    case Key:
        return toText(progress.label.empty() ? progress.key : progress.label);
    case Count:
        return progress.count > 0
                   ? tr("%1 of %2")
                         .arg(toText(formatCount(progress.index + 1)), toText(formatCount(progress.count)))
                   : QString();
    case Left:
        return progress.eta_ns < 0 ? QStringLiteral("–") : roughTime(progress.eta_ns);
    default:
        return {};
    }
}

QVariant RankProgressModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const Row& row = rows_[static_cast<size_t>(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return display(row, index.row(), column);
    case Qt::ToolTipRole:
        return column == Key ? toText(row.progress.key) : display(row, index.row(), column);
    case Qt::AccessibleTextRole:
        return column == Progress ? tr("%1 %").arg(int(row.fraction() * 100))
                                  : display(row, index.row(), column);
    case Qt::TextAlignmentRole:
        return int((rightAligned(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case NumericRole:
        return rightAligned(column) || column == Rank;
    case BarRole:
        return column == Progress ? QVariant(row.fraction()) : QVariant();
    case MutedRole:
        return column == Phase || column == Device;
    default:
        return {};
    }
}

QVariant RankProgressModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((rightAligned(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    static const char* const kNames[ColumnCount] = {
        QT_TR_NOOP("rank"), QT_TR_NOOP("device"),   QT_TR_NOOP("phase"), QT_TR_NOOP("at work"),
        QT_TR_NOOP("keys"), QT_TR_NOOP("progress"), QT_TR_NOOP("left"),
    };
    return tr(kNames[section]);
}

DataTable* makeRankTable(RankProgressModel* model, QWidget* parent) {
    auto* table = new DataTable(QStringLiteral("profile/ranks"), parent);
    table->setUp(model, {46, 190, 84, 0, 90, 150, 74},
                 {RankProgressModel::Rank, RankProgressModel::Device, RankProgressModel::Phase,
                  RankProgressModel::Key, RankProgressModel::Count, RankProgressModel::Progress,
                  RankProgressModel::Left});
    table->setSortingEnabled(false);
    table->setItemDelegateForColumn(RankProgressModel::Progress, new BarDelegate(table));
    table->setAccessibleName(RankProgressModel::tr("Progress of the ranks"));
    return table;
}

} // namespace gs
