#include "views/graph/render_graph.h"

#include "views/graph/graph_legend.h"

#include <QFontMetricsF>
#include <QPainter>

namespace gs {

namespace {

constexpr double kMargin = 14, kLine = 18, kGap = 12, kSideGap = 16;

void drawLine(QPainter* painter, const QRectF& rect, const QString& text) {
    const QFontMetricsF metrics(painter->font());
    painter->drawText(rect, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                      metrics.elidedText(text, Qt::ElideMiddle, rect.width()));
}

GraphCamera fitted(const GraphPicture& picture, const QRectF& pane, double scale) {
    GraphCamera camera;
    const QRectF bounds = picture.bounds();
    camera.sy = scale;
    camera.sx = picture.fitsWidth() ? pane.width() / std::max(1.0, bounds.width()) : scale;
    camera.ox = pane.left() - bounds.left() * camera.sx;
    if (!picture.fitsWidth())
        camera.ox += (pane.width() - bounds.width() * scale) / 2;
    camera.oy = pane.top() + picture.stickyHeight() - bounds.top() * scale;
    return camera;
}

double fitScale(const GraphPicture& picture, const QRectF& pane) {
    const QRectF bounds = picture.bounds();
    double scale = (pane.height() - picture.stickyHeight()) / std::max(1.0, bounds.height());
    if (!picture.fitsWidth())
        scale = std::min(scale, pane.width() / std::max(1.0, bounds.width()));
    return std::min(1.0, scale);
}

} // namespace

void renderGraph(QPainter* painter, const QRectF& target, const GraphRendering& rendering,
                 const Theme& theme) {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->fillRect(target, theme.panel);
    QRectF rest = target.adjusted(kMargin, kMargin, -kMargin, -kMargin);
    if (!rendering.title.isEmpty()) {
        painter->setFont(Theme::font(13, QFont::DemiBold));
        painter->setPen(theme.text);
        drawLine(painter, QRectF(rest.left(), rest.top(), rest.width(), kLine), rendering.title);
        rest.setTop(rest.top() + kLine + kGap / 2);
    }
    if (rendering.legend) {
        rendering.legend->paint(*painter, {rest.left(), rest.bottom() - kLine});
        rest.setBottom(rest.bottom() - kLine);
    }
    painter->setFont(Theme::font(11));
    painter->setPen(theme.muted);
    drawLine(painter, QRectF(rest.left(), rest.bottom() - kLine, rest.width(), kLine), rendering.caption);
    rest.setBottom(rest.bottom() - kLine - kGap / 2);

    const double width = (rest.width() - kSideGap) / 2;
    const QString titles[] = {GraphLegend::tr("before"), GraphLegend::tr("after")};
    const GraphPicturePtr pictures[] = {rendering.before, rendering.after};
    const GraphMarks* marks[] = {&rendering.before_marks, &rendering.after_marks};
    QRectF panes[2];
    double scale = 1; // one for both sides, so that they compare
    for (int side = 0; side < 2; ++side) {
        panes[side] = QRectF(rest.left() + side * (width + kSideGap), rest.top(), width, rest.height());
        painter->setFont(Theme::font(11));
        painter->setPen(theme.muted);
        drawLine(painter, QRectF(panes[side].left(), panes[side].top(), width, kLine), titles[side]);
        panes[side].setTop(panes[side].top() + kLine + 4);
        if (pictures[side] && pictures[side]->boxCount() > 0)
            scale = std::min(scale, fitScale(*pictures[side], panes[side]));
    }
    for (int side = 0; side < 2; ++side) {
        if (!pictures[side] || pictures[side]->boxCount() == 0)
            continue;
        painter->save();
        painter->setClipRect(panes[side].adjusted(-4, -4, 4, 4));
        pictures[side]->paint(*painter, fitted(*pictures[side], panes[side], scale), panes[side],
                              *marks[side], theme);
        painter->restore();
    }
    painter->restore();
}

} // namespace gs
