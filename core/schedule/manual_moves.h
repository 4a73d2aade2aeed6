// Moves made by hand: what moves along, where it may go and why not further, and the schedule with the edits
// in it.
#pragma once

#include "schedule/scheduler.h"

namespace gs {

/// What moves when `node` is moved: a gather's launch takes its unpacks and its private preparation along (as
/// every scheduler moves it), another launch its unpacks; any other node goes alone. In program order.
std::vector<NodeId> movingGroup(const Graph& graph, const CollectiveTable& collectives, NodeId node);

/// Where a group may stand. Positions are those of the order: position p = right before the node now at p.
struct MoveRange {
    uint32_t first = 0; ///< lowest legal position
    uint32_t last = 0;  ///< highest legal position
    BrokenEdge lower;   ///< edge that a place before `first` would break; {kNoNode, kNoNode}: the inputs
    BrokenEdge upper;   ///< edge that a place behind `last` would break; {kNoNode, kNoNode}: the end
};
/// O(nodes + edges).
MoveRange legalRange(const Graph& graph, const Order& order, const std::vector<NodeId>& group);
/// Why `position` is illegal, in words that name the edge; empty if it is legal.
std::string refusal(const Graph& graph, const MoveRange& range, uint32_t position);

/// `order` with the group standing together in front of the node at `position`.
Order withGroupAt(const Order& order, const std::vector<NodeId>& group, uint32_t position);

/// Need, window and verdict of a gather that is not where its scheduler had it: the window is the compute
/// between the launch and the first of its waits in `order`. Carry and claims no longer hold.
void judgeAnew(const ScheduleInput& input, const Order& order, Decision& decision);

/// Node of this name, or what a pass made of it (a bucket for its member), launches first; kNoNode if none.
NodeId resolveNode(const Graph& graph, std::string_view name);

/// Puts the edits' placements into a finished schedule. An edit that would break an edge, or whose nodes the
/// graph lacks, changes nothing and is a Warning ("edit-refused", "edit-unknown-node"). Decisions of edited
/// gathers get the reason ByHand and a verdict from the compute between launch and wait in the new order.
void applyEdits(const ScheduleInput& input, const Edits& edits, Schedule& schedule);

} // namespace gs
