// Document 002, parameter-gather prefetch: groups gathers by their first real consumer, launches them ahead
// of compute inside a budget of live bytes, sinks their waits and views. Source: overlap_param_gather of
// HyperParallel (document 002); the readings of its helpers are those of golden/param_gather.
#pragma once

#include "base/result.h"
#include "schedule/parameter_prefetch/fsdp_tags.h"
#include "schedule/scheduler.h"

namespace gs {

/// One gather with everything between its launch and what really reads it.
struct PrefetchMatch {
    NodeId launch = kNoNode;
    std::vector<NodeId> realization; ///< waits, views and bucket copy-outs, in program order
    NodeId first_user = kNoNode;     ///< earliest node that is none of them
};

struct PrefetchOptions {
    int64_t forward_depth = 1; ///< consumer groups to look ahead; 0 = no early launches in this phase
    int64_t backward_depth = 1;
    int64_t budget_bytes = int64_t{2} << 30; ///< of gathered bytes launched early and not yet read
};

/// Why a match stayed or where it went.
enum class PrefetchOutcome : uint8_t {
    Moved,
    FirstGroup,   ///< no earlier consumer to launch it at
    AlreadyThere, ///< at or before the place it would get
    Budget,
    Off ///< depth or budget is 0
};

struct PrefetchResult {
    Order order;
    std::vector<NodeId>
        anchor; ///< per node: where a launch was moved to (fsdp_prefetch_anchor), else kNoNode
    std::vector<PrefetchMatch> matches;
    std::vector<PrefetchOutcome> outcomes; ///< per match
    size_t forward = 0;                    ///< launches moved
    size_t backward = 0;
    size_t sunk = 0; ///< waits, views and copy-outs moved
};

/// Gathers of the graph in the order given, each with its realization.
std::vector<PrefetchMatch> collectMatches(const Graph& graph, const FsdpTags& tags, const Order& order);
/// What moves with a launch, in program order: the private pack of a bucket, or the private cast of a shard.
std::vector<NodeId> launchChain(const Graph& graph, NodeId launch);
/// Per node: the effects and frees that a gather must stay behind. Empty for all other nodes.
std::vector<std::vector<NodeId>> launchConstraints(const Graph& graph, const FsdpTags& tags,
                                                   const Order& order);

/// Runs the pass on a graph in the given order. `anchor`: that of an earlier run, or empty. The pass is not
/// idempotent, as the document's is not. Error "bad-depth" for a negative depth. O((n + moves) log n +
/// gathers²) with a small constant on the last term.
Result<PrefetchResult> prefetchParameters(const Graph& graph, const FsdpTags& tags,
                                          const PrefetchOptions& options, const Order& order,
                                          std::vector<NodeId> anchor = {});

/// The scheduler "parameter-prefetch".
Schedule runParameterPrefetch(const ScheduleInput& input);

} // namespace gs
