#include "views/timeline/timeline_layout.h"

#include <algorithm>

namespace gs {

namespace {

constexpr double kMostGap = 24; ///< height that the gap between bands may take up
constexpr double kMostCurve = 120;
/// Where height is scarce: the text of a slice and both lines beside a curve still find room.
constexpr double kLeastLane = 14;
constexpr double kLeastCurve = 24;

struct Heights {
    double lane = kLaneHeight;
    double curve = kCurveHeight;
    double band_gap = kBandGap;
};

TimelineLayout arrange(const TimelineData& data, const Heights& heights) {
    TimelineLayout layout;
    double y = 0;
    for (size_t b = 0; b < data.bands.size(); ++b) {
        BandRow band{y, y, layout.rows.size()};
        y += kTitleHeight;
        for (size_t l = 0; l < data.bands[b].lanes.size(); ++l) {
            const bool curve = data.bands[b].lanes[l].kind == TimelineLane::Kind::LiveBytes;
            layout.rows.push_back({b, l, y, curve ? heights.curve : heights.lane});
            y = layout.rows.back().bottom() + kLaneGap;
        }
        band.bottom = y - kLaneGap;
        layout.bands.push_back(band);
        y = band.bottom + heights.band_gap;
    }
    layout.height = layout.bands.empty() ? 0 : layout.bands.back().bottom + kBandGap / 2;
    return layout;
}

} // namespace

int TimelineLayout::rowAt(double y) const {
    const auto after =
        std::partition_point(rows.begin(), rows.end(), [&](const LaneRow& row) { return row.top <= y; });
    if (after == rows.begin() || (after - 1)->bottom() < y)
        return -1;
    return static_cast<int>(after - rows.begin()) - 1;
}

TimelineLayout layoutTimeline(const TimelineData& data, double available_height) {
    const TimelineLayout usual = arrange(data, {});
    const double spare = available_height - usual.height;
    if (spare < 0) {
        const double least = arrange(data, {kLeastLane, kLeastCurve}).height;
        const double part = std::clamp((available_height - least) / (usual.height - least), 0.0, 1.0);
        return arrange(data, {kLeastLane + part * (kLaneHeight - kLeastLane),
                              kLeastCurve + part * (kCurveHeight - kLeastCurve)});
    }
    const auto curves =
        static_cast<double>(std::count_if(data.bands.begin(), data.bands.end(), [](const TimelineBand& band) {
            return band.lanes.back().kind == TimelineLane::Kind::LiveBytes;
        }));
    const double more = curves > 0 ? std::min(kMostCurve - kCurveHeight, spare / curves) : 0;
    return arrange(data, {kLaneHeight, kCurveHeight + more,
                          kBandGap + std::clamp(spare - more * curves, 0.0, kMostGap)});
}

} // namespace gs
