#include "simulate/step_evaluator.h"

#include <cmath>
#include <limits>

namespace gs {

StepEvaluator::StepEvaluator(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                             const SimulationSettings& settings)
    : model_(graph, collectives, costs, settings), held_(graph, collectives),
      role_(graph.size(), Role::Nothing), cost_ns_(costs.all().begin(), costs.all().end()),
      collective_(graph.size(), -1) {
    for (NodeId id = 0; id < graph.size(); ++id) {
        const NodeKind kind = graph.node(id).kind;
        collective_[id] = collectives.indexOf(id);
        if (kind == NodeKind::Launch && collective_[id] >= 0)
            role_[id] = Role::Launch;
        else if (kind == NodeKind::Wait && collective_[id] >= 0)
            role_[id] = Role::Wait;
        else if (cost_ns_[id] > 0)
            role_[id] = Role::Work;
        else if (held_.takes(id) != 0 || !held_.uses(id).empty())
            role_[id] = Role::Holds;
    }
}

StepCost StepEvaluator::run(const Order& order) const {
    return run(order, std::numeric_limits<int64_t>::max() / 2);
}

StepCost StepEvaluator::run(const Order& order, int64_t limit_ns) const {
    StepMachine machine(model_);
    HeldBytes held(held_);
    const double limit = static_cast<double>(limit_ns) + 0.5;
    for (const NodeId id : order) {
        if (role_[id] == Role::Nothing)
            continue;
        held.begin(id, machine);
        if (role_[id] == Role::Work)
            machine.compute(static_cast<double>(cost_ns_[id]));
        else if (role_[id] == Role::Launch)
            machine.launch(collective_[id]);
        else if (role_[id] == Role::Wait)
            machine.wait(collective_[id]);
        held.end(id);
        if (machine.now() > limit)
            break;
    }
    machine.drain();
    return {std::llround(machine.now()), held.peak()};
}

} // namespace gs
