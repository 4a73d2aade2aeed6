// One order of collectives for all ranks of a job, and schedules that keep it (profiling.md, "Agree").
// Ranks match the n-th call of a group with the n-th of their peers: what one launches early, all must.
#pragma once

#include "graph/collectives.h"
#include "graph/op_patterns.h"

namespace gs {

/// Everything of a graph that communicates, in program order: launches, and operators that fit the patterns.
std::vector<NodeId> collectiveNodes(const Graph& graph, const OpPatterns& communicating);

/// A program as one rank scheduled it.
struct RankOrder {
    const Graph* graph = nullptr;
    std::vector<NodeId> collectives; ///< in program order
    Order order;
};

/// Per collective the number of those that it stays behind, in program order: it is launched between the k-th
/// and the next. Among equal graphs this is the position of its target; never more than its own number.
std::vector<uint32_t> slotsOf(const RankOrder& rank);

struct AgreedOrder {
    std::vector<uint32_t> sequence; ///< collectives by their number in program order, as all launch them
    std::vector<uint32_t> slot;     ///< per collective: the greatest of all ranks
    std::vector<size_t> latest;     ///< per collective: the first rank that has this slot
};

/// The order that all ranks can keep: no collective is launched in an earlier slot than on any rank, and what
/// depends on each other on some rank keeps its order on all. Ranks that agree already keep their order. The
/// n-th collectives of all ranks must be the same. O(nodes + edges of all ranks).
AgreedOrder agreeOnOrder(const std::vector<RankOrder>& ranks);

/// The rank's order with its collectives in `sequence`, everything else as near to its place as the edges
/// allow. `groups`: per collective, the nodes that move along; may be empty. `sequence` must not contradict
/// the edges of the graph: program order never does, nor does what agreeOnOrder() returns.
Order withSequence(const RankOrder& rank, const std::vector<uint32_t>& sequence,
                   const std::vector<std::vector<NodeId>>& groups);

} // namespace gs
