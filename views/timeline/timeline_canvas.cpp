#include "views/timeline/timeline_canvas.h"

#include "views/theme.h"
#include "views/timeline/measured_tips.h"
#include "views/timeline/range_box.h"
#include "views/timeline/timeline_painter.h"
#include "views/timeline/timeline_text.h"

#include <QPainter>
#include <QScrollBar>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

namespace gs {

namespace {

/// The time scroll bar counts in this many parts of the whole step.
constexpr int kScrollUnits = 1 << 30;
/// A selection with its neighbourhood is shown so many times as long as itself.
constexpr int kNeighbourhood = 10;

} // namespace

TimelineCanvas::TimelineCanvas(QWidget* parent)
    : QAbstractScrollArea(parent), data_(TimelineData::build(nullptr)), range_(data_->full()),
      box_(new RangeBox(viewport())) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    setAccessibleName(tr("Timeline"));
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    refused_.setSingleShot(true);
    connect(&refused_, &QTimer::timeout, this, &TimelineCanvas::endLaunchDrag);
    connect(box_, &RangeBox::closed, this, [this] {
        setMarkedRange(std::nullopt);
        setFocus();
    });
}

void TimelineCanvas::setData(TimelineDataPtr data, bool keep_range) {
    const bool all = showsAll();
    const bool new_run = data->measuredBand() && !data_->measuredBand();
    endLaunchDrag();
    data_ = std::move(data);
    gutter_ = gutterWidth(*data_);
    chosen_.reset();
    if (!keep_range) {
        marked_.reset();
        verticalScrollBar()->setValue(0);
    }
    range_ = keep_range && !all ? clampRange(range_, data_->full(), axis().width()) : data_->full();
    setAccessibleDescription(data_->bands.empty() ? tr("No graph is open") : description());
    invalidate();
    if (new_run) // is what one wants to see, also where not everything finds room
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    setMarkedRange(marked_);
}

QString TimelineCanvas::description() const {
    const QString text = headerText(*data_->snapshot);
    return data_->measuredBand() ? text + QStringLiteral(". ") + measuredNote(*data_->snapshot) : text;
}

void TimelineCanvas::setSelection(const Selection& selection) {
    selection_ = selection;
    if (chosen_ && data_->selectionFor(*chosen_) != selection)
        chosen_.reset();
    invalidate();
}

void TimelineCanvas::setRange(TimeRange range) {
    range_ = clampRange(range, data_->full(), axis().width());
    invalidate();
}

void TimelineCanvas::navigate(TimeRange range) {
    setRange(range);
    emit navigated();
}

void TimelineCanvas::fitAll() {
    navigate(data_->full());
}

void TimelineCanvas::zoomToSelection() {
    const auto ref = selectedSlice();
    if (!ref)
        return;
    navigate(neighbourhood());
    scrollToLane(*ref);
}

void TimelineCanvas::fit() {
    const TimeRange near = neighbourhood();
    if (range_ == clampRange(near, data_->full(), axis().width()))
        fitAll();
    else
        selectedSlice() ? zoomToSelection() : fitAll();
}

void TimelineCanvas::zoomAt(double plot_pixel, double factor) {
    navigate(zoomRange(axis(), factor, plot_pixel, data_->full()));
}

void TimelineCanvas::pan(double pixels) {
    navigate(panRange(axis(), pixels, data_->full()));
}

void TimelineCanvas::setCriticalPath(bool on) {
    critical_path_ = on;
    invalidate();
}

void TimelineCanvas::setMarkedRange(std::optional<TimeRange> range) {
    marked_ = range;
    if (marked_ && !data_->bands.empty())
        box_->showTotals(*data_, *marked_);
    else
        box_->hide();
    placeRangeBox();
    viewport()->update();
}

QString TimelineCanvas::markedTotals() const {
    return marked_ ? box_->plainText() : QString();
}

/// Beside the range where there is room, never outside the viewport.
void TimelineCanvas::placeRangeBox() {
    if (!box_->isVisible() || !marked_)
        return;
    const TimeAxis time = axis();
    const double right = gutter_ + time.pixelOf(marked_->end_ns) + 8;
    const double left = gutter_ + time.pixelOf(marked_->begin_ns) - box_->width() - 8;
    const int x =
        static_cast<int>(right + box_->width() <= viewport()->width() ? right : std::max(gutter_, left));
    box_->move(std::clamp(x, 0, std::max(0, viewport()->width() - box_->width())),
               static_cast<int>(kHeaderHeight) + 6);
}

SceneRequest TimelineCanvas::request() const {
    SceneRequest request;
    request.size = viewport()->size();
    request.range = range_;
    request.gutter = gutter_;
    request.scroll_y = verticalScrollBar()->value();
    request.selection = selection_;
    request.critical_path = critical_path_;
    return request;
}

TimeAxis TimelineCanvas::axis() const {
    return sceneAxis(request());
}

const TimelineScene& TimelineCanvas::scene() const {
    if (!scene_)
        scene_ = buildScene(*data_, request());
    return *scene_;
}

void TimelineCanvas::invalidate() {
    scene_.reset();
    updateScrollBars();
    placeRangeBox();
    viewport()->update();
}

void TimelineCanvas::updateScrollBars() {
    const double plot_height = viewport()->height() - kHeaderHeight - kRulerHeight;
    const double content = layoutTimeline(*data_, plot_height).height;
    const double full = static_cast<double>(data_->full().length());
    const QSignalBlocker block_time(horizontalScrollBar());
    const int page = static_cast<int>(static_cast<double>(range_.length()) / full * kScrollUnits);
    horizontalScrollBar()->setRange(0, showsAll() ? 0 : kScrollUnits - page);
    horizontalScrollBar()->setPageStep(std::max(1, page));
    horizontalScrollBar()->setSingleStep(std::max(1, page / 10));
    horizontalScrollBar()->setValue(
        static_cast<int>(static_cast<double>(range_.begin_ns) / full * kScrollUnits));
    verticalScrollBar()->setRange(0, static_cast<int>(std::ceil(std::max(0.0, content - plot_height - 0.5))));
    verticalScrollBar()->setPageStep(std::max(1, static_cast<int>(plot_height)));
    verticalScrollBar()->setSingleStep(static_cast<int>(kLaneHeight + kLaneGap));
}

void TimelineCanvas::scrollContentsBy(int dx, int) {
    if (dx != 0) {
        const double begin = static_cast<double>(horizontalScrollBar()->value()) / kScrollUnits *
                             static_cast<double>(data_->full().length());
        const int64_t start = std::llround(begin);
        navigate({start, start + range_.length()});
    } else {
        invalidate();
    }
}

void TimelineCanvas::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    range_ = clampRange(range_, data_->full(), axis().width());
    invalidate();
}

void TimelineCanvas::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        gutter_ = gutterWidth(*data_);
        invalidate();
        setMarkedRange(marked_);
    }
}

std::optional<SliceRef> TimelineCanvas::selectedSlice() const {
    if (chosen_)
        return chosen_;
    for (size_t band = data_->simulated; band-- > 0;) {
        const BandSelection found = data_->resolve(band, selection_);
        std::optional<SliceRef> ref;
        if (!found.collectives.empty())
            ref = data_->findCollective(band, found.collectives.front());
        else if (found.node != kNoNode)
            ref = data_->findNode(band, found.node);
        if (ref)
            return ref;
    }
    return std::nullopt;
}

TimeRange TimelineCanvas::spanAround(const SliceRef& ref) const {
    const Slice& slice = data_->slice(ref);
    const auto span = data_->spanOf(ref.band, data_->resolve(ref.band, data_->selectionFor(ref)));
    return span ? *span : TimeRange{slice.start_ns, slice.end_ns};
}

TimeRange TimelineCanvas::neighbourhood() const {
    const auto ref = selectedSlice();
    if (!ref)
        return data_->full();
    TimeRange span = spanAround(*ref);
    int64_t length = std::max<int64_t>(1, span.length()) * kNeighbourhood;
    // The other band is shown, too, if that does not make the selection tiny.
    for (size_t band = 0; band < data_->bands.size(); ++band) {
        const auto other = data_->spanOf(band, data_->resolve(band, selection_));
        if (!other)
            continue;
        const TimeRange both{std::min(span.begin_ns, other->begin_ns), std::max(span.end_ns, other->end_ns)};
        if (both.length() <= 2 * length) {
            span = both;
            length = std::max(length, both.length() * 3 / 2);
        }
    }
    const int64_t begin = span.begin_ns + span.length() / 2 - length / 2;
    return {begin, begin + length};
}

void TimelineCanvas::reveal() {
    const auto ref = selectedSlice();
    if (!ref)
        return;
    const TimeRange span = spanAround(*ref);
    const bool inside = span.begin_ns >= range_.begin_ns && span.end_ns <= range_.end_ns;
    const bool filling = span.length() > range_.length() / 2 && range_.overlaps(span.begin_ns, span.end_ns);
    if (!inside && !filling) {
        const int64_t begin = span.begin_ns + span.length() / 2 - range_.length() / 2;
        setRange({begin, begin + range_.length()});
    }
    scrollToLane(*ref);
}

void TimelineCanvas::scrollToLane(const SliceRef& ref) {
    const double plot_height = viewport()->height() - kHeaderHeight - kRulerHeight;
    const TimelineLayout layout = layoutTimeline(*data_, plot_height);
    const LaneRow& row = layout.row(ref.band, ref.lane);
    const int top = static_cast<int>(row.top - kLaneGap);
    const int bottom = static_cast<int>(row.bottom() + kLaneGap - plot_height);
    QScrollBar* bar = verticalScrollBar();
    if (bar->value() > top)
        bar->setValue(ref.lane == 0 ? static_cast<int>(layout.bands[ref.band].top) : top);
    else if (bar->value() < bottom)
        bar->setValue(bottom);
}

void TimelineCanvas::stepInLane(int direction) {
    if (data_->bands.empty())
        return;
    const auto from = selectedSlice();
    SliceRef at{data_->simulated - 1, 0, 0};
    const auto slices = [&]() -> const SliceIndex& { return data_->bands[at.band].lanes[at.lane].slices; };
    if (from) {
        at = *from;
        at.slice += static_cast<size_t>(direction); // wraps to a huge index below 0
    } else {
        at.slice = slices().firstEndingAfter(range_.begin_ns);
    }
    // A stall is the gather's, not a slice of its own.
    while (at.slice < slices().size() &&
           slices()[at.slice].category == static_cast<uint8_t>(SliceKind::Stall))
        at.slice += static_cast<size_t>(direction);
    if (at.slice >= slices().size())
        return;
    chosen_ = at;
    emit selectionRequested(data_->selectionFor(at));
    reveal();
}

void TimelineCanvas::stepGather(int direction) {
    if (data_->bands.empty())
        return;
    const size_t band = data_->simulated - 1;
    const TimelineBand& item = data_->bands[band];
    std::vector<std::pair<int64_t, int32_t>> gathers;
    for (const Transfer& transfer : item.timeline().transfers) {
        if (item.collectives()[static_cast<size_t>(transfer.collective)].weight_gather)
            gathers.push_back({transfer.start_ns, transfer.collective});
    }
    if (gathers.empty())
        return;
    std::sort(gathers.begin(), gathers.end());
    const BandSelection now = data_->resolve(band, selection_);
    auto here = std::find_if(gathers.begin(), gathers.end(), [&](const auto& gather) {
        return !now.collectives.empty() && gather.second == now.collectives.front();
    });
    std::ptrdiff_t index = here - gathers.begin();
    if (here == gathers.end()) // nothing selected: from the left edge of what is shown
        index = std::lower_bound(gathers.begin(), gathers.end(), std::pair{range_.begin_ns, 0}) -
                gathers.begin() - (direction > 0 ? 0 : 1);
    else
        index += direction;
    if (index < 0 || index >= static_cast<std::ptrdiff_t>(gathers.size()))
        return;
    const auto ref = data_->findCollective(band, gathers[static_cast<size_t>(index)].second);
    if (!ref)
        return;
    chosen_ = ref;
    emit selectionRequested(data_->selectionFor(*ref));
    reveal();
}

void TimelineCanvas::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    paintScene(painter, scene(), Theme::current());
    if (!data_->bands.empty())
        paintOverlay(painter);
    if (focus_frame_) {
        QColor line = Theme::current().accent;
        line.setAlphaF(0.5F);
        painter.setPen(line);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
    }
}

void TimelineCanvas::paintOverlay(QPainter& painter) const {
    const Theme& theme = Theme::current();
    const QRectF plot = scene().plot;
    if (marked_ && range_.overlaps(marked_->begin_ns, marked_->end_ns)) {
        const double left = plot.left() + std::max(0.0, axis().pixelOf(marked_->begin_ns));
        const double right = plot.left() + std::min(plot.width(), axis().pixelOf(marked_->end_ns));
        QColor fill = theme.accent;
        fill.setAlphaF(0.10F);
        painter.fillRect(QRectF(left, plot.top(), right - left, plot.height()), fill);
        painter.fillRect(QRectF(left, plot.top(), 1, plot.height()), theme.accent);
        painter.fillRect(QRectF(right - 1, plot.top(), 1, plot.height()), theme.accent);
    }
    if (hover_ && !overlay_)
        paintCursor(painter);
    if (overlay_)
        paintLaunchOverlay(painter, *overlay_, theme);
}

/// The hovered mark's outline, and the time under the cursor on the ruler.
void TimelineCanvas::paintCursor(QPainter& painter) const {
    const Theme& theme = Theme::current();
    if (const SceneMark* mark = drag_ == Drag::None ? scene().markAt(*hover_) : nullptr) {
        painter.setPen(QPen(theme.text, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(mark->rect.adjusted(0, 0, -1, -1));
    }
    const QRectF plot = scene().plot;
    if (hover_->x() < plot.left() || hover_->x() > plot.right())
        return;
    const TimeAxis time = axis();
    const int64_t at = time.timeAt(hover_->x() - plot.left());
    int64_t step = 1; // as exact as the pixels are
    while (step * 10 <= time.span(1))
        step *= 10;
    const QString text = QString::fromStdString(formatTick(at, step));
    painter.setFont(Theme::font(10));
    const double width = painter.fontMetrics().horizontalAdvance(text) + 12;
    const double left = std::clamp(hover_->x() - width / 2, 0.0, viewport()->width() - width);
    painter.fillRect(QRectF(hover_->x(), plot.top(), 1, plot.height()), theme.border);
    const QRectF chip(left, scene().ruler.top() + 2, width, kRulerHeight - 4);
    painter.fillRect(chip, theme.field);
    painter.setPen(theme.text);
    painter.drawText(chip, Qt::AlignCenter, text);
}

} // namespace gs
