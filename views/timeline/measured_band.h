// A measured run as the third band of the timeline.
#pragma once

#include "views/timeline/timeline_data.h"

namespace gs {

/// The step shown of analysis.measured: its transfers in a lane per group, compute of the device without
/// names, and as stalls the parts of transfers beside which nothing was computed.
TimelineBand makeMeasuredBand(const Analysis& analysis);

} // namespace gs
