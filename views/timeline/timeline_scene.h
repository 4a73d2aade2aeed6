// The picture of the timeline as neutral geometry: lists of marks, lines and texts with roles, no colours and
// no fonts. The painter only draws it, hit-testing uses the same lists, and tests approve them.
#pragma once

#include "views/timeline/timeline_layout.h"

#include <QLineF>
#include <QPolygonF>
#include <QString>
#include <QStringList>

namespace gs {

enum class SceneRole : uint8_t {
    LaneBackground, ///< rect
    Window,         ///< rect: the compute that hides the selection
    Selected,       ///< rect: outline
    Predicted,      ///< rect: where the simulation has a transfer of the measured band
    Swatch,         ///< rect of the legend, with a kind
    CriticalPath,   ///< rect of the legend
    Grid,           ///< line
    BandLine,       ///< line between the bands
    Wait,           ///< path: transfer → wait of the selection
    Launch,         ///< path: launch → transfer of the selection
    LiveBytes,      ///< path: curve of horizontal and vertical lines
    LiveBytesArea,  ///< rect: below a horizontal part of the curve
    Header,         ///< text
    Legend,         ///< text
    BandTitle,      ///< text
    LaneLabel,      ///< text
    LaneNote,       ///< text: small, below the label
    SliceLabel,     ///< text on a mark
    Tick,           ///< text of the ruler
    Caption,        ///< text: names the window
    Saved,          ///< text: how much earlier a band's step ends
    ErrorNote,      ///< text: predicted against measured, beside the title of the measured band
    Elsewhere,      ///< text: where the selection lies outside the range
    Message         ///< text: empty state
};

/// One mark for one slice, or for several that are too short to tell apart.
struct SceneMark {
    QRectF rect; ///< whole height of the lane; what can be hit
    SliceRun run;
    SliceKind kind = SliceKind::Compute;          ///< of the longest slice
    std::array<float, kSliceCategories> shares{}; ///< share of `rect`'s height per kind; one slice: 1
    bool on_path = false;                         ///< on the critical path, for most of its time

    bool single() const { return run.count() == 1; }
};

/// Marks of one lane, in time order: [first_mark, last_mark) of TimelineScene::marks.
struct SceneLane {
    size_t band = 0;
    size_t lane = 0;
    QRectF rect; ///< plot part
    size_t first_mark = 0;
    size_t last_mark = 0;
};

struct SceneRect {
    QRectF rect;
    SceneRole role;
    SliceKind kind = SliceKind::Compute;
};

struct SceneLine {
    QLineF line;
    SceneRole role;
};

struct ScenePath {
    QPolygonF points;
    SceneRole role;
};

struct SceneText {
    QRectF rect; ///< the text is elided to its width, if it is a slice's or lane's label
    QString text;
    SceneRole role;
    Qt::Alignment align = Qt::AlignLeft | Qt::AlignVCenter;
    int64_t time_ns = -1; ///< role Elsewhere: where to go
};

/// A launch that can be moved.
struct SceneLaunch {
    QPointF tip;
    NodeId launch = kNoNode;
    SliceKind kind = SliceKind::Gather;
    std::optional<Edit::Kind> by_hand;
    bool selected = false;
};

struct TimelineScene {
    QRectF plot;   ///< lanes, without gutter, header and ruler
    QRectF header; ///< whole width
    QRectF ruler;  ///< whole width
    bool show_path = false;
    std::vector<SceneLane> lanes; ///< visible ones, top to bottom
    std::vector<SceneMark> marks;
    std::vector<SceneRect> rects;
    std::vector<SceneLine> lines;
    std::vector<ScenePath> paths;
    std::vector<SceneText> texts;
    std::vector<SceneLaunch> launches; ///< those on top come last
    QRectF edit_compute;               ///< compute lane of the scheduled band; empty if there is none
    QRectF edit_band;                  ///< from there to the end of the band

    /// Launch whose mark is at a position; null if there is none.
    const SceneLaunch* launchAt(const QPointF& position) const;
    /// Mark at a position, with one pixel of slack that never takes from a neighbour; null if none.
    const SceneMark* markAt(const QPointF& position, const SceneLane** lane = nullptr) const;
};

/// What to draw. All sizes in logical pixels.
struct SceneRequest {
    QSizeF size;
    TimeRange range;
    double gutter = 120; ///< width of the column with the lanes' labels
    double scroll_y = 0;
    Selection selection;
    bool critical_path = false;
};

/// Pure. O(lanes · pixels · log n).
TimelineScene buildScene(const TimelineData& data, const SceneRequest& request);

/// The axis of a request: pixel 0 is the left edge of the plot.
TimeAxis sceneAxis(const SceneRequest& request);

} // namespace gs
