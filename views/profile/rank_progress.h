// How far each rank of a measurement is: a row per rank, whatever it says, however many there are.
#pragma once

#include "profile/protocol.h"

#include <QAbstractTableModel>
#include <QTimer>

namespace gs {

class RankProgressModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Rank, Device, Phase, Key, Count, Progress, Left, ColumnCount };
    /// Ranks speak before every key; the table follows at most this often.
    static constexpr int kRefreshMs = 100;

    explicit RankProgressModel(QObject* parent = nullptr);

    /// Rows for so many ranks, none of which was heard yet.
    void begin(int ranks);
    void setHello(int rank, const HelloMessage& message);
    void setProgress(int rank, const ProgressMessage& message);

    /// Of the slowest rank, between 0 and 1.
    double fraction() const;
    /// Of the rank that says the most; -1 = no rank knows yet.
    int64_t leftNs() const;
    int heard() const; ///< ranks that said hello

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    /// Together with the table's own refresh.
    void refreshed();

private:
    struct Row {
        HelloMessage hello;
        bool heard = false;
        ProgressMessage progress;
        double fraction() const;
    };
    Row* row(int rank);
    QString display(const Row& row, int rank, int column) const;
    void refresh();

    std::vector<Row> rows_;
    QTimer timer_;
};

/// "41 s", "2 min 5 s", "1 h 12 min": as exactly as one can know how long it takes yet.
QString roughTime(int64_t ns);

class DataTable;
/// A table of it, with bars.
DataTable* makeRankTable(RankProgressModel* model, QWidget* parent);

} // namespace gs
