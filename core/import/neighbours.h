// Files that users open by mistake: what they are and what to do instead.
#pragma once

#include <string>
#include <string_view>

namespace gs {

struct Neighbour {
    std::string what; ///< "a Python pickle", "a Kineto or Chrome trace (JSON)", …
    std::string hint; ///< what to do instead
};

/// What nameNeighbour() calls a text without any sign of another kind.
inline constexpr std::string_view kPlainText = "plain text";

/// Names the kind of a text that no graph reader knows, by its content. Always says something.
Neighbour nameNeighbour(std::string_view text);

} // namespace gs
