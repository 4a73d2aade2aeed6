// Large programs for benchmarks: one transformer-like layer repeated.
#pragma once

#include "graph/graph.h"

#include <string>

namespace gs::test {

/// About `nodes` nodes with one gather in 50 (2,000 at 100,000): casts, gathers, waits, slices, matrix
/// multiplies, attention and pointwise ops, all with shapes.
GraphPtr layeredGraph(size_t nodes);

/// The same before lowering: every gather is a redistribute + to_local pair.
GraphPtr layeredRedistributes(size_t nodes);

/// The graph as `gatherscope.graph` JSON, for the reader's benchmark.
std::string graphJson(const Graph& graph);

} // namespace gs::test
