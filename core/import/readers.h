// The readers that registry.cpp lists, one file each.
#pragma once

#include "import/importer.h"

namespace gs {

GraphReader gatherscopeJsonReader(); ///< our own complete form (json_reader.cpp)
GraphReader fxCodeReader();          ///< print_readable, TORCH_LOGS and TORCH_TRACE (fx_code.cpp)
GraphReader fxGraphReader();         ///< print(graph) (fx_graph.cpp)

} // namespace gs
