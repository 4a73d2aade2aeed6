// Small graphs by hand, a node a line.
#pragma once

#include "graph/graph.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace gs::test {

/// One node. `target` "" = placeholder, "output" = the output; short names of collectives:
/// "gather", "scatter", "reduce", "a2a", "wait", each on group `group`.
struct GraphLine {
    std::string name;
    std::string target;
    std::vector<std::string> inputs = {};
    std::string group = "0";
    int64_t rows = 64; ///< of the value
    const char* dtype = "bfloat16";
    std::string reduce = "sum";
};

/// Values are [rows, 8]; the graph's rank is `rank`.
GraphPtr lineGraph(const std::vector<GraphLine>& lines, int32_t rank = 0);

} // namespace gs::test
