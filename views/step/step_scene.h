// The picture of one step as neutral geometry: lists of rectangles, lines, marks and texts with roles, no
// colours and no fonts. The painter only draws it, hit-testing uses the same lists, and tests approve them.
#pragma once

#include "views/step/step_data.h"

#include <QLineF>
#include <QPolygonF>
#include <QString>

namespace gs {

enum class SweepMark : uint8_t {
    // rectangles
    OverviewBar,   ///< the whole program's compute
    OverviewClaim, ///< claimed so far
    OverviewNow,   ///< what this step claims
    OverviewPage,  ///< the part that the strip shows
    Compute,       ///< a compute node, or a run of nodes too short to tell apart (node = kNoNode)
    ClaimLane,     ///< ground of the claims
    UsedUp,        ///< over compute that is claimed
    Claim,         ///< used up by an earlier step
    Window,        ///< found by this step: over the compute
    Found,         ///< found by this step, in the lane of the claims
    Carry,         ///< carried over from the step before
    LeftOver,      ///< found beyond the need
    Comm,          ///< need: the transfer alone
    Contention,    ///< need: what contention adds
    Slack,         ///< need: headroom
    Shortfall,     ///< need that nothing covers
    Forbidden,     ///< in front of the floor
    // lines and shapes
    Funnel,       ///< polygon from the overview's page to the strip
    Move,         ///< polyline from the launch to its new place
    Floor,        ///< line
    Pointer,      ///< line
    PointerStart, ///< line: where the pointer stood before
    Tick,         ///< text of the ruler
    // launches
    LaunchAhead, ///< not looked at yet
    LaunchDone,  ///< placed by an earlier step
    LaunchFrom,  ///< of this step, before
    LaunchTo,    ///< of this step, after
    // texts
    RowLabel,
    ComputeLabel,
    UsedLabel, ///< name of a compute node that is used up
    ClaimLabel,
    FoundLabel,
    CarryLabel,
    NeedPartLabel,
    FromLabel,
    ToLabel,
    NeedLabel,
    FloorLabel,
    PointerLabel,
    Message
};

struct StepRect {
    QRectF rect;
    SweepMark role;
    int step = -1;         ///< whose claim it is
    NodeId node = kNoNode; ///< Compute
};

struct StepLine {
    QPolygonF points;
    SweepMark role;
};

/// A launch: a small triangle whose tip is its place in the program.
struct StepMark {
    QPointF tip;
    SweepMark role;
    int step = -1;
};

struct StepLabel {
    QRectF rect; ///< the text is elided to it
    QString text;
    SweepMark role;
    Qt::Alignment align = Qt::AlignLeft | Qt::AlignVCenter;
};

struct StepScene {
    double scale = 1; ///< of fonts, marks and line widths
    QRectF overview, compute, claims, need, ruler;
    std::vector<StepRect> rects;
    std::vector<StepLine> lines;
    std::vector<StepMark> marks;
    std::vector<StepLabel> labels;

    /// Step of the launch or claim at a position; -1 if there is none.
    int stepAt(const QPointF& position) const;
    /// The compute node at a position; null if there is none or several.
    const StepRect* computeAt(const QPointF& position) const;
};

/// What to draw. All sizes in logical pixels.
struct StepRequest {
    QSizeF size;
    double scale = 1;
    size_t step = 0;
    double fill = 1; ///< share of the walk that is shown
    TimeRange range; ///< of the strip
};

/// Pure. O(steps + pixels · log n).
StepScene buildStepScene(const StepData& data, const StepRequest& request);

/// The axis of the strip: pixel 0 is stepPlot(request).left().
TimeAxis stepAxis(const StepRequest& request);
/// The column of the strip, without labels at its left.
QRectF stepPlot(const StepRequest& request);

} // namespace gs
