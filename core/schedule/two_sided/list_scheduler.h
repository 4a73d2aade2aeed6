// The constructive phase of `two-sided`: a list scheduler on the time axis of the simulator.
#pragma once

#include "base/progress.h"
#include "schedule/two_sided/step_problem.h"

namespace gs {

/// ListPolicy::aim_ns: program order, whatever the step becomes.
inline constexpr int64_t kNoAim = int64_t{1} << 62;

struct ListPolicy {
    int64_t budget_bytes = -1; ///< < 0: no limit
    /// Step time aimed at: a computation that would make the step longer if it did not run now goes first; 0
    /// = always the one with the longest tail.
    int64_t aim_ns = kNoAim;
    bool feed_first = false;       ///< while a stream runs dry: computation that leads to a launch soonest
    bool fill_stalls = false;      ///< run the preparation of later gathers while nothing else can run
    bool reductions_first = false; ///< reductions before gathers even where that may delay a consumer
};

/// Runs the step on the simulator's clock. Before each computation, every stream that would run dry beside it
/// takes up the next launch that is ready: gathers in the order of their consumers as long as the budget
/// allows, reductions as soon as no gather would be late for them. The first computation in program order
/// that would not stall runs next; computation that only reductions lead to waits until nothing else is
/// ready. Deterministic; O((nodes
/// + edges) log nodes). Stopped early it returns an empty order.
Order scheduleList(const StepProblem& problem, const ListPolicy& policy, const JobContext& job);

} // namespace gs
