// Mutation and effect edges of a graph: what arguments alone do not say (passes.md §1).
#pragma once

#include "graph/graph.h"

namespace gs {

/// "data", "mutation", "effect", "advisory".
std::string_view edgeKindName(EdgeKind kind);

/// Pairs (node, edge): nodes that must stay before `node` beyond its arguments. A write to a storage comes
/// after every earlier read of it and before every later use; views, waits, unpacks and in-place results
/// share the storage of their first input. A wait for a graph input counts as a write: until then a
/// collective launched before the graph writes it. Barriers stay between the communication before and after
/// them. `extra_writes` adds pairs (node, node whose storage it writes) beyond what the schemas say. O(nodes
/// + edges).
std::vector<std::pair<NodeId, OrderEdge>>
findOrderEdges(const Graph& graph, const std::vector<std::pair<NodeId, NodeId>>& extra_writes);

} // namespace gs
