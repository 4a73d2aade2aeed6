#include "schedule/two_sided/two_sided.h"

#include "schedule/gather_budget.h"
#include "schedule/two_sided/list_scheduler.h"

#include <cstdlib>

namespace gs {

Schedule runTwoSided(const ScheduleInput& input) {
    Schedule schedule;
    schedule.scheduler = "two-sided";
    const StepProblem problem(input);
    const int64_t budget = gatherBudgetBytes(input.settings, schedule.diagnostics);
    int64_t best = INT64_MAX;
    schedule.order = identityOrder(input.graph);
    std::string why;
    for (int i = 0; i < 8; ++i) {
        ListPolicy policy;
        policy.budget_bytes = budget;
        policy.by_tail = i & 1;
        policy.feed_first = i & 2;
        policy.reductions_first = i & 4;
        Order order = scheduleList(problem, policy, input.job);
        StepCost cost = problem.evaluator.run(order);
        bool over = budget >= 0 && cost.peak_bytes > budget;
        why += std::to_string(cost.step_ns) + (over ? "! " : " ");
        if (cost.step_ns < best && !over) {
            best = cost.step_ns;
            schedule.order = order;
        }
    }
    schedule.diagnostics.add({Severity::Info, "bound-gap", {}, {}, why, {}});
    return schedule;
}

} // namespace gs
