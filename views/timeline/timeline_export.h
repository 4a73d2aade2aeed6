// Pictures of the timeline for files: SVG through QSvgGenerator, PNG through QImage.
#pragma once

#include "lod/time_axis.h"
#include "views/view.h"

#include <QRectF>

class QPainter;

namespace gs {

/// Height at which all lanes of a snapshot are whole.
double timelineHeight(const SnapshotPtr& snapshot);

/// Draws the timeline into `area` with the current theme, by the code that draws the view. An empty range
/// stands for the whole step. Lanes that do not fit are cut; see timelineHeight().
void renderTimeline(QPainter* painter, const QRectF& area, SnapshotPtr snapshot, const Selection& selection,
                    TimeRange range = {});

} // namespace gs
