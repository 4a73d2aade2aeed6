// Graphs of the goldens' small form: kind, deps and cost per node.
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace gs::test {

struct SmallNode {
    std::string name;
    std::string kind; ///< compute, gather, unpack, wait
    std::vector<std::string> deps;
    double cost = 0;
};

/// A gather with unpacks becomes a coalesced launch. Deps are the arguments, in order.
GraphPtr buildSmallGraph(const std::vector<SmallNode>& nodes);

} // namespace gs::test
