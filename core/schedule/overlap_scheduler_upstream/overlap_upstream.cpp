#include "schedule/overlap_scheduler_upstream/overlap_upstream.h"

#include "cost/analytical_model.h"
#include "schedule/overlap_bucketing/overlap_bucketing.h"
#include "schedule/overlap_scheduler/overlap_report.h"
#include "schedule/overlap_scheduler/overlap_scheduler.h"
#include "schedule/overlap_scheduler_upstream/upstream_run.h"

#include <fmt/format.h>

namespace gs {

namespace {

/// Something that hides a collective altogether does not run between its launch and its wait. The reference
/// wants it kept there, which closes a cycle with the order of the group's events.
void findLostHiding(UpstreamResult& result) {
    const std::vector<uint32_t> position = positionsOf(result.scheduled);
    for (const UpstreamCollective& item : result.collectives) {
        for (const NodeId node : item.hiding_nodes) {
            if (!item.exposed() &&
                (position[item.start] >= position[node] || position[node] >= position[item.wait]))
                noteFailure(result.failures, item.wait, "a wait comes before what hides its collective");
        }
    }
}

} // namespace

UpstreamResult scheduleOverlapUpstream(const Graph& graph, std::span<const double> cost_ms,
                                       std::span<const double> latency_ms,
                                       const UpstreamParameters& parameters) {
    UpstreamResult result = UpstreamRun(graph, cost_ms, latency_ms, parameters).run();
    if (!parameters.collective_bucketing) {
        findLostHiding(result);
        return result;
    }
    const std::vector<HiddenCollective> collectives(result.collectives.begin(), result.collectives.end());
    OverlapBucketingOptions options;
    options.max_bucket_memory_gb = parameters.max_bucket_memory_gb;
    options.max_coll_distance = parameters.max_coll_distance;
    options.keep_order_edges = parameters.keep_order_edges;
    result.buckets =
        findOverlapBuckets(graph, result.scheduled, collectives, overlapComputeNodes(graph, true), options);
    if (result.buckets.empty()) // else the merge finds it
        findLostHiding(result);
    return result;
}

namespace {

UpstreamParameters parametersOf(const Settings& settings) {
    UpstreamParameters parameters;
    parameters.max_in_flight_gb = settings.number(Setting::MaxInFlightGb);
    parameters.max_compute_pre_fetch = settings.integer(Setting::MaxComputePreFetch);
    parameters.collective_bucketing = settings.flag(Setting::CollectiveBucketing);
    parameters.compute_overlap_multipler = settings.number(Setting::ComputeOverlapMultipler);
    parameters.max_coll_distance = settings.integer(Setting::MaxCollDistance);
    parameters.max_memory_increase_gb = settings.limit(Setting::MaxMemoryIncreaseGb);
    parameters.max_memory_increase_ratio = settings.limit(Setting::MaxMemoryIncreaseRatio);
    return parameters;
}

std::vector<double> latenciesInMs(const ScheduleInput& input) {
    std::vector<double> latency_ms(input.graph.size(), 0);
    const DevicePreset* device = findDevicePreset(input.settings.text(Setting::Device));
    if (!device)
        return latency_ms;
    const std::vector<int64_t> ns = launchLatencies(*device, input.graph, input.collectives, input.costs);
    for (size_t i = 0; i < ns.size(); ++i)
        latency_ms[i] = static_cast<double>(ns[i]) / 1e6;
    return latency_ms;
}

} // namespace

Schedule runOverlapUpstream(const ScheduleInput& input) {
    Schedule schedule;
    schedule.scheduler = "overlap-scheduler-upstream";
    UpstreamParameters parameters = parametersOf(input.settings);
    const std::vector<double> cost_ms = costsInMs(input.costs), latency_ms = latenciesInMs(input);
    UpstreamResult result = scheduleValid(input.graph, schedule.diagnostics, [&](bool keep_order_edges) {
        parameters.keep_order_edges = keep_order_edges;
        return scheduleOverlapUpstream(input.graph, cost_ms, latency_ms, parameters);
    });
    reportFailures(input.graph, result.failures, schedule.diagnostics);
    const std::vector<HiddenCollective> collectives(result.collectives.begin(), result.collectives.end());
    schedule.decisions = decideFromOverlap(input, result.order, collectives);
    countDecisions(schedule);
    double exposed_ms = 0, hideable_ms = 0, all_ms = 0;
    for (const UpstreamCollective& item : result.collectives) {
        exposed_ms += item.exposed_ms;
        hideable_ms += item.potentially_hidden ? item.exposed_ms : 0;
        all_ms += item.estimated_ms;
    }
    schedule.log_info.push_back(
        fmt::format("Overlap scheduling results: exposed={}, bad_exposed={}, potentially_hidden={}, "
                    "total_exposed_ms={:.2f}, hideable_exposed_ms={:.2f}, total_potential_exposed_ms={:.2f}, "
                    "wasted_compute_ms={:.2f}",
                    result.exposed, result.bad_exposed, result.potentially_hidden, exposed_ms, hideable_ms,
                    all_ms, result.wasted_ms));
    if (result.rescheduled_peak_bytes >= 0)
        schedule.log_info.push_back(fmt::format("Overlap scheduling memory: original_peak_memory={} bytes, "
                                                "rescheduled_peak_memory={} bytes",
                                                result.original_peak_bytes, result.rescheduled_peak_bytes));
    schedule.order = std::move(result.order);
    schedule.buckets = std::move(result.buckets);
    return schedule;
}

} // namespace gs
