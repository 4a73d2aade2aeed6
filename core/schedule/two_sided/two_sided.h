// Our own scheduler: moves launches and waits of all collectives on the simulated time axis (passes.md §10).
#pragma once

#include "schedule/scheduler.h"

namespace gs {

Schedule runTwoSided(const ScheduleInput& input);

} // namespace gs
