#include "lod/step_curve.h"

#include <algorithm>

namespace gs {

StepCurve::StepCurve(const std::vector<CurvePoint>& points) {
    std::vector<int64_t> values;
    for (const CurvePoint& point : points) {
        if (!times_.empty() && times_.back() == point.time_ns) {
            values.back() = point.value;
            continue;
        }
        times_.push_back(point.time_ns);
        values.push_back(point.value);
    }
    for (int64_t value : values)
        peak_ = std::max(peak_, value);
    high_ = MaxTree(values);
    low_ = MinTree(std::move(values));
}

int64_t StepCurve::at(int64_t time_ns) const {
    const auto after = std::upper_bound(times_.begin(), times_.end(), time_ns);
    return after == times_.begin() ? 0 : high_.value(static_cast<size_t>(after - times_.begin()) - 1);
}

std::pair<int64_t, int64_t> StepCurve::extremes(int64_t begin_ns, int64_t end_ns) const {
    const int64_t entry = at(begin_ns);
    const auto first = std::upper_bound(times_.begin(), times_.end(), begin_ns);
    const auto last = std::lower_bound(first, times_.end(), end_ns);
    if (first == last)
        return {entry, entry};
    const size_t from = static_cast<size_t>(first - times_.begin());
    const size_t to = static_cast<size_t>(last - times_.begin());
    return {std::min(entry, low_.value(low_.best(from, to))),
            std::max(entry, high_.value(high_.best(from, to)))};
}

std::vector<CurveColumn> StepCurve::query(int64_t begin_ns, int64_t end_ns, int64_t column_ns) const {
    std::vector<CurveColumn> columns;
    if (empty() || begin_ns >= end_ns)
        return columns;
    const int64_t step = std::max<int64_t>(1, column_ns);
    const int64_t entry = at(begin_ns);
    columns.push_back({begin_ns, entry, entry, entry, entry});
    auto it = std::upper_bound(times_.begin(), times_.end(), begin_ns);
    while (it != times_.end() && *it < end_ns) {
        const size_t first = static_cast<size_t>(it - times_.begin());
        const int64_t column = begin_ns + (*it - begin_ns) / step * step;
        it = std::lower_bound(it, times_.end(), std::min(end_ns, column + step));
        const size_t last = static_cast<size_t>(it - times_.begin());
        const int64_t before = columns.back().last;
        CurveColumn item{step == 1 ? times_[first] : column, before, before, before, high_.value(last - 1)};
        item.low = std::min(before, low_.value(low_.best(first, last)));
        item.high = std::max(before, high_.value(high_.best(first, last)));
        // A single change keeps its exact time, so that steps stay sharp when zoomed in.
        if (last - first == 1)
            item.begin_ns = times_[first];
        columns.push_back(item);
    }
    return columns;
}

} // namespace gs
