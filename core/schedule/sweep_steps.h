// The sweep of latest-safe-launch as data, one step per gather, for showing it step by step. The sweep itself
// records it while it places the launches, so that what is shown is what was done.
#pragma once

#include "schedule/gather_moves.h"

namespace gs {

/// Why a walk ended.
enum class WalkEnd : uint8_t {
    Reached,    ///< carry and compute cover the need
    Floor,      ///< at a node that must stay in front of the launch
    GraphStart, ///< at the inputs or the start of the graph
    Claimed     ///< at the floor, and what later gathers claimed would have covered the need
};

/// One compute node that a walk counted.
struct WalkedNode {
    NodeId node = kNoNode;
    double sum_ns = 0; ///< carry and compute found so far, this node's included
};

/// What the sweep did for one gather. Positions are those of the input order; a position stands for the place
/// in front of its node.
struct SweepStep {
    size_t decision = 0; ///< index in SweepSteps::decisions
    NodeId launch = kNoNode;
    uint32_t pointer = 0; ///< where the sweep stood before
    uint32_t start = 0;   ///< where the walk began: the pointer or the launch itself, what is earlier
    uint32_t end = 0;     ///< where the walk ended; the compute of [end, start) is claimed
    uint32_t target = 0;  ///< new place of the launch, and of the pointer; the decision's may be later: order
    uint32_t carry_at = 0;   ///< node whose rest is the carry; only with carry_in_ns of the decision > 0
    double left_over_ns = 0; ///< found beyond the need; what the next step takes of it is its carry_in_ns
    WalkEnd walk_end = WalkEnd::Reached;
    NodeId claimed_by = kNoNode; ///< the step before: launch of the gather that claimed last
    size_t first_walked = 0;     ///< walked nodes: [first_walked, last_walked) of SweepSteps::walked
    size_t last_walked = 0;
};

struct SweepSteps {
    std::vector<SweepStep> steps;    ///< in the order of the sweep: the last gather comes first
    std::vector<WalkedNode> walked;  ///< of all steps; nodes without compute are left out
    std::vector<double> compute_ns;  ///< per node, the compute that a window may count
    std::vector<Decision> decisions; ///< one per candidate in program order, as the schedule has them
    GatherMoveSettings settings;
};

/// Runs the sweep on a program, whatever its own scheduler is. O(nodes + edges).
SweepSteps sweepSteps(const ScheduleInput& input);

} // namespace gs
