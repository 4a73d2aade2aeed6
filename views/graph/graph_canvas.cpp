#include "views/graph/graph_canvas.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <cmath>

namespace gs {

namespace {

constexpr double kMargin = 6;
constexpr double kReadable = 0.55;   ///< a new picture that would be smaller scrolls instead
constexpr double kLargestFit = 1.25; ///< a small picture does not become a poster
constexpr double kZoomStep = 1.2;
constexpr double kHitSlackPixels = 3;

} // namespace

GraphCanvas::GraphCanvas(QWidget* parent) : QAbstractScrollArea(parent), minimap_(new GraphMinimap(this)) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    viewport()->setAutoFillBackground(false);
    minimap_->hide();
}

void GraphCanvas::setPicture(GraphPicturePtr picture, bool keep_view) {
    picture_ = std::move(picture);
    marks_ = {};
    minimap_->forget();
    const bool lanes = picture_ && picture_->fitsWidth();
    minimap_->setVisible(lanes);
    setVerticalScrollBarPolicy(lanes ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded); // the map scrolls
    setHorizontalScrollBarPolicy(lanes ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
    setViewportMargins(0, 0, lanes ? GraphMinimap::kWidth + 4 : 0, 0);
    if (keep_view && picture_) {
        zoom_ = std::clamp(zoom_, minZoom(), kMaxZoom);
        updateScrollBars();
    } else {
        fit();
        if (picture_ && !picture_->fitsWidth() && zoom_ < kReadable) {
            zoomTo(kReadable, {0, 0});
            centreOn(picture_->mainBox());
        }
    }
    viewport()->update();
}

void GraphCanvas::setHint(const QString& hint) {
    hint_ = hint;
    viewport()->update();
}

void GraphCanvas::setSelected(int box) {
    marks_.selected = box;
    viewport()->update();
    minimap_->update();
}

void GraphCanvas::setFound(std::vector<int> boxes) {
    marks_.found = std::move(boxes);
    viewport()->update();
}

void GraphCanvas::setCursorBox(int box, bool show) {
    marks_.cursor = box;
    if (show && box >= 0)
        reveal(box);
    viewport()->update();
}

QSizeF GraphCanvas::contentSize() const {
    if (!picture_)
        return {0, 0};
    const QRectF bounds = picture_->bounds();
    const double width = picture_->fitsWidth() ? viewport()->width() : bounds.width() * zoom_ + 2 * kMargin;
    return {width, bounds.height() * zoom_ + 2 * kMargin + picture_->stickyHeight()};
}

GraphCamera GraphCanvas::camera() const {
    GraphCamera camera;
    if (!picture_)
        return camera;
    const QRectF bounds = picture_->bounds();
    camera.sy = zoom_;
    camera.oy = picture_->stickyHeight() + kMargin - bounds.top() * zoom_ - verticalScrollBar()->value();
    if (picture_->fitsWidth()) {
        camera.sx = std::max(40.0, viewport()->width() - 2 * kMargin) / bounds.width();
        camera.ox = kMargin;
    } else {
        camera.sx = zoom_;
        const double spare = viewport()->width() - bounds.width() * zoom_;
        camera.ox = (spare > 2 * kMargin ? spare / 2 : kMargin - horizontalScrollBar()->value()) -
                    bounds.left() * zoom_;
    }
    return camera;
}

double GraphCanvas::fitZoom() const {
    if (!picture_)
        return 1;
    const QRectF bounds = picture_->bounds();
    const double high = viewport()->height() - 2 * kMargin - picture_->stickyHeight();
    double zoom = high / std::max(1.0, bounds.height());
    if (!picture_->fitsWidth())
        zoom = std::min(zoom, (viewport()->width() - 2 * kMargin) / std::max(1.0, bounds.width()));
    return std::clamp(zoom, 1e-5, picture_->fitsWidth() ? 1.0 : kLargestFit);
}

double GraphCanvas::minZoom() const {
    return std::min(0.05, fitZoom());
}

void GraphCanvas::fit() {
    zoom_ = fitZoom();
    fitted_ = true;
    updateScrollBars();
    viewport()->update();
    emit cameraChanged();
}

void GraphCanvas::updateScrollBars() {
    settling_ = true;
    // 0.1: a fitted picture fills its pane exactly, rounding must not call for scroll bars.
    const QSizeF content = contentSize();
    const QSize view = viewport()->size();
    horizontalScrollBar()->setRange(
        0, std::max(0, static_cast<int>(std::ceil(content.width() - 0.1)) - view.width()));
    verticalScrollBar()->setRange(
        0, std::max(0, static_cast<int>(std::ceil(content.height() - 0.1)) - view.height()));
    horizontalScrollBar()->setPageStep(view.width());
    verticalScrollBar()->setPageStep(view.height());
    verticalScrollBar()->setSingleStep(40);
    settling_ = false;
    minimap_->update();
}

void GraphCanvas::zoomTo(double zoom, QPointF anchor) {
    if (!picture_)
        return;
    const QPointF point = camera().unmap(anchor);
    zoom_ = std::clamp(zoom, minZoom(), kMaxZoom);
    fitted_ = std::abs(zoom_ / fitZoom() - 1) < 1e-9;
    updateScrollBars();
    const QPointF now = camera().map(point);
    settling_ = true;
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + qRound(now.x() - anchor.x()));
    verticalScrollBar()->setValue(verticalScrollBar()->value() + qRound(now.y() - anchor.y()));
    settling_ = false;
    viewport()->update();
    emit cameraChanged();
}

void GraphCanvas::reveal(int box) {
    if (!picture_ || box < 0)
        return;
    const QRectF rect = camera().map(picture_->boxRect(box));
    const double top = picture_->stickyHeight() + 8;
    const auto missing = [](double low, double high, double from, double to) {
        return low < from ? low - from : high > to ? std::min(high - to, low - from) : 0.0;
    };
    const double dy = missing(rect.top(), rect.bottom(), top, viewport()->height() - 8.0);
    const double dx = missing(rect.left(), rect.right(), 8, viewport()->width() - 8.0);
    if (dy != 0)
        verticalScrollBar()->setValue(verticalScrollBar()->value() + qRound(dy));
    if (dx != 0 && !picture_->fitsWidth())
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() + qRound(dx));
}

void GraphCanvas::centreOn(int box) {
    if (!picture_ || box < 0)
        return;
    const QPointF middle = camera().map(picture_->boxRect(box).center());
    verticalScrollBar()->setValue(verticalScrollBar()->value() +
                                  qRound(middle.y() - viewport()->height() / 2.0));
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() +
                                    qRound(middle.x() - viewport()->width() / 2.0));
}

void GraphCanvas::follow(const GraphCanvas& other) {
    if (!picture_ || !other.picture_)
        return;
    zoom_ = std::clamp(other.zoom_, minZoom(), kMaxZoom);
    fitted_ = other.fitted_;
    updateScrollBars();
    settling_ = true;
    verticalScrollBar()->setValue(other.verticalScrollBar()->value());
    horizontalScrollBar()->setValue(other.horizontalScrollBar()->value());
    settling_ = false;
    viewport()->update();
    minimap_->update();
}

QSizeF GraphCanvas::hitSlack() const {
    const GraphCamera at = camera();
    return {kHitSlackPixels / at.sx, kHitSlackPixels / at.sy};
}

int GraphCanvas::boxAt(QPointF point) const {
    if (!picture_ || point.y() < picture_->stickyHeight())
        return -1;
    return picture_->boxAt(camera().unmap(point), hitSlack());
}

bool GraphCanvas::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        showTip(help->pos(), help->globalPos());
        return true;
    }
    if (event->type() == QEvent::Leave && marks_.hovered >= 0) {
        marks_.hovered = -1;
        viewport()->update();
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void GraphCanvas::showTip(const QPoint& at, const QPoint& global) {
    const int box = boxAt(at);
    if (box < 0 || !facts_)
        QToolTip::hideText();
    else
        QToolTip::showText(global, factsOf(box), viewport());
}

void GraphCanvas::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), theme.panel);
    if (picture_ && picture_->boxCount() > 0) {
        picture_->paint(painter, camera(), viewport()->rect(), marks_, theme);
    } else if (!hint_.isEmpty()) {
        painter.setPen(theme.muted);
        painter.setFont(Theme::font(12));
        painter.drawText(viewport()->rect().adjusted(12, 12, -12, -12), Qt::AlignCenter | Qt::TextWordWrap,
                         hint_);
    }
}

void GraphCanvas::resizeEvent(QResizeEvent*) {
    minimap_->setGeometry(width() - GraphMinimap::kWidth, 0, GraphMinimap::kWidth, viewport()->height());
    minimap_->forget();
    if (fitted_)
        fit();
    else
        updateScrollBars();
}

void GraphCanvas::scrollContentsBy(int, int) {
    viewport()->update();
    minimap_->update();
    if (!settling_)
        emit cameraChanged();
}

void GraphCanvas::wheelEvent(QWheelEvent* event) {
    const QPoint delta = event->angleDelta();
    if (event->modifiers() & Qt::ControlModifier) {
        zoomTo(zoom_ * std::pow(kZoomStep, delta.y() / 120.0), event->position());
        event->accept();
        return;
    }
    // A fitted picture has nowhere to scroll: the wheel zooms it.
    if (verticalScrollBar()->maximum() == 0 && horizontalScrollBar()->maximum() == 0) {
        zoomTo(zoom_ * std::pow(kZoomStep, delta.y() / 120.0), event->position());
        event->accept();
        return;
    }
    QAbstractScrollArea::wheelEvent(event);
}

void GraphCanvas::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton || event->button() == Qt::MiddleButton) {
        press_ = event->pos();
        press_scroll_ = {horizontalScrollBar()->value(), verticalScrollBar()->value()};
        dragging_ = false;
    }
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & (Qt::LeftButton | Qt::MiddleButton)) {
        const QPoint moved = event->pos() - press_;
        if (!dragging_ && moved.manhattanLength() > 5)
            dragging_ = true;
        if (dragging_) {
            viewport()->setCursor(Qt::ClosedHandCursor);
            horizontalScrollBar()->setValue(press_scroll_.x() - moved.x());
            verticalScrollBar()->setValue(press_scroll_.y() - moved.y());
        }
        return;
    }
    const int box = boxAt(event->position());
    if (box != marks_.hovered) {
        marks_.hovered = box;
        viewport()->update();
    }
    viewport()->setCursor(box >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) {
    viewport()->setCursor(Qt::ArrowCursor);
    if (dragging_ || event->button() != Qt::LeftButton || !picture_) {
        dragging_ = false;
        return;
    }
    const int box = boxAt(event->position());
    if (box < 0)
        return;
    const NodeId jump = picture_->jumpAt(camera().unmap(event->position()), hitSlack());
    if (jump != kNoNode) {
        emit jumpRequested(jump);
        return;
    }
    setCursorBox(box, false);
    emit boxClicked(box);
}

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    const int box = boxAt(event->position());
    if (box >= 0)
        emit boxActivated(box);
}

bool GraphCanvas::stepCursor(GraphStep step) {
    if (!picture_)
        return false;
    const int from = marks_.cursor >= 0 ? marks_.cursor : marks_.selected;
    const int box = picture_->step(from, step);
    if (box < 0) {
        if (step == GraphStep::Left || step == GraphStep::Right)
            emit sideStepped(step == GraphStep::Left ? -1 : 1);
        return true;
    }
    setCursorBox(box, true);
    return true;
}

void GraphCanvas::keyPressEvent(QKeyEvent* event) {
    const QPointF middle = viewport()->rect().center();
    switch (event->key()) {
    case Qt::Key_Up:
        stepCursor(GraphStep::Up);
        return;
    case Qt::Key_Down:
        stepCursor(GraphStep::Down);
        return;
    case Qt::Key_Left:
        stepCursor(GraphStep::Left);
        return;
    case Qt::Key_Right:
        stepCursor(GraphStep::Right);
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoomTo(zoom_ * kZoomStep, middle);
        return;
    case Qt::Key_Minus:
        zoomTo(zoom_ / kZoomStep, middle);
        return;
    case Qt::Key_F:
        fit();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (marks_.cursor >= 0)
            emit boxActivated(marks_.cursor);
        return;
    case Qt::Key_Space:
        if (marks_.cursor >= 0)
            emit boxClicked(marks_.cursor);
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

} // namespace gs
