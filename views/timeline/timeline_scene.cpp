#include "views/timeline/timeline_scene.h"

#include "views/timeline/launch_marks.h"
#include "views/timeline/measured_tips.h"
#include "views/timeline/scene_selection.h"
#include "views/timeline/timeline_text.h"

#include <algorithm>
#include <cmath>

namespace gs {

namespace {

constexpr double kSinglePx = 3;     ///< a slice of this width is drawn by itself
constexpr double kBucketPx = 4;     ///< shorter ones are merged in columns of this width
constexpr double kLabelPx = 26;     ///< least width of a mark with a label
constexpr double kTickPx = 90;      ///< least distance of ticks
constexpr double kErrorWidth = 200; ///< room for the error of the selection
constexpr double kEndMargin = 26;   ///< right of the plot, so that the last tick's label is whole

class SceneBuilder {
public:
    SceneBuilder(const TimelineData& data, const SceneRequest& request)
        : data_(data), request_(request), axis_(sceneAxis(request)) {
        scene_.header = {0, 0, request.size.width(), kHeaderHeight};
        scene_.ruler = {0, request.size.height() - kRulerHeight, request.size.width(), kRulerHeight};
        scene_.plot = {request.gutter, kHeaderHeight, static_cast<double>(axis_.width()),
                       std::max(0.0, request.size.height() - kHeaderHeight - kRulerHeight)};
        scene_.show_path = request.critical_path;
        layout_ = layoutTimeline(data, scene_.plot.height());
        scaleBytes();
    }

    TimelineScene build() {
        if (data_.bands.empty()) {
            emptyState();
            return std::move(scene_);
        }
        ruler();
        for (size_t b = 0; b < data_.bands.size(); ++b)
            band(b);
        for (size_t b = 0; b < data_.bands.size(); ++b)
            addSelection(data_, layout_, request_, axis_, b, scene_);
        addLaunchMarks(data_, layout_, request_, axis_, scene_);
        header();
        return std::move(scene_);
    }

private:
    double viewY(double content_y) const { return content_y + scene_.plot.top() - request_.scroll_y; }
    bool visible(double top, double bottom) const {
        return bottom > scene_.plot.top() && top < scene_.plot.bottom();
    }

    void emptyState() {
        const QPointF middle = QRectF(QPointF(), request_.size).center();
        const QRectF line(0, middle.y() - 20, request_.size.width(), 20);
        scene_.texts.push_back(
            {line,
             data_.snapshot ? TimelineText::tr("Nothing to simulate") : TimelineText::tr("No graph is open"),
             SceneRole::BandTitle, Qt::AlignCenter});
        scene_.texts.push_back(
            {line.translated(0, 22),
             data_.snapshot ? TimelineText::tr("The diagnostics say what is missing.")
                            : TimelineText::tr("Open one to see its step before and after scheduling."),
             SceneRole::Message, Qt::AlignCenter});
    }

    void ruler() {
        const Ticks ticks = niceTicks(axis_, kTickPx);
        for (const int64_t time : ticks.times) {
            const double x = scene_.plot.left() + axis_.pixelOf(time);
            scene_.lines.push_back({QLineF(x, scene_.plot.top(), x, scene_.plot.bottom()), SceneRole::Grid});
            scene_.texts.push_back({QRectF(x - kTickPx / 2, scene_.ruler.top(), kTickPx, kRulerHeight),
                                    QString::fromStdString(formatTick(time, ticks.step_ns)), SceneRole::Tick,
                                    Qt::AlignCenter});
        }
    }

    void band(size_t index) {
        const BandRow& row = layout_.bands[index];
        const double top = viewY(row.top);
        const double label_width = request_.gutter - kSideMargin - 8;
        if (index > 0)
            scene_.lines.push_back(
                {QLineF(kSideMargin, top - kBandGap / 2, scene_.plot.right(), top - kBandGap / 2),
                 SceneRole::BandLine});
        if (visible(top, top + kTitleHeight))
            scene_.texts.push_back({QRectF(kSideMargin, top, label_width, kTitleHeight),
                                    data_.bands[index].title, SceneRole::BandTitle});
        if (data_.bands[index].measured && visible(top, top + kTitleHeight))
            errors(index, QRectF(scene_.plot.left(), top, scene_.plot.width(), kTitleHeight));
        for (size_t l = 0; l < data_.bands[index].lanes.size(); ++l) {
            const LaneRow& lane = layout_.row(index, l);
            if (visible(viewY(lane.top), viewY(lane.bottom())))
                this->lane(index, l,
                           QRectF(scene_.plot.left(), viewY(lane.top), scene_.plot.width(), lane.height));
        }
        if (data_.bands[index].lanes.size() == 1)
            scene_.texts.push_back(
                {QRectF(scene_.plot.left(), viewY(layout_.row(index, 0).bottom()), scene_.plot.width(), 18),
                 TimelineText::tr("no collectives in this graph"), SceneRole::Message});
    }

    /// Beside the title of the measured band: the error of the selection, then those of all.
    void errors(size_t band, QRectF row) {
        const BandSelection selected = data_.resolve(band, request_.selection);
        if (!selected.collectives.empty()) {
            const QRectF own(row.topLeft(), QSizeF(std::min(kErrorWidth, row.width()), row.height()));
            scene_.texts.push_back(
                {own,
                 TimelineText::tr("selection %1")
                     .arg(measuredErrorText(*data_.snapshot, selected.collectives.front())),
                 SceneRole::Caption});
            row.setLeft(own.right());
        }
        scene_.texts.push_back({row, measuredNote(*data_.snapshot), SceneRole::ErrorNote});
    }

    void lane(size_t band, size_t lane, const QRectF& rect) {
        const TimelineLane& item = data_.bands[band].lanes[lane];
        const QRectF label(kSideMargin, rect.top(), request_.gutter - kSideMargin - 8, rect.height());
        const bool curve = item.kind == TimelineLane::Kind::LiveBytes;
        scene_.texts.push_back({curve ? QRectF(label.left(), rect.top() - 1, label.width(), 15) : label,
                                item.label, SceneRole::LaneLabel});
        scene_.lanes.push_back({band, lane, rect, scene_.marks.size(), scene_.marks.size()});
        if (curve) {
            liveBytes(data_.bands[band], rect);
            scene_.texts.push_back({QRectF(label.left(), rect.top() + 14, label.width(), 14),
                                    bytesNote(data_.bands[band]), SceneRole::LaneNote});
            return;
        }
        const double end = stepEnd(band);
        if (item.kind == TimelineLane::Kind::Comm && end > rect.left())
            scene_.rects.push_back(
                {QRectF(rect.topLeft(), QPointF(end, rect.bottom())), SceneRole::LaneBackground});
        const int64_t saved =
            band < data_.simulated ? data_.simulated_end_ns - data_.bands[band].timeline().step_ns : 0;
        if (item.kind == TimelineLane::Kind::Compute && saved > 0 && end >= rect.left() &&
            end < rect.right() - 90)
            scene_.texts.push_back({QRectF(end + 8, rect.top(), 90, rect.height()),
                                    TimelineText::tr("%1 saved").arg(timeText(saved)), SceneRole::Saved});
        marks(band, item, rect);
        scene_.lanes.back().last_mark = scene_.marks.size();
    }

    /// Where a band's step ends in the view, at most at the plot's right edge.
    double stepEnd(size_t band) const {
        return scene_.plot.left() +
               std::min(scene_.plot.width(), axis_.pixelOf(data_.bands[band].timeline().step_ns));
    }

    void marks(size_t band, const TimelineLane& lane, const QRectF& rect) {
        const TimeRange& range = request_.range;
        const auto runs =
            lane.slices.query(range.begin_ns, range.end_ns, axis_.span(kSinglePx), axis_.span(kBucketPx));
        for (const SliceRun& run : runs) {
            SceneMark mark;
            mark.run = run;
            mark.kind = static_cast<SliceKind>(lane.slices[run.longest].category);
            const double left = std::max(0.0, axis_.pixelOf(run.start_ns));
            const double right = std::min(rect.width(), axis_.pixelOf(run.end_ns));
            const double width = std::max(1.0, right - left);
            mark.rect = {rect.left() + std::min(left, rect.width() - width), rect.top(), width,
                         rect.height()};
            const CategoryTimes busy = lane.slices.busyOf(run.first, run.last);
            const int64_t whole = run.end_ns - run.start_ns;
            int64_t sum = 0;
            for (size_t i = 0; i < kSliceCategories; ++i) {
                mark.shares[i] =
                    whole > 0 ? static_cast<float>(static_cast<double>(busy[i]) / static_cast<double>(whole))
                              : 0.0F;
                sum += busy[i];
            }
            if (whole == 0) // only slices without time: still a mark
                mark.shares[static_cast<size_t>(mark.kind)] = 1;
            mark.on_path = 2 * lane.slices.markedNs(run.first, run.last) >= std::max<int64_t>(1, sum);
            const bool named = !data_.bands[band].measured || lane.kind == TimelineLane::Kind::Comm;
            if (mark.single() && width >= kLabelPx && mark.kind != SliceKind::Stall && named)
                label(data_.bands[band], lane.slices[run.first], mark.rect);
            scene_.marks.push_back(std::move(mark));
        }
    }

    void label(const TimelineBand& band, const Slice& slice, const QRectF& rect) {
        const QString text = slice.category == static_cast<uint8_t>(SliceKind::Compute)
                                 ? computeLabel(band.graph(), slice.id)
                                 : collectiveLabel(band.graph(), band.collectives()[slice.id]);
        scene_.texts.push_back({rect.adjusted(5, 0, -4, 0), text, SceneRole::SliceLabel});
    }

    /// One scale for all bands: from zero, unless what is visible would be a flat line then.
    void scaleBytes() {
        bytes_low_ = INT64_MAX;
        for (const TimelineBand& band : data_.bands) {
            const int64_t end = std::min(request_.range.end_ns, band.timeline().step_ns);
            if (band.live_bytes.empty() || end <= request_.range.begin_ns)
                continue;
            const auto [low, high] = band.live_bytes.extremes(request_.range.begin_ns, end);
            bytes_low_ = std::min(bytes_low_, low);
            bytes_high_ = std::max(bytes_high_, high);
        }
        if (bytes_low_ < bytes_high_ / 2 || bytes_low_ >= bytes_high_)
            bytes_low_ = 0;
    }

    /// The peak where the lanes' scale reaches up to it, else the scale.
    QString bytesNote(const TimelineBand& band) const {
        const bool whole = std::all_of(data_.bands.begin(), data_.bands.end(), [&](const TimelineBand& item) {
            return item.live_bytes.peak() <= bytes_high_;
        });
        if (whole && bytes_low_ == 0)
            return TimelineText::tr("peak %1").arg(bytesText(band.live_bytes.peak()));
        const QString low = bytes_low_ == 0 ? QStringLiteral("0") : bytesText(bytes_low_);
        return QStringLiteral("%1 – %2").arg(low, bytesText(bytes_high_));
    }

    void liveBytes(const TimelineBand& band, const QRectF& rect) {
        const auto columns =
            band.live_bytes.query(request_.range.begin_ns, request_.range.end_ns, axis_.span(1));
        if (columns.empty() || bytes_high_ <= bytes_low_)
            return;
        const auto y = [&](int64_t value) {
            return rect.bottom() - (rect.height() - 3) * static_cast<double>(value - bytes_low_) /
                                       static_cast<double>(bytes_high_ - bytes_low_);
        };
        const int64_t step_end = std::min(request_.range.end_ns, band.timeline().step_ns);
        QPolygonF points;
        for (size_t i = 0; i < columns.size(); ++i) {
            const CurveColumn& column = columns[i];
            const double x = rect.left() + axis_.pixelOf(column.begin_ns);
            const int64_t until = i + 1 < columns.size() ? columns[i + 1].begin_ns : step_end;
            const double next = std::max(x, rect.left() + axis_.pixelOf(until));
            if (i > 0)
                points << QPointF(x, y(column.first));
            if (column.high > std::max(column.first, column.last))
                points << QPointF(x, y(column.high));
            if (column.low < std::min(column.first, column.last))
                points << QPointF(x, y(column.low));
            points << QPointF(x, y(column.last));
            if (i + 1 == columns.size())
                points << QPointF(next, y(column.last));
            // An area stands for an amount only if it begins at zero.
            if (bytes_low_ == 0 && column.last > 0)
                scene_.rects.push_back({QRectF(QPointF(x, y(column.last)), QPointF(next, rect.bottom())),
                                        SceneRole::LiveBytesArea});
        }
        scene_.paths.push_back({points, SceneRole::LiveBytes});
    }

    void header() {
        const double top = (kHeaderHeight - 20) / 2;
        double right = request_.size.width() - kSideMargin;
        const auto entry = [&](const QString& text, double width, SceneRole role, SliceKind kind) {
            scene_.texts.push_back({QRectF(right - width, top, width, 20), text, SceneRole::Legend});
            scene_.rects.push_back({QRectF(right - width - 16, top + 5, 11, 10), role, kind});
            right -= width + 16 + 14;
        };
        const double text_room = request_.size.width() - 2 * kSideMargin;
        if (text_room > 900) { // else the sentence needs the room
            entry(TimelineText::tr("exposed"), 46, SceneRole::Swatch, SliceKind::Stall);
            if (data_.has(SliceKind::InFlight))
                entry(TimelineText::tr("in flight at entry"), 84, SceneRole::Swatch, SliceKind::InFlight);
            if (data_.has(SliceKind::OtherComm))
                entry(TimelineText::tr("other collective"), 84, SceneRole::Swatch, SliceKind::OtherComm);
            if (data_.has(SliceKind::Gather))
                entry(TimelineText::tr("weight gather"), 78, SceneRole::Swatch, SliceKind::Gather);
            entry(TimelineText::tr("compute"), 48, SceneRole::Swatch, SliceKind::Compute);
            if (data_.measuredBand())
                entry(TimelineText::tr("predicted"), 56, SceneRole::Predicted, SliceKind::Gather);
            if (request_.critical_path)
                entry(TimelineText::tr("critical path"), 70, SceneRole::CriticalPath, SliceKind::Compute);
        }
        scene_.texts.push_back({QRectF(kSideMargin, top, right - kSideMargin, 20),
                                headerText(*data_.snapshot), SceneRole::Header});
    }

    const TimelineData& data_;
    const SceneRequest& request_;
    TimeAxis axis_;
    TimelineLayout layout_;
    int64_t bytes_low_ = 0; ///< bottom of the live-bytes lanes
    int64_t bytes_high_ = 0;
    TimelineScene scene_;
};

} // namespace

TimeAxis sceneAxis(const SceneRequest& request) {
    const double width = request.size.width() - request.gutter - kEndMargin;
    return TimeAxis(request.range, std::max(1, static_cast<int>(width)));
}

TimelineScene buildScene(const TimelineData& data, const SceneRequest& request) {
    return SceneBuilder(data, request).build();
}

const SceneMark* TimelineScene::markAt(const QPointF& position, const SceneLane** lane_out) const {
    if (!plot.contains(position))
        return nullptr;
    const auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const SceneLane& item) {
        return position.y() >= item.rect.top() && position.y() <= item.rect.bottom();
    });
    if (lane == lanes.end())
        return nullptr;
    const auto begin = marks.begin() + static_cast<std::ptrdiff_t>(lane->first_mark);
    const auto end = marks.begin() + static_cast<std::ptrdiff_t>(lane->last_mark);
    const double x = position.x();
    const auto after =
        std::partition_point(begin, end, [&](const SceneMark& mark) { return mark.rect.left() <= x + 1; });
    // Marks of less than a pixel are drawn one pixel wide and may lie over their neighbours: the one whose
    // middle is nearest wins, and a mark that really holds the position wins over one within the slack.
    const SceneMark* best = nullptr;
    double best_distance = 0;
    for (auto it = after; it != begin && after - it < 4;) {
        --it;
        const double outside = std::max({0.0, it->rect.left() - x, x - it->rect.right()});
        if (outside > 1)
            continue;
        const double distance = std::abs(it->rect.center().x() - x) + (outside > 0 ? 1e9 : 0);
        if (!best || distance < best_distance) {
            best = &*it;
            best_distance = distance;
        }
    }
    if (best && lane_out)
        *lane_out = &*lane;
    return best;
}

} // namespace gs
