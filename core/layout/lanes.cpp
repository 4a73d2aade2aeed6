#include "layout/lanes.h"

#include <algorithm>
#include <numeric>

namespace gs {

namespace {

constexpr double kRowGap = 24, kIndent = 22, kGutterStep = 7;

LaneShade shadeOf(const Graph& graph, NodeId node, bool weight_gather) {
    switch (graph.node(node).kind) {
    case NodeKind::Placeholder:
    case NodeKind::GetAttr:
        return LaneShade::Parameter;
    case NodeKind::Launch:
        return weight_gather ? LaneShade::Gather : LaneShade::Collective;
    case NodeKind::Wait:
        return LaneShade::Wait;
    case NodeKind::Compute:
        return LaneShade::Compute;
    default:
        return LaneShade::View;
    }
}

Lane laneOfBox(BoxRole role) {
    switch (role) {
    case BoxRole::Parameter:
        return Lane::Parameters;
    case BoxRole::Gather:
    case BoxRole::Collective:
        return Lane::Communication;
    case BoxRole::Wait:
        return Lane::Waits;
    default:
        return Lane::Compute;
    }
}

std::vector<LayoutPoint> straight(LayoutPoint a, LayoutPoint b) {
    const auto at = [&](double t) { return LayoutPoint{a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; };
    return {a, at(1.0 / 3), at(2.0 / 3), b};
}

} // namespace

Lane laneOf(const Graph& graph, NodeId node) {
    switch (graph.node(node).kind) {
    case NodeKind::Placeholder:
    case NodeKind::GetAttr:
        return Lane::Parameters;
    case NodeKind::Launch:
    case NodeKind::Barrier:
        return Lane::Communication;
    case NodeKind::Wait:
    case NodeKind::Unpack:
        return Lane::Waits;
    default:
        return Lane::Compute;
    }
}

LaneLayout makeLanes(const GraphPtr& graph, Order order, const std::vector<uint8_t>& weight_gather) {
    LaneLayout out;
    const size_t rows = order.size();
    out.graph = graph;
    out.order = std::move(order);
    out.row_of = positionsOf(out.order);
    out.lanes.resize(rows);
    out.shades.resize(rows);
    out.long_up.assign(rows, 0);
    out.long_down.assign(rows, 0);
    for (auto& counts : out.counts)
        counts.assign(rows + 1, 0);

    const auto link = [&](NodeId before, uint32_t row, LinkKind kind) {
        const uint32_t from = out.row_of[before];
        const NodeId node = out.order[row];
        if (graph->node(node).kind == NodeKind::Wait && graph->node(before).kind == NodeKind::Launch) {
            out.transfers.push_back({from, row, kind});
        } else if (from < row && row - from <= kMaxLaneSpan) {
            out.links.push_back({from, row, kind});
        } else {
            ++out.portals;
            out.long_up[row] = out.long_down[from] = 1;
        }
    };
    for (uint32_t row = 0; row < rows; ++row) {
        const NodeId node = out.order[row];
        out.lanes[row] = laneOf(*graph, node);
        out.shades[row] = shadeOf(*graph, node, node < weight_gather.size() && weight_gather[node] != 0);
        for (size_t shade = 0; shade < kLaneShades; ++shade)
            out.counts[shade][row + 1] =
                out.counts[shade][row] + (static_cast<size_t>(out.shades[row]) == shade ? 1 : 0);
        if (graph->node(node).kind == NodeKind::Output)
            continue; // it uses everything; links to it tell nothing
        for (NodeId input : graph->inputs(node))
            link(input, row, LinkKind::Data);
        for (const OrderEdge& edge : graph->orderEdges(node))
            link(edge.node, row, edge.kind == EdgeKind::Effect ? LinkKind::Effect : LinkKind::Data);
        for (NodeId weak : graph->weakInputs(node))
            link(weak, row, LinkKind::Advisory);
    }
    const auto by_from = [](const LaneLink& a, const LaneLink& b) { return a.from < b.from; };
    std::stable_sort(out.links.begin(), out.links.end(), by_from);
    std::stable_sort(out.transfers.begin(), out.transfers.end(), by_from);
    return out;
}

void addMoves(LaneLayout& lanes, std::span<const NodeId> launches, const Order& given) {
    const std::vector<uint32_t> then = positionsOf(given);
    for (NodeId launch : launches) {
        // Its old place is in front of the node that used to follow it and stayed: its wait, in most
        // programs.
        uint32_t next = then[launch] + 1;
        while (next < given.size() && lanes.lanes[lanes.row_of[given[next]]] == Lane::Communication)
            ++next;
        if (next < given.size())
            lanes.moves.push_back({lanes.row_of[launch], lanes.row_of[given[next]]});
    }
    std::sort(lanes.moves.begin(), lanes.moves.end(),
              [](const LaneMove& a, const LaneMove& b) { return a.row < b.row; });
}

Placement placeInLanes(const LayoutGraph& picture, std::span<const LayoutSize> sizes) {
    Placement out;
    const size_t count = picture.boxes.size();
    std::vector<uint32_t> rows(count), row_of(count);
    std::iota(rows.begin(), rows.end(), 0U);
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
        return picture.boxes[a].position < picture.boxes[b].position;
    });
    std::array<bool, kLaneCount> used{};
    for (const LayoutBox& box : picture.boxes)
        used[static_cast<size_t>(laneOfBox(box.role))] = true;
    std::array<double, kLaneCount> indent{};
    for (size_t lane = 1; lane < kLaneCount; ++lane)
        indent[lane] = indent[lane - 1] + (used[lane - 1] ? kIndent : 0);

    out.boxes.resize(count);
    double y = 0, right = 0;
    for (uint32_t row = 0; row < count; ++row) {
        const uint32_t box = rows[row];
        row_of[box] = row;
        const double x = indent[static_cast<size_t>(laneOfBox(picture.boxes[box].role))];
        out.boxes[box] = {x, y, sizes[box].width, sizes[box].height};
        y += sizes[box].height + kRowGap;
        right = std::max(right, x + sizes[box].width);
    }
    out.height = std::max(0.0, y - kRowGap);
    size_t gutters = 0;
    for (const LayoutLink& link : picture.links) {
        const LayoutRect& a = out.boxes[link.from];
        const LayoutRect& b = out.boxes[link.to];
        if (row_of[link.to] == row_of[link.from] + 1) {
            const double left = std::max(a.x, b.x), end = std::min(a.x + a.width, b.x + b.width);
            const double x = (left + end) / 2;
            out.links.push_back(straight({x, a.y + a.height}, {x, b.y}));
            continue;
        }
        const double x = right + 14 + kGutterStep * static_cast<double>(gutters % 8);
        ++gutters;
        const LayoutPoint start{a.x + a.width, a.y + a.height / 2}, finish{b.x + b.width, b.y + b.height / 2};
        out.links.push_back({start, {x, start.y}, {x, finish.y}, finish});
    }
    out.width =
        right + (gutters == 0 ? 0 : 14 + kGutterStep * static_cast<double>(std::min<size_t>(gutters, 8)));
    return out;
}

} // namespace gs
