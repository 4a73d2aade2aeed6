// Reads what `dot -Tplain` writes (Graphviz manual, "Plain-text file format").
#pragma once

#include "base/result.h"
#include "layout/layout_graph.h"
#include "layout/placement.h"

#include <string_view>

namespace gs {

/// Placement of `picture` from dot's answer to writeLayoutDot(). Checked: every box once, every link once
/// with its own ends, finite coordinates, the closing "stop". Anything else is the error "bad-layout"; the
/// text may be garbage of any kind and size.
Result<Placement> readPlain(std::string_view text, const LayoutGraph& picture);

} // namespace gs
