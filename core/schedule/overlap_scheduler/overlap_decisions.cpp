// The scheduler "overlap-scheduler": settings in, decisions, log lines and diagnostics out.
#include "schedule/overlap_scheduler/overlap_report.h"
#include "schedule/overlap_scheduler/overlap_scheduler.h"

#include <fmt/format.h>

namespace gs {

Schedule runOverlapScheduler(const ScheduleInput& input) {
    OverlapParameters parameters;
    parameters.max_in_flight_gb = input.settings.number(Setting::MaxInFlightGb);
    parameters.compute_overlap_multipler = input.settings.number(Setting::ComputeOverlapMultipler);
    parameters.max_coll_distance = input.settings.integer(Setting::MaxCollDistance);
    parameters.collective_bucketing = input.settings.flag(Setting::CollectiveBucketing);
    const std::vector<double> cost_ms = costsInMs(input.costs);

    Schedule schedule;
    schedule.scheduler = "overlap-scheduler";
    OverlapResult result = scheduleValid(input.graph, schedule.diagnostics, [&](bool keep_order_edges) {
        parameters.keep_order_edges = keep_order_edges;
        return scheduleOverlap(input.graph, cost_ms, parameters);
    });
    reportFailures(input.graph, result.failures, schedule.diagnostics);
    const std::vector<HiddenCollective> collectives(result.collectives.begin(), result.collectives.end());
    schedule.decisions = decideFromOverlap(input, result.order, collectives);
    countDecisions(schedule);
    schedule.log_info.push_back(
        fmt::format("Overlap scheduling: total exposed {}, total bad exposed {}, total potentially hidden {}",
                    result.exposed, result.bad_exposed, result.potentially_hidden));
    schedule.order = std::move(result.order);
    schedule.buckets = std::move(result.buckets);
    return schedule;
}

} // namespace gs
