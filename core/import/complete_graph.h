// Two files of one graph complete each other.
#pragma once

#include "import/importer.h"

namespace gs {

/// `graph` with what it lacks from a second file of the same graph: shapes, dtypes, modules, sources,
/// parameter names, ranks of groups. What both have stays as in `graph`. Adds "completed" (info). Errors:
/// those of importGraph(), "other-graph" with the first node that differs.
Result<GraphPtr> completeGraph(const GraphPtr& graph, const std::string& file, Diagnostics& diagnostics,
                               const JobContext& job);

} // namespace gs
