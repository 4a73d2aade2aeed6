#include "views/timeline/timeline_view.h"

#include "views/timeline/hand_edits.h"
#include "views/timeline/launch_menu.h"
#include "views/timeline/timeline_canvas.h"

#include <QMenu>
#include <QVBoxLayout>

namespace gs {

TimelineView::TimelineView(QWidget* parent) : View(parent), canvas_(new TimelineCanvas(this)) {
    setAccessibleName(tr("Timeline"));
    setFocusProxy(canvas_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(canvas_);
    connect(canvas_, &TimelineCanvas::navigated, this, [this] { untouched_ = false; });
    connect(canvas_, &TimelineCanvas::selectionRequested, this, [this](const Selection& selection) {
        own_request_ = true;
        emit selectionRequested(selection);
        own_request_ = false;
    });
    connect(canvas_, &TimelineCanvas::editRequested, this, &View::editRequested);
    connect(canvas_, &TimelineCanvas::removalRequested, this, [this](NodeId launch) {
        emit requestRequested(withoutHand(*snapshot(), launch), tr("Take back manual change"));
    });
    connect(canvas_, &TimelineCanvas::menuOpening, this,
            [this](QMenu* menu, NodeId launch) { addLaunchActions(*menu, *this, launch, true); });
}

void TimelineView::snapshotChanged() {
    const bool same = snapshot() && snapshot()->request.graph_file == shown_file_ &&
                      snapshot()->request.graph_index == shown_index_;
    shown_file_ = snapshot() ? snapshot()->request.graph_file : std::string();
    shown_index_ = snapshot() ? snapshot()->request.graph_index : -1;
    canvas_->setData(TimelineData::build(snapshot()), same);
    if (!same)
        untouched_ = true;
    selectionChanged();
}

void TimelineView::selectionChanged() {
    const bool gather = selection().kind == Selection::Kind::Gather && !canvas_->data()->bands.empty();
    const bool show = neighbourhood_ && untouched_ && gather && !own_request_;
    canvas_->setSelection(selection());
    if (gather)
        untouched_ = false;
    if (show)
        canvas_->zoomToSelection();
    else if (!own_request_) // what was clicked here is visible
        canvas_->reveal();
}

} // namespace gs
