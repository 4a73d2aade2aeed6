// Floating point operations of an operator from its shapes; a multiply-add counts as two.
// Formulas: torch/utils/flop_counter.py of PyTorch 2.15 (dense, attention masks not considered).
#pragma once

#include "graph/graph.h"

#include <optional>

namespace gs {

/// Whether PyTorch's flop counter has a formula for `target` ("aten.mm.default", "aten.mm",
/// "higher_order.flex_attention").
bool hasFlopFormula(std::string_view target);

/// FLOPs by the formula, symbols by their hints. Saturates at kHugeSize. Nothing if there is no formula, a
/// size is unknown or the shapes do not fit each other. Differs from PyTorch where its count is of other
/// arguments than meant: efficient attention is taken as (batch, sequence, heads, size), and
/// cudnn_convolution is never transposed.
std::optional<int64_t> flopsFromShapes(const Graph& graph, NodeId id);

/// What the file says (Node::flops), else flopsFromShapes().
std::optional<int64_t> flopsOf(const Graph& graph, NodeId id);

} // namespace gs
