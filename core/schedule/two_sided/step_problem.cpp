#include "schedule/two_sided/step_problem.h"

#include "simulate/simulation_settings.h"

#include <algorithm>

namespace gs {

namespace {

constexpr int64_t kNoLaunch = int64_t{1} << 60;

bool reduces(CollectiveKind kind) {
    return kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::ReduceScatterCoalesced ||
           kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllReduceCoalesced;
}

bool isComputation(NodeKind kind) {
    return kind == NodeKind::Compute || kind == NodeKind::Free || kind == NodeKind::Barrier;
}

SimulationSettings quietSimulationSettings(const ScheduleInput& input) {
    Diagnostics said_elsewhere;
    return simulationSettings(input.graph, input.settings, said_elsewhere);
}

} // namespace

StepProblem::StepProblem(const ScheduleInput& input)
    : graph(input.graph), collectives(input.collectives), costs(input.costs),
      simulation(quietSimulationSettings(input)),
      evaluator(input.graph, input.collectives, input.costs, simulation),
      cost_ns(input.costs.all().begin(), input.costs.all().end()), role(input.graph.size(), StepRole::Work),
      bounds(findStepBounds(input.graph, input.collectives, input.costs, simulation)),
      prep_(input.collectives.size()), prep_ns_(input.collectives.size(), 0),
      due_(input.collectives.size(), kNoNode), last_use_(input.collectives.size(), kNoNode) {
    for (NodeId id = 0; id < graph.size(); ++id) {
        const NodeKind kind = graph.node(id).kind;
        if (collectives.indexOf(id) >= 0 && (kind == NodeKind::Launch || kind == NodeKind::Wait))
            cost_ns[id] = 0;
    }
    findEdges();
    findPreparation();
    findRoles();
    findLaunchDistances();
    findDues();
}

void StepProblem::findEdges() {
    const size_t count = graph.size();
    before_begin_.assign(count + 1, 0);
    after_begin_.assign(count + 1, 0);
    std::vector<NodeId> row;
    for (NodeId id = 0; id < count; ++id) {
        row.assign(graph.inputs(id).begin(), graph.inputs(id).end());
        for (const OrderEdge& edge : graph.orderEdges(id))
            row.push_back(edge.node);
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
        before_.insert(before_.end(), row.begin(), row.end());
        before_begin_[id + 1] = static_cast<uint32_t>(before_.size());
        for (const NodeId input : row)
            ++after_begin_[input + 1];
    }
    for (size_t i = 0; i < count; ++i)
        after_begin_[i + 1] += after_begin_[i];
    after_.resize(before_.size());
    std::vector<uint32_t> next(after_begin_.begin(), after_begin_.end() - 1);
    for (NodeId id = 0; id < count; ++id) {
        for (const NodeId input : before(id))
            after_[next[input]++] = id;
    }
}

/// Producers of a gather all of whose users are in its preparation, the launch or its waits. Those that
/// depend on the step's own computation stay where they are.
void StepProblem::findPreparation() {
    std::vector<bool> from_inputs(graph.size(), false);
    for (NodeId id = 0; id < graph.size(); ++id) {
        const NodeKind kind = graph.node(id).kind;
        from_inputs[id] = kind != NodeKind::Launch && kind != NodeKind::Wait && kind != NodeKind::Barrier;
        for (const NodeId input : before(id))
            from_inputs[id] = from_inputs[id] && from_inputs[input];
    }
    std::vector<int32_t> member_of(graph.size(), -1);
    for (size_t i = 0; i < collectives.size(); ++i) {
        const Collective& item = collectives[i];
        if (item.launch == kNoNode || !item.isGather())
            continue;
        const int32_t index = static_cast<int32_t>(i);
        std::vector<NodeId> found{item.launch};
        member_of[item.launch] = index;
        for (size_t at = 0; at < found.size(); ++at) {
            for (const NodeId input : before(found[at])) {
                const NodeKind kind = graph.node(input).kind;
                const bool is_private =
                    std::all_of(after(input).begin(), after(input).end(), [&](NodeId user) {
                        return member_of[user] == index || (graph.node(user).kind == NodeKind::Wait &&
                                                            collectives.indexOf(user) == index);
                    });
                if (member_of[input] < 0 && from_inputs[input] && is_private &&
                    kind != NodeKind::Placeholder && kind != NodeKind::GetAttr) {
                    member_of[input] = index;
                    found.push_back(input);
                }
            }
        }
        found.erase(found.begin());
        std::sort(found.begin(), found.end());
        for (const NodeId id : found) {
            role[id] = StepRole::Prep;
            prep_ns_[i] += cost_ns[id];
        }
        has_costly_prep_ = has_costly_prep_ || prep_ns_[i] > 0;
        prep_[i] = std::move(found);
    }
}

void StepProblem::findRoles() {
    std::vector<bool> reaches_launch(graph.size(), false), reduced(graph.size(), false);
    for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;) {
        reaches_launch[id] = graph.node(id).kind == NodeKind::Launch;
        for (const NodeId user : after(id))
            reaches_launch[id] = reaches_launch[id] || reaches_launch[user];
    }
    for (NodeId id = 0; id < graph.size(); ++id) {
        const NodeKind kind = graph.node(id).kind;
        const int32_t collective = collectives.indexOf(id);
        reduced[id] = kind == NodeKind::Wait && collective >= 0 &&
                      reduces(collectives[static_cast<size_t>(collective)].kind);
        for (const NodeId input : before(id))
            reduced[id] = reduced[id] || reduced[input];
        if (role[id] == StepRole::Prep)
            continue;
        const bool late = reduced[id] && !reaches_launch[id];
        if (kind == NodeKind::Launch && collective >= 0)
            role[id] = StepRole::Launch;
        else if (cost_ns[id] > 0)
            role[id] = late ? StepRole::Late : StepRole::Work;
        else
            role[id] = isComputation(kind) && !late ? StepRole::Work : StepRole::Lazy;
    }
}

void StepProblem::findLaunchDistances() {
    launch_distance_ns_.assign(graph.size(), kNoLaunch);
    for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;) {
        for (const NodeId user : after(id)) {
            const int64_t distance =
                role[user] == StepRole::Launch ? 0 : launch_distance_ns_[user] + cost_ns[user];
            launch_distance_ns_[id] = std::min(launch_distance_ns_[id], distance);
        }
    }
}

void StepProblem::findDues() {
    // Per node, the first computation in program order that needs its value.
    std::vector<NodeId> first(graph.size(), kNoNode);
    for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;) {
        for (const NodeId user : after(id)) {
            const bool real = cost_ns[user] > 0 && role[user] != StepRole::Prep;
            first[id] = std::min(first[id], real ? user : first[user]);
        }
    }
    for (size_t i = 0; i < collectives.size(); ++i) {
        const Collective& item = collectives[i];
        if (item.launch == kNoNode)
            continue;
        const NodeId node = first[item.launch];
        const bool far = node != kNoNode && role[node] == StepRole::Late && reduces(item.kind);
        due_[i] = far ? kNoNode : node;
        last_use_[i] = item.launch;
        for (const NodeId id : item.waits)
            last_use_[i] = std::max(last_use_[i], id);
        for (const NodeId id : item.consumers)
            last_use_[i] = std::max(last_use_[i], id);
    }
}

} // namespace gs
