#include "views/timeline/launch_marks.h"

#include <algorithm>
#include <cmath>

namespace gs {

namespace {

constexpr double kLeastDistance = 5; ///< of two marks
constexpr double kReach = 6;         ///< a press so near takes the mark

} // namespace

void addLaunchMarks(const TimelineData& data, const TimelineLayout& layout, const SceneRequest& request,
                    const TimeAxis& axis, TimelineScene& scene) {
    const auto band = data.scheduledBand();
    if (!band)
        return;
    const LaneRow& row = layout.row(*band, 0);
    const double top = row.top + scene.plot.top() - request.scroll_y;
    scene.edit_compute = {scene.plot.left(), top, scene.plot.width(), row.height};
    scene.edit_band = {scene.plot.left(), top, scene.plot.width(), layout.bands[*band].bottom - row.top};
    const BandSelection selected = data.resolve(*band, request.selection);
    const auto is_selected = [&](int32_t collective) {
        return std::binary_search(selected.collectives.begin(), selected.collectives.end(), collective);
    };
    const auto add = [&](const LaunchPoint& point) {
        const double x = scene.plot.left() + axis.pixelOf(point.time_ns);
        const Collective& item = data.bands[*band].collectives()[static_cast<size_t>(point.collective)];
        scene.launches.push_back({QPointF(x, top + row.height + kLaneGap - 1), item.launch,
                                  item.weight_gather ? SliceKind::Gather : SliceKind::OtherComm,
                                  point.by_hand, is_selected(point.collective)});
    };
    const auto begin =
        std::lower_bound(data.launches.begin(), data.launches.end(), request.range.begin_ns,
                         [](const LaunchPoint& point, int64_t time) { return point.time_ns < time; });
    std::vector<const LaunchPoint*> special; // drawn last, hit first
    double last = -1e9;
    for (auto it = begin; it != data.launches.end() && it->time_ns <= request.range.end_ns; ++it) {
        if (it->by_hand || is_selected(it->collective)) {
            special.push_back(&*it);
            continue;
        }
        const double x = axis.pixelOf(it->time_ns);
        if (x - last < kLeastDistance)
            continue;
        last = x;
        add(*it);
    }
    std::stable_partition(special.begin(), special.end(),
                          [&](const LaunchPoint* point) { return !is_selected(point->collective); });
    for (const LaunchPoint* point : special)
        add(*point);
}

const SceneLaunch* TimelineScene::launchAt(const QPointF& position) const {
    const SceneLaunch* best = nullptr;
    for (const SceneLaunch& item : launches) {
        const double away = std::abs(item.tip.x() - position.x());
        const bool inside =
            away <= kReach && position.y() <= item.tip.y() + 2 && position.y() > item.tip.y() - kLaneGap + 1;
        // Of equally near ones the last: what is selected or placed by hand.
        if (inside && (!best || away <= std::abs(best->tip.x() - position.x())))
            best = &item;
    }
    return best;
}

} // namespace gs
