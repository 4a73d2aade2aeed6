// Which operators fuse, and how: the section "fusion" of resources/op_traits.json.
#pragma once

#include "graph/graph.h"

#include <optional>
#include <string_view>

namespace gs {

/// What an operator is to a fused kernel.
struct FusionRule {
    enum class Kind : uint8_t { None, Pointwise, Fill, Reduction };
    Kind kind = Kind::None;
    bool reshape = false;     ///< a view that keeps the order of the elements, or repeats them
    int8_t dim_arg = -1;      ///< position of the reduced dimensions; absent there = all
    int8_t trailing_arg = -1; ///< position of the sizes of the reduced trailing dimensions
};

/// Rule of an operator by its target; overloads fall back to the packet. `traits` are the node's: what the
/// traits call pointwise is so here too. Thread-safe.
FusionRule fusionRule(std::string_view target, uint16_t traits);

/// One node of a fused kernel: what it iterates over.
struct FusionStep {
    int64_t numel = 0; ///< of what it reads and writes elementwise
    int64_t rows =
        -1; ///< of a reduction: numel without the reduced trailing dimensions; -1 = reduces nothing
    bool fill = false; ///< reads nothing: a constant that any shape can use
};

/// Nothing for a node that no kernel fuses: another operator, unknown or symbolic sizes, a dtype without
/// arithmetic, an operand on another device, reduced dimensions that are not the last ones.
std::optional<FusionStep> fusionStep(const Graph& graph, NodeId id, const FusionRule& rule);

} // namespace gs
