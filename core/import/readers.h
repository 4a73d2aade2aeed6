// The readers that registry.cpp lists, one file each.
#pragma once

#include "import/importer.h"

namespace gs {

GraphReader gatherscopeJsonReader(); ///< our own complete form (json_reader.cpp)
GraphReader bundleReader();          ///< gatherscope.bundle (bundle_reader.cpp)
GraphReader fxCodeReader();          ///< print_readable, TORCH_LOGS and TORCH_TRACE (fx_code.cpp)
GraphReader fxGraphReader();         ///< print(graph) (fx_graph.cpp)
GraphReader fxTableReader();         ///< print_tabular (fx_table.cpp)
GraphReader inductorIrReader();      ///< ir_pre_fusion, ir_post_fusion (inductor_ir.cpp)
GraphReader inductorCodeReader();    ///< output_code.py (inductor_code.cpp)

} // namespace gs
