#include "schedule/overlap_scheduler/overlap_report.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr double kNsPerMs = 1e6;

/// Why some of a collective stays exposed. In this order: no compute is independent of it, the budget refused
/// it, something it needs could not be pulled forward, other collectives took the compute beside it.
BindingReason reasonOf(const Graph& graph, const HiddenCollective& item) {
    if (item.exposed_ms == 0)
        return BindingReason::None;
    if (!item.potentially_hidden)
        return BindingReason::DataDependency;
    if (item.refused_by_budget)
        return BindingReason::Budget;
    if (item.blocked_by == kNoNode)
        return BindingReason::Claimed;
    const NodeKind kind = graph.node(item.blocked_by).kind;
    return kind == NodeKind::Wait || kind == NodeKind::Launch ? BindingReason::Order
                                                              : BindingReason::DataDependency;
}

} // namespace

Decision GatherPlacer::place(size_t collective) const {
    const Collective& gather = collectives_[collective];
    Decision decision;
    decision.collective = static_cast<int32_t>(collective);
    decision.launch = decision.cur = gather.launch;
    decision.moved_group = {gather.launch};
    decision.target = position_[gather.launch];
    decision.floor = graph_.placeholdersEnd();
    const auto depend = [&](NodeId before) {
        if (position_[before] + 1 <= decision.floor)
            return;
        decision.floor = position_[before] + 1;
        decision.floor_node = before;
    };
    for (const NodeId before : graph_.inputs(gather.launch))
        depend(before);
    for (const OrderEdge& edge : graph_.orderEdges(gather.launch))
        depend(edge.node);
    if (!gather.consumers.empty())
        decision.first_consumer = gather.consumers.front();
    decision.comm_ns = decision.need_ns = static_cast<double>(costs_.ns(gather.launch));
    return decision;
}

std::vector<Decision> decideFromOverlap(const ScheduleInput& input, const Order& order,
                                        std::span<const HiddenCollective> collectives) {
    std::vector<int32_t> found(input.graph.size(), -1);
    for (size_t i = 0; i < collectives.size(); ++i)
        found[collectives[i].start] = static_cast<int32_t>(i);
    const GatherPlacer placer(input.graph, input.collectives, input.costs, order);
    std::vector<Decision> decisions;
    for (size_t i = 0; i < input.collectives.size(); ++i) {
        const Collective& gather = input.collectives[i];
        if (!gather.isGather() || gather.launch == kNoNode)
            continue;
        Decision decision = placer.place(i);
        if (found[gather.launch] < 0) {
            decision.reason = BindingReason::NoWait;
        } else {
            const HiddenCollective& item = collectives[static_cast<size_t>(found[gather.launch])];
            decision.window_ns = (item.estimated_ms - item.exposed_ms) * kNsPerMs;
            decision.verdict = item.exposed_ms == 0 ? Verdict::Hidden : Verdict::ComputeLimited;
            decision.reason = reasonOf(input.graph, item);
        }
        decisions.push_back(std::move(decision));
    }
    return decisions;
}

std::vector<double> costsInMs(const CostTable& costs) {
    std::vector<double> cost_ms;
    cost_ms.reserve(costs.all().size());
    for (const int64_t ns : costs.all())
        cost_ms.push_back(static_cast<double>(ns) / kNsPerMs);
    return cost_ms;
}

void countDecisions(Schedule& schedule) {
    schedule.candidates = schedule.moved = 0;
    for (const Decision& decision : schedule.decisions) {
        schedule.candidates += decision.verdict == Verdict::NotCandidate ? 0 : 1;
        schedule.moved += decision.moved() ? 1 : 0;
    }
}

void reportFailures(const Graph& graph, const std::vector<ReferenceFailure>& failures,
                    Diagnostics& diagnostics) {
    if (graph.info().level == GraphLevel::Scheduler) {
        diagnostics.add({Severity::Info,
                         "level-generalised",
                         {},
                         {},
                         "PyTorch's overlap scheduler works on ATen graphs, this is one of fused kernels",
                         "every kernel counts as compute that can hide collectives; nothing is bucketed"});
        return;
    }
    for (const ReferenceFailure& failure : failures)
        diagnostics.add(
            {Severity::Warning,
             "reference-fails",
             {},
             failure.node == kNoNode ? std::string() : std::string(graph.name(failure.node)),
             fmt::format("PyTorch's overlap scheduler raises an exception on this graph: {}", failure.what),
             "this order is what the algorithm gives where it goes on"});
}

void reportKeptEdges(const Graph& graph, const BrokenEdge& broken, bool kept, Diagnostics& diagnostics) {
    if (!kept)
        return diagnostics.add({Severity::Error,
                                "order-dropped",
                                {},
                                {},
                                "the new order breaks an edge of the graph",
                                "the input order is kept"});
    diagnostics.add({Severity::Info,
                     "order-edges-kept",
                     {},
                     std::string(graph.name(broken.after)),
                     fmt::format("PyTorch's order would put \"{}\" in front of \"{}\", though one of them "
                                 "writes what the other one uses",
                                 graph.name(broken.after), graph.name(broken.before)),
                     "scheduled again with such edges kept"});
}

} // namespace gs
