#include "views/timeline/scene_selection.h"

#include "views/timeline/timeline_text.h"

#include <algorithm>

namespace gs {

namespace {

constexpr double kCaptionWidth = 170;
constexpr double kArrowPx = 14; ///< arrows of less extent would only be a blot

class SelectionBuilder {
public:
    SelectionBuilder(const TimelineData& data, const TimelineLayout& layout, const SceneRequest& request,
                     const TimeAxis& axis, size_t band, TimelineScene& scene)
        : data_(data), band_(data.bands[band]), layout_(layout), request_(request), axis_(axis), index_(band),
          scene_(scene) {}

    void add() {
        const BandSelection selected = data_.resolve(index_, request_.selection);
        const auto span = data_.spanOf(index_, selected);
        if (!span)
            return;
        if (band_.measured) {
            for (const int32_t collective : selected.collectives)
                measured(collective);
            return;
        }
        if (span->end_ns < request_.range.begin_ns || span->begin_ns >= request_.range.end_ns) {
            elsewhere(*span);
            return;
        }
        const bool after = data_.bands.size() == 1 || index_ > 0;
        for (const int32_t collective : selected.collectives) {
            if (after)
                window(collective);
            arrows(collective);
            outline(data_.findCollective(index_, collective));
        }
        if (selected.node != kNoNode)
            outline(data_.findNode(index_, selected.node));
    }

private:
    double x(int64_t time) const {
        return scene_.plot.left() + std::clamp(axis_.pixelOf(time), 0.0, scene_.plot.width());
    }
    double viewY(double content_y) const { return content_y + scene_.plot.top() - request_.scroll_y; }
    QRectF laneRect(size_t lane) const {
        const LaneRow& row = layout_.row(index_, lane);
        return {scene_.plot.left(), viewY(row.top), scene_.plot.width(), row.height};
    }
    size_t laneOf(int32_t collective) const {
        return 1 + band_.timeline().transfers[static_cast<size_t>(collective)].stream;
    }

    void outline(const std::optional<SliceRef>& ref) {
        if (!ref)
            return;
        const Slice& slice = data_.slice(*ref);
        if (!request_.range.overlaps(slice.start_ns, slice.end_ns + 1))
            return;
        const QRectF lane = laneRect(ref->lane);
        const double left = x(slice.start_ns);
        scene_.rects.push_back(
            {QRectF(left, lane.top(), std::max(2.0, x(slice.end_ns) - left), lane.height()),
             SceneRole::Selected});
    }

    /// The transfer as it ran, and where the simulation has it.
    void measured(int32_t collective) {
        const Transfer& predicted =
            data_.snapshot->after.timeline->transfers[static_cast<size_t>(collective)];
        const QRectF lane = laneRect(laneOf(collective));
        outline(data_.findCollective(index_, collective));
        if (request_.range.overlaps(predicted.start_ns, predicted.end_ns + 1)) {
            const double left = x(predicted.start_ns);
            scene_.rects.push_back(
                {QRectF(left, lane.bottom() + 2, std::max(2.0, x(predicted.end_ns) - left), kLaneGap - 5),
                 SceneRole::Predicted});
        }
    }

    void window(int32_t collective) {
        const TimeRange hides = hidingWindow(band_, collective);
        if (!request_.range.overlaps(hides.begin_ns, hides.end_ns))
            return;
        const double top = laneRect(0).top() - 4;
        const double left = x(hides.begin_ns);
        const double right = x(hides.end_ns);
        const QRectF rect(left, top, std::max(1.0, right - left),
                          laneRect(laneOf(collective)).bottom() + 4 - top);
        scene_.rects.push_back({rect, SceneRole::Window});
        const double width = std::min(kCaptionWidth, scene_.plot.width());
        const double start =
            std::clamp(rect.center().x() - width / 2, scene_.plot.left(), scene_.plot.right() - width);
        scene_.texts.push_back({QRectF(start, top - 16, width, 15),
                                TimelineText::tr("window of the selection"), SceneRole::Caption,
                                Qt::AlignCenter});
    }

    void arrows(int32_t index) {
        const Transfer& transfer = band_.timeline().transfers[static_cast<size_t>(index)];
        const Collective& item = band_.collectives()[static_cast<size_t>(index)];
        const QRectF lane = laneRect(laneOf(index));
        const double compute = laneRect(0).bottom();
        int64_t done = transfer.end_ns;
        for (const NodeId wait : item.waits)
            done = std::max(done, band_.timeline().end_ns[wait]);
        if (axis_.pixelOf(done) - axis_.pixelOf(transfer.launched_ns) < kArrowPx)
            return;
        // Both run in the gap above the transfer's lane, the launch a little higher, so that they do not
        // cover each other.
        const double gap = lane.top() - kLaneGap / 2;
        const auto path = [&](double from_x, double from_y, double to_x, double to_y, double level,
                              SceneRole role) {
            scene_.paths.push_back({QPolygonF({QPointF(from_x, from_y), QPointF(from_x, level),
                                               QPointF(to_x, level), QPointF(to_x, to_y)}),
                                    role});
        };
        if (item.launch != kNoNode && request_.range.overlaps(transfer.launched_ns, transfer.start_ns + 1))
            path(x(transfer.launched_ns), compute, x(transfer.start_ns), lane.top(), gap - 1.5,
                 SceneRole::Launch);
        for (const NodeId wait : item.waits) {
            const int64_t waited = std::max(band_.timeline().end_ns[wait], transfer.end_ns);
            if (request_.range.overlaps(transfer.end_ns, waited + 1))
                path(x(transfer.end_ns), lane.top(), x(waited), compute, gap + 1.5, SceneRole::Wait);
        }
    }

    /// "◂ at 612.4 ms" at the edge of the band behind which the selection lies.
    void elsewhere(const TimeRange& span) {
        const bool earlier = span.end_ns < request_.range.begin_ns;
        const QString text = earlier ? TimelineText::tr("◂ selection at %1").arg(timeText(span.begin_ns))
                                     : TimelineText::tr("selection at %1 ▸").arg(timeText(span.begin_ns));
        const QRectF rect(earlier ? scene_.plot.left() : scene_.plot.right() - kCaptionWidth,
                          viewY(layout_.bands[index_].top) + 2, kCaptionWidth, 15);
        scene_.texts.push_back({rect, text, SceneRole::Elsewhere,
                                (earlier ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter,
                                (span.begin_ns + span.end_ns) / 2});
    }

    const TimelineData& data_;
    const TimelineBand& band_;
    const TimelineLayout& layout_;
    const SceneRequest& request_;
    const TimeAxis& axis_;
    size_t index_;
    TimelineScene& scene_;
};

} // namespace

void addSelection(const TimelineData& data, const TimelineLayout& layout, const SceneRequest& request,
                  const TimeAxis& axis, size_t band, TimelineScene& scene) {
    SelectionBuilder(data, layout, request, axis, band, scene).add();
}

} // namespace gs
