// Two pinned variants, gather by gather.
#pragma once

#include "analysis/compare_gathers.h"
#include "views/models/table_roles.h"

#include <QAbstractTableModel>
#include <QHash>
#include <QSortFilterProxyModel>

namespace gs {

class CompareDiffModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Gather, PlaceA, ExposedA, PlaceB, ExposedB, Before, Change, Differs, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    /// Null clears the table.
    void setDiff(std::shared_ptr<const GatherDiff> diff);
    const GatherDiff* diff() const { return diff_.get(); }
    const GatherDiffRow& row(int index) const { return diff_->rows[static_cast<size_t>(index)]; }
    /// Row of a gather by its launch in the unbucketed program; -1 if it has none.
    int rowOf(const QString& launch) const { return row_of_.value(launch, -1); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString time(int64_t ns) const;
    QString display(const GatherDiffRow& row, int column) const;
    QVariant sortValue(const GatherDiffRow& row, int column) const;

    std::shared_ptr<const GatherDiff> diff_;
    QHash<QString, int> row_of_;
    int64_t longest_ns_ = 0; ///< exposure; the columns' unit follows it
};

class CompareDiffFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit CompareDiffFilter(CompareDiffModel* model);
    void setDifferingOnly(bool on);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    CompareDiffModel* model_;
    bool differing_only_ = true;
};

} // namespace gs
