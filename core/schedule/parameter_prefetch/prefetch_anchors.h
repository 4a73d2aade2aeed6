// Where document 002's pass would like to launch each gather of a phase.
#pragma once

#include "schedule/parameter_prefetch/parameter_prefetch.h"

namespace gs {

/// Nodes of one phase (no placeholders or attributes) in program order, as far as anchors need them.
struct PrefetchPhase {
    NodeId start = kNoNode;
    std::vector<NodeId> attention;
    std::vector<NodeId> heavy;
    std::vector<uint32_t> position; ///< per node of the graph, in the order at the start of the phase
};

/// Per match the node to launch it at, kNoNode for the first consumer group without an attention anchor:
/// `depth` consumer groups ahead, or earlier, spread over the heavy nodes of the attention interval before.
std::vector<NodeId> prefetchAnchors(const std::vector<const PrefetchMatch*>& matches,
                                    const PrefetchPhase& phase, int64_t depth);

} // namespace gs
