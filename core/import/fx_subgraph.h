// Nested graphs: of one operator, as Inductor's overlap scheduling wraps nodes with control_deps, and whole
// ones, which invoke_subgraph calls.
#pragma once

#include "import/importer.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace gs {

struct SubgraphStatement {
    std::string text; ///< without indentation
    uint32_t line = 0;
    uint32_t column = 1;
};

/// "def forward(self, arg_0, arg_1): x = torch.ops.aten.mm.default(arg_0, arg_1); return x"
struct Subgraph {
    std::vector<std::string> inputs;
    std::string target;     ///< "torch.ops.aten.mm.default"; empty if the graph is more than one call
    std::string arguments;  ///< "arg_0, arg_1)"
    size_t collectives = 0; ///< calls of collectives in it
    std::vector<SubgraphStatement> statements; ///< all but the return
    std::vector<std::string> calls;            ///< nested graphs that it calls
    std::string results;                       ///< "a, b" of "return (a, b)"; empty if the text is cut before
};

/// The nested classes of an entry by name; empty unless the text has control_deps or invoke_subgraph.
std::unordered_map<std::string, Subgraph> readSubgraphs(const InputText& input, const GraphEntry& entry,
                                                        bool trace);

/// Names of the arguments between the parentheses of a def line, with their annotations (without quotes).
/// `self`, `*args` and `**kwargs` are left out. False if the text is no argument list.
bool parseHeaderArguments(std::string_view inside,
                          std::vector<std::pair<std::string_view, std::string_view>>& arguments);

} // namespace gs
