// Computation in front of a position that has not run yet.
#pragma once

#include "schedule/two_sided/step_problem.h"

namespace gs {

/// A Fenwick tree over positions: O(log nodes) each.
class WorkLeft {
public:
    explicit WorkLeft(const StepProblem& problem) : tree_(problem.graph.size() + 1, 0) {
        for (NodeId id = 0; id < problem.graph.size(); ++id) {
            if (problem.role[id] == StepRole::Work && problem.cost_ns[id] > 0)
                add(id, problem.cost_ns[id]);
        }
    }
    void add(NodeId id, int64_t ns) {
        for (size_t i = id + 1; i < tree_.size(); i += i & (~i + 1))
            tree_[i] += ns;
    }
    int64_t before(NodeId id) const {
        int64_t sum = 0;
        for (size_t i = id; i > 0; i -= i & (~i + 1))
            sum += tree_[i];
        return sum;
    }

private:
    std::vector<int64_t> tree_;
};

} // namespace gs
