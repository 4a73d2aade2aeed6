#include "schedule/two_sided/two_sided.h"

#include "schedule/gather_budget.h"
#include "schedule/optimum/optimum.h"
#include "schedule/two_sided/list_scheduler.h"
#include "schedule/two_sided/local_search.h"
#include "schedule/two_sided/tighten.h"
#include "schedule/two_sided/two_sided_report.h"

namespace gs {

namespace {

/// Shares of the first overshoot by which a policy's limit shrinks where its order came out above the budget.
constexpr int64_t kShrinkPercent[] = {25, 50, 100, 200};
/// The overlap schedulers at the user's settings and at those that their documents name. One that this
/// program does not have is left out.
struct SeedSettings {
    std::string_view scheduler;
    std::string_view in_flight_gb;
    std::string_view distance;
};
constexpr SeedSettings kOverlapSeeds[] = {
    {"overlap-scheduler", "0.1", "1000"},
    {"overlap-scheduler", "2", "1000"},
    {"overlap-scheduler-upstream", "2", "1000"},
    {"overlap-scheduler-upstream", "5", "200"},
};
/// Limit of the exact search that small graphs get.
constexpr size_t kExactNodes = 20'000;

class TwoSided {
public:
    TwoSided(const ScheduleInput& input, const StepProblem& problem, int64_t budget_bytes)
        : input_(input), problem_(problem) {
        best_.budget_bytes = budget_bytes;
    }

    TwoSidedOutcome run() {
        runSeeds();
        runPolicies();
        runExactSearch();
        search();
        tighten();
        tryWithoutBudget();
        best_.stopped = input_.job.cancelled();
        return std::move(best_);
    }

private:
    bool fits(const StepCost& cost) const {
        return best_.budget_bytes < 0 || cost.peak_bytes <= best_.budget_bytes;
    }

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
        if ((best_.order.empty() || better(cost, best_.cost)) && !findBrokenEdge(input_.graph, order)) {
            best_.order = std::move(order);
            best_.cost = cost;
            best_.made_by = std::move(made_by);
        }
        return cost;
    }

    void runSeeds() {
        consider(identityOrder(input_.graph), "program-order");
        for (const char* name : {"latest-safe-launch", "just-in-time", "parameter-prefetch"})
            runSeed(name, ownSettings());
        for (const SeedSettings& seed : kOverlapSeeds) {
            Settings settings = ownSettings();
            (void)settings.set(Setting::MaxInFlightGb, seed.in_flight_gb);
            (void)settings.set(Setting::MaxCollDistance, seed.distance);
            runSeed(seed.scheduler, settings);
        }
    }

    /// The settings that two-sided reads, and defaults for all others: those of other schedulers have no say.
    Settings ownSettings() const {
        Settings own;
        for (const Setting key : findScheduler("two-sided")->settings)
            (void)own.set(key, input_.settings.text(key));
        return own;
    }

    void runSeed(std::string_view name, const Settings& settings) {
        const SchedulerInfo* info = findScheduler(name);
        if (!info || input_.job.cancelled())
            return;
        Schedule seed =
            info->run({input_.graph, input_.collectives, input_.costs, settings, input_.job, input_.edits});
        consider(std::move(seed.order), std::string(name));
    }

    void runPolicies() {
        const int64_t bound = problem_.bounds.bound_ns;
        const int64_t aims[] = {kNoAim, bound + bound / 20, bound + bound / 100, bound, 0};
        const int variants = problem_.hasCostlyPrep() ? 8 : 4;
        for (const int64_t aim : aims) {
            for (int bits = 0; bits < variants; ++bits) {
                if (fits(best_.cost) && best_.cost.step_ns <= bound && best_.budget_bytes >= 0)
                    return; // nothing can be faster, and the budget is kept
                ListPolicy policy;
                policy.budget_bytes = best_.budget_bytes;
                policy.aim_ns = aim;
                policy.feed_first = (bits & 1) != 0;
                policy.reductions_first = (bits & 2) != 0;
                policy.fill_stalls = (bits & 4) != 0;
                runPolicy(policy);
            }
        }
    }

    void runPolicy(ListPolicy policy) {
        int64_t overshoot = 0;
        for (size_t attempt = 0; attempt <= std::size(kShrinkPercent); ++attempt) {
            Order order = scheduleList(problem_, policy, input_.job);
            if (order.empty()) // stopped
                return;
            const StepCost cost = consider(std::move(order), "list scheduling");
            if (fits(cost) || attempt == std::size(kShrinkPercent))
                return;
            overshoot = attempt == 0 ? cost.peak_bytes - best_.budget_bytes : overshoot;
            policy.budget_bytes = best_.budget_bytes - overshoot / 100 * kShrinkPercent[attempt];
            if (policy.budget_bytes < 0)
                return;
        }
    }

    void runExactSearch() {
        if (!tooLargeForOptimum(input_.graph, input_.collectives).empty() || input_.job.cancelled())
            return;
        OptimumResult found = findOptimum(problem_, kExactNodes, input_.job);
        consider(std::move(found.order), found.proven ? "exact search" : "exact search, cut short");
    }

    void search() {
        LocalSearchLimits limits;
        limits.steps = static_cast<size_t>(input_.settings.integer(Setting::SearchSteps));
        limits.fits = [this](const StepCost& cost) { return fits(cost); };
        limits.better = [this](const StepCost& a, const StepCost& b) { return better(a, b); };
        Order order = best_.order;
        StepCost cost = best_.cost;
        best_.simulations = improveOrder(problem_, limits, input_.job, order, cost);
        if (better(cost, best_.cost))
            consider(std::move(order), best_.made_by + " and local search");
    }

    void tighten() {
        if (input_.job.cancelled())
            return;
        const TimelinePtr timeline = problem_.simulate(best_.order);
        Order late =
            launchGathersLate(problem_, best_.order, *timeline, input_.settings.integer(Setting::SlackNs));
        const StepCost cost = problem_.evaluator.run(late);
        if (cost.step_ns <= best_.cost.step_ns && cost.peak_bytes <= best_.cost.peak_bytes &&
            !findBrokenEdge(input_.graph, late)) {
            best_.order = std::move(late);
            best_.cost = cost;
        }
    }

    /// Only to tell whether the budget is what keeps the step from its bound.
    void tryWithoutBudget() {
        if (best_.budget_bytes < 0 || best_.cost.step_ns <= problem_.bounds.bound_ns)
            return;
        for (const bool feed_first : {false, true}) {
            ListPolicy policy;
            policy.feed_first = feed_first;
            const Order order = scheduleList(problem_, policy, input_.job);
            if (order.empty())
                return;
            const StepCost cost = problem_.evaluator.run(order);
            if (best_.unlimited.step_ns == 0 || cost.step_ns < best_.unlimited.step_ns)
                best_.unlimited = cost;
        }
    }

    const ScheduleInput& input_;
    const StepProblem& problem_;
    TwoSidedOutcome best_;
};

} // namespace

Schedule runTwoSided(const ScheduleInput& input) {
    const StepProblem problem(input);
    return reportTwoSided(input, problem, TwoSided(input, problem, gatherBudgetBytes(input.settings)).run());
}

} // namespace gs
