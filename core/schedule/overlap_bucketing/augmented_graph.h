// A graph with extra edges and with nodes that are taken for one: would merging them close a cycle?
// Source: torch/_inductor/augmented_graph_helper.py of PyTorch 2.15.
#pragma once

#include "schedule/overlap_bucketing/ancestor_bits.h"

namespace gs {

class AugmentedGraph {
public:
    /// `columns`: the nodes that may be merged, without repeats. `hiding`: extra edges that the ancestors
    /// count with; they stay as they are here while order() changes.
    AugmentedGraph(const Order& scheduled, const Dependencies& dependencies, const ExtraOrder& hiding,
                   std::vector<NodeId> columns);

    ExtraOrder& order() { return order_; }
    const ExtraOrder& order() const { return order_; }
    /// `added`, not merged yet, becomes one with `with`.
    void merge(NodeId with, NodeId added);
    void unmerge(NodeId node);
    /// Is there a path through data, extra edges and merged nodes? Nodes that come before the source anyway
    /// are not followed: a path through them would be a cycle.
    bool hasPath(NodeId source, NodeId target);
    /// Is one of two columns an ancestor of the other, before any merge?
    bool related(NodeId a, NodeId b) const { return isAncestor(a, b) || isAncestor(b, a); }

private:
    bool isAncestor(NodeId node, NodeId of) const {
        return ancestors_.isAncestor(node, static_cast<size_t>(column_of_[of]));
    }
    bool visit(NodeId dep, NodeId source, std::vector<NodeId>& stack);
    std::span<const NodeId> setOf(NodeId node) const;

    const Dependencies& dependencies_;
    ExtraOrder order_;
    std::vector<NodeId> columns_;
    std::vector<NodeId> all_;
    std::vector<int32_t> column_of_;
    AncestorBits ancestors_;      ///< of every node, to the columns
    std::vector<int32_t> set_of_; ///< per node, -1 = alone
    std::vector<std::vector<NodeId>> sets_;
    std::vector<uint32_t> seen_;
    uint32_t stamp_ = 0;
};

} // namespace gs
