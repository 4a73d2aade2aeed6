// The scheduler "overlap-scheduler": settings in, decisions, log lines and diagnostics out.
#include "schedule/overlap_scheduler/overlap_report.h"
#include "schedule/overlap_scheduler/overlap_scheduler.h"

#include <fmt/format.h>

namespace gs {

namespace {

/// The document takes a waited graph input for the collective itself, so what remains of it is the cost of
/// whatever the wait names.
void addInFlightCosts(const ScheduleInput& input, std::vector<double>& cost_ms) {
    for (size_t i = 0; i < input.collectives.size() && input.collectives.inFlightCount() > 0; ++i) {
        if (!input.collectives[i].inFlightAtEntry())
            continue;
        for (const NodeId wait : input.collectives[i].waits) {
            const NodeId waited = input.graph.inputs(wait).front();
            if (input.graph.node(waited).kind != NodeKind::Wait)
                cost_ms[waited] = static_cast<double>(input.costs.inFlight(i).remaining()) / 1e6;
        }
    }
}

} // namespace

Schedule runOverlapScheduler(const ScheduleInput& input) {
    OverlapParameters parameters;
    parameters.max_in_flight_gb = input.settings.number(Setting::MaxInFlightGb);
    parameters.compute_overlap_multipler = input.settings.number(Setting::ComputeOverlapMultipler);
    parameters.max_coll_distance = input.settings.integer(Setting::MaxCollDistance);
    parameters.collective_bucketing = input.settings.flag(Setting::CollectiveBucketing);
    std::vector<double> cost_ms = costsInMs(input.costs);
    addInFlightCosts(input, cost_ms);

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
