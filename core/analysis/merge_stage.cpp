#include "analysis/merge_stage.h"

#include "cost/analytical_model.h"
#include "cost/members_model.h"
#include "passes/merge_buckets.h"
#include "schedule/manual_moves.h"
#include "schedule/merged_schedule.h"

namespace gs {

namespace {

CostTablePtr priceMerged(const Program& before, const Program& merged, const Settings& settings,
                         CostChain chain) {
    std::vector<int64_t> latency_ns(before.graph->size(), 0);
    if (const DevicePreset* device = findDevicePreset(settings.text(Setting::Device)))
        latency_ns = launchLatencies(*device, *before.graph, *before.collectives, *before.costs);
    chain.models.insert(chain.models.begin(),
                        makeMembersModel(*before.graph, *before.costs, latency_ns, chain.comm_scale));
    return priceGraph(*merged.graph, *merged.collectives, chain);
}

} // namespace

Program mergeBuckets(const Program& program, const AnalysisRequest& request, const CostChain& chain,
                     const JobContext& job, PassReport& report) {
    MergedBuckets merged =
        mergeScheduledBuckets(*program.graph, program.schedule->order, program.schedule->buckets);
    Program out = program;
    if (merged.graph) {
        out.graph = merged.graph;
        out.collectives = std::make_shared<CollectiveTable>(*out.graph);
        out.costs = priceMerged(program, out, request.settings, chain);
    }
    const ScheduleInput input{*out.graph, *out.collectives, *out.costs, request.settings, job, request.edits};
    auto schedule =
        std::make_shared<Schedule>(mergedSchedule(*program.graph, *program.schedule, merged, input));
    applyEdits(input, request.edits, *schedule);
    out.schedule = std::move(schedule);
    report = std::move(merged.report);
    return out;
}

} // namespace gs
