#include "schedule/gather_moves.h"

#include "schedule/manual_moves.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

/// Costs up to this are no real work: the node is looked through.
constexpr double kTransparentNs = 1.0;

bool isWaitOrUnpack(const Graph& graph, NodeId id) {
    const NodeKind kind = graph.node(id).kind;
    return kind == NodeKind::Wait || kind == NodeKind::Unpack;
}

/// Per node, the first real consumer of its value in program order; kNoNode if there is none. One backward
/// pass serves all gathers.
std::vector<NodeId> firstRealConsumers(const Graph& graph, std::span<const double> cost_ns) {
    std::vector<NodeId> first(graph.size(), kNoNode);
    for (size_t i = graph.size(); i-- > 0;) {
        for (const NodeId user : graph.users(static_cast<NodeId>(i))) {
            const bool real = !isWaitOrUnpack(graph, user) && cost_ns[user] > kTransparentNs;
            first[i] = std::min(first[i], real ? user : first[user]);
        }
    }
    return first;
}

class CandidateFinder {
public:
    CandidateFinder(const Graph& graph, const CollectiveTable& collectives, std::span<const double> cost_ns,
                    const GatherMoveSettings& settings)
        : graph_(graph), collectives_(collectives), cost_ns_(cost_ns), settings_(settings),
          member_of_(graph.size(), -1) {
        out_.in_group.assign(graph.size(), false);
        for (const Edit& edit : settings.edits) {
            if (edit.kind != Edit::Kind::Bucket)
                by_hand_.push_back(resolveNode(graph, edit.node));
        }
    }

    GatherCandidates run() {
        const std::vector<NodeId> consumer = firstRealConsumers(graph_, cost_ns_);
        for (size_t i = 0; i < collectives_.size(); ++i) {
            const Collective& item = collectives_[i];
            if (!item.isGather() || item.launch == kNoNode)
                continue;
            NodeId first = kNoNode;
            for (const NodeId wait : item.waits)
                first = std::min(first, consumer[wait]);
            for (const NodeId other : item.consumers) { // behind copies into memory that others read
                if (first == kNoNode && cost_ns_[other] > kTransparentNs)
                    first = other;
            }
            const BindingReason reason = !settings_.all_gathers && !item.weight_gather
                                             ? BindingReason::NotWeightGather
                                         : placedByHand(item.launch) ? BindingReason::ByHand
                                         : item.waits.empty()        ? BindingReason::NoWait
                                         : first == kNoNode          ? BindingReason::NoConsumer
                                                                     : BindingReason::None;
            if (reason == BindingReason::None)
                addCandidate(static_cast<int32_t>(i), first);
            else
                addOther(static_cast<int32_t>(i), first, reason);
        }
        return std::move(out_);
    }

private:
    bool placedByHand(NodeId launch) const {
        return std::find(by_hand_.begin(), by_hand_.end(), launch) != by_hand_.end();
    }

    void addOther(int32_t index, NodeId first_consumer, BindingReason reason) {
        Decision decision;
        decision.collective = index;
        decision.launch = collectives_[static_cast<size_t>(index)].launch;
        decision.cur = decision.target = decision.floor = decision.launch;
        decision.first_consumer = first_consumer;
        decision.comm_ns = cost_ns_[decision.launch];
        decision.reason = reason;
        out_.others.push_back(std::move(decision));
    }

    void addCandidate(int32_t index, NodeId first_consumer) {
        const Collective& item = collectives_[static_cast<size_t>(index)];
        GatherCandidate candidate;
        candidate.collective = index;
        candidate.launch = item.launch;
        candidate.first_wait = item.waits.front();
        candidate.first_consumer = first_consumer;
        candidate.comm_ns = cost_ns_[item.launch];
        candidate.need_ns = candidate.comm_ns * settings_.contention + settings_.slack_ns;
        member_of_[item.launch] = index;
        candidate.group.push_back(item.launch);
        for (const NodeId unpack : item.unpacks) {
            member_of_[unpack] = index;
            candidate.group.push_back(unpack);
        }
        if (settings_.move_prep_chain)
            addPreparation(candidate, index);
        std::sort(candidate.group.begin(), candidate.group.end());
        if (settings_.move_prep_chain) {
            for (const NodeId id : candidate.group)
                out_.in_group[id] = true;
        }
        findFloor(candidate, index);
        out_.items.push_back(std::move(candidate));
    }

    /// Producers whose every user is inside the group or one of its own waits (Inductor's wait kernels read
    /// the shard too). A node is looked at again whenever one more of its users has joined.
    void addPreparation(GatherCandidate& candidate, int32_t index) {
        for (size_t at = 0; at < candidate.group.size(); ++at) {
            for (const NodeId input : graph_.inputs(candidate.group[at])) {
                if (member_of_[input] != index && isPrivate(input, index)) {
                    member_of_[input] = index;
                    candidate.group.push_back(input);
                }
            }
        }
    }

    bool isPrivate(NodeId id, int32_t index) const {
        if (graph_.node(id).kind == NodeKind::Placeholder)
            return false;
        const auto users = graph_.users(id);
        return std::all_of(users.begin(), users.end(), [&](NodeId user) {
            return member_of_[user] == index ||
                   (graph_.node(user).kind == NodeKind::Wait && collectives_.indexOf(user) == index);
        });
    }

    void findFloor(GatherCandidate& candidate, int32_t index) const {
        candidate.floor = graph_.placeholdersEnd();
        const auto depend = [&](NodeId before, EdgeKind edge) {
            if (member_of_[before] == index || before + 1 <= candidate.floor)
                return;
            candidate.floor = before + 1;
            candidate.floor_node = before;
            candidate.floor_edge = edge;
        };
        for (const NodeId id : candidate.group) {
            for (const NodeId input : graph_.inputs(id))
                depend(input, EdgeKind::Data);
            for (const OrderEdge& edge : graph_.orderEdges(id))
                depend(edge.node, edge.kind);
        }
    }

    const Graph& graph_;
    const CollectiveTable& collectives_;
    std::span<const double> cost_ns_;
    const GatherMoveSettings& settings_;
    std::vector<int32_t> member_of_; ///< per node: collective whose group it joined
    std::vector<NodeId> by_hand_;    ///< launches that edits place
    GatherCandidates out_;
};

void addLogLines(const ScheduleInput& input, Schedule& schedule) {
    size_t distinct = 0, measured = 0, reused = 0;
    for (const CostEntry& entry : input.costs.entries()) {
        ++distinct;
        const bool is_measured =
            entry.provenance == Provenance::Measured || entry.provenance == Provenance::Reused;
        measured += is_measured ? 1 : 0;
        reused += is_measured && !entry.nodes.empty() ? entry.nodes.size() - 1 : 0;
    }
    schedule.log_info.push_back(fmt::format("repositioned {}/{} weight all-gather launch(es) (cost table: {} "
                                            "distinct ops, measured={} reused={})",
                                            schedule.moved, schedule.candidates, distinct, measured, reused));
}

} // namespace

GatherMoveSettings gatherMoveSettings(const Settings& settings) {
    GatherMoveSettings out;
    out.contention = settings.number(Setting::Contention);
    out.slack_ns = settings.number(Setting::SlackNs);
    out.carry = settings.flag(Setting::Carry);
    out.move_prep_chain = settings.flag(Setting::MovePrepChain);
    out.all_gathers = settings.text(Setting::Gathers) == "all";
    return out;
}

GatherMoveSettings gatherMoveSettings(const ScheduleInput& input) {
    GatherMoveSettings out = gatherMoveSettings(input.settings);
    out.edits = input.edits;
    return out;
}

GatherCandidates findGatherCandidates(const Graph& graph, const CollectiveTable& collectives,
                                      std::span<const double> cost_ns, const GatherMoveSettings& settings) {
    return CandidateFinder(graph, collectives, cost_ns, settings).run();
}

Decision startDecision(const GatherCandidate& candidate) {
    Decision decision;
    decision.collective = candidate.collective;
    decision.launch = decision.cur = decision.target = candidate.launch;
    decision.moved_group = candidate.group;
    decision.floor = candidate.floor;
    decision.floor_node = candidate.floor_node;
    decision.first_consumer = candidate.first_consumer;
    decision.comm_ns = candidate.comm_ns;
    decision.need_ns = candidate.need_ns;
    return decision;
}

Order rebuildOrder(const Graph& graph, const GatherCandidates& candidates,
                   std::span<const uint32_t> targets) {
    // A gather can be the private preparation of another one. It then belongs to two groups and goes with the
    // later one, as in the reference.
    std::vector<uint32_t> target_of(graph.size(), kNoNode);
    for (size_t i = 0; i < candidates.items.size(); ++i) {
        for (const NodeId id : candidates.items[i].group)
            target_of[id] = targets[i];
    }
    std::vector<std::vector<NodeId>> members_at(graph.size() + 1);
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (target_of[id] != kNoNode)
            members_at[target_of[id]].push_back(id);
    }
    Order order;
    order.reserve(graph.size());
    for (NodeId id = 0; id <= graph.size(); ++id) {
        order.insert(order.end(), members_at[id].begin(), members_at[id].end());
        if (id < graph.size() && target_of[id] == kNoNode)
            order.push_back(id);
    }
    return order;
}

Schedule finishSchedule(std::string scheduler, const ScheduleInput& input, const GatherCandidates& candidates,
                        std::vector<Decision> decisions) {
    Schedule schedule;
    schedule.scheduler = std::move(scheduler);
    schedule.candidates = candidates.items.size();
    std::vector<uint32_t> targets;
    for (const Decision& decision : decisions)
        targets.push_back(decision.target);
    schedule.order = rebuildOrder(input.graph, candidates, targets);
    if (const auto broken = findBrokenEdge(input.graph, schedule.order)) {
        const bool known = broken->before != kNoNode;
        schedule.diagnostics.add(
            {Severity::Warning,
             "order-dropped",
             {},
             known ? std::string(input.graph.name(broken->after)) : std::string(),
             known ? fmt::format("the new order was dropped: \"{}\" must stay before \"{}\"",
                                 input.graph.name(broken->before), input.graph.name(broken->after))
                   : std::string("the new order was dropped: it is no permutation of the graph"),
             "the input order is kept"});
        schedule.order = identityOrder(input.graph);
        for (Decision& decision : decisions) {
            decision.target = decision.cur;
            decision.reason = BindingReason::Invalid;
        }
    }
    for (const Decision& decision : decisions)
        schedule.moved += decision.moved() ? 1 : 0;
    decisions.insert(decisions.end(), candidates.others.begin(), candidates.others.end());
    std::sort(decisions.begin(), decisions.end(),
              [](const Decision& a, const Decision& b) { return a.launch < b.launch; });
    schedule.decisions = std::move(decisions);
    addLogLines(input, schedule);
    return schedule;
}

std::vector<double> costsAsDouble(const CostTable& costs) {
    return {costs.all().begin(), costs.all().end()};
}

} // namespace gs
