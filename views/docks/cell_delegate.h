// Paints the cells of every table: marks, badges, bars and numbers in equal digit widths (table_roles.h).
#pragma once

#include <QStyledItemDelegate>

namespace gs {

class CellDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    static constexpr int kRowHeight = 21;
    static constexpr int kPadding = 8;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

} // namespace gs
