// Whole programs folded by module path until they are small enough for Graphviz.
#pragma once

#include "layout/dot_writer.h"
#include "layout/layout_graph.h"

#include <set>
#include <string>

namespace gs {

struct FoldOptions {
    /// Modules that the user unfolded, as LayoutBox::module. Empty = only what folds by default.
    std::set<std::string> unfolded;
    size_t default_boxes = 200; ///< modules are unfolded level by level while the picture stays below this
    size_t max_boxes = kMaxDotBoxes; ///< portals included; never exceeded
    uint32_t max_ranks = 16;         ///< longer links become portals
};

struct FoldedGraph {
    LayoutGraph picture;
    std::set<std::string> refused; ///< unfolded modules that would not have fitted
};

/// One box per module and phase (forward and backward apart, since most module paths occur in both), down to
/// single nodes inside modules that are unfolded and have no parts. Keys end in "@b" for backward.
/// Deterministic. O((nodes + edges) × levels).
FoldedGraph foldByModule(const Graph& graph, const Order& order, const FoldOptions& options);

} // namespace gs
