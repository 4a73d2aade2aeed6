// The picture of a graph view for files: the same paint code on any painter (SVG, PNG, PDF).
#pragma once

#include "views/graph/graph_picture.h"

class QPainter;

namespace gs {

class GraphLegend;

struct GraphRendering {
    GraphPicturePtr before, after; ///< may be null
    GraphMarks before_marks, after_marks;
    QString title, caption;
    const GraphLegend* legend = nullptr; ///< may be null
};

/// Paints before beside after into `target`, each fitted, with title, side titles, caption and legend.
void renderGraph(QPainter* painter, const QRectF& target, const GraphRendering& rendering,
                 const Theme& theme);

} // namespace gs
