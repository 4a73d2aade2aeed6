#include "views/graph/graph_view.h"

#include "base/units.h"
#include "views/graph/graph_legend.h"
#include "views/graph/graph_pane.h"
#include "views/graph/graph_toolbar.h"
#include "views/graph/lane_picture.h"
#include "views/graph/node_facts.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QVBoxLayout>
#include <QtConcurrent>

namespace gs {

namespace {

bool hasPrograms(const SnapshotPtr& snapshot) {
    return snapshot && snapshot->before.graph && snapshot->after.graph && snapshot->before.collectives &&
           snapshot->after.collectives;
}

} // namespace

GraphView::GraphView(QWidget* parent)
    : View(parent), toolbar_(new GraphToolbar(this)), banner_(new QLabel(this)),
      before_(new GraphPane(tr("before"), this)), after_(new GraphPane(tr("after"), this)),
      caption_(new QLabel(this)), legend_(new GraphLegend(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 4, 12, 8);
    layout->setSpacing(4);
    layout->addWidget(toolbar_);
    layout->addWidget(banner_);
    auto* panes = new QHBoxLayout;
    panes->setSpacing(10);
    panes->addWidget(before_, 1);
    panes->addWidget(after_, 1);
    layout->addLayout(panes, 1);
    layout->addWidget(caption_);
    layout->addWidget(legend_);
    banner_->setWordWrap(true);
    banner_->hide();
    caption_->setProperty("role", "caption");
    caption_->setWordWrap(true);
    before_->canvas()->setAccessibleName(tr("Graph before"));
    after_->canvas()->setAccessibleName(tr("Graph after"));
    connectPane(false);
    connectPane(true);

    connect(toolbar_, &GraphToolbar::modeChosen, this, &GraphView::setMode);
    connect(toolbar_, &GraphToolbar::linkedChanged, this, [this](bool on) {
        if (on)
            before_->canvas()->follow(*after_->canvas());
    });
    connect(toolbar_, &GraphToolbar::fitRequested, this, [this] {
        before_->canvas()->fit();
        after_->canvas()->fit();
    });
    search_timer_.setSingleShot(true);
    search_timer_.setInterval(150);
    connect(&search_timer_, &QTimer::timeout, this, [this] { search(toolbar_->searchText()); });
    connect(toolbar_, &GraphToolbar::searchEdited, &search_timer_, qOverload<>(&QTimer::start));
    connect(toolbar_, &GraphToolbar::searchStepped, this, &GraphView::searchStep);
    connect(toolbar_, &GraphToolbar::searchLeft, this,
            [this] { after_->canvas()->setFocus(Qt::OtherFocusReason); });
    connect(caption_, &QLabel::linkActivated, this, [this] { setPortalsShown(!focus_options_.portals); });
    connect(&watcher_, &QFutureWatcher<GraphJobResult>::finished, this, &GraphView::jobDone);
    setFocusProxy(after_->canvas());
    applyTheme();
    updateTexts();
}

GraphView::~GraphView() {
    watcher_.disconnect(this);
    watcher_.waitForFinished();
}

void GraphView::connectPane(bool after) {
    GraphPane* side = pane(after);
    GraphCanvas* canvas = side->canvas();
    canvas->setFacts([this, after](int box) {
        if (!shown_snapshot_)
            return QString();
        const GraphPicturePtr& picture = pane(after)->canvas()->picture();
        if (const auto* boxes = dynamic_cast<const BoxPicture*>(picture.get()))
            return boxFacts(*shown_snapshot_, after, boxes->graph().boxes[static_cast<size_t>(box)]);
        return nodeFacts(*shown_snapshot_, after, picture->boxNodes(box).front());
    });
    connect(canvas, &GraphCanvas::boxClicked, this, [this, after](int box) { boxClicked(after, box); });
    connect(canvas, &GraphCanvas::boxActivated, this, [this, after](int box) { boxActivated(after, box); });
    connect(canvas, &GraphCanvas::jumpRequested, this,
            [this, after](NodeId node) { requestNode(after, node); });
    connect(canvas, &GraphCanvas::sideStepped, this, [this, after](int direction) {
        if ((direction > 0) != after)
            pane(!after)->canvas()->setFocus(Qt::OtherFocusReason);
    });
    connect(canvas, &GraphCanvas::cameraChanged, this, [this, after, canvas] {
        if (linking_ || !toolbar_->linked())
            return;
        linking_ = true;
        pane(!after)->canvas()->follow(*canvas);
        linking_ = false;
    });
    connect(side, &GraphPane::settled, this, &GraphView::paneSettled);
    connect(side, &GraphPane::slow, this, [this] {
        setBanner(tr("Graphviz is still at work; the picture before stays until it is done."));
    });
}

GraphCanvas* GraphView::canvas(bool after) const {
    return pane(after)->canvas();
}

void GraphView::setMode(GraphMode mode) {
    toolbar_->setMode(mode);
    if (mode == mode_)
        return;
    mode_ = mode;
    refresh();
}

void GraphView::setPortalsShown(bool shown) {
    if (shown == focus_options_.portals)
        return;
    focus_options_.portals = shown;
    refresh();
}

void GraphView::setDotProgram(const QString& program) {
    before_->dot()->setProgram(program);
    after_->dot()->setProgram(program);
}

void GraphView::setDotTimeouts(int notice_ms, int kill_ms) {
    before_->dot()->setTimeouts(notice_ms, kill_ms);
    after_->dot()->setTimeouts(notice_ms, kill_ms);
}

GraphMode GraphView::shownMode() const {
    return mode_ == GraphMode::Focus && selection().name.isEmpty() ? GraphMode::Modules : mode_;
}

GraphJobInput GraphView::jobInput() const {
    GraphJobInput input;
    input.analysis = snapshot();
    input.mode = shownMode();
    if (input.mode == GraphMode::Focus)
        input.name = selection().name.toStdString();
    input.focus = focus_options_;
    input.fold.unfolded = {unfolded_.begin(), unfolded_.end()};
    return input;
}

void GraphView::snapshotChanged() {
    found_.clear();
    found_at_ = -1;
    if (!shown_snapshot_ || !snapshot() || shown_snapshot_->source.graph != snapshot()->source.graph)
        unfolded_.clear();
    keep_view_ = shownMode() != GraphMode::Focus && shown_snapshot_ != nullptr;
    if (!toolbar_->searchText().isEmpty())
        search_timer_.start();
    refresh();
}

void GraphView::selectionChanged() {
    focus_options_.unfold_window = false;
    // Lanes and modules only mark it; nothing has to be laid out again.
    const bool same = !busy_ && shown_snapshot_ == snapshot() && result_.mode == shownMode() &&
                      shownMode() != GraphMode::Focus;
    if (same)
        markSelection();
    else
        refresh();
}

/// Starts a layout of what should be shown. One job at a time; the latest request wins.
void GraphView::refresh() {
    before_->cancel();
    after_->cancel();
    if (!hasPrograms(snapshot())) {
        stale_ = watcher_.isRunning();
        busy_ = false;
        shown_snapshot_.reset();
        result_ = {};
        setBanner({});
        showPictures(nullptr, nullptr);
        emit settled();
        return;
    }
    busy_ = true;
    if (watcher_.isRunning()) {
        stale_ = true;
        return;
    }
    job_snapshot_ = snapshot();
    job_name_ = selection().name;
    watcher_.setFuture(QtConcurrent::run(runGraphJob, jobInput()));
}

void GraphView::jobDone() {
    if (stale_) {
        stale_ = false;
        refresh();
        return;
    }
    if (!busy_)
        return;
    result_ = watcher_.result();
    if (result_.mode == GraphMode::Lanes)
        showLanes();
    else
        placeBoxes();
}

void GraphView::placeBoxes() {
    const LayoutGraph& before = result_.pair.before;
    const LayoutGraph& after = result_.pair.after;
    MeasuredBoxes old_boxes = measureBoxes(before, before_->canvas()->viewport()->width());
    MeasuredBoxes new_boxes = measureBoxes(after, after_->canvas()->viewport()->width());
    const double width = std::max(old_boxes.box_width, new_boxes.box_width); // both sides compare
    setBoxWidth(old_boxes, before, width);
    setBoxWidth(new_boxes, after, width);
    before_->place(before, std::move(old_boxes));
    after_->place(after, std::move(new_boxes));
}

void GraphView::paneSettled() {
    if (!busy_ || before_->placing() || after_->placing())
        return;
    showBoxes();
}

void GraphView::showBoxes() {
    const QString failure = before_->failure().isEmpty() ? after_->failure() : before_->failure();
    if (!failure.isEmpty()) { // both sides alike
        before_->useLanes();
        after_->useLanes();
    }
    setBanner(failure.isEmpty() ? QString() : tr("%1. Drawn in lanes instead.").arg(failure));
    const auto before = before_->makePicture(-1);
    const bool moved = result_.mode == GraphMode::Focus && result_.pair.moved_up != 0;
    const auto after = after_->makePicture(moved ? before->focusY() : -1);
    showPictures(before, after);
}

void GraphView::showLanes() {
    setBanner({});
    if (!result_.after_lanes)
        showPictures(nullptr, nullptr);
    else
        showPictures(std::make_shared<LanePicture>(result_.before_lanes),
                     std::make_shared<LanePicture>(result_.after_lanes));
}

void GraphView::showPictures(GraphPicturePtr before, GraphPicturePtr after) {
    const bool keep = keep_view_ && after && after_->canvas()->picture() &&
                      after_->canvas()->picture()->fitsWidth() == after->fitsWidth();
    keep_view_ = false;
    shown_snapshot_ = after ? job_snapshot_ : nullptr;
    shown_name_ = job_name_;
    busy_ = false;
    linking_ = true;
    before_->canvas()->setPicture(std::move(before), keep);
    after_->canvas()->setPicture(std::move(after), keep);
    // One scale for both sides: the smaller of the two fits.
    if (!keep && toolbar_->linked()) {
        const bool first =
            before_->canvas()->picture() && before_->canvas()->zoom() < after_->canvas()->zoom();
        pane(first)->canvas()->follow(*pane(!first)->canvas());
    }
    linking_ = false;
    updateTexts();
    markSelection();
    markFound();
    emit settled();
}

void GraphView::markSelection() {
    if (!shown_snapshot_)
        return;
    const LocatedNode at = locateNode(*shown_snapshot_, selection().name.toStdString());
    for (const bool after : {false, true}) {
        GraphCanvas* side = pane(after)->canvas();
        const NodeId node = after ? at.after : at.before;
        const int box = node == kNoNode || !side->picture() ? -1 : side->picture()->boxOf(node);
        side->setSelected(box);
        if (box < 0 || result_.mode == GraphMode::Focus)
            continue;
        linking_ = true; // each side shows its own place of the selection
        const QRectF rect = side->camera().map(side->picture()->boxRect(box));
        if (result_.mode == GraphMode::Lanes && LanePicture::kRowHeight * side->zoom() < 6)
            side->zoomTo(0.8, rect.center());
        if (!QRectF(side->viewport()->rect()).adjusted(0, 24, 0, 0).contains(rect.center()))
            side->centreOn(box);
        linking_ = false;
    }
}

void GraphView::boxClicked(bool after, int box) {
    const GraphPicturePtr& picture = pane(after)->canvas()->picture();
    if (const auto* boxes = dynamic_cast<const BoxPicture*>(picture.get())) {
        const LayoutBox& at = boxes->graph().boxes[static_cast<size_t>(box)];
        if (at.role == BoxRole::Folded)
            return; // opened by a double click
        // A launch box stands for its preparation, too; the launch is its last node.
        requestNode(after, at.role == BoxRole::Gather || at.role == BoxRole::Collective ? at.nodes.back()
                                                                                        : at.nodes.front());
        return;
    }
    requestNode(after, picture->boxNodes(box).front());
}

void GraphView::boxActivated(bool after, int box) {
    const auto* boxes = dynamic_cast<const BoxPicture*>(pane(after)->canvas()->picture().get());
    if (!boxes) {
        boxClicked(after, box);
        return;
    }
    const LayoutBox& at = boxes->graph().boxes[static_cast<size_t>(box)];
    if (at.role == BoxRole::Portal) {
        requestNode(after, at.nodes.front());
    } else if (at.role != BoxRole::Folded) {
        boxClicked(after, box);
    } else if (result_.mode == GraphMode::Focus) {
        focus_options_.unfold_window = !focus_options_.unfold_window;
        refresh();
    } else if (!at.module.empty()) {
        unfolded_.push_back(at.module);
        keep_view_ = true;
        refresh();
    }
}

/// Undoes the last unfolding.
void GraphView::foldBack() {
    if (shownMode() == GraphMode::Focus && focus_options_.unfold_window) {
        focus_options_.unfold_window = false;
    } else if (shownMode() == GraphMode::Modules && !unfolded_.empty()) {
        unfolded_.pop_back();
        keep_view_ = true;
    } else {
        return;
    }
    refresh();
}

/// Waits and unpacks select their gather.
void GraphView::requestNode(bool after, NodeId node) {
    if (!shown_snapshot_)
        return;
    const Program& program = after ? shown_snapshot_->after : shown_snapshot_->before;
    const NodeId launch = launchOf(*program.collectives, node);
    Selection wanted{Selection::Kind::Node, {}};
    if (launch != kNoNode) {
        const int32_t index = program.collectives->indexOf(node);
        if ((*program.collectives)[static_cast<size_t>(index)].weight_gather) {
            wanted.kind = Selection::Kind::Gather;
            node = launch;
        }
    }
    const std::string_view name = program.graph->name(node);
    wanted.name = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
    emit selectionRequested(wanted);
}

void GraphView::search(const QString& text) {
    found_.clear();
    found_at_ = -1;
    if (!text.isEmpty() && shown_snapshot_) {
        const Graph& graph = *shown_snapshot_->after.graph;
        const QByteArray wanted = text.toUtf8().toLower();
        const auto has = [&](std::string_view name) {
            return QByteArray::fromRawData(name.data(), static_cast<qsizetype>(name.size()))
                .toLower()
                .contains(wanted);
        };
        for (NodeId node = 0; node < graph.size(); ++node) {
            if (has(graph.name(node)) || has(graph.text(graph.meta(node).fqn)))
                found_.push_back(node);
        }
    }
    toolbar_->setMatches(
        text.isEmpty()
            ? QString()
            : tr("%1 found").arg(QString::fromStdString(formatCount(static_cast<int64_t>(found_.size())))));
    markFound();
}

void GraphView::searchStep(int direction) {
    if (search_timer_.isActive()) {
        search_timer_.stop();
        search(toolbar_->searchText());
    }
    if (found_.empty())
        return;
    const int count = static_cast<int>(found_.size());
    found_at_ = found_at_ < 0 && direction > 0 ? 0 : (found_at_ + direction + count) % count;
    toolbar_->setMatches(tr("%1 of %2")
                             .arg(QString::fromStdString(formatCount(found_at_ + 1)),
                                  QString::fromStdString(formatCount(count))));
    requestNode(true, found_[static_cast<size_t>(found_at_)]);
}

void GraphView::markFound() {
    constexpr size_t kMostMarks = 5000; // more rings than rows on any screen
    for (const bool after : {false, true}) {
        const GraphPicturePtr& picture = pane(after)->canvas()->picture();
        std::vector<int> boxes;
        for (size_t i = 0; picture && shown_snapshot_ && i < found_.size() && boxes.size() < kMostMarks;
             ++i) {
            NodeId node = found_[i];
            if (!after) {
                const auto same =
                    shown_snapshot_->before.graph->find(shown_snapshot_->after.graph->name(node));
                node = same.value_or(kNoNode);
            }
            const int box = node == kNoNode ? -1 : picture->boxOf(node);
            if (box >= 0)
                boxes.push_back(box);
        }
        std::sort(boxes.begin(), boxes.end());
        boxes.erase(std::unique(boxes.begin(), boxes.end()), boxes.end());
        pane(after)->canvas()->setFound(std::move(boxes));
    }
}

void GraphView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Slash)
        toolbar_->focusSearch();
    else if (event->key() == Qt::Key_Backspace)
        foldBack();
    else
        View::keyPressEvent(event);
}

void GraphView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange)
        applyTheme();
    View::changeEvent(event);
}

} // namespace gs
