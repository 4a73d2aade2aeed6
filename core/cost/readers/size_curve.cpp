#include "cost/readers/measured_model.h"

#include <algorithm>
#include <cmath>

namespace gs {

CurveTime timeOnCurve(const std::vector<std::pair<int64_t, int64_t>>& points, int64_t bytes) {
    CurveTime out;
    const auto& first = points.front();
    const auto& last = points.back();
    if (bytes <= first.first) {
        out.below = bytes < first.first;
        out.ns = first.second;
        return out;
    }
    if (bytes > last.first)
        out.factor = static_cast<double>(bytes) / static_cast<double>(last.first);
    auto high = std::lower_bound(points.begin(), points.end(), bytes,
                                 [](const auto& point, int64_t wanted) { return point.first < wanted; });
    if (high == points.end())
        --high;
    const auto log = [](int64_t value) { return std::log(static_cast<double>(std::max<int64_t>(1, value))); };
    double slope = 1; // one point only: in proportion
    if (points.size() > 1) {
        const auto low = high - 1;
        slope = (log(high->second) - log(low->second)) / (log(high->first) - log(low->first));
    }
    if (out.factor > 1)
        slope = std::max(slope, 0.0);
    const double ns = static_cast<double>(std::max<int64_t>(1, high->second)) *
                      std::exp(slope * (log(bytes) - log(high->first)));
    out.ns = std::llround(std::min(ns, static_cast<double>(kMaxCostNs)));
    return out;
}

} // namespace gs
