// The source "interpolated": times of the same operator or collective at other sizes.
#pragma once

#include "cost/profile_model.h"

namespace gs {

/// Fused regions, too, as kernels: of the same members at other sizes. Takes its points from measured entries
/// of `profile` (may be null) and from what `files` know of the graph that is priced. Between points of one
/// kind (see KeySize) straight in log-log; up to 2× the largest and half of the smallest point it goes on as
/// timeOnCurve does, as Extrapolated; further away it does not answer. The note names the points.
CostModelPtr makeInterpolatedModel(ProfilePtr profile, std::vector<CostModelPtr> files);

} // namespace gs
