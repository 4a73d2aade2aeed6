// Moves gathers later as long as nothing waits longer for them: less memory for the same step time.
#pragma once

#include "schedule/two_sided/step_problem.h"

namespace gs {

/// Just in time: from the last transfer of each stream to the first, a gather's transfer may end at the
/// latest `slack_ns` before its first wait is reached and not after the next transfer of its stream starts;
/// its launch moves to the last boundary between computations that allows this. Reductions stay. The order of
/// each stream's launches stays too. The caller checks what the new order costs.
Order launchGathersLate(const StepProblem& problem, const Order& order, const Timeline& timeline,
                        int64_t slack_ns);

} // namespace gs
