// What an fx_graph_runnable script says about its graph's inputs and groups below the graph.
#pragma once

#include "import/importer.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace gs {

struct LoadArgs {
    /// Annotation by input: "float32[2004, 4096][4096, 1]cuda:0", "Sym(512)".
    std::unordered_map<std::string, std::string> inputs;
    std::vector<std::pair<std::string, int32_t>> group_sizes;
    int32_t rank = -1;
};

/// Reads load_args() and the group table in the lines behind an entry, up to the next graph or log message.
LoadArgs readLoadArgs(const InputText& input, const GraphEntry& entry, bool payload);

} // namespace gs
