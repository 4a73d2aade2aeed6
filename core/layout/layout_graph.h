// Neutral picture of a part of a program: boxes and links before anything is measured, placed or painted.
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace gs {

/// What a box stands for; decides how it is painted.
enum class BoxRole : uint8_t {
    Parameter,  ///< graph inputs
    Gather,     ///< launch of a weight gather with its private preparation
    Collective, ///< any other launch
    Wait,
    View, ///< views, unpacks, frees, the output: nothing that takes time
    Compute,
    Folded, ///< several nodes in one box
    Portal  ///< stub of a link whose other end is far away
};
/// "parameter", "gather", …
std::string_view boxRoleName(BoxRole role);

/// Order = the schedule alone: the two boxes follow each other in program order.
enum class LinkKind : uint8_t { Data, Effect, Advisory, Order };
/// "data", "effect", …
std::string_view linkKindName(LinkKind kind);

struct LayoutBox {
    std::string id;     ///< unique in the picture and stable from one picture of a program to the next
    std::string title;  ///< first line
    std::string detail; ///< second line, or continued on the first; may be empty
    BoxRole role = BoxRole::Compute;
    bool focus = false;        ///< stands for the node the picture is about
    bool floor = false;        ///< the node that stops the focus from moving up
    uint32_t position = 0;     ///< schedule position of what the box stands for; boxes are sorted by it
    std::vector<NodeId> nodes; ///< in schedule order; of a portal the nodes at the other end
    std::string module;        ///< module path of a folded box, key of fold.h
    uint32_t owner = 0;        ///< portal: box that it hangs on
};

struct LayoutLink {
    uint32_t from = 0, to = 0; ///< indices of boxes
    LinkKind kind = LinkKind::Data;
    bool spine = false; ///< joins two boxes that follow each other; kept straight

    bool operator==(const LayoutLink&) const = default;
};

struct LayoutGraph {
    std::vector<LayoutBox> boxes;
    std::vector<LayoutLink> links; ///< distinct
    size_t hidden_portals = 0;     ///< links to nodes outside the picture that are counted, not drawn

    /// Index of the box that stands for a node, portals aside; -1 if none.
    int boxOf(NodeId node) const;
    size_t portals() const;
};

/// Replaces every link other than order that spans more than `max_ranks` ranks by a portal at each end, one
/// per box and direction. Such links are what Graphviz cannot lay out in time (measured: 385 nodes take 37 s
/// with them, 0.14 s without). Ranks = longest paths from top to bottom over forward links.
void replaceLongLinks(LayoutGraph& picture, const Graph& graph, uint32_t max_ranks = 16);

} // namespace gs
