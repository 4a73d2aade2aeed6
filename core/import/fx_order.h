// Statements of a graph in code form and the order their names ask for.
#pragma once

#include "import/fx_text.h"

#include <string_view>
#include <vector>

namespace gs {

/// One statement: a node, a pytree line or the return.
struct FxStatement {
    std::string_view text; ///< one line, or several joined by '\n'
    uint32_t line = 0;
    uint32_t column = 1;
    CommentFacts comment; ///< of the comment above it
};

/// Positions of the statements so that each comes behind those that define the names it uses, otherwise in
/// the order of the text. Statements in a cycle come last, in the order of the text. O(text).
std::vector<size_t> dependencyOrder(const std::vector<FxStatement>& statements);

} // namespace gs
