// The readers that registry.cpp lists, one file each.
#pragma once

#include "import/importer.h"

namespace gs {

GraphReader gatherscopeJsonReader(); ///< our own complete form (json_reader.cpp)

} // namespace gs
