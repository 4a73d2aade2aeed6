// Reads the setting `shared_links`.
#pragma once

#include "graph/graph.h"
#include "simulate/timeline.h"

namespace gs {

/// "0+1,2+3": groups 0 and 1 share one link, 2 and 3 another; "none" = no sharing. Names that the graph lacks
/// are diagnostics.
std::vector<std::vector<GroupId>> parseSharedLinks(const Graph& graph, std::string_view text,
                                                   Diagnostics& diagnostics);

} // namespace gs
