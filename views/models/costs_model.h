// One row per distinct cost key of the scheduled program; keys without a cost come first.
#pragma once

#include "analysis/analysis.h"
#include "views/models/cost_filter.h"
#include "views/models/table_roles.h"

#include <QAbstractTableModel>
#include <vector>

namespace gs {

class CostsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Kind,
        Label,
        Calls,
        PerCall,
        Total,
        Share,
        Source,
        Analytical,
        File,
        Ratio, ///< per call ÷ analytical
        Samples,
        Spread,
        Skew,
        ColumnCount
    };

    enum Kinds { Missing = 1, Edited = 2 }; ///< of rows, for the filter

    using QAbstractTableModel::QAbstractTableModel;

    /// Null clears the table. Where the keys are the same as before, rows stay and only their data change.
    void setSnapshot(const AnalysisPtr& snapshot);
    /// Entry of a row; valid while the snapshot is held by the view.
    const CostEntry& entry(int row) const { return *entries_[static_cast<size_t>(row)]; }
    /// Row that prices a node; -1 if its cost is a structural zero or unknown.
    int rowOf(NodeId node) const;
    bool edited(int row) const;
    /// Source that the row's key is pinned to; empty if the chain decides.
    QString pinned(int row) const;
    size_t missing() const { return missing_; }
    size_t editedCount() const { return edited_count_; }
    size_t comparable() const { return comparable_; } ///< keys with a time beside the model's
    int64_t computeTotalNs() const { return totals_[0]; }
    int64_t commTotalNs() const { return totals_[1]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    /// PerCall only: emits costEdited() and leaves the model as it is; the new number comes with the next
    /// snapshot.
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    void costEdited(const QString& key, qint64 ns);

private:
    int64_t totalOf(const CostEntry& entry) const;
    double shareOf(const CostEntry& entry) const;
    double ratioOf(const CostEntry& entry) const; ///< −1 if there are not two numbers to compare
    QVariant display(int row, int column) const;
    QVariant sortValue(int row, int column) const;
    QString tip(int row) const;

    AnalysisPtr snapshot_;
    std::vector<const CostEntry*> entries_; ///< missing first, then by total time
    std::vector<int> row_of_entry_;
    std::vector<bool> edited_;
    int64_t totals_[2] = {0, 0}; ///< compute, communication
    size_t missing_ = 0;
    size_t edited_count_ = 0;
    size_t comparable_ = 0;
};

/// "1,159.1", "1159.1 µs", "1.2 ms", "350ns" → ns. A plain number is in microseconds. −1 if it is no time ≥
/// 0.
qint64 parseTime(const QString& text);

} // namespace gs
