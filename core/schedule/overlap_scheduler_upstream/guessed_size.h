// Sizes that nobody knows, as PyTorch guesses them.
#pragma once

#include "graph/graph.h"

namespace gs {

/// Elements of a tensor; each symbol without a hint counts as 4096 × 4096. Cut at a quarter of kHugeSize.
/// Source: get_fx_node_size_numel of comm_analysis.py, PyTorch 2.15.
int64_t guessedElements(const Graph& graph, const TensorMeta& tensor);

} // namespace gs
