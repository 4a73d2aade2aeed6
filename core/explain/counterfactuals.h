// What would hide an exposed gather: single changes, each tried with the passes, the scheduler and the
// simulator (passes.md §9). Nothing is listed that was not seen to work.
#pragma once

#include "analysis/analysis.h"

#include <string>
#include <vector>

namespace gs {

struct Counterfactual {
    enum class Kind : uint8_t {
        Slack,
        Contention,
        CommSpeed,  ///< every transfer so much faster
        Launch,     ///< this launch moved by hand
        Dependency, ///< what it waits for moved by hand, and the launch right behind it
        Split,      ///< its bucket in two
        Merge,      ///< one bucket with a neighbour
        BucketCap,
        Budget,
        Depth,
        Scheduler
    };
    Kind kind = Kind::Slack;
    std::string text; ///< "contention 1.5 → 1.22"
    /// How much changes, for sorting. Numbers: |new − old| / greater of both; slack: of the gather's need;
    /// moves: share of the step's compute that is crossed; buckets: share of the bytes that change launch;
    /// another scheduler: 2, after all others.
    double smallness = 0;
    AnalysisRequest request;     ///< the whole request with the change in it
    int64_t step_ns = 0;         ///< simulated step with the change
    bool lengthens_step = false; ///< it hides this gather at the others' expense
};

/// Simulated stall of what `launch` (a node of `analysis`.after.graph) gathers, in another analysis of the
/// same graph: of the launch of that name, or of the buckets that took its members in. -1 if there is none.
int64_t exposedIn(const Analysis& other, const Analysis& analysis, NodeId launch);

/// Sorted by smallness, changes that make the step longer after all others; empty if the gather is not
/// exposed in simulation, or nothing that was tried hides it. Numbers are the nearest found to the present
/// ones on a coarse grid, then bisected. Some 20 to 100 runs of the stages behind the change; error
/// "cancelled" when the job is stopped.
Result<std::vector<Counterfactual>> findCounterfactuals(const Analysis& analysis, NodeId launch,
                                                        const JobContext& job);

} // namespace gs
