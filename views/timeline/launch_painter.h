// Draws the marks of launches, and what is seen while one of them is dragged.
#pragma once

#include "views/timeline/timeline_scene.h"

class QPainter;

namespace gs {

struct Theme;

/// A launch on its way, as neutral geometry.
struct LaunchOverlay {
    QRectF plot;
    QRectF band;    ///< from the compute lane to the end of the band
    QRectF legal;   ///< part of the compute lane where the launch may stand
    double x = 0;   ///< the place under the cursor, snapped to a boundary of two nodes
    double tip = 0; ///< height of the marks' tips
    bool allowed = false;
    QPointF cursor;
    QString text; ///< in the bubble: where it would stand, or the edge it would cross
};

void paintLaunchMarks(QPainter& painter, const TimelineScene& scene, const Theme& theme);
void paintLaunchOverlay(QPainter& painter, const LaunchOverlay& overlay, const Theme& theme);

} // namespace gs
