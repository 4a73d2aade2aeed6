// Index types. Nodes, strings and groups are indices into arrays; nothing in the core compares strings or
// follows per-node pointers in a pass.
#pragma once

#include <cstdint>
#include <limits>

namespace gs {

using NodeId = uint32_t;   ///< Index of a node in its graph; also its position in program order.
using StringId = uint32_t; ///< Index into a StringPool. 0 is the empty string.
using TargetId = uint32_t; ///< Index into a graph's target table.
using GroupId = uint32_t;  ///< Index into a graph's process-group table.

inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();
inline constexpr GroupId kNoGroup = std::numeric_limits<GroupId>::max();
inline constexpr StringId kEmptyString = 0;

} // namespace gs
