// The simulated step as a picture: before and after on one time axis, and the gathered bytes alive.
#pragma once

#include "analysis/analysis.h"
#include "export/html/svg.h"

namespace gs::html {

inline constexpr double kPictureWidth = 1160;

/// Lanes for compute and the busiest process groups, of both orders; stalls of the compute stream stand out.
Svg timelinePicture(const Analysis& analysis);

/// Gathered bytes alive over time, of both orders.
Svg liveBytesPicture(const Analysis& analysis);

} // namespace gs::html
