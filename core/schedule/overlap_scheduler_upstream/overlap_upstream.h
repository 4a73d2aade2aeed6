// The overlap scheduler of PyTorch 2.15: two queues of ready nodes, collectives of one bucket kind launched
// together beside independent compute and exposed waits, inside limits of bytes in flight and of peak memory.
// Source: torch/_inductor/fx_passes/overlap_scheduling.py, PyTorch 2.15; equal to golden/overlap215.
#pragma once

#include "schedule/overlap_scheduler/hidden_collective.h"
#include "schedule/scheduler.h"

#include <optional>

namespace gs {

/// Names, spelling included, and defaults are those of the reference's entry function.
struct UpstreamParameters {
    double max_in_flight_gb = 5.0;       ///< input and output bytes of collectives in flight, in GiB
    int64_t max_compute_pre_fetch = 200; ///< compute nodes to look ahead
    bool collective_bucketing = false;
    double compute_overlap_multipler = 1.0;
    int64_t max_coll_distance = 200; ///< candidates per compute node and per bucket
    std::optional<double> max_memory_increase_gb = 1.0;
    std::optional<double> max_memory_increase_ratio = 0.05; ///< of the input order's peak; the larger counts
    std::optional<double> max_off_bucket_gb = 0.5;
    bool prioritize_bucketing_during_scheduling = true;
    bool assume_bucketing_reduces_latency = true;
    double max_bucket_memory_gb = 2.0;
    /// Treats mutation and effect edges as inputs. The reference knows arguments only.
    bool keep_order_edges = false;
};

struct UpstreamCollective : HiddenCollective {
    double latency_ms = 0; ///< what one of several in a bucket would not pay
};

struct UpstreamResult {
    Order scheduled; ///< as the scheduler chose them; placeholders and output among the others
    Order order;     ///< program order: placeholders first, output last
    std::vector<UpstreamCollective> collectives; ///< in program order of their first waits
    ScheduledBuckets buckets;
    size_t exposed = 0; ///< collectives of which nothing is hidden
    size_t bad_exposed = 0;
    size_t potentially_hidden = 0;
    double wasted_ms = 0; ///< compute beside which nothing more could be launched
    /// By the reference's count: every node's value is a storage of its own.
    int64_t original_peak_bytes = 0;
    int64_t rescheduled_peak_bytes = -1; ///< -1: memory was not tracked
    std::vector<ReferenceFailure> failures;
};

/// Runs the reference's algorithm. `cost_ms`: per node, compute or transfer; a node that costs 0 and is no
/// compute hides nothing. `latency_ms`: per node, what a launch takes however little it moves.
UpstreamResult scheduleOverlapUpstream(const Graph& graph, std::span<const double> cost_ms,
                                       std::span<const double> latency_ms,
                                       const UpstreamParameters& parameters);

/// Scheduler "overlap-scheduler-upstream". Diagnostics as those of runOverlapScheduler().
Schedule runOverlapUpstream(const ScheduleInput& input);

} // namespace gs
