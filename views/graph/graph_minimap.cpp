#include "views/graph/graph_canvas.h"
#include "views/graph/lane_picture.h"

#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>

namespace gs {

GraphMinimap::GraphMinimap(GraphCanvas* canvas) : QWidget(canvas), canvas_(canvas) {
    setCursor(Qt::PointingHandCursor);
}

void GraphMinimap::paintEvent(QPaintEvent*) {
    const auto* picture = dynamic_cast<const LanePicture*>(canvas_->picture().get());
    if (!picture || picture->boxCount() == 0)
        return;
    const Theme& theme = Theme::current();
    const double ratio = devicePixelRatioF();
    const double scale = height() / picture->bounds().height();
    if (cache_.size() != size() * ratio) {
        cache_ = QPixmap(size() * ratio);
        cache_.setDevicePixelRatio(ratio);
        cache_.fill(theme.panel);
        QPainter painter(&cache_);
        GraphCamera camera;
        camera.sx = width() / LanePicture::kWidth;
        camera.sy = scale;
        picture->paintBands(painter, camera, rect(), theme);
    }
    QPainter painter(this);
    painter.drawPixmap(0, 0, cache_);
    const GraphCamera camera = canvas_->camera();
    const double top = camera.unmap({0, picture->stickyHeight()}).y() * scale;
    const double bottom = camera.unmap({0, static_cast<double>(canvas_->viewport()->height())}).y() * scale;
    QRectF frame(0.5, top, width() - 1, std::max(4.0, bottom - top));
    frame = frame.intersected(QRectF(rect()).adjusted(0, 0.5, 0, -0.5));
    QColor fill = theme.accent;
    fill.setAlphaF(0.15F);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.accent, 1));
    painter.setBrush(fill);
    painter.drawRoundedRect(frame, 2, 2);
    if (canvas_->marks().selected >= 0) {
        const double y = picture->boxRect(canvas_->marks().selected).center().y() * scale;
        painter.fillRect(QRectF(0, y - 1, width(), 2), theme.accent);
    }
}

void GraphMinimap::scrollTo(QMouseEvent* event) {
    if (!canvas_->picture())
        return;
    const double share = event->position().y() / std::max(1, height());
    QScrollBar* bar = canvas_->verticalScrollBar();
    bar->setValue(qRound(share * (bar->maximum() + bar->pageStep()) - bar->pageStep() / 2.0));
}

} // namespace gs
