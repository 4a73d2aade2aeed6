// The filter of all tables of costs: words that a row must have, and kinds of rows to show.
#pragma once

#include "views/models/table_roles.h"

#include <QSortFilterProxyModel>
#include <QStringList>

namespace gs {

/// What a model tells the filter of each row, in any column.
enum CostFilterRole : int {
    FilterTextRole = FirstOwnRole, ///< QString: what words are looked for in
    FilterKindsRole                ///< int: the model's kinds that the row is of, as bits
};

class CostFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit CostFilter(QAbstractItemModel* model);
    /// Every word must be in the row; capitals do not matter.
    void setText(const QString& text);
    /// Kinds add to each other: slower and faster together show both. None: all rows.
    void setWanted(int kind, bool on);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList words_;
    int wanted_ = 0;
};

} // namespace gs
