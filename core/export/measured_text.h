// A run held against its simulation, for a terminal, as CSV and as JSON.
#pragma once

#include "explain/measured_run.h"

#include <string>

namespace gs {

/// Table of the errors and what is to be known about the measurement, for a terminal.
std::string measuredText(const Analysis& analysis, const MeasuredRun& run);
/// One row per collective.
std::string measuredCsv(const Analysis& analysis, const MeasuredRun& run);
/// `gatherscope.measured` version 1.
std::string measuredJson(const Analysis& analysis, const MeasuredRun& run);

} // namespace gs
