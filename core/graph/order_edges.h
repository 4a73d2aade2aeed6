// Mutation and effect edges of a graph: what arguments alone do not say (passes.md §1).
#pragma once

#include "graph/graph.h"

namespace gs {

/// For each node, the nodes that must stay before it beyond its arguments. A write to a storage comes after
/// every earlier read of it and before every later use; views, waits, unpacks and in-place results share the
/// storage of their first input. Barriers stay between the communication before and after them.
/// `extra_writes[id]` adds nodes whose storage `id` writes beyond what its schema says. O(nodes + edges).
std::vector<std::vector<OrderEdge>> findOrderEdges(const Graph& graph,
                                                   const std::vector<std::vector<NodeId>>& extra_writes);

} // namespace gs
