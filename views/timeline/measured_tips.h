// The words of the measured band: predicted against measured.
#pragma once

#include "views/timeline/timeline_data.h"

namespace gs {

/// Facts about a transfer, compute or a stall of the measured band, as rich text.
QString measuredSliceTip(const TimelineData& data, const SliceRef& ref);
/// The errors in one line: "31 of 33 matched · all_gather +3.1 µs on average, worst +40.2 µs · …".
QString measuredNote(const Analysis& analysis);
/// Bias, spread and worst per kind as a table, and what is to be known about the trace, as rich text.
QString measuredErrorTip(const Analysis& analysis);
/// "+12.0 µs (+8.1 %)": the error of a collective's duration; empty if it is not in the trace.
QString measuredErrorText(const Analysis& analysis, int32_t collective);

} // namespace gs
