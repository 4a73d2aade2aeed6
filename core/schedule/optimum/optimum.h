// The exact optimum of small graphs, to check schedulers and the lower bound (passes.md §8).
#pragma once

#include "schedule/two_sided/step_problem.h"

namespace gs {

/// Graphs with more gathers are not searched.
inline constexpr size_t kMostOptimumGathers = 12;

struct OptimumResult {
    Order order;
    int64_t step_ns = 0;
    size_t nodes = 0;     ///< of the search tree
    bool proven = false;  ///< no order of the space is shorter
    bool stopped = false; ///< by the job
};

/// Neither are graphs of more nodes: the search goes one call deeper per node and keeps the state of every
/// stream at each.
inline constexpr size_t kMostOptimumNodes = 4'000;
inline constexpr size_t kMostOptimumStates = 1'000'000; ///< nodes × collectives

/// Why a graph is not searched; empty if it is.
std::string tooLargeForOptimum(const Graph& graph, const CollectiveTable& collectives);

/// Branch and bound. The space: all computation and all launches other than gathers keep program order, each
/// launch that is no gather stands where the last thing it needs is done; computation that only reductions
/// lead to runs after all other; waits and views stand right in front of their first user; every gather, with
/// its private preparation, may be launched at any boundary between what it depends on and its first user, in
/// any order. Memory is not limited. Without compute_slowdown, shared links and preparation that takes time,
/// orders are left out that cannot be better than one that is kept: a launch never waits where its stream
/// would run dry and its transfer is done before the next fixed launch of the stream, and never comes before
/// its stream runs dry. `node_limit` nodes at most; then the best found, not proven. Deterministic.
OptimumResult findOptimum(const StepProblem& problem, size_t node_limit, const JobContext& job);

/// Scheduler "optimum". Diagnostics: "optimum-proven" or "optimum-not-proven" (Info); "optimum-too-large"
/// (Warning) on graphs that are not searched, which keep program order.
Schedule runOptimum(const ScheduleInput& input);

} // namespace gs
