#include "views/models/cost_filter.h"

#include "views/models/table_roles.h"

#include <algorithm>

namespace gs {

CostFilter::CostFilter(QAbstractItemModel* model) : QSortFilterProxyModel(model) {
    setSortRole(SortRole);
    setSourceModel(model);
}

void CostFilter::setText(const QString& text) {
    words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void CostFilter::setWanted(int kind, bool on) {
    wanted_ = on ? wanted_ | kind : wanted_ & ~kind;
    invalidateFilter();
}

bool CostFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    if (wanted_ != 0 && (index.data(FilterKindsRole).toInt() & wanted_) == 0)
        return false;
    if (words_.isEmpty())
        return true;
    const QString text = index.data(FilterTextRole).toString();
    return std::all_of(words_.begin(), words_.end(),
                       [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

} // namespace gs
