// What `two-sided` says of its order: a decision per gather, log lines, how far from the bound and why.
#pragma once

#include "schedule/two_sided/step_problem.h"

namespace gs {

/// What the report needs beyond the order.
struct TwoSidedOutcome {
    Order order;
    StepCost cost;
    std::string made_by;       ///< "list scheduling", or the scheduler whose order nothing beat
    int64_t budget_bytes = -1; ///< < 0: none
    StepCost unlimited;        ///< what the list scheduler reaches without the budget; step 0 = not asked
    size_t simulations = 0;    ///< of the local search
    bool stopped = false;      ///< the job was cancelled: the best so far
};

/// Order, decisions, log lines and diagnostics. Positions of targets and floors are those of the new order. A
/// gather is hidden if nothing stalls for it in simulation; else the reason says what bound its launch: the
/// start of the step, what it depends on, the transfer before it on its stream, the budget, or the order.
/// Diagnostics: "bound-gap" (Info) says the gap to the lower bound, what sets the bound and the longest
/// stall; "budget-exceeded" (Warning) if no order was found inside the budget.
Schedule reportTwoSided(const ScheduleInput& input, const StepProblem& problem, TwoSidedOutcome outcome);

} // namespace gs
