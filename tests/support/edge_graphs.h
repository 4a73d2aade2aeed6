// The fuzz graphs whose launches and waits do not match: waits for placeholders and for waits, launches
// without one.
#pragma once

#include "graph/graph.h"

#include <vector>

namespace gs::test {

/// Graphs of golden/fuzz whose model is "edge"; empty, with a NOT RUN line, if the file is not at hand.
std::vector<GraphPtr> edgeGraphs();

} // namespace gs::test
