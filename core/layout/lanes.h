// Layout without a solver: a program order is a list, so a node's row is its schedule position and its column
// the kind of work it is. Works for any size; also the stand-in where Graphviz cannot answer.
#pragma once

#include "layout/layout_graph.h"
#include "layout/placement.h"

#include <array>
#include <span>

namespace gs {

enum class Lane : uint8_t { Parameters, Communication, Waits, Compute };
inline constexpr size_t kLaneCount = 4;

Lane laneOf(const Graph& graph, NodeId node);

/// How a box of the lanes is painted, and what its bands count.
enum class LaneShade : uint8_t { Parameter, Gather, Collective, Wait, View, Compute };
inline constexpr size_t kLaneShades = 6;

struct LaneLink {
    uint32_t from = 0, to = 0; ///< rows
    LinkKind kind = LinkKind::Data;
};

/// A launch and where its row is now and was in the order that the scheduler was given.
struct LaneMove {
    uint32_t row = 0;
    uint32_t from_row = 0; ///< row of the node that used to follow the launch
};

/// All rows of a program. Rows are schedule positions; every array is sorted by row.
struct LaneLayout {
    GraphPtr graph;
    Order order;
    std::vector<uint32_t> row_of; ///< by node
    std::vector<Lane> lanes;      ///< by row
    std::vector<LaneShade> shades;
    std::vector<LaneLink> links;             ///< spanning at most kMaxLaneSpan rows, by `from`
    std::vector<LaneLink> transfers;         ///< launch → wait, any span, by `from`
    std::vector<LaneMove> moves;             ///< launches that the schedule moved
    size_t portals = 0;                      ///< links longer than kMaxLaneSpan, drawn only for the selection
    std::vector<uint8_t> long_up, long_down; ///< by row: has such a link to above, to below
    /// counts[shade][row] = boxes of that shade above the row; one entry more than rows. Bands of any zoom
    /// are differences of two entries.
    std::array<std::vector<uint32_t>, kLaneShades> counts;

    size_t rows() const { return order.size(); }
};

/// Longer links than this are portals.
inline constexpr uint32_t kMaxLaneSpan = 48;

/// `weight_gather[node]` ≠ 0: launch of a weight gather. O(nodes + edges).
LaneLayout makeLanes(const GraphPtr& graph, Order order, const std::vector<uint8_t>& weight_gather);

/// Adds the moves of launches from where they were in `given` (positions = node ids of the graph).
void addMoves(LaneLayout& lanes, std::span<const NodeId> launches, const Order& given);

/// Lanes for the few boxes of a focus or module picture: a row each in schedule order, lanes as indents so
/// that the picture stays narrow, links that skip rows in a gutter on the right. No two boxes overlap.
Placement placeInLanes(const LayoutGraph& picture, std::span<const LayoutSize> sizes);

} // namespace gs
