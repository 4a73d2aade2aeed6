// A quantity that changes in steps (live bytes), drawable at any zoom.
#pragma once

#include "lod/range_tree.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace gs {

struct CurvePoint {
    int64_t time_ns = 0;
    int64_t value = 0; ///< from this time on
};

/// The curve within one column of pixels.
struct CurveColumn {
    int64_t begin_ns = 0;
    int64_t first = 0; ///< value on entry
    int64_t low = 0;
    int64_t high = 0;
    int64_t last = 0; ///< value on leaving
};

class StepCurve {
public:
    StepCurve() = default;
    /// Points in time order; of equal times the last one counts.
    explicit StepCurve(const std::vector<CurvePoint>& points);

    bool empty() const { return times_.empty(); }
    int64_t peak() const { return peak_; }
    /// Value at a time; 0 before the first point.
    int64_t at(int64_t time_ns) const;
    /// Lowest and highest value within [begin, end), the value on entry included. O(log n).
    std::pair<int64_t, int64_t> extremes(int64_t begin_ns, int64_t end_ns) const;
    /// The columns of [begin, end), each `column_ns` long, in which the curve changes, plus one at the
    /// start. O(columns · log n), and never more columns than there are changes.
    std::vector<CurveColumn> query(int64_t begin_ns, int64_t end_ns, int64_t column_ns) const;

private:
    std::vector<int64_t> times_;
    MaxTree high_;
    MinTree low_;
    int64_t peak_ = 0;
};

} // namespace gs
