// The overlap scheduler of document 003: rebuilds the whole program order from a heap of ready nodes,
// launches collectives early beside independent compute and defers their waits. Source: PyTorch's
// torch/_inductor/fx_passes/overlap_scheduling.py as document 003 has it; equal to it node for node.
#pragma once

#include "schedule/overlap_scheduler/hidden_collective.h"
#include "schedule/scheduler.h"

namespace gs {

/// Names, spelling included, and defaults are those of the document's entry function.
struct OverlapParameters {
    double max_in_flight_gb = 2.0; ///< input bytes of collectives in flight, in GiB
    double compute_overlap_multipler = 1.0;
    int64_t max_coll_distance = 1000; ///< in nodes of the input order
    /// Buckets that keep the overlap, found as PyTorch 2.15 finds them: the bucketing of the document's own
    /// time is not to be had.
    bool collective_bucketing = false;
    double max_bucket_memory_gb = 1.0;
    /// Treats mutation and effect edges as inputs. The document knows arguments only.
    bool keep_order_edges = false;
};

/// One collective as the document sees it: `wait` is the last one in program order, `waits` are those that
/// end it (several only where the reference fails), the size is that of the inputs, whatever is waited for
/// may be the start.
struct OverlapCollective : HiddenCollective {
    NodeId hiding_node =
        kNoNode; ///< compute node that hides the last of it; alone in hiding_nodes in the end
};

struct OverlapResult {
    Order order;
    size_t exposed = 0;                         ///< collectives of which nothing is hidden
    size_t bad_exposed = 0;                     ///< of those, potentially hidden with one compute node each
    size_t potentially_hidden = 0;              ///< with one compute node each
    std::vector<OverlapCollective> collectives; ///< in program order of their first waits
    ScheduledBuckets buckets;
    std::vector<ReferenceFailure> failures; ///< first of each kind
};

/// Nodes that count as compute: the operators of PyTorch's FLOP registry, higher-order ones among them if
/// asked for; on scheduler-level graphs, which have no such operators, every fused kernel.
std::vector<bool> overlapComputeNodes(const Graph& graph, bool higher_order);

/// Runs the document's algorithm. `cost_ms`: per node, compute or transfer; the document's unit. Linear in
/// nodes and edges for the heap and the depths; nodes × compute nodes / 64 words for the ancestor sets, of
/// which only the rows of collectives and waits are kept.
OverlapResult scheduleOverlap(const Graph& graph, std::span<const double> cost_ms,
                              const OverlapParameters& parameters);

/// Scheduler "overlap-scheduler". Diagnostics: "reference-fails" where the reference raises an exception,
/// "level-generalised" on graphs of fused kernels, "order-edges-kept" where its order would break a mutation
/// or an effect and was made again with those edges. Targets and floors of the decisions are positions in the
/// new order.
Schedule runOverlapScheduler(const ScheduleInput& input);

} // namespace gs
