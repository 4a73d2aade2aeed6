// The collectives of all ranks side by side: a heading per process group, equal rows folded, differing rows
// with each class of ranks in a column of its own.
#pragma once

#include "explain/rank_compare.h"
#include "views/models/table_roles.h"

#include <QAbstractTableModel>

namespace gs {

class RanksModel : public QAbstractTableModel {
    Q_OBJECT
public:
    /// More classes of ranks than this are not shown.
    static constexpr int kClasses = 4;
    enum Column { Place, First, LastClass = First + kClasses - 1, What, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void setComparison(RankComparisonPtr comparison);
    const RankComparisonPtr& comparison() const { return comparison_; }
    /// Classes that have a column.
    int classCount() const;
    /// Unfolds a run of equal rows, or folds it again.
    void toggle(int row);
    bool isFold(int row) const;
    /// Row of the first difference; -1 if there is none.
    int firstDifference() const;
    /// Name of the node in a cell; empty if there is none.
    QString nodeAt(const QModelIndex& index) const;
    /// Rank (index into RankComparison::ranks) that stands for a class.
    int rankOfClass(int of_class) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    /// A heading (row < 0 and count = 0), a fold of `count` equal rows from `row` on, or one row.
    struct Line {
        size_t group = 0;
        int row = -1;
        int count = 0;
        bool fold = false;
        bool open = false;
    };

    void rebuild();
    void addGroup(size_t group);
    QString placeText(const Line& line) const;
    QString cellText(const Line& line, int of_class) const;
    QString whatText(const Line& line) const;
    const RankCollective* collective(const Line& line, int of_class) const;
    const RankRow& rowOf(const Line& line) const;

    RankComparisonPtr comparison_;
    std::vector<Line> lines_;
    std::vector<std::pair<size_t, int>> open_; ///< unfolded runs by group and first row
};

} // namespace gs
