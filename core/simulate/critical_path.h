// The chain of nodes that makes the step as long as it is.
#pragma once

#include "simulate/timeline.h"

namespace gs {

/// From the step's end backwards: a stalled wait leads to its transfer; a transfer that started when its
/// stream came free leads to the transfer before it, else to the compute that came before its launch. Compute
/// nodes, launches and waits, in time order; nodes of zero length are left out. O(nodes).
std::vector<NodeId> findCriticalPath(const Graph& graph, const CollectiveTable& collectives,
                                     const Order& order, const Timeline& timeline);

} // namespace gs
