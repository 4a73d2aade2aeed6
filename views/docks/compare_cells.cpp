#include "views/docks/compare_cells.h"

#include "views/docks/paint_text.h"
#include "views/models/compare_model.h"

#include <QPainter>
#include <QPainterPath>
#include <cmath>

namespace gs {

namespace {

QPainterPath star(const QPointF& c, qreal radius) {
    QPolygonF points;
    for (int i = 0; i < 10; ++i) {
        const qreal angle = -M_PI / 2 + i * M_PI / 5;
        const qreal r = i % 2 == 0 ? radius : radius * 0.42;
        points << QPointF(c.x() + r * std::cos(angle), c.y() + r * std::sin(angle));
    }
    QPainterPath path;
    path.addPolygon(points);
    path.closeSubpath();
    return path;
}

/// An arrow head for what the window shows, a star for the best.
void paintState(QPainter& painter, const QRectF& rect, bool current, bool best, const Theme& theme) {
    const qreal y = rect.center().y();
    if (current) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.accent);
        painter.drawRect(QRectF(rect.left(), rect.top(), 3, rect.height()));
        const qreal x = rect.left() + 12;
        painter.drawPolygon(QPolygonF({{x - 3, y - 4.5}, {x + 4.5, y}, {x - 3, y + 4.5}}));
    }
    if (best)
        painter.fillPath(star({rect.left() + 27, y}, 5.5), theme.gather);
}

/// Off: a faint outline that says where to click. On: filled.
void paintPin(QPainter& painter, const QRectF& rect, const QString& letter, bool on, bool hover,
              const Theme& theme) {
    const QPointF c = rect.center();
    const QRectF box(c.x() - 7, c.y() - 7, 14, 14);
    painter.setPen(QPen(on || hover ? theme.accent : theme.border, 1.2));
    painter.setBrush(on && !letter.isEmpty() ? QBrush(theme.accent) : Qt::NoBrush);
    if (letter.isEmpty()) {
        painter.drawEllipse(c, 5, 5);
        if (on) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(theme.accent);
            painter.drawEllipse(c, 2.8, 2.8);
        }
        return;
    }
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    painter.setFont(Theme::font(10, QFont::DemiBold));
    painter.setPen(on ? (theme.dark ? theme.panel : theme.on_accent) : hover ? theme.accent : theme.muted);
    painter.drawText(box, Qt::AlignCenter, letter);
}

/// The step's length among all rows: up to the lower bound in the colour of compute, above it as exposed
/// time.
void paintStepBar(QPainter& painter, const QRectF& rect, double bound, double step, const Theme& theme) {
    const QRectF track(rect.left(), rect.center().y() - 3.5, rect.width(), 7);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.field);
    painter.drawRoundedRect(track, 2, 2);
    const qreal bound_x = track.left() + track.width() * std::clamp(bound, 0.0, 1.0);
    const qreal step_x = track.left() + track.width() * std::clamp(step, 0.0, 1.0);
    painter.setBrush(theme.compute);
    painter.drawRect(
        QRectF(track.left(), track.top(), std::min(bound_x, step_x) - track.left(), track.height()));
    if (step_x - bound_x < 0.5)
        return;
    const QRectF over(bound_x, track.top(), step_x - bound_x, track.height());
    QColor fill = theme.exposed;
    fill.setAlphaF(theme.dark ? 0.45F : 0.35F);
    painter.setBrush(fill);
    painter.drawRect(over);
    painter.setPen(QPen(theme.exposed, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(over.adjusted(0.5, 0.5, -0.5, -0.5));
}

/// Scheduler, then what differs in the muted colour.
void paintVariant(QPainter& painter, const QRectF& rect, const QModelIndex& index, const Theme& theme) {
    const QString detail = index.data(DetailRole).toString();
    const QString all = index.data(Qt::DisplayRole).toString();
    const QString name = detail.isEmpty() ? all : all.left(all.size() - detail.size() - 3);
    const bool current = index.data(CurrentRole).toBool();
    painter.setFont(Theme::font(12, current ? QFont::DemiBold : QFont::Normal));
    painter.setPen(theme.text);
    const QFontMetrics metrics = painter.fontMetrics();
    const int width = static_cast<int>(rect.width());
    painter.drawText(rect, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(name, Qt::ElideRight, width));
    const int used = metrics.horizontalAdvance(name) + 8;
    if (detail.isEmpty() || used + 20 > width)
        return;
    painter.setFont(Theme::font(12));
    painter.setPen(theme.muted);
    painter.drawText(rect.adjusted(used, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(detail, Qt::ElideRight, width - used));
}

} // namespace

void CompareCells::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    const int column = index.column();
    const bool failed = index.data(MarkRole).isValid();
    const bool step =
        column == CompareModel::Step && index.data(Qt::DisplayRole).toString() != QStringLiteral("–");
    if (column > CompareModel::Variant && !step) {
        CellDelegate::paint(painter, option, index);
        return;
    }
    const Theme& theme = Theme::current();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setClipRect(option.rect);
    if (option.state & QStyle::State_Selected)
        painter->fillRect(option.rect, theme.selection);
    const QRectF rect(option.rect);
    const bool hover = option.state & QStyle::State_MouseOver;
    QRectF inner = rect.adjusted(kPadding, 0, -kPadding, 0);
    switch (column) {
    case CompareModel::State:
        paintState(*painter, rect, index.data(CurrentRole).toBool(), index.data(BestRole).toBool(), theme);
        break;
    case CompareModel::Base:
    case CompareModel::PinA:
    case CompareModel::PinB:
        paintPin(*painter, rect,
                 column == CompareModel::Base   ? QString()
                 : column == CompareModel::PinA ? QStringLiteral("A")
                                                : QStringLiteral("B"),
                 index.data(PinRole).toBool(), hover, theme);
        break;
    case CompareModel::Variant:
        if (failed) {
            drawMark(*painter, QRectF(inner.left(), inner.top(), 12, inner.height()), Mark::Error);
            inner.setLeft(inner.left() + 18);
        }
        paintVariant(*painter, inner, index, theme);
        break;
    default: {
        const QString text = index.data(Qt::DisplayRole).toString();
        painter->setFont(Theme::font(12));
        painter->setPen(theme.text);
        drawTabular(*painter, inner, text, Qt::AlignRight);
        const qreal bar = inner.width() - std::ceil(tabularWidth(text, Theme::font())) - 8;
        if (bar >= 24) // equal bars in all rows: the longest text is the widest
            paintStepBar(*painter, QRectF(inner.left(), inner.top(), 56, inner.height()),
                         index.data(BoundShareRole).toDouble(), index.data(StepShareRole).toDouble(), theme);
    }
    }
    painter->restore();
}

} // namespace gs
