#include "views/docks/cell_delegate.h"

#include "views/docks/paint_text.h"

#include <QPainter>
#include <cmath>

namespace gs {

namespace {

/// Bar for a share, with the text in front of it: "12.3 %".
void paintBar(QPainter& painter, QRectF rect, double share, const Theme& theme) {
    constexpr qreal kWidth = 28;
    QRectF track(rect.left(), rect.center().y() - 3, std::min(kWidth, rect.width()), 6);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.field);
    painter.drawRoundedRect(track, 2, 2);
    track.setWidth(std::max(1.0, track.width() * std::clamp(share, 0.0, 1.0)));
    painter.setBrush(theme.compute);
    painter.drawRoundedRect(track, 2, 2);
}

/// Bar for a change, with the text in front of it: to the left of its middle for the better.
void paintChange(QPainter& painter, QRectF rect, double change, const Theme& theme) {
    constexpr qreal kHalf = 18;
    const qreal middle = rect.left() + kHalf;
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.field);
    painter.drawRoundedRect(QRectF(rect.left(), rect.center().y() - 3, 2 * kHalf, 6), 2, 2);
    const qreal length = kHalf * std::clamp(std::abs(change), 0.0, 1.0);
    painter.setBrush(change > 0 ? theme.exposed : theme.hidden_ok);
    painter.drawRect(QRectF(change > 0 ? middle : middle - length, rect.center().y() - 3, length, 6));
    painter.setBrush(theme.muted);
    painter.drawRect(QRectF(middle - 0.5, rect.center().y() - 5, 1, 10));
}

} // namespace

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    const Theme& theme = Theme::current();
    const bool selected = option.state & QStyle::State_Selected;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (selected)
        painter->fillRect(option.rect, theme.selection);
    QRectF rect = QRectF(option.rect).adjusted(kPadding, 0, -kPadding, 0);

    const QVariant mark = index.data(MarkRole);
    if (mark.isValid()) {
        const bool alone = index.data(Qt::DisplayRole).toString().isEmpty();
        const QRectF box = alone ? QRectF(option.rect) : QRectF(rect.left(), rect.top(), 12, rect.height());
        drawMark(*painter, box, static_cast<Mark>(mark.toInt()));
        if (!alone)
            rect.setLeft(rect.left() + 18);
    }
    const QVariant badge = index.data(BadgeRole);
    if (badge.isValid()) {
        drawBadge(*painter, rect, static_cast<Provenance>(badge.toInt()));
        painter->restore();
        return;
    }
    const QVariant bar = index.data(BarRole);
    if (bar.isValid())
        paintBar(*painter, rect, bar.toDouble(), theme);
    const QVariant change = index.data(ChangeBarRole);
    if (change.isValid())
        paintChange(*painter, rect, change.toDouble(), theme);

    const bool edited = index.data(EditedRole).toBool();
    const QString text = index.data(Qt::DisplayRole).toString();
    painter->setFont(Theme::font(12, edited ? QFont::DemiBold : QFont::Normal));
    painter->setPen(edited ? theme.accent : index.data(MutedRole).toBool() ? theme.muted : theme.text);
    const Qt::Alignment alignment{index.data(Qt::TextAlignmentRole).toInt()};
    if (index.data(NumericRole).toBool()) {
        drawTabular(*painter, rect, text, alignment);
    } else {
        const QString elided =
            painter->fontMetrics().elidedText(text, Qt::ElideRight, static_cast<int>(rect.width()));
        painter->drawText(rect, int(alignment | Qt::AlignVCenter), elided);
    }
    if (option.state & QStyle::State_HasFocus && !selected) {
        painter->setPen(theme.accent);
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5));
    }
    painter->restore();
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
    const QString text = index.data(Qt::DisplayRole).toString();
    const int extra = (index.data(MarkRole).isValid() ? 18 : 0) +
                      (index.data(BarRole).isValid() || index.data(ChangeBarRole).isValid() ? 50 : 0);
    return {static_cast<int>(std::ceil(tabularWidth(text, Theme::font()))) + 2 * kPadding + extra,
            kRowHeight};
}

} // namespace gs
