// Draws a timeline scene: the same code for the screen, PNG and SVG.
#pragma once

#include "views/timeline/timeline_scene.h"

class QPainter;

namespace gs {

struct Theme;

/// Draws the whole scene with its background. Sharp edges are aligned to device pixels.
void paintScene(QPainter& painter, const TimelineScene& scene, const Theme& theme);

/// Width of the column with the lanes' labels: as wide as the labels, within limits; what is longer is
/// elided there.
double gutterWidth(const TimelineData& data);

} // namespace gs
