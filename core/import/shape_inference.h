// Shapes of nodes from the shapes of a graph's inputs: texts such as fx_graph_runnable print only those.
#pragma once

#include "graph/graph_builder.h"

namespace gs {

/// Gives every call without a value the shape and dtype that its operator yields, where the operator is known
/// (the ATen operators of training graphs and the functional collectives) and its inputs have shapes. Strides
/// are not inferred. Returns the number of calls that stay without. O(nodes + sizes).
size_t inferShapes(GraphBuilder& builder);

} // namespace gs
