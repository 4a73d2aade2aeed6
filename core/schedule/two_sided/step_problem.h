// A graph as the two-sided scheduler sees it: what is fixed, what can wait, what is due when.
#pragma once

#include "schedule/scheduler.h"
#include "simulate/lower_bound.h"
#include "simulate/step_evaluator.h"

namespace gs {

/// Role of a node in the list scheduler.
enum class StepRole : uint8_t {
    Work, ///< computation in program order, of any cost
    Late, ///< computation that no launch needs and that needs the result of a reduction: can fill gaps at the
          ///< end
    Lazy, ///< takes no time: views, unpacks, waits, free late computation; goes right in front of its first
          ///< user
    Launch,
    Prep ///< private producer of a launch: moves with it
};

/// Everything that is the same for all orders. Positions are those of the input order (= NodeId).
class StepProblem {
public:
    explicit StepProblem(const ScheduleInput& input);

    const Graph& graph;
    const CollectiveTable& collectives;
    const CostTable& costs;
    SimulationSettings simulation;
    StepEvaluator evaluator;
    std::vector<int64_t> cost_ns; ///< on the compute stream; 0 for launches and waits
    std::vector<StepRole> role;
    StepBounds bounds;

    TimelinePtr simulate(const Order& order) const {
        return gs::simulate(graph, collectives, costs, order, simulation);
    }

    /// Data, mutation and effect edges, without repetitions.
    std::span<const NodeId> before(NodeId id) const { return row(before_begin_, before_, id); }
    std::span<const NodeId> after(NodeId id) const { return row(after_begin_, after_, id); }
    /// Private producers of the launch, in program order.
    const std::vector<NodeId>& prep(int32_t collective) const {
        return prep_[static_cast<size_t>(collective)];
    }

    int64_t prepNs(int32_t collective) const { return prep_ns_[static_cast<size_t>(collective)]; }
    bool hasCostlyPrep() const { return has_costly_prep_; }

    /// Computation that first needs the result; kNoNode: only the end of the step does.
    NodeId due(int32_t collective) const { return due_[static_cast<size_t>(collective)]; }
    /// Least time between the node's end and the end of the step.
    int64_t tail(NodeId id) const { return bounds.tail_ns[id]; }
    /// Least computation between the node and a launch that needs it; very large if none does.
    int64_t launchDistance(NodeId id) const { return launch_distance_ns_[id]; }
    /// Last node that uses the gathered value.
    NodeId lastUse(int32_t collective) const { return last_use_[static_cast<size_t>(collective)]; }

private:
    template <typename T>
    static std::span<const T> row(const std::vector<uint32_t>& begin, const std::vector<T>& items,
                                  NodeId id) {
        return {items.data() + begin[id], begin[id + 1] - begin[id]};
    }
    void findEdges();
    void findPreparation();
    void findRoles();
    void findLaunchDistances();
    void findDues();

    std::vector<uint32_t> before_begin_, after_begin_;
    std::vector<NodeId> before_, after_;
    std::vector<std::vector<NodeId>> prep_;
    std::vector<int64_t> prep_ns_;
    bool has_costly_prep_ = false;
    std::vector<NodeId> due_;
    std::vector<int64_t> launch_distance_ns_;
    std::vector<NodeId> last_use_;
};

} // namespace gs
