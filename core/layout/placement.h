// Where the boxes and links of a LayoutGraph go. Points of 1/72 inch = picture pixels; y grows downwards.
#pragma once

#include <cstdint>
#include <vector>

namespace gs {

struct LayoutPoint {
    double x = 0, y = 0;
};

struct LayoutSize {
    double width = 0, height = 0;
};

/// Left upper corner and size.
struct LayoutRect {
    double x = 0, y = 0, width = 0, height = 0;
};

struct Placement {
    double width = 0, height = 0;
    std::vector<LayoutRect> boxes; ///< same index as LayoutGraph::boxes
    /// Same index as LayoutGraph::links: start point, then three points per cubic Bézier piece.
    std::vector<std::vector<LayoutPoint>> links;
};

} // namespace gs
