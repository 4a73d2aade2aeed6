// Where lanes stand: the vertical arrangement of the timeline, in pixels of the content.
#pragma once

#include "views/timeline/timeline_data.h"

#include <QRectF>

namespace gs {

struct LaneRow {
    size_t band = 0;
    size_t lane = 0;
    double top = 0;
    double height = 0;

    double bottom() const { return top + height; }
};

struct BandRow {
    double top = 0; ///< of the row with the band's title
    double bottom = 0;
    size_t first_row = 0; ///< index of the band's compute lane in TimelineLayout::rows
};

struct TimelineLayout {
    std::vector<BandRow> bands;
    std::vector<LaneRow> rows; ///< top to bottom
    double height = 0;         ///< of the content

    const LaneRow& row(size_t band, size_t lane) const { return rows[bands[band].first_row + lane]; }
    /// Row at a height of the content, or -1.
    int rowAt(double y) const;
};

inline constexpr double kTitleHeight = 20; ///< band's title; the caption of the window stands there, too
inline constexpr double kLaneHeight = 22;  ///< usually
inline constexpr double kLaneGap = 9;      ///< arrows run here
inline constexpr double kCurveHeight = 30; ///< live bytes, usually
inline constexpr double kBandGap = 10;
inline constexpr double kHeaderHeight = 30;
inline constexpr double kRulerHeight = 22;
inline constexpr double kSideMargin = 14;

/// Lanes from the top; height that is left over goes to the live-bytes curves, then a little to the gap
/// between the bands; the rest stays empty. Where height is missing, lanes and curves get lower, down to what
/// can still be read.
TimelineLayout layoutTimeline(const TimelineData& data, double available_height);

} // namespace gs
