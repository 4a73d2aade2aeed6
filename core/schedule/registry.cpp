#include "schedule/just_in_time.h"
#include "schedule/latest_safe_launch.h"
#include "schedule/optimum/optimum.h"
#include "schedule/overlap_scheduler/overlap_scheduler.h"
#include "schedule/overlap_scheduler_upstream/overlap_upstream.h"
#include "schedule/parameter_prefetch/parameter_prefetch.h"
#include "schedule/scheduler.h"
#include "schedule/two_sided/two_sided.h"

namespace gs {

const std::vector<SchedulerInfo>& schedulers() {
    using enum Setting;
    static const std::vector<SchedulerInfo> kSchedulers = {
        {"program-order",
         "Program order",
         "moves nothing: the baseline",
         {Gathers, Contention, SlackNs},
         runProgramOrder},
        {"latest-safe-launch",
         "Latest safe launch",
         "one back-to-front sweep puts each launch where the compute behind it just hides it (document 000)",
         {Gathers, Contention, SlackNs, Carry, MovePrepChain},
         runLatestSafeLaunch},
        {"just-in-time",
         "Just in time",
         "places launches on the time axis by deadline, counts compute that already lies between launch and "
         "wait",
         {Gathers, Contention, SlackNs, MovePrepChain, GatherBudgetMib},
         runJustInTime},
        {"overlap-scheduler",
         "Overlap scheduler",
         "rebuilds the order from a heap: collectives launch beside independent compute, waits are deferred "
         "(document 003)",
         {MaxInFlightGb, ComputeOverlapMultipler, MaxCollDistance, CollectiveBucketing},
         runOverlapScheduler},
        {"overlap-scheduler-upstream",
         "Overlap scheduler (PyTorch 2.15)",
         "launches collectives of one kind together beside compute and exposed waits, within a memory "
         "budget; "
         "buckets them (PyTorch 2.15)",
         {MaxInFlightGb, ComputeOverlapMultipler, MaxCollDistance, MaxComputePreFetch, MaxMemoryIncreaseGb,
          MaxMemoryIncreaseRatio, CollectiveBucketing},
         runOverlapUpstream},
        {"parameter-prefetch",
         "Parameter prefetch",
         "launches gathers a few consumers ahead inside a budget of live bytes, sinks waits (document 002)",
         {Gathers, Contention, SlackNs, ForwardDepth, BackwardDepth, MaxInFlightGb},
         runParameterPrefetch},
        {"two-sided",
         "Two-sided",
         "moves launches and waits of all collectives on the simulated time axis, inside a budget of live "
         "bytes",
         {Contention, SimulatedContention, SlackNs, ComputeSlowdown, SharedLinks, GatherBudgetMib,
          SearchSteps},
         runTwoSided},
        {"optimum",
         "Optimum",
         "exact search over the places of the gathers, for graphs of up to 12 of them; larger ones keep "
         "program order",
         {Contention, SimulatedContention, SlackNs, ComputeSlowdown, SharedLinks},
         runOptimum},
    };
    return kSchedulers;
}

const SchedulerInfo* findScheduler(std::string_view name) {
    for (const SchedulerInfo& info : schedulers()) {
        if (info.name == name)
            return &info;
    }
    return nullptr;
}

} // namespace gs
