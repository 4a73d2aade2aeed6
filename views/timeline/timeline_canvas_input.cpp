// Mouse, wheel and keyboard of the timeline's canvas.
#include "export/measured_text.h"
#include "views/timeline/measured_tips.h"
#include "views/timeline/range_totals.h"
#include "views/timeline/timeline_canvas.h"
#include "views/timeline/timeline_text.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace gs {

namespace {

constexpr double kKeyZoom = 1.4142135623730951; ///< two presses double
constexpr double kKeyPan = 0.15;                ///< of the width
constexpr double kWheelPan = 0.08;              ///< of the width, per notch
constexpr double kNotch = 120;                  ///< QWheelEvent's unit
constexpr double kSnapPx = 6;

} // namespace

double TimelineCanvas::anchorPixel() const {
    const double width = axis().width();
    if (!hover_ || hover_->x() < gutter_)
        return width / 2;
    return std::clamp(hover_->x() - gutter_, 0.0, width);
}

void TimelineCanvas::wheelEvent(QWheelEvent* event) {
    const double up = event->angleDelta().y() / kNotch;
    const double across = event->angleDelta().x() / kNotch;
    const double width = axis().width();
    event->accept();
    if (event->position().x() < gutter_ && event->modifiers() == Qt::NoModifier) {
        verticalScrollBar()->setValue(verticalScrollBar()->value() -
                                      static_cast<int>(up * 3 * verticalScrollBar()->singleStep()));
        return;
    }
    if (event->modifiers() & Qt::ShiftModifier || across != 0) {
        pan(-(across != 0 ? across : up) * kWheelPan * width);
        return;
    }
    if (up != 0)
        zoomAt(std::clamp(event->position().x() - gutter_, 0.0, width), std::exp2(-up / 3));
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event) {
    press_ = last_ = event->position();
    if (event->button() == Qt::MiddleButton) {
        drag_ = Drag::Pan;
        viewport()->setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton) {
        endLaunchDrag();
        const SceneLaunch* launch = scene().launchAt(press_);
        pressed_launch_ = launch ? launch->launch : kNoNode;
        drag_ = launch ? Drag::LaunchPress : Drag::Press;
    }
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event) {
    hover_ = event->position();
    if (drag_ == Drag::Press && press_.x() >= gutter_ &&
        std::abs(event->position().x() - press_.x()) >= QApplication::startDragDistance())
        drag_ = Drag::Range;
    if (drag_ == Drag::LaunchPress &&
        std::abs(event->position().x() - press_.x()) >= QApplication::startDragDistance())
        beginLaunchDrag();
    if (drag_ == Drag::None)
        viewport()->setCursor(scene().launchAt(*hover_) ? Qt::OpenHandCursor : Qt::ArrowCursor);
    if (drag_ == Drag::Launch) {
        dragLaunch(event->position());
    } else if (drag_ == Drag::Range) {
        dragRange(event->position());
    } else if (drag_ == Drag::Pan) {
        const QPointF by = event->position() - last_;
        verticalScrollBar()->setValue(verticalScrollBar()->value() - static_cast<int>(std::lround(by.y())));
        pan(-by.x());
    }
    last_ = event->position();
    viewport()->update();
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event) {
    const Drag was = std::exchange(drag_, Drag::None);
    viewport()->unsetCursor();
    if (was == Drag::Press && event->button() == Qt::LeftButton)
        click(event->position());
    else if (was == Drag::LaunchPress && event->button() == Qt::LeftButton)
        selectLaunch(pressed_launch_);
    else if (was == Drag::Launch)
        dropLaunch();
}

void TimelineCanvas::dragRange(const QPointF& position) {
    const TimeAxis time = axis();
    const bool free = QApplication::keyboardModifiers() & Qt::AltModifier;
    const auto at = [&](double x) {
        const int64_t exact = time.timeAt(std::clamp(x - gutter_, 0.0, static_cast<double>(time.width())));
        return free ? exact : snapToSlice(*data_, exact, time.span(kSnapPx));
    };
    const int64_t one = at(press_.x());
    const int64_t two = at(position.x());
    if (one != two)
        setMarkedRange(TimeRange{std::min(one, two), std::max(one, two)});
}

void TimelineCanvas::click(const QPointF& position) {
    for (const SceneText& text : scene().texts) {
        if (text.role == SceneRole::Elsewhere && text.rect.contains(position)) {
            const int64_t begin = text.time_ns - range_.length() / 2;
            navigate({begin, begin + range_.length()});
            return;
        }
        if (text.role == SceneRole::ErrorNote && text.rect.contains(position)) {
            selectWorst();
            return;
        }
    }
    const SceneLane* lane = nullptr;
    const SceneMark* mark = scene().markAt(position, &lane);
    if (!mark) {
        setMarkedRange(std::nullopt);
        return;
    }
    chosen_ = SliceRef{lane->band, lane->lane, mark->run.longest};
    emit selectionRequested(data_->selectionFor(*chosen_));
}

/// The collective that is farthest from its prediction.
void TimelineCanvas::selectWorst() {
    const int32_t worst = data_->snapshot->measured->errors.front().worst;
    const auto ref = worst < 0 ? std::nullopt : data_->findCollective(data_->simulated, worst);
    if (!ref)
        return;
    chosen_ = ref;
    emit selectionRequested(data_->selectionFor(*ref));
    reveal();
}

bool TimelineCanvas::showErrorTip(const QPoint& position, const QPoint& global) {
    for (const SceneText& text : scene().texts) {
        if (text.role == SceneRole::ErrorNote && text.rect.contains(position)) {
            QToolTip::showText(global, measuredErrorTip(*data_->snapshot), viewport(),
                               text.rect.toAlignedRect());
            return true;
        }
    }
    return false;
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    const SceneMark* mark = scene().markAt(event->position());
    if (!mark || event->button() != Qt::LeftButton)
        return;
    const int64_t margin = std::max<int64_t>(1, mark->run.end_ns - mark->run.start_ns) / 2;
    navigate({mark->run.start_ns - margin, mark->run.end_ns + margin});
}

bool TimelineCanvas::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (!showTip(help->pos(), help->globalPos()))
            QToolTip::hideText();
        return true;
    }
    if (event->type() == QEvent::Leave) {
        hover_.reset();
        viewport()->update();
    }
    return QAbstractScrollArea::viewportEvent(event);
}

bool TimelineCanvas::showTip(const QPoint& position, const QPoint& global) {
    if (showLaunchTip(position, global) || showErrorTip(position, global))
        return true;
    const SceneLane* lane = nullptr;
    if (const SceneMark* mark = scene().markAt(position, &lane)) {
        QToolTip::showText(global, runTip(*data_, lane->band, lane->lane, mark->run), viewport(),
                           mark->rect.toAlignedRect());
        return true;
    }
    for (const SceneLane& item : scene().lanes) {
        const QRectF label(0, item.rect.top(), gutter_, item.rect.height());
        const QString& tip = data_->bands[item.band].lanes[item.lane].tip;
        const bool curve = data_->bands[item.band].lanes[item.lane].kind == TimelineLane::Kind::LiveBytes;
        if (curve && item.rect.contains(position)) {
            const int64_t time = axis().timeAt(position.x() - gutter_);
            QToolTip::showText(
                global,
                tr("%1 gathered at %2")
                    .arg(bytesText(data_->bands[item.band].live_bytes.at(time)), timeText(time)),
                viewport(), QRect(position, QSize(1, 1)));
            return true;
        }
        if (label.contains(position)) {
            QToolTip::showText(global, tip, viewport(), label.toAlignedRect());
            return true;
        }
    }
    return false;
}

void TimelineCanvas::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    const NodeId launch = launchUnder(event->pos());
    if (launch != kNoNode)
        selectLaunch(launch);
    emit menuOpening(&menu, launch);
    // The text after the tab is shown as the key; canvas keys work through keyPressEvent().
    menu.addAction(tr("Show everything\tHome"), this, &TimelineCanvas::fitAll);
    QAction* zoom = menu.addAction(tr("Zoom to the selection\tF"), this, &TimelineCanvas::zoomToSelection);
    zoom->setEnabled(selectedSlice().has_value());
    QAction* path = menu.addAction(tr("Critical path\tC"));
    path->setCheckable(true);
    path->setChecked(critical_path_);
    connect(path, &QAction::toggled, this, &TimelineCanvas::setCriticalPath);
    menu.addSeparator();
    QAction* copy = menu.addAction(tr("Copy the totals of the range\tCtrl+C"), this,
                                   [this] { QApplication::clipboard()->setText(markedTotals()); });
    copy->setEnabled(marked_.has_value());
    if (data_->measuredBand()) {
        menu.addSeparator();
        menu.addAction(tr("Go to the worst prediction"), this, &TimelineCanvas::selectWorst);
        menu.addAction(tr("Copy the errors of the prediction"), this, [this] {
            const Analysis& analysis = *data_->snapshot;
            QApplication::clipboard()->setText(
                QString::fromStdString(measuredText(analysis, *analysis.measured)));
        });
    }
    menu.exec(event->globalPos());
}

void TimelineCanvas::focusInEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusInEvent(event);
    focus_frame_ = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason ||
                   event->reason() == Qt::ShortcutFocusReason;
    viewport()->update();
}

void TimelineCanvas::focusOutEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusOutEvent(event);
    focus_frame_ = false;
    viewport()->update();
}

bool TimelineCanvas::navigationKey(int key) {
    const double width = axis().width();
    QScrollBar* lanes = verticalScrollBar();
    switch (key) {
    case Qt::Key_W:
    case Qt::Key_Plus:
        zoomAt(anchorPixel(), 1 / kKeyZoom);
        return true;
    case Qt::Key_S:
    case Qt::Key_Minus:
        zoomAt(anchorPixel(), kKeyZoom);
        return true;
    case Qt::Key_A:
    case Qt::Key_Left:
        pan(-kKeyPan * width);
        return true;
    case Qt::Key_D:
    case Qt::Key_Right:
        pan(kKeyPan * width);
        return true;
    case Qt::Key_Up:
        lanes->setValue(lanes->value() - lanes->singleStep());
        return true;
    case Qt::Key_Down:
        lanes->setValue(lanes->value() + lanes->singleStep());
        return true;
    case Qt::Key_PageUp:
        lanes->setValue(lanes->value() - lanes->pageStep());
        return true;
    case Qt::Key_PageDown:
        lanes->setValue(lanes->value() + lanes->pageStep());
        return true;
    case Qt::Key_Home:
    case Qt::Key_0:
        fitAll();
        return true;
    case Qt::Key_F:
        fit();
        return true;
    default:
        return false;
    }
}

void TimelineCanvas::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy) && marked_) {
        QApplication::clipboard()->setText(markedTotals());
        return;
    }
    if (editKey(event))
        return;
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) {
        event->ignore();
        return;
    }
    switch (event->key()) {
    case Qt::Key_Period:
        stepInLane(1);
        return;
    case Qt::Key_Comma:
        stepInLane(-1);
        return;
    case Qt::Key_J:
        stepGather(1);
        return;
    case Qt::Key_K:
        stepGather(-1);
        return;
    case Qt::Key_C:
        setCriticalPath(!critical_path_);
        return;
    case Qt::Key_Escape:
        if (!marked_)
            break;
        setMarkedRange(std::nullopt);
        return;
    default:
        if (navigationKey(event->key()))
            return;
    }
    event->ignore();
}

} // namespace gs
