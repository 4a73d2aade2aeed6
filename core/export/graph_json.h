// A graph as `gatherscope.graph` version 1 (corpus FORMAT.md), which reads back as the same graph.
#pragma once

#include "graph/graph.h"

#include <string>

namespace gs {

/// Header on the first line, one node per line. Beyond FORMAT.md, and only where it would be lost: "level",
/// "size" of a group without ranks, per node "weak_inputs", "origins", "order" ([name, "mutation" or
/// "effect"] of what must stay before it, where the operators do not tell) and, if `lines`, "line" (of the
/// file the graph was read from).
std::string writeGraphJson(const Graph& graph, bool lines = false);

} // namespace gs
