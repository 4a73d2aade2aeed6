// Paints the cells of the comparison that are no plain text: what is current and best, the pins, and the step
// as a bar of lower bound and what is above it.
#pragma once

#include "views/docks/cell_delegate.h"

namespace gs {

class CompareCells : public CellDelegate {
    Q_OBJECT
public:
    using CellDelegate::CellDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
};

} // namespace gs
