#include "schedule/manual_moves.h"

#include "graph/order_edges.h"
#include "schedule/gather_moves.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

class EditApplier {
public:
    EditApplier(const ScheduleInput& input, Schedule& schedule)
        : input_(input), graph_(input.graph), collectives_(input.collectives), schedule_(schedule) {}

    void apply(const Edit& edit) {
        const NodeId node = resolveNode(graph_, edit.node);
        if (node == kNoNode)
            return warn("edit-unknown-node", edit, fmt::format("the graph has no \"{}\"", edit.node));
        const std::vector<NodeId> group = movingGroup(graph_, collectives_, node);
        const MoveRange range = legalRange(graph_, schedule_.order, group);
        if (range.first > range.last) // a node between its members ties them
            return warn("edit-refused", edit,
                        fmt::format("\"{}\" cannot move as one: {}", graph_.name(node),
                                    refusal(graph_, range, range.first)));
        uint32_t position = 0;
        NodeId anchor = kNoNode;
        if (edit.kind == Edit::Kind::Forbid) {
            // Schedulers that read the edits have left it in its place.
            const Decision* decision = decisionOf(node);
            if (decision && decision->reason == BindingReason::ByHand)
                return finish(node, group, decision->cur);
            anchor = followerInProgram(group);
            position = std::clamp(positionOf(anchor), range.first, range.last);
        } else {
            anchor = resolveNode(graph_, edit.anchor);
            if (anchor == kNoNode)
                return warn("edit-unknown-node", edit, fmt::format("the graph has no \"{}\"", edit.anchor));
            position = positionOf(anchor);
            if (const std::string why = refusal(graph_, range, position); !why.empty())
                return warn("edit-refused", edit,
                            fmt::format("\"{}\" cannot go in front of \"{}\": {}", graph_.name(node),
                                        graph_.name(anchor), why));
        }
        schedule_.order = withGroupAt(schedule_.order, group, position);
        finish(node, group, edit.kind == Edit::Kind::Forbid ? node : anchor);
    }

private:
    void warn(const char* code, const Edit& edit, std::string message) {
        schedule_.diagnostics.add({Severity::Warning,
                                   code,
                                   {},
                                   edit.node,
                                   std::move(message),
                                   "the change made by hand is left out"});
    }

    uint32_t positionOf(NodeId id) const {
        const auto found = std::find(schedule_.order.begin(), schedule_.order.end(), id);
        return static_cast<uint32_t>(found - schedule_.order.begin());
    }

    /// The compute node (or the output) that follows the group in program order.
    NodeId followerInProgram(const std::vector<NodeId>& group) const {
        for (NodeId id = group.back() + 1; id < graph_.size(); ++id) {
            const NodeKind kind = graph_.node(id).kind;
            if (kind == NodeKind::Compute || kind == NodeKind::Output || kind == NodeKind::Wait)
                return id;
        }
        return static_cast<NodeId>(graph_.size() - 1);
    }

    Decision* decisionOf(NodeId launch) {
        const auto found = std::find_if(schedule_.decisions.begin(), schedule_.decisions.end(),
                                        [&](const Decision& item) { return item.launch == launch; });
        return found == schedule_.decisions.end() ? nullptr : &*found;
    }

    void finish(NodeId node, const std::vector<NodeId>& group, uint32_t target) {
        Decision* decision = decisionOf(node);
        if (!decision)
            return;
        decision->moved_group = group;
        decision->target = target;
        decision->reason = BindingReason::ByHand;
        judgeAnew(input_, schedule_.order, *decision);
    }

    const ScheduleInput& input_;
    const Graph& graph_;
    const CollectiveTable& collectives_;
    Schedule& schedule_;
};

} // namespace

std::vector<NodeId> movingGroup(const Graph& graph, const CollectiveTable& collectives, NodeId node) {
    const int32_t index = collectives.indexOf(node);
    if (index < 0 || collectives[static_cast<size_t>(index)].launch != node)
        return {node};
    GatherMoveSettings every;
    every.all_gathers = true;
    const std::vector<double> free_of_cost(graph.size(), 2.0); // every consumer is a real one
    for (const GatherCandidate& item : findGatherCandidates(graph, collectives, free_of_cost, every).items) {
        if (item.launch == node)
            return item.group;
    }
    std::vector<NodeId> group = collectives[static_cast<size_t>(index)].unpacks;
    group.insert(group.begin(), node);
    return group;
}

MoveRange legalRange(const Graph& graph, const Order& order, const std::vector<NodeId>& group) {
    const std::vector<uint32_t> position = positionsOf(order);
    std::vector<bool> inside(graph.size(), false);
    for (const NodeId id : group)
        inside[id] = true;
    MoveRange range;
    range.first = graph.placeholdersEnd();
    range.last = static_cast<uint32_t>(order.size());
    const auto edge = [&](NodeId before, NodeId after, EdgeKind kind) {
        if (inside[before] == inside[after])
            return;
        if (inside[after] && position[before] + 1 > range.first) {
            range.first = position[before] + 1;
            range.lower = {before, after, kind};
        } else if (inside[before] && position[after] < range.last) {
            range.last = position[after];
            range.upper = {before, after, kind};
        }
    };
    for (NodeId id = 0; id < graph.size(); ++id) {
        for (const NodeId input : graph.inputs(id))
            edge(input, id, EdgeKind::Data);
        for (const OrderEdge& item : graph.orderEdges(id))
            edge(item.node, id, item.kind);
    }
    if (graph.output() != kNoNode && position[graph.output()] < range.last)
        range.last = position[graph.output()];
    return range;
}

std::string refusal(const Graph& graph, const MoveRange& range, uint32_t position) {
    if (position >= range.first && position <= range.last)
        return {};
    const BrokenEdge& edge = position < range.first ? range.lower : range.upper;
    if (edge.before == kNoNode)
        return position < range.first ? "it would stand among the graph's inputs"
                                      : "it would stand behind the graph's output";
    return fmt::format("it would cross the {} edge {} → {}", edgeKindName(edge.kind), graph.name(edge.before),
                       graph.name(edge.after));
}

Order withGroupAt(const Order& order, const std::vector<NodeId>& group, uint32_t position) {
    std::vector<bool> inside(order.size(), false);
    for (const NodeId id : group)
        inside[id] = true;
    Order out;
    out.reserve(order.size());
    const auto insertGroup = [&] {
        for (const NodeId id : order) { // members keep their relative order
            if (inside[id])
                out.push_back(id);
        }
    };
    for (uint32_t at = 0; at <= order.size(); ++at) {
        if (at == position)
            insertGroup();
        if (at < order.size() && !inside[order[at]])
            out.push_back(order[at]);
    }
    return out;
}

void judgeAnew(const ScheduleInput& input, const Order& order, Decision& decision) {
    const GatherMoveSettings settings = gatherMoveSettings(input.settings);
    const std::vector<NodeId>& waits = input.collectives[static_cast<size_t>(decision.collective)].waits;
    decision.need_ns = decision.comm_ns * settings.contention + settings.slack_ns;
    decision.carry_in_ns = decision.window_ns = 0;
    decision.carry_from = decision.claimed_by = kNoNode;
    for (auto at = std::find(order.begin(), order.end(), decision.launch);
         at != order.end() && std::find(waits.begin(), waits.end(), *at) == waits.end(); ++at) {
        const NodeKind kind = input.graph.node(*at).kind;
        if (kind != NodeKind::Launch && kind != NodeKind::Wait)
            decision.window_ns += static_cast<double>(input.costs.all()[*at]);
    }
    decision.verdict = decision.window_ns >= decision.need_ns ? Verdict::Hidden : Verdict::ComputeLimited;
}

NodeId resolveNode(const Graph& graph, std::string_view name) {
    if (const std::optional<NodeId> found = graph.find(name))
        return *found;
    const StringId id = graph.strings().find(name);
    if (id == kEmptyString)
        return kNoNode;
    NodeId first = kNoNode;
    for (NodeId node = 0; node < graph.size(); ++node) {
        const auto origins = graph.origins(node);
        if (std::find(origins.begin(), origins.end(), id) == origins.end())
            continue;
        if (graph.node(node).kind == NodeKind::Launch)
            return node;
        first = std::min(first, node);
    }
    return first;
}

void applyEdits(const ScheduleInput& input, const Edits& edits, Schedule& schedule) {
    EditApplier applier(input, schedule);
    bool placed = false;
    for (const Edit& edit : edits) {
        if (edit.kind == Edit::Kind::Bucket)
            continue;
        applier.apply(edit);
        placed = true;
    }
    if (!placed)
        return;
    schedule.candidates = schedule.moved = 0;
    for (const Decision& decision : schedule.decisions) {
        schedule.candidates += decision.verdict != Verdict::NotCandidate ? 1 : 0;
        schedule.moved += decision.verdict != Verdict::NotCandidate && decision.moved() ? 1 : 0;
    }
}

} // namespace gs
