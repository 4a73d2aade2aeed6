// The simulated step (passes.md §8).
#pragma once

#include "cost/cost_table.h"

#include <memory>
#include <vector>

namespace gs {

/// What happened to one collective.
struct Transfer {
    int32_t collective = -1;
    uint32_t stream = 0;     ///< index into Timeline::streams
    int64_t launched_ns = 0; ///< when the compute stream reached the launch
    int64_t start_ns = 0;    ///< when its stream took it up
    int64_t end_ns = 0;
    int64_t exposed_ns = 0; ///< stall of the compute stream at its waits
    int64_t alone_ns = 0;   ///< duration without contention
};

/// A stall of the compute stream at a wait.
struct Stall {
    NodeId wait = kNoNode;
    int32_t collective = -1;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
};

struct CommStream {
    GroupId group = kNoGroup; ///< kNoGroup: collectives of an unknown group, or in flight at entry
    bool in_flight = false;   ///< of a collective in flight at entry, which has it for itself
    int64_t busy_ns = 0;      ///< sum of durations as simulated
    int64_t alone_ns = 0;     ///< sum of durations without contention
};

struct BytesPoint {
    int64_t time_ns = 0;
    int64_t bytes = 0; ///< from this time on
};

struct Timeline {
    /// Per node: span on the compute stream (zero-length for views, launches, …; a wait spans its stall).
    std::vector<int64_t> start_ns, end_ns;
    std::vector<Transfer> transfers; ///< one per collective of the table, same index
    std::vector<Stall> stalls;       ///< in time order, only those longer than 0
    std::vector<CommStream> streams;
    std::vector<BytesPoint> live_bytes; ///< gathered bytes alive, in time order
    int64_t step_ns = 0;
    int64_t compute_ns = 0; ///< busy time of the compute stream
    int64_t comm_ns = 0;    ///< sum of the transfers' durations without contention
    int64_t exposed_ns = 0; ///< stalls of the compute stream (it is serial: sum = union)
    int64_t idle_ns = 0;    ///< step − compute
    int64_t peak_gathered_bytes = 0;
    /// Highest sum of gathered bytes (launch to last use) and gradients that wait for their reduce-scatter
    /// (made until transferred): what gather_budget_mib limits for `two-sided`. See held_bytes.h.
    int64_t peak_held_bytes = 0;
    std::vector<NodeId> critical_path; ///< from the step's start to its end
};

using TimelinePtr = std::shared_ptr<const Timeline>;

struct SimulationSettings {
    double contention = 1.0;                        ///< slow-down of a transfer while compute runs; ≥ 1
    double compute_slowdown = 1.0;                  ///< slow-down of compute while a transfer runs; ≥ 1
    std::vector<std::vector<GroupId>> shared_links; ///< groups whose transfers share one link's bandwidth
};

/// Exact event-driven simulation of `order`. Collectives in flight at entry run from time zero for what
/// remains of them. Nothing says which group they belong to, so each has a stream for itself (those with
/// nothing left share one): they delay neither each other nor what the graph launches. O(nodes + collectives
/// × streams).
TimelinePtr simulate(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                     const Order& order, const SimulationSettings& settings);

/// No order can be faster. See lower_bound.h.
int64_t stepLowerBound(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                       const SimulationSettings& settings);

} // namespace gs
