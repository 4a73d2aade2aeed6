// The scheduler "overlap-scheduler": settings in, decisions, log lines and diagnostics out.
#include "schedule/overlap_scheduler/overlap_scheduler.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr double kNsPerMs = 1e6;

/// Costs in ms. The document takes a waited graph input for the collective itself, so what remains of it is
/// the cost of whatever the wait names.
std::vector<double> costsInMs(const ScheduleInput& input) {
    std::vector<double> cost_ms;
    cost_ms.reserve(input.graph.size());
    for (const int64_t ns : input.costs.all())
        cost_ms.push_back(static_cast<double>(ns) / kNsPerMs);
    for (size_t i = 0; i < input.collectives.size() && input.collectives.inFlightCount() > 0; ++i) {
        if (!input.collectives[i].inFlightAtEntry())
            continue;
        for (const NodeId wait : input.collectives[i].waits) {
            const NodeId waited = input.graph.inputs(wait).front();
            if (input.graph.node(waited).kind != NodeKind::Wait)
                cost_ms[waited] = static_cast<double>(input.costs.inFlight(i).remaining()) / kNsPerMs;
        }
    }
    return cost_ms;
}

/// Why some of a collective stays exposed. In this order: no compute is independent of it, the budget refused
/// it, something it needs could not be pulled forward, other collectives took the compute beside it.
BindingReason reasonOf(const Graph& graph, const OverlapCollective& item) {
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

class Decider {
public:
    Decider(const ScheduleInput& input, const OverlapResult& result)
        : input_(input), result_(result), position_(positionsOf(result.order)) {}

    std::vector<Decision> run() const {
        std::vector<int32_t> found(input_.graph.size(), -1);
        for (size_t i = 0; i < result_.collectives.size(); ++i)
            found[result_.collectives[i].start] = static_cast<int32_t>(i);
        std::vector<Decision> decisions;
        for (size_t i = 0; i < input_.collectives.size(); ++i) {
            const Collective& gather = input_.collectives[i];
            if (!gather.isGather() || gather.launch == kNoNode)
                continue;
            Decision decision = place(gather);
            decision.collective = static_cast<int32_t>(i);
            if (found[gather.launch] < 0)
                decision.reason = BindingReason::NoWait;
            else
                judge(decision, result_.collectives[static_cast<size_t>(found[gather.launch])]);
            decisions.push_back(std::move(decision));
        }
        return decisions;
    }

private:
    Decision place(const Collective& gather) const {
        const Graph& graph = input_.graph;
        Decision decision;
        decision.launch = decision.cur = gather.launch;
        decision.moved_group = {gather.launch};
        decision.target = position_[gather.launch];
        decision.floor = graph.placeholdersEnd();
        const auto depend = [&](NodeId before) {
            if (position_[before] + 1 <= decision.floor)
                return;
            decision.floor = position_[before] + 1;
            decision.floor_node = before;
        };
        for (const NodeId before : graph.inputs(gather.launch))
            depend(before);
        for (const OrderEdge& edge : graph.orderEdges(gather.launch))
            depend(edge.node);
        if (!gather.consumers.empty())
            decision.first_consumer = gather.consumers.front();
        decision.comm_ns = decision.need_ns = static_cast<double>(input_.costs.ns(gather.launch));
        return decision;
    }

    void judge(Decision& decision, const OverlapCollective& item) const {
        decision.window_ns = (item.estimated_ms - item.exposed_ms) * kNsPerMs;
        decision.verdict = item.exposed_ms == 0 ? Verdict::Hidden : Verdict::ComputeLimited;
        decision.reason = reasonOf(input_.graph, item);
    }

    const ScheduleInput& input_;
    const OverlapResult& result_;
    std::vector<uint32_t> position_;
};

void reportFailures(const Graph& graph, const OverlapResult& result, Diagnostics& diagnostics) {
    if (graph.info().level == GraphLevel::Scheduler) {
        diagnostics.add({Severity::Info,
                         "level-generalised",
                         {},
                         {},
                         "PyTorch's overlap scheduler works on ATen graphs, this is one of fused kernels",
                         "every kernel counts as compute that can hide collectives"});
        return;
    }
    for (const ReferenceFailure& failure : result.failures)
        diagnostics.add(
            {Severity::Warning,
             "reference-fails",
             {},
             failure.node == kNoNode ? std::string() : std::string(graph.name(failure.node)),
             fmt::format("PyTorch's overlap scheduler raises an exception on this graph: {}", failure.what),
             "this order is what the algorithm gives where it goes on"});
}

/// The document knows arguments only. Where its order breaks a mutation or an effect, it runs again with
/// those edges as arguments.
OverlapResult scheduleValid(const Graph& graph, std::span<const double> cost_ms, OverlapParameters parameters,
                            Diagnostics& diagnostics) {
    OverlapResult result = scheduleOverlap(graph, cost_ms, parameters);
    const auto broken = findBrokenEdge(graph, result.order);
    if (!broken)
        return result;
    parameters.keep_order_edges = true;
    result = scheduleOverlap(graph, cost_ms, parameters);
    if (findBrokenEdge(graph, result.order)) {
        diagnostics.add({Severity::Error,
                         "order-dropped",
                         {},
                         {},
                         "the new order breaks an edge of the graph",
                         "the input order is kept"});
        result.order = identityOrder(graph);
    } else {
        diagnostics.add(
            {Severity::Info,
             "order-edges-kept",
             {},
             std::string(graph.name(broken->after)),
             fmt::format("PyTorch's order would put \"{}\" in front of \"{}\", though one of them "
                         "writes what the other one uses",
                         graph.name(broken->after), graph.name(broken->before)),
             "scheduled again with such edges kept"});
    }
    return result;
}

} // namespace

Schedule runOverlapScheduler(const ScheduleInput& input) {
    OverlapParameters parameters;
    parameters.max_in_flight_gb = input.settings.number(Setting::MaxInFlightGb);
    parameters.compute_overlap_multipler = input.settings.number(Setting::ComputeOverlapMultipler);
    parameters.max_coll_distance = input.settings.integer(Setting::MaxCollDistance);
    const std::vector<double> cost_ms = costsInMs(input);

    Schedule schedule;
    schedule.scheduler = "overlap-scheduler";
    OverlapResult result = scheduleValid(input.graph, cost_ms, parameters, schedule.diagnostics);
    reportFailures(input.graph, result, schedule.diagnostics);
    schedule.decisions = Decider(input, result).run();
    for (const Decision& decision : schedule.decisions) {
        schedule.candidates += decision.verdict == Verdict::NotCandidate ? 0 : 1;
        schedule.moved += decision.moved() ? 1 : 0;
    }
    schedule.log_info.push_back(
        fmt::format("Overlap scheduling: total exposed {}, total bad exposed {}, total potentially hidden {}",
                    result.exposed, result.bad_exposed, result.potentially_hidden));
    schedule.order = std::move(result.order);
    return schedule;
}

} // namespace gs
