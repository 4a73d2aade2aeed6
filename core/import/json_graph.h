// Parts of the reader of `gatherscope.graph` that the reader of bundles shares.
#pragma once

#include "import/importer.h"

#include <simdjson.h>

namespace gs {

/// The graph of a parsed object; `nodes` is its array. `file` is for messages. The lines of the nodes are
/// what they state themselves ("line"), else unknown.
GraphPtr graphOfJson(const simdjson::dom::object& root, const simdjson::dom::array& nodes,
                     const std::string& file, Diagnostics& diagnostics);

/// Level and counts by looking at the text.
GraphEntry jsonGraphEntry(std::string_view text);

} // namespace gs
