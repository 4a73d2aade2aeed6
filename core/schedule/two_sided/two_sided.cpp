#include "schedule/two_sided/two_sided.h"

#include "schedule/gather_budget.h"
#include "schedule/two_sided/list_scheduler.h"

#include <limits>
#include <optional>

namespace gs {

namespace {

/// How often a policy runs again with a smaller limit where its order came out above the budget.
constexpr int kBudgetRetries = 4;

struct Found {
    Order order;
    StepCost cost;
    std::string made_by;
};

class TwoSided {
public:
    explicit TwoSided(const ScheduleInput& input)
        : input_(input), problem_(input), budget_(gatherBudgetBytes(input.settings, diagnostics_)) {}

    Schedule run() {
        runSeeds();
        runPolicies();
        Schedule schedule;
        schedule.scheduler = "two-sided";
        schedule.order = best_.order;
        schedule.diagnostics = diagnostics_;
        schedule.diagnostics.add({Severity::Info, "bound-gap", {}, {}, why_ + best_.made_by, {}});
        return schedule;
    }

private:
    bool fits(const StepCost& cost) const { return budget_ < 0 || cost.peak_bytes <= budget_; }

    /// Inside the budget first, then the shorter step, then the lower peak.
    bool better(const StepCost& a, const StepCost& b) const {
        if (fits(a) != fits(b))
            return fits(a);
        if (!fits(a) && a.peak_bytes != b.peak_bytes)
            return a.peak_bytes < b.peak_bytes;
        return a.step_ns != b.step_ns ? a.step_ns < b.step_ns : a.peak_bytes < b.peak_bytes;
    }

    StepCost consider(Order order, std::string made_by) {
        const StepCost cost = problem_.evaluator.run(order);
        if (best_.order.empty() || better(cost, best_.cost))
            best_ = {std::move(order), cost, std::move(made_by)};
        return cost;
    }

    /// Orders of the other schedulers: never worse than any of them that fits.
    void runSeeds() {
        consider(identityOrder(input_.graph), "program-order");
        for (const char* name : {"latest-safe-launch", "just-in-time", "parameter-prefetch"})
            runSeed(name, input_.settings);
        for (const char* name : {"overlap-scheduler", "overlap-scheduler-upstream"}) {
            runSeed(name, input_.settings);
            for (const char* in_flight : {"0.1", "2"}) {
                Settings settings = input_.settings;
                (void)settings.set(Setting::MaxInFlightGb, in_flight);
                if (!(settings == input_.settings))
                    runSeed(name, settings);
            }
        }
    }

    void runSeed(std::string_view name, const Settings& settings) {
        const SchedulerInfo* info = findScheduler(name);
        if (!info || input_.job.cancelled())
            return;
        Schedule seed = info->run({input_.graph, input_.collectives, input_.costs, settings, input_.job});
        if (!findBrokenEdge(input_.graph, seed.order))
            consider(std::move(seed.order), std::string(name));
    }

    void runPolicies() {
        for (int bits = 0; bits < 8; ++bits) {
            ListPolicy policy;
            policy.budget_bytes = budget_;
            policy.by_tail = (bits & 1) != 0;
            policy.feed_first = (bits & 2) != 0;
            policy.reductions_first = (bits & 4) != 0;
            runPolicy(policy);
        }
    }

    void runPolicy(ListPolicy policy) {
        for (int attempt = 0; attempt <= kBudgetRetries; ++attempt) {
            Order order = scheduleList(problem_, policy, input_.job);
            if (order.empty())
                return;
            const StepCost cost = consider(std::move(order), "list");
            why_ += std::to_string(cost.step_ns) + (fits(cost) ? " " : "! ");
            if (fits(cost))
                return;
            policy.budget_bytes -= cost.peak_bytes - budget_;
            if (policy.budget_bytes < 0)
                return;
        }
    }

    const ScheduleInput& input_;
    Diagnostics diagnostics_;
    StepProblem problem_;
    int64_t budget_;
    Found best_;
    std::string why_;
};

} // namespace

Schedule runTwoSided(const ScheduleInput& input) {
    return TwoSided(input).run();
}

} // namespace gs
