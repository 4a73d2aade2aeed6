// The stage that simulates the step before and after.
#pragma once

#include "analysis/analysis.h"

namespace gs {

struct SimulatedPrograms {
    TimelinePtr before;
    TimelinePtr after;
    int64_t lower_bound_before_ns = 0;
    int64_t lower_bound_ns = 0; ///< of `after`
    Diagnostics diagnostics;    ///< of the settings, against the graph after the passes
};

/// Both programs have all but a timeline.
SimulatedPrograms simulatePrograms(const Program& before, const Program& after, const Settings& settings);

} // namespace gs
