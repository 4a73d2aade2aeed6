// Bounds on the step time that hold for every order, and the heads and tails of the nodes behind them.
#pragma once

#include "simulate/timeline.h"

namespace gs {

struct StepBounds {
    int64_t bound_ns = 0;
    /// What made the bound: all compute, a stream's transfers, or a path of both.
    enum class Kind : uint8_t { Compute, Stream, Path };
    Kind kind = Kind::Path;
    GroupId group = kNoGroup;     ///< Stream: whose
    std::vector<int64_t> head_ns; ///< per node: no order starts it earlier
    std::vector<int64_t> tail_ns; ///< per node: least time from its end to the end of the step
};

/// Heads are longest paths through data and order edges; for all nodes of small graphs, and a sample of at
/// most 160 of larger ones, also what the streams need for all ancestors: the preemptive one-machine bound of
/// compute and of each link with heads and tails (J. Carlier, "The one-machine sequencing problem", 1982),
/// and, with contention, that neither compute nor a transfer runs at full speed beside the other. Tails are
/// the same on the reversed graph. The bound is the greatest of head + duration + tail and of the one-machine
/// bounds of the whole step. Sound for every setting of contention, slow-down and shared links. O(targets ×
/// (nodes + edges)), targets × nodes ≤ 4 million.
StepBounds findStepBounds(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                          const SimulationSettings& settings);

} // namespace gs
