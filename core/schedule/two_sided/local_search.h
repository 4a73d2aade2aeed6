// Local search on the simulated step: swaps and shifts of launches and of the computation that feeds them.
#pragma once

#include "base/progress.h"
#include "schedule/two_sided/step_problem.h"

#include <functional>

namespace gs {

struct LocalSearchLimits {
    size_t steps = 0; ///< simulations at most
    /// True if the first cost is to be preferred over the second.
    std::function<bool(const StepCost&, const StepCost&)> better;
    std::function<bool(const StepCost&)> fits; ///< the budget is kept
};

/// First improvement over a fixed list of moves, again and again until none helps or the limit is reached:
/// where the compute stream stalls, longest stalls first, the transfer it waits for and those that lead to it
/// without a gap are launched earlier (in front of 1, 2, 4, … computations), exchanged with the launch before
/// them on their stream, and the computation that makes their input goes earlier; gathers launched before
/// them go later. No clock and no random number decides, so that every rank finds the same order. Returns the
/// simulations used; `order` and `cost` are the best found.
size_t improveOrder(const StepProblem& problem, const LocalSearchLimits& limits, const JobContext& job,
                    Order& order, StepCost& cost);

} // namespace gs
