// Short names of operators and modules for boxes.
#pragma once

#include "graph/graph.h"

#include <span>
#include <string>
#include <string_view>

namespace gs {

/// What a node does, in a word: "cast", "pad", "all_gather", "wait_tensor", "mm".
std::string opLabel(const Graph& graph, NodeId id);
/// Module path of a node; of a parameter the path in front of its last name. Empty if the input has none.
std::string_view moduleOf(const Graph& graph, NodeId id);
/// Longest module path that at least `share` of the nodes with a module are in ("layers.8"); empty if none
/// is. With 1, the path that all share.
std::string commonModule(const Graph& graph, std::span<const NodeId> nodes, double share = 1.0);
/// Last two parts of a path: "layers.8.feed_forward.w1" → "feed_forward.w1".
std::string_view shortModule(std::string_view module);
/// What a portal says: "↑ saved by" (forward → backward), "↑ from", "↓ saved for", "↓ to", and the module or
/// node at its other end.
struct PortalLabel {
    std::string what, where;
    auto operator<=>(const PortalLabel&) const = default;
};
PortalLabel portalLabel(const Graph& graph, NodeId at, NodeId other, bool up);

} // namespace gs
