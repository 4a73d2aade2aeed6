// One row per cost key: what it was, what it would be, and where both numbers come from.
#pragma once

#include "analysis/cost_changes.h"
#include "views/models/table_roles.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

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

    using QAbstractTableModel::QAbstractTableModel;

    void setChanges(std::vector<CostChange> changes);
    const CostChange& change(int row) const { return changes_[static_cast<size_t>(row)]; }
    int slower() const { return slower_; }
    int faster() const { return faster_; }
    int unmeasured() const { return unmeasured_; } ///< without a measured number afterwards

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString display(int row, int column) const;
    QVariant sortValue(int row, int column) const;
    QString tip(int row) const;

    std::vector<CostChange> changes_;
    int slower_ = 0;
    int faster_ = 0;
    int unmeasured_ = 0;
};

/// Neither slower nor faster is a change within this part of the old time.
inline constexpr double kSameWithin = 0.02;
/// 1 = slower, -1 = faster, 0 = about the same, or not to compare.
int direction(const CostChange& change);
/// Measured now or earlier.
bool isMeasured(const CostChange& change);

class CostChangesFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit CostChangesFilter(CostChangesModel* model);
    void setText(const QString& text);
    void setSlowerOnly(bool on);
    void setFasterOnly(bool on);
    void setUnmeasuredOnly(bool on);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    CostChangesModel* model_;
    QStringList words_;
    bool slower_only_ = false;
    bool faster_only_ = false;
    bool unmeasured_only_ = false;
};

} // namespace gs
