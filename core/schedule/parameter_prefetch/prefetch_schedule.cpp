// The scheduler "parameter-prefetch": settings in; decisions, log line and diagnostics out.
#include "schedule/parameter_prefetch/parameter_prefetch.h"

#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

std::string_view phaseName(bool backward) {
    return backward ? "backward" : "forward";
}

class PrefetchDecider {
public:
    PrefetchDecider(const ScheduleInput& input, const FsdpTags& tags, const PrefetchResult& result)
        : input_(input), graph_(input.graph), tags_(tags), result_(result),
          position_(positionsOf(result.order)), prefix_ns_(graph_.size() + 1, 0),
          match_of_(graph_.size(), -1), constraints_(launchConstraints(graph_, tags, identityOrder(graph_))) {
        for (size_t i = 0; i < result.order.size(); ++i) {
            const NodeId id = result.order[i];
            const NodeKind kind = graph_.node(id).kind;
            const bool counts = kind != NodeKind::Launch && kind != NodeKind::Wait;
            prefix_ns_[i + 1] = prefix_ns_[i] + (counts ? static_cast<double>(input.costs.ns(id)) : 0.0);
        }
        for (size_t i = 0; i < result.matches.size(); ++i)
            match_of_[result.matches[i].launch] = static_cast<int32_t>(i);
    }

    std::vector<Decision> run() const {
        std::vector<Decision> decisions;
        for (size_t i = 0; i < input_.collectives.size(); ++i) {
            const Collective& gather = input_.collectives[i];
            if (!gather.isGather() || gather.launch == kNoNode)
                continue;
            Decision decision;
            decision.collective = static_cast<int32_t>(i);
            decision.launch = decision.cur = decision.target = decision.floor = gather.launch;
            decision.comm_ns = static_cast<double>(input_.costs.ns(gather.launch));
            if (!gather.consumers.empty())
                decision.first_consumer = gather.consumers.front();
            const int32_t match = match_of_[gather.launch];
            if (match < 0)
                decision.reason = whyNoMatch(gather);
            else
                judge(static_cast<size_t>(match), decision);
            decisions.push_back(std::move(decision));
        }
        return decisions;
    }

private:
    BindingReason whyNoMatch(const Collective& gather) const {
        if (tags_.role[gather.launch] != FsdpRole::Gather)
            return BindingReason::NotWeightGather;
        if (gather.waits.empty())
            return BindingReason::NoWait;
        // More than one wait, or a launch into a given buffer: the document's pass leaves both alone.
        return gather.consumers.empty() ? BindingReason::NoConsumer : BindingReason::Effect;
    }

    void judge(size_t index, Decision& decision) const {
        const PrefetchMatch& match = result_.matches[index];
        const PrefetchOutcome outcome = result_.outcomes[index];
        decision.first_consumer = match.first_user;
        decision.moved_group = launchChain(graph_, match.launch);
        if (outcome == PrefetchOutcome::Moved)
            decision.target = position_[match.launch];
        const EdgeKind edge = findFloor(match.launch, decision);
        decision.need_ns = decision.comm_ns * input_.settings.number(Setting::Contention) +
                           input_.settings.number(Setting::SlackNs);
        decision.window_ns = prefix_ns_[position_[match.first_user]] - prefix_ns_[position_[match.launch]];
        decision.verdict = decision.window_ns >= decision.need_ns ? Verdict::Hidden : Verdict::ComputeLimited;
        if (decision.verdict == Verdict::ComputeLimited)
            decision.reason = reasonOf(match.launch, outcome, decision, edge);
    }

    EdgeKind findFloor(NodeId launch, Decision& decision) const {
        decision.floor = graph_.placeholdersEnd();
        EdgeKind kind = EdgeKind::Data;
        const auto depend = [&](NodeId before, EdgeKind edge) {
            if (before + 1 <= decision.floor)
                return;
            decision.floor = before + 1;
            decision.floor_node = before;
            kind = edge;
        };
        for (const NodeId id : decision.moved_group) {
            for (const NodeId input : graph_.inputs(id)) {
                if (std::find(decision.moved_group.begin(), decision.moved_group.end(), input) ==
                    decision.moved_group.end())
                    depend(input, EdgeKind::Data);
            }
        }
        for (const NodeId before : constraints_[launch])
            depend(before, EdgeKind::Effect);
        return kind;
    }

    BindingReason reasonOf(NodeId launch, PrefetchOutcome outcome, const Decision& decision,
                           EdgeKind edge) const {
        const bool off = outcome == PrefetchOutcome::Off;
        if (outcome == PrefetchOutcome::Budget)
            return BindingReason::Budget;
        if (off)
            return BindingReason::Depth;
        // At its floor where nothing but the chain itself lies between the two.
        const NodeId floor = decision.floor_node;
        const NodeId anchor = result_.anchor[launch];
        const uint32_t chain_begin =
            position_[launch] + 1 -
            static_cast<uint32_t>(std::min<size_t>(decision.moved_group.size(), position_[launch] + 1));
        if (floor != kNoNode && position_[floor] + 1 >= chain_begin &&
            (anchor == kNoNode || position_[floor] > position_[anchor]))
            return edge == EdgeKind::Data ? BindingReason::DataDependency : BindingReason::Effect;
        return outcome == PrefetchOutcome::FirstGroup ? BindingReason::GraphStart : BindingReason::Depth;
    }

    const ScheduleInput& input_;
    const Graph& graph_;
    const FsdpTags& tags_;
    const PrefetchResult& result_;
    std::vector<uint32_t> position_;
    std::vector<double> prefix_ns_; ///< compute before each position of the new order
    std::vector<int32_t> match_of_;
    std::vector<std::vector<NodeId>> constraints_;
};

void reportDerived(const ScheduleInput& input, const FsdpTags& tags, Diagnostics& diagnostics) {
    if (!tags.derived_gathers && !tags.derived_phases)
        return;
    size_t gathers = 0, backward = 0;
    for (NodeId id = 0; id < input.graph.size(); ++id) {
        gathers += tags.role[id] == FsdpRole::Gather ? 1 : 0;
        backward += tags.backward[id] ? 1 : 0;
    }
    std::string what;
    if (tags.derived_gathers)
        what = counted(gathers, "gather") +
               " and unsharded bytes derived: gathers of one parameter each, and the size of what they yield";
    if (tags.derived_phases)
        what += fmt::format("{}phases derived: {} of {} nodes are backward", what.empty() ? "" : "; ",
                            backward, input.graph.size());
    diagnostics.add({Severity::Info,
                     "fsdp-tags-derived",
                     {},
                     {},
                     "the graph carries no FSDP tags; " + what,
                     "a graph captured with its FSDP tags states them"});
}

void reportUnknownSizes(const ScheduleInput& input, const FsdpTags& tags, const PrefetchResult& result,
                        Diagnostics& diagnostics) {
    for (const PrefetchMatch& match : result.matches) {
        if (tags.bytes[match.launch] < 0)
            diagnostics.add({Severity::Warning,
                             "unknown-replica-size",
                             {},
                             std::string(input.graph.name(match.launch)),
                             fmt::format("\"{}\" is not launched early: the bytes it gathers are not known",
                                         input.graph.name(match.launch)),
                             "give a graph with shapes or the tag fsdp_unsharded_nbytes"});
    }
}

/// The input order takes the new one's place where that breaks an edge.
void validate(const Graph& graph, PrefetchResult& result, Schedule& schedule) {
    const auto broken = findBrokenEdge(graph, result.order);
    if (!broken)
        return;
    const bool known = broken->before != kNoNode;
    schedule.diagnostics.add(
        {Severity::Warning,
         "order-dropped",
         {},
         known ? std::string(graph.name(broken->after)) : std::string(),
         known ? fmt::format("the new order was dropped: \"{}\" must stay before \"{}\"",
                             graph.name(broken->before), graph.name(broken->after))
               : std::string("the new order was dropped: it is no permutation of the graph"),
         "the input order is kept"});
    for (Decision& decision : schedule.decisions) {
        if (decision.verdict == Verdict::NotCandidate)
            continue;
        decision.target = decision.cur;
        decision.reason = BindingReason::Invalid;
    }
    result.order = identityOrder(graph);
    result.forward = result.backward = result.sunk = 0;
}

} // namespace

Schedule runParameterPrefetch(const ScheduleInput& input) {
    Schedule schedule;
    schedule.scheduler = "parameter-prefetch";
    const FsdpTags tags =
        readFsdpTags(input.graph, input.collectives, input.settings.text(Setting::Gathers) == "all");
    reportDerived(input, tags, schedule.diagnostics);
    PrefetchOptions options;
    options.forward_depth = input.settings.integer(Setting::ForwardDepth);
    options.backward_depth = input.settings.integer(Setting::BackwardDepth);
    // As the document does: GiB to bytes, rounded down.
    options.budget_bytes =
        static_cast<int64_t>(input.settings.number(Setting::MaxInFlightGb) * 1024 * 1024 * 1024);
    Result<PrefetchResult> made = prefetchParameters(input.graph, tags, options, identityOrder(input.graph));
    if (!made) { // the settings table refuses bad depths before
        schedule.order = identityOrder(input.graph);
        schedule.diagnostics.add(
            {Severity::Error, made.error().code, {}, {}, made.error().message, made.error().hint});
        return schedule;
    }
    PrefetchResult& result = made.value();
    reportUnknownSizes(input, tags, result, schedule.diagnostics);
    schedule.candidates = result.matches.size();
    schedule.decisions = PrefetchDecider(input, tags, result).run();
    validate(input.graph, result, schedule);
    schedule.order = std::move(result.order);
    schedule.moved = result.forward + result.backward;
    schedule.log_info.push_back(
        fmt::format("FSDP parameter prefetch: {}={} {}={} sunk={} budget_bytes={} depths=({}, {})",
                    phaseName(false), result.forward, phaseName(true), result.backward, result.sunk,
                    options.budget_bytes, options.forward_depth, options.backward_depth));
    return schedule;
}

} // namespace gs
