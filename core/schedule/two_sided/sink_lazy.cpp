#include "schedule/two_sided/sink_lazy.h"

namespace gs {

Order sinkLazyNodes(const StepProblem& problem, const Order& order, const std::vector<char>& pinned) {
    Order out;
    out.reserve(order.size());
    std::vector<char> placed(order.size(), 0);
    std::vector<NodeId> stack;
    const auto demand = [&](NodeId wanted) {
        stack.push_back(wanted);
        while (!stack.empty()) {
            const NodeId id = stack.back();
            if (placed[id]) {
                stack.pop_back();
                continue;
            }
            const size_t depth = stack.size();
            const auto inputs = problem.before(id);
            for (size_t i = inputs.size(); i-- > 0;) {
                if (!placed[inputs[i]])
                    stack.push_back(inputs[i]);
            }
            if (stack.size() == depth) {
                stack.pop_back();
                placed[id] = 1;
                out.push_back(id);
            }
        }
    };
    for (const NodeId id : order) {
        const NodeKind kind = problem.graph.node(id).kind;
        if (problem.role[id] != StepRole::Lazy || pinned[id] || kind == NodeKind::Placeholder ||
            kind == NodeKind::GetAttr)
            demand(id);
    }
    for (const NodeId id : order) {
        if (problem.graph.node(id).kind != NodeKind::Output)
            demand(id);
    }
    for (const NodeId id : order)
        demand(id);
    return out;
}

} // namespace gs
