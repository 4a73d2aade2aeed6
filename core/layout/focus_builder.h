// Builds one focus picture: milestones in schedule order, what lies between them, links and portals.
#pragma once

#include "layout/focus.h"

namespace gs {

class FocusBuilder {
public:
    FocusBuilder(const Graph& graph, const Order& order, const FocusOptions& options);

    /// Adds a box; nodes that have one already are left out. Nothing if none is left or the picture is full.
    /// Returns its index before sorting, or -1.
    int addBox(BoxRole role, std::vector<NodeId> nodes, NodeId place_at, std::string title,
               std::string detail = {});
    LayoutBox& box(int index) { return picture_.boxes[static_cast<size_t>(index)]; }
    /// Folds what lies between neighbouring boxes inside [first, last] (schedule positions).
    void foldBetween(uint32_t first, uint32_t last);
    /// Sorts, links and returns the picture.
    LayoutGraph finish(bool spine);

    uint32_t position(NodeId node) const { return position_[node]; }
    bool has(NodeId node) const { return owner_[node] >= 0; }

private:
    void addWindow(uint32_t begin, uint32_t end);
    void addFolded(std::vector<NodeId> nodes, bool whole_window);
    void sortBoxes();
    void linkBoxes();
    void linkSpine();
    void linkOutside();
    void addLink(int from, int to, LinkKind kind);
    int producerBox(NodeId input) const;

    const Graph& graph_;
    const Order& order_;
    FocusOptions options_;
    std::vector<uint32_t> position_;
    std::vector<int32_t> owner_; ///< node → box, -1 = outside
    LayoutGraph picture_;
};

} // namespace gs
