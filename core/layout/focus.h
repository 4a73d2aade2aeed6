// The neighbourhood of one node as a small picture, at most kMaxFocusBoxes boxes, whatever the program's
// size.
//
// Of a gather: what it gathers, its launch with private preparation, the node that stops it from moving up
// (floor), the program between launch and wait folded into one box, its wait, its first consumer. All boxes
// are joined in schedule order (spine); data, effect and advisory links run beside it.
// Of any other node: its inputs, itself, its users.
#pragma once

#include "analysis/analysis.h"
#include "layout/layout_graph.h"

namespace gs {

inline constexpr size_t kMaxFocusBoxes = 60;

struct FocusOptions {
    bool portals = false;       ///< draw links to nodes outside as portals instead of counting them
    bool unfold_window = false; ///< one box per run of one module instead of one for the whole window
};

/// Before and after of one selection.
struct FocusPair {
    LayoutGraph before, after;
    bool gather = false;         ///< the node is a launch with a wait
    bool has_decision = false;   ///< the fields below are known
    int64_t moved_up = 0;        ///< nodes; negative = launched later
    int64_t floor_distance = 0;  ///< nodes from the target up to the floor
    NodeId floor_node = kNoNode; ///< in after.graph; kNoNode: the graph's inputs
    std::string subject;         ///< parameter or node name
};

/// Focus of the node `name` of either program. A name that is in neither gives two empty pictures. Waits and
/// unpacks stand for their launch. O(nodes + edges).
FocusPair focusOn(const Analysis& analysis, std::string_view name, const FocusOptions& options);

/// Ids of a node name in both programs, kNoNode where it does not occur. A gather that went into a bucket is
/// found as the bucket, a bucket as its first member.
struct LocatedNode {
    NodeId before = kNoNode, after = kNoNode;
};
LocatedNode locateNode(const Analysis& analysis, std::string_view name);

/// Launch that a node belongs to: itself, or that of its wait or unpack; kNoNode if it belongs to none.
NodeId launchOf(const CollectiveTable& collectives, NodeId node);

/// The program order that a Program shows: its schedule's, or the graph's own without one.
Order programOrder(const Program& program);

} // namespace gs
