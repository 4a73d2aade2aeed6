// What a scheduler decides: a new program order and, per gather, the decision with its one binding reason.
#pragma once

#include "cost/cost_table.h"

#include <memory>
#include <string>
#include <vector>

namespace gs {

enum class Verdict : uint8_t {
    NotCandidate, ///< left alone, see the reason
    Hidden,
    ComputeLimited
};
/// "not-a-candidate", "hidden", "COMPUTE-LIMITED".
std::string_view verdictName(Verdict verdict);

/// The one reason that binds (passes.md §4).
enum class BindingReason : uint8_t {
    None,
    GraphStart,
    DataDependency,
    Effect,
    Claimed,
    Order,
    NoConsumer,
    NoWait,
    NotWeightGather,
    Budget,
    Depth, ///< the prefetch depth lets it start no more consumers ahead
    ProgramOrder,
    ByHand, ///< placed or held by an edit
    Ranks,  ///< the other ranks of the job hold it back
    Invalid ///< the whole reorder was dropped: an order edge would have broken
};
/// "none", "graph-start", "data-dep", "effect", "claimed", "order", "no-consumer", …
std::string_view bindingReasonName(BindingReason reason);

/// Why the other ranks keep a gather from an earlier launch (reason Ranks).
struct RankHold {
    std::string rank;        ///< "rank 3": the one that launches it last; empty: no rank may let it pass
    bool at_floor = false;   ///< that rank cannot launch it earlier; else its scheduler chose so
    NodeId behind = kNoNode; ///< the collective that it had passed and now follows
    int32_t slot = -1;       ///< number of collectives, in program order, that come before it
};

/// Decision for one collective. Positions are in the order the scheduler was given.
struct Decision {
    int32_t collective = -1; ///< index in the CollectiveTable
    NodeId launch = kNoNode;
    std::vector<NodeId> moved_group; ///< nodes that move as one, in program order
    uint32_t cur = 0;
    uint32_t target = 0;
    uint32_t floor = 0;
    NodeId floor_node = kNoNode; ///< what set the floor; kNoNode: the graph's inputs or its start
    NodeId first_consumer = kNoNode;
    double comm_ns = 0;
    double need_ns = 0; ///< comm × contention + slack
    double carry_in_ns = 0;
    NodeId carry_from = kNoNode; ///< launch whose window left the carry
    double window_ns = 0; ///< compute found upstream of the launch, carry included (document: acc_upstream)
    NodeId claimed_by = kNoNode; ///< reason claimed: launch of the gather that took the compute
    Verdict verdict = Verdict::NotCandidate;
    BindingReason reason = BindingReason::None;
    RankHold hold;
    bool moved() const { return target != cur; }
};

/// Collectives to merge, as a scheduler decided it; the analysis merges them (passes/merge_buckets.h).
struct ScheduledBuckets {
    std::vector<std::vector<NodeId>> members; ///< launches per bucket, in the order they are applied
    /// Pairs (before, after) beyond data that keep what overlaps; for merged nodes too. Ordered as they were
    /// made: where the order is free, that decides.
    std::vector<std::pair<NodeId, NodeId>> order;

    bool empty() const { return members.empty(); }
};

struct Schedule {
    std::string scheduler;
    Order order;
    std::vector<Decision> decisions; ///< one per gather, in program order
    ScheduledBuckets buckets;        ///< not yet merged; empty once they are
    size_t candidates = 0;
    size_t moved = 0;
    std::string rank_mode;             ///< how the other ranks bind it (rankModeName); empty = there are none
    size_t rank_holds = 0;             ///< gathers that they hold back
    std::vector<std::string> log_info; ///< document 000's INFO lines
    Diagnostics diagnostics;
    double run_ms = 0; ///< wall time of the scheduler
};

using SchedulePtr = std::shared_ptr<const Schedule>;

} // namespace gs
