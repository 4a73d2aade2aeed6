#include "views/docks/table_header.h"

#include "views/docks/cell_delegate.h"
#include "views/theme.h"

#include <QPainter>

namespace gs {

namespace {

constexpr int kHeight = 26;

void paintArrow(QPainter& painter, const QPointF& c, Qt::SortOrder order) {
    const qreal d = order == Qt::AscendingOrder ? -2.5 : 2.5;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::current().accent);
    painter.drawPolygon(
        QPolygonF({{c.x() - 3.5, c.y() - d / 2}, {c.x() + 3.5, c.y() - d / 2}, {c.x(), c.y() + d}}));
}

} // namespace

TableHeader::TableHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
    setSectionsClickable(true);
    setSectionsMovable(true);
    setHighlightSections(false);
    setMinimumSectionSize(20);
    setSortIndicatorClearable(true);
    setSortIndicator(-1, Qt::AscendingOrder);
    setBackgroundRole(QPalette::Base);
}

QSize TableHeader::sizeHint() const {
    return {QHeaderView::sizeHint().width(), kHeight};
}

void TableHeader::paintEvent(QPaintEvent* event) {
    QPainter(viewport()).fillRect(viewport()->rect(), Theme::current().panel);
    QHeaderView::paintEvent(event);
    QPainter line(viewport());
    line.setPen(Theme::current().border);
    line.drawLine(0, height() - 1, width(), height() - 1);
}

void TableHeader::paintSection(QPainter* painter, const QRect& rect, int section) const {
    const Theme& theme = Theme::current();
    painter->save();
    painter->fillRect(rect, theme.panel);
    const bool sorted = sortIndicatorSection() == section;
    const QVariant alignment = model()->headerData(section, orientation(), Qt::TextAlignmentRole);
    const bool right = alignment.toInt() & Qt::AlignRight;
    painter->setFont(Theme::font(11, QFont::Medium));
    painter->setPen(sorted ? theme.text : theme.muted);
    QRect words = rect.adjusted(CellDelegate::kPadding, 0, -CellDelegate::kPadding, -2);
    const int arrow = sorted ? 12 : 0;
    const QString text = painter->fontMetrics().elidedText(
        model()->headerData(section, orientation(), Qt::DisplayRole).toString(), Qt::ElideRight,
        words.width() - (right ? std::max(0, arrow - CellDelegate::kPadding) : arrow));
    painter->drawText(words, int(Qt::AlignVCenter | (right ? Qt::AlignRight : Qt::AlignLeft)), text);
    if (sorted) {
        const int used = painter->fontMetrics().horizontalAdvance(text);
        const qreal x = right ? words.right() - used - 6 : words.left() + used + 8;
        paintArrow(*painter, QPointF(x, words.center().y() + 1), sortIndicatorOrder());
    }
    painter->restore();
}

} // namespace gs
