// What every gather-moving scheduler shares: which gathers can move, what moves with them and how far, and
// the rebuild of the order. Source: document 000 with its authors' later corrections (passes.md §4).
#pragma once

#include "schedule/scheduler.h"

namespace gs {

struct GatherMoveSettings {
    double contention = 1.5;
    double slack_ns = 5000;
    bool carry = true;
    bool move_prep_chain = true;
    bool all_gathers = false; ///< setting `gathers`: every all-gather, not only weight gathers
    Edits edits = {};         ///< gathers placed by hand are no candidates
};
GatherMoveSettings gatherMoveSettings(const Settings& settings);
/// With the input's edits.
GatherMoveSettings gatherMoveSettings(const ScheduleInput& input);

/// One gather that can move. Positions are those of the input order (= NodeId).
struct GatherCandidate {
    int32_t collective = -1;
    std::vector<NodeId> group; ///< the launch, its unpacks and its private preparation, in program order
    NodeId launch = kNoNode;   ///< = cur
    NodeId first_wait = kNoNode;
    NodeId first_consumer = kNoNode;
    uint32_t floor = 0;          ///< first position the launch may take
    NodeId floor_node = kNoNode; ///< what set it; kNoNode: the inputs or the start of the graph
    EdgeKind floor_edge = EdgeKind::Data;
    double comm_ns = 0;
    double need_ns = 0; ///< comm × contention + slack
};

struct GatherCandidates {
    std::vector<GatherCandidate> items; ///< in program order
    std::vector<Decision> others;       ///< gathers left alone, each with its reason
    std::vector<bool> in_group;         ///< per node: belongs to some candidate's group
};

/// `cost_ns`: per node, of the compute stream, and of the transfer for launches. O(nodes + edges).
GatherCandidates findGatherCandidates(const Graph& graph, const CollectiveTable& collectives,
                                      std::span<const double> cost_ns, const GatherMoveSettings& settings);

/// A decision that states what is known of the candidate and leaves it where it is.
Decision startDecision(const GatherCandidate& candidate);

/// Moves every group in front of the node that is at its target position; groups of one target keep their
/// order. A group whose target is its launch's own position stays as it is. `targets` as in candidates.items.
Order rebuildOrder(const Graph& graph, const GatherCandidates& candidates, std::span<const uint32_t> targets);

/// Decisions, counts, order (validated: a broken edge drops the reorder and says so) and log lines.
Schedule finishSchedule(std::string scheduler, const ScheduleInput& input, const GatherCandidates& candidates,
                        std::vector<Decision> decisions);

/// Cost per node as the ported algorithms take it.
std::vector<double> costsAsDouble(const CostTable& costs);

} // namespace gs
