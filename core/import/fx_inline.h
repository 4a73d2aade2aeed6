// Calls of nested graphs that communicate (invoke_subgraph) are replaced by the statements of those graphs:
// their collectives would otherwise go unseen.
#pragma once

#include "import/fx_order.h"
#include "import/fx_subgraph.h"

#include <deque>

namespace gs {

/// The statements with every such call replaced, if the nested graph is in the text and its results are only
/// taken apart ("getitem = invoke_subgraph[0]"). Nodes of it get the name of the call and "__" in front of
/// their own. Returns the number of calls replaced. `scratch` keeps the new texts. At most 200,000 statements
/// are added.
size_t inlineSubgraphs(std::vector<FxStatement>& statements,
                       const std::unordered_map<std::string, Subgraph>& graphs,
                       std::deque<std::string>& scratch);

} // namespace gs
