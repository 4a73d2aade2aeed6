#include "views/timeline/launch_painter.h"

#include "views/theme.h"
#include "views/timeline/blend.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>

namespace gs {

namespace {

constexpr double kMarkHeight = 7;
constexpr double kBubbleMargin = 8;

QPolygonF triangle(const QPointF& tip, double size) {
    return {tip, tip + QPointF(-0.62 * size, -size), tip + QPointF(0.62 * size, -size)};
}

/// Each kind of manual change has its own shape: moved, pinned, held in place, bucketed.
void paintByHand(QPainter& p, const QPointF& tip, Edit::Kind kind, const Theme& theme) {
    const QPointF centre = tip + QPointF(0, -4.5);
    p.setPen(QPen(theme.accent, 1.4));
    p.setBrush(theme.accent);
    switch (kind) {
    case Edit::Kind::Move:
        p.drawPolygon(triangle(tip, kMarkHeight + 1));
        break;
    case Edit::Kind::Pin:
        p.drawLine(centre, tip);
        p.drawEllipse(centre + QPointF(0, -1), 2.8, 2.8);
        break;
    case Edit::Kind::Forbid:
        p.setBrush(theme.panel);
        p.drawEllipse(centre, 3.6, 3.6);
        p.drawLine(centre + QPointF(-2.4, 2.4), centre + QPointF(2.4, -2.4));
        break;
    case Edit::Kind::Bucket:
        p.setBrush(theme.panel);
        p.drawRect(QRectF(centre.x() - 3.5, centre.y() - 3, 4.5, 4.5));
        p.setBrush(theme.accent);
        p.drawRect(QRectF(centre.x() - 1, centre.y() - 1, 4.5, 4.5));
        break;
    }
}

} // namespace

void paintLaunchMarks(QPainter& p, const TimelineScene& scene, const Theme& theme) {
    p.setRenderHint(QPainter::Antialiasing, true);
    for (const SceneLaunch& item : scene.launches) {
        if (item.by_hand) {
            paintByHand(p, item.tip, *item.by_hand, theme);
        } else {
            p.setPen(item.selected ? QPen(theme.accent, 1.6) : QPen(Qt::NoPen));
            p.setBrush(item.kind == SliceKind::Gather ? theme.gather : theme.other_comm);
            p.drawPolygon(triangle(item.tip, item.selected ? kMarkHeight + 1 : kMarkHeight));
        }
    }
    p.setRenderHint(QPainter::Antialiasing, false);
}

void paintLaunchOverlay(QPainter& p, const LaunchOverlay& overlay, const Theme& theme) {
    const QColor color = overlay.allowed ? theme.accent : theme.limited;
    p.save();
    p.setClipRect(overlay.plot);
    p.fillRect(overlay.legal, faded(theme.hidden_ok, 0.22));
    for (const double edge : {overlay.legal.left(), overlay.legal.right() - 2})
        p.fillRect(QRectF(edge, overlay.legal.top() - 3, 2, overlay.legal.height() + 6), theme.hidden_ok);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(color, 1.6, overlay.allowed ? Qt::SolidLine : Qt::DashLine));
    p.drawLine(QPointF(overlay.x, overlay.band.top() - 4), QPointF(overlay.x, overlay.band.bottom()));
    const QPointF tip(overlay.x, overlay.tip);
    p.setBrush(overlay.allowed ? faded(color, 0.8) : theme.panel);
    p.drawPolygon(triangle(tip, kMarkHeight + 3));
    if (!overlay.allowed) { // crossed out
        p.drawLine(tip + QPointF(-5, -11), tip + QPointF(5, 0));
        p.drawLine(tip + QPointF(-5, 0), tip + QPointF(5, -11));
    }
    p.restore();

    p.setFont(Theme::font(12, QFont::Medium));
    const QFontMetricsF metrics(p.font());
    const double most = overlay.plot.right() - 8 - 2 * kBubbleMargin;
    const QString text = metrics.elidedText(overlay.text, Qt::ElideMiddle, std::max(80.0, most));
    const QSizeF size(metrics.horizontalAdvance(text) + 2 * kBubbleMargin, metrics.height() + kBubbleMargin);
    // Above the cursor, inside the view.
    const double x =
        std::clamp(overlay.cursor.x() + 12, 4.0, std::max(4.0, overlay.plot.right() + 20 - size.width()));
    const double y = std::max(4.0, overlay.cursor.y() - size.height() - 12);
    const QRectF box(QPointF(x, y), size);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(color, 1.4));
    p.setBrush(theme.panel);
    p.drawRoundedRect(box, 5, 5);
    p.setPen(overlay.allowed ? theme.text : color);
    p.drawText(box, Qt::AlignCenter, text);
    p.setRenderHint(QPainter::Antialiasing, false);
}

} // namespace gs
