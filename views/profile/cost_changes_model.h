// One row per cost key: what it was, what it would be, and where both numbers come from.
#pragma once

#include "analysis/cost_changes.h"
#include "views/models/cost_filter.h"
#include "views/models/table_roles.h"

#include <QAbstractTableModel>

namespace gs {

class CostChangesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Kind,
        Label,
        Calls,
        Old,
        New,
        Ratio, ///< new ÷ old
        Step,  ///< change of all calls
        OldSource,
        NewSource,
        Samples,
        Spread,
        Skew,
        Note,
        ColumnCount
    };

    /// Of rows, for the filter.
    enum Kinds {
        Slower = 1,
        Faster = 2,
        Unmeasured = 4, ///< without a measured number afterwards
        OneSided = 8    ///< known before or afterwards only
    };

    using QAbstractTableModel::QAbstractTableModel;

    /// What the two times and their ratio are called.
    void setNames(const QString& old_name, const QString& new_name, const QString& ratio);
    void setChanges(std::vector<CostChange> changes);
    const CostChange& change(int row) const { return changes_[static_cast<size_t>(row)]; }
    int count(Kinds kind) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString display(int row, int column) const;
    QVariant sortValue(int row, int column) const;
    QString tip(int row) const;

    std::vector<CostChange> changes_;
    QString old_name_ = tr("per call");
    QString new_name_ = tr("new");
    QString ratio_name_ = tr("new ÷ old");
};

/// Neither slower nor faster is a change within this part of the old time.
inline constexpr double kSameWithin = 0.02;
/// 1 = slower, -1 = faster, 0 = about the same, or not to compare.
int direction(const CostChange& change);
/// Measured now or earlier.
bool isMeasured(const CostChange& change);

} // namespace gs
