// What the overlap schedulers tell of their work: decisions and diagnostics.
#pragma once

#include "schedule/overlap_scheduler/hidden_collective.h"
#include "schedule/scheduler.h"

namespace gs {

/// Places of a gather in a new order: `cur` is its place in the program, `target` and `floor` are positions
/// of `order`. Says nothing of verdict and reason.
class GatherPlacer {
public:
    GatherPlacer(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                 const Order& order)
        : graph_(graph), collectives_(collectives), costs_(costs), position_(positionsOf(order)) {}
    Decision place(size_t collective) const;

private:
    const Graph& graph_;
    const CollectiveTable& collectives_;
    const CostTable& costs_;
    std::vector<uint32_t> position_;
};

/// One decision per gather: hidden if nothing of it is exposed; the window is what hides it.
std::vector<Decision> decideFromOverlap(const ScheduleInput& input, const Order& order,
                                        std::span<const HiddenCollective> collectives);

/// Costs in the unit of the references.
std::vector<double> costsInMs(const CostTable& costs);

/// Counts of candidates and moved gathers.
void countDecisions(Schedule& schedule);

/// "level-generalised" on graphs of fused kernels, else "reference-fails" for each failure.
void reportFailures(const Graph& graph, const std::vector<ReferenceFailure>& failures,
                    Diagnostics& diagnostics);

void reportKeptEdges(const Graph& graph, const BrokenEdge& broken, bool kept, Diagnostics& diagnostics);

/// The reference knows arguments only. Where its order breaks a mutation or an effect, `run(true)` makes it
/// again with those edges as arguments ("order-edges-kept"; "order-dropped" if that fails too). `run` returns
/// a result with a member `order`.
template <typename Run>
auto scheduleValid(const Graph& graph, Diagnostics& diagnostics, Run run) {
    auto result = run(false);
    const auto broken = findBrokenEdge(graph, result.order);
    if (!broken)
        return result;
    result = run(true);
    const bool kept = !findBrokenEdge(graph, result.order);
    reportKeptEdges(graph, *broken, kept, diagnostics);
    if (!kept) {
        result.order = identityOrder(graph);
        result.buckets = {};
    }
    return result;
}

} // namespace gs
