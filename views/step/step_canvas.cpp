#include "views/step/step_canvas.h"

#include "views/step/step_painter.h"
#include "views/step/step_text.h"
#include "views/theme.h"

#include <QApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace gs {

namespace {

constexpr double kNotch = 120;     ///< QWheelEvent's unit
constexpr double kWheelPan = 0.08; ///< of the width, per notch

} // namespace

StepCanvas::StepCanvas(QWidget* parent) : QWidget(parent), data_(StepData::build(nullptr)) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void StepCanvas::setData(StepDataPtr data) {
    data_ = std::move(data);
    range_.reset();
    step_ = 0;
    fill_ = 1;
    invalidate();
}

void StepCanvas::setStep(size_t step, double fill) {
    if (step != step_ && range_ && step < data_->size()) {
        // A zoom stays as long as the step is inside it.
        const TimeRange claim = data_->claim(step);
        const bool seen = claim.begin_ns >= range_->begin_ns && claim.end_ns <= range_->end_ns;
        if (!seen)
            range_.reset();
    }
    step_ = step;
    fill_ = fill;
    invalidate();
}

void StepCanvas::setScale(double scale) {
    scale_ = scale;
    invalidate();
}

TimeRange StepCanvas::range() const {
    if (range_)
        return *range_;
    return step_ < data_->size() ? data_->pages[step_] : data_->full();
}

StepRequest StepCanvas::request() const {
    return {QSizeF(size()), scale_, step_, fill_, range()};
}

const StepScene& StepCanvas::scene() const {
    if (!scene_)
        scene_ = buildStepScene(*data_, request());
    return *scene_;
}

void StepCanvas::invalidate() {
    scene_.reset();
    update();
}

void StepCanvas::zoomAt(double plot_pixel, double factor) {
    if (data_->size() == 0)
        return;
    range_ = zoomRange(stepAxis(request()), factor, plot_pixel, data_->reach());
    invalidate();
}

void StepCanvas::pan(double pixels) {
    if (data_->size() == 0)
        return;
    range_ = panRange(stepAxis(request()), pixels, data_->reach());
    invalidate();
}

void StepCanvas::fit() {
    range_.reset();
    invalidate();
}

void StepCanvas::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintStepScene(painter, scene(), Theme::current());
}

void StepCanvas::resizeEvent(QResizeEvent*) {
    invalidate();
}

void StepCanvas::wheelEvent(QWheelEvent* event) {
    event->accept();
    const double up = event->angleDelta().y() / kNotch;
    const double across = event->angleDelta().x() / kNotch;
    const QRectF plot = stepPlot(request());
    if (event->modifiers() & Qt::ShiftModifier || across != 0)
        pan(-(across != 0 ? across : up) * kWheelPan * plot.width());
    else if (up != 0)
        zoomAt(std::clamp(event->position().x() - plot.left(), 0.0, plot.width()), std::exp2(-up / 3));
}

void StepCanvas::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton)
        return;
    press_ = event->position();
    dragged_ = 0;
}

void StepCanvas::mouseMoveEvent(QMouseEvent* event) {
    if (!press_) {
        setCursor(stepAt(event->position()) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
        return;
    }
    const double by = event->position().x() - press_->x();
    if (dragged_ == 0 && std::abs(by) < QApplication::startDragDistance())
        return;
    dragged_ += std::abs(by);
    if (!scene().overview.contains(*press_))
        pan(-by);
    press_ = event->position();
}

void StepCanvas::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !press_)
        return;
    press_.reset();
    const int step = stepAt(event->position());
    if (dragged_ == 0 && step >= 0)
        emit stepChosen(step);
}

void StepCanvas::mouseDoubleClickEvent(QMouseEvent*) {
    fit();
}

/// In the overview the launch that is nearest in time; elsewhere what is drawn there.
int StepCanvas::stepAt(const QPointF& position) const {
    if (data_->size() == 0)
        return -1;
    const QRectF overview = scene().overview.adjusted(0, -3, 0, 3);
    if (!overview.contains(position))
        return scene().stepAt(position);
    const TimeAxis all(data_->full(), stepAxis(request()).width());
    const int64_t time = all.timeAt(position.x() - overview.left());
    const auto distance = [&](size_t step) { return std::abs(data_->at(data_->decision(step).cur) - time); };
    size_t best = 0;
    for (size_t i = 1; i < data_->size(); ++i) {
        if (distance(i) < distance(best))
            best = i;
    }
    return static_cast<int>(best);
}

int StepCanvas::claimOf(NodeId node) const {
    return data_->claimOver({data_->at(node), data_->at(node + 1)}, step_ + 1);
}

QString StepCanvas::tipAt(const QPointF& position) const {
    if (const int step = stepAt(position); step >= 0)
        return gatherTip(*data_, static_cast<size_t>(step));
    if (const StepRect* block = scene().computeAt(position))
        return computeTip(*data_, block->node, claimOf(block->node));
    return {};
}

bool StepCanvas::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString tip = tipAt(help->pos());
        if (tip.isEmpty())
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(), tip, this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace gs
