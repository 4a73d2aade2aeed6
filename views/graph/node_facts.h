// Full facts about nodes and boxes, for tooltips.
#pragma once

#include "analysis/analysis.h"
#include "layout/layout_graph.h"

#include <QString>

namespace gs {

/// Rich text: name, operator, value, module, source, position before and after, cost with provenance; of a
/// gather bytes, group, need, window and verdict, too.
QString nodeFacts(const Analysis& analysis, bool after, NodeId node);
/// A box with several nodes: what they are, where, how much compute. A portal: where it leads.
QString boxFacts(const Analysis& analysis, bool after, const LayoutBox& box);

} // namespace gs
