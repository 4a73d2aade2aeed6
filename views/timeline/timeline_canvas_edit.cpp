// Moving launches on the timeline's canvas: drags, keys, tips. The document makes the change; here is only
// what is seen of it before.
#include "views/timeline/hand_edits.h"
#include "views/timeline/timeline_canvas.h"
#include "views/timeline/timeline_text.h"

#include <QKeyEvent>
#include <QToolTip>
#include <algorithm>

namespace gs {

namespace {

constexpr int kRefusedMs = 3500; ///< a refusal stays to be read

} // namespace

void TimelineCanvas::selectLaunch(NodeId launch) {
    const auto band = data_->scheduledBand();
    if (!band || launch == kNoNode)
        return;
    const int32_t collective = data_->bands[*band].collectives().indexOf(launch);
    if (const auto ref = data_->findCollective(*band, collective)) {
        chosen_ = ref;
        emit selectionRequested(data_->selectionFor(*ref));
    }
}

NodeId TimelineCanvas::selectedLaunch() const {
    const auto band = data_->scheduledBand();
    if (!band)
        return kNoNode;
    const BandSelection found = data_->resolve(*band, selection_);
    if (found.collectives.empty())
        return kNoNode;
    return data_->bands[*band].collectives()[static_cast<size_t>(found.collectives.front())].launch;
}

/// The launch whose mark or transfer is there.
NodeId TimelineCanvas::launchUnder(const QPointF& position) const {
    if (const SceneLaunch* launch = scene().launchAt(position))
        return launch->launch;
    const auto band = data_->scheduledBand();
    const SceneLane* lane = nullptr;
    const SceneMark* mark = scene().markAt(position, &lane);
    if (!mark || !band || lane->band != *band)
        return kNoNode;
    const Slice& slice = data_->bands[lane->band].lanes[lane->lane].slices[mark->run.longest];
    const auto kind = static_cast<SliceKind>(slice.category);
    if (kind != SliceKind::Gather && kind != SliceKind::OtherComm)
        return kNoNode;
    return data_->bands[*band].collectives()[slice.id].launch;
}

void TimelineCanvas::beginLaunchDrag() {
    drag_ = Drag::Launch;
    selectLaunch(pressed_launch_);
    launch_drag_.emplace(data_->snapshot, pressed_launch_);
    viewport()->setCursor(Qt::ClosedHandCursor);
}

LaunchOverlay TimelineCanvas::overlayFor(const LaunchDrag& drag, const LaunchDrag::Place& place,
                                         const QPointF& cursor) const {
    const TimelineScene& picture = scene();
    const TimeAxis time = axis();
    const auto x = [&](int64_t ns) {
        return std::clamp(picture.plot.left() + time.pixelOf(ns), picture.plot.left() - 4,
                          picture.plot.right() + 4);
    };
    LaunchOverlay overlay;
    overlay.plot = picture.plot;
    overlay.band = picture.edit_band;
    const TimeRange legal = drag.legalTimes();
    overlay.legal =
        QRectF(QPointF(x(legal.begin_ns), picture.edit_compute.top()),
               QPointF(std::max(x(legal.end_ns), x(legal.begin_ns) + 2), picture.edit_compute.bottom()));
    overlay.x = x(place.time_ns);
    overlay.tip = picture.edit_compute.bottom() + kLaneGap - 1;
    overlay.allowed = place.legal();
    overlay.cursor = cursor;
    overlay.text = drag.text(place);
    return overlay;
}

void TimelineCanvas::dragLaunch(const QPointF& position) {
    const TimeAxis time = axis();
    place_ = launch_drag_->placeAt(
        time.timeAt(std::clamp(position.x() - gutter_, 0.0, static_cast<double>(time.width()))));
    overlay_ = overlayFor(*launch_drag_, place_, position);
    viewport()->update();
}

void TimelineCanvas::dropLaunch() {
    const LaunchDrag drag = std::move(*launch_drag_);
    const QPointF cursor = overlay_ ? overlay_->cursor : press_;
    const bool moved = overlay_.has_value();
    endLaunchDrag();
    if (!moved)
        return;
    if (!place_.legal())
        refuse(drag, place_, cursor);
    else if (!drag.changesNothing(place_))
        emit editRequested(drag.edit(place_));
}

/// Nothing changes; the bubble stays for a while.
void TimelineCanvas::refuse(const LaunchDrag& drag, const LaunchDrag::Place& place, const QPointF& cursor) {
    overlay_ = overlayFor(drag, place, cursor);
    refused_.start(kRefusedMs);
    viewport()->update();
}

void TimelineCanvas::endLaunchDrag() {
    if (drag_ == Drag::Launch || drag_ == Drag::LaunchPress)
        drag_ = Drag::None;
    launch_drag_.reset();
    overlay_.reset();
    refused_.stop();
    viewport()->unsetCursor();
    viewport()->update();
}

void TimelineCanvas::moveSelectedLaunch(int steps) {
    const NodeId launch = selectedLaunch();
    if (launch == kNoNode || drag_ == Drag::Launch)
        return;
    endLaunchDrag();
    const LaunchDrag drag(data_->snapshot, launch);
    const LaunchDrag::Place place = drag.placeBeside(steps);
    if (!place.legal()) {
        const double x = gutter_ + axis().pixelOf(place.time_ns);
        refuse(drag, place, QPointF(x, scene().edit_compute.top()));
    } else if (!drag.changesNothing(place)) {
        emit editRequested(drag.edit(place));
    }
}

void TimelineCanvas::pinSelectedLaunch() {
    const NodeId launch = selectedLaunch();
    if (launch != kNoNode)
        emit editRequested(pinEdit(data_->snapshot, launch));
}

/// Keys that change the schedule, and Escape while a launch is dragged.
bool TimelineCanvas::editKey(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && (overlay_ || drag_ == Drag::Launch)) {
        endLaunchDrag();
        return true;
    }
    const Qt::KeyboardModifiers keys = event->modifiers() & ~Qt::KeypadModifier;
    if (selectedLaunch() == kNoNode)
        return false;
    if (keys == Qt::AltModifier && (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)) {
        moveSelectedLaunch(event->key() == Qt::Key_Left ? -1 : 1);
        return true;
    }
    if (keys != Qt::NoModifier)
        return false;
    if (event->key() == Qt::Key_P) {
        pinSelectedLaunch();
        return true;
    }
    if (event->key() == Qt::Key_Delete && !editsOf(*data_->snapshot, selectedLaunch()).empty()) {
        emit removalRequested(selectedLaunch());
        return true;
    }
    return false;
}

bool TimelineCanvas::showLaunchTip(const QPoint& position, const QPoint& global) {
    const SceneLaunch* launch = scene().launchAt(position);
    if (!launch)
        return false;
    const TimelineBand& band = data_->bands[*data_->scheduledBand()];
    const int32_t index = band.collectives().indexOf(launch->launch);
    QString text = TimelineText::tr("<b>Launch of %1</b>")
                       .arg(collectiveLabel(band.graph(), band.collectives()[static_cast<size_t>(index)])
                                .toHtmlEscaped());
    if (launch->by_hand) {
        const QString kinds[] = {TimelineText::tr("moved by hand"), TimelineText::tr("pinned"),
                                 TimelineText::tr("held at its place in program order"),
                                 TimelineText::tr("bucketed by hand")};
        text += QStringLiteral("<br>") + kinds[static_cast<size_t>(*launch->by_hand)];
    }
    text += QStringLiteral("<br>") + TimelineText::tr("Drag it to launch earlier or later.");
    QToolTip::showText(global, text, viewport());
    return true;
}

} // namespace gs
