// A cost source out of measured or stated times: equal nodes get equal times.
#pragma once

#include "cost/readers/measured_costs.h"

namespace gs {

/// Matches times with graph nodes:
/// - a compute node by its operator and the sizes and types of the tensors that it reads;
/// - a collective by kind, element type, bytes and group size; then without the type; then between measured
///   sizes of its kind and group (log-log, Interpolated), up to `reach` times the largest (Extrapolated);
/// - where the file states no sizes, the n-th call of an operator or kind is the n-th node of it, if the file
///   holds the same whole number of steps of most operators and kinds (see NodePlaces).
/// check() counts what had no match on either side.
CostModelPtr makeMeasuredModel(MeasuredCosts costs);

/// The times behind such a model; null for other models.
const MeasuredCosts* measuredCostsOf(const CostModel& model);

/// Time for `bytes` between points (bytes, ns) in order of bytes, straight in log-log. Below the first point
/// it is that point's time, beyond the last the last two points' line goes on (with one point, in
/// proportion). `factor` = bytes ÷ largest size, or 1 within the points. Points and bytes are positive.
struct CurveTime {
    int64_t ns = 0;
    bool below = false;
    double factor = 1;
};
CurveTime timeOnCurve(const std::vector<std::pair<int64_t, int64_t>>& points, int64_t bytes);

} // namespace gs
