// Nested graphs of one operator, as Inductor's overlap scheduling wraps nodes with control_deps.
#pragma once

#include "import/importer.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace gs {

/// "def forward(self, arg_0, arg_1): x = torch.ops.aten.mm.default(arg_0, arg_1); return x"
struct Subgraph {
    std::vector<std::string> inputs;
    std::string target;     ///< "torch.ops.aten.mm.default"; empty if the graph is more than one call
    std::string arguments;  ///< "arg_0, arg_1)"
    size_t collectives = 0; ///< calls of collectives in it
};

/// The nested classes of an entry by name; empty unless the text has control_deps or invoke_subgraph.
std::unordered_map<std::string, Subgraph> readSubgraphs(const InputText& input, const GraphEntry& entry,
                                                        bool trace);

/// Names of the arguments between the parentheses of a def line, with their annotations (without quotes).
/// `self`, `*args` and `**kwargs` are left out. False if the text is no argument list.
bool parseHeaderArguments(std::string_view inside,
                          std::vector<std::pair<std::string_view, std::string_view>>& arguments);

} // namespace gs
