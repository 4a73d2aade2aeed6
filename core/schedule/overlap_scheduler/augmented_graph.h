// A graph with extra dependencies in which nodes can be merged and asked for paths.
#pragma once

#include "graph/graph.h"

#include <utility>

namespace gs {

/// `before` must come before `after`.
struct ExtraEdge {
    NodeId before = kNoNode;
    NodeId after = kNoNode;
};

class AugmentedGraph {
public:
    /// Ancestors are those of the graph with `edges`; they are kept for `rows` only: nodes × rows bits.
    /// `order` is a topological order of both. The edges themselves are extra dependencies too.
    AugmentedGraph(const Graph& graph, const Order& order, std::span<const ExtraEdge> edges,
                   const std::vector<NodeId>& rows);

    /// `of` is one of the rows. Merges and later dependencies do not count.
    bool isAncestor(NodeId ancestor, NodeId of) const {
        const uint64_t* row = bits_.data() + static_cast<size_t>(row_of_[of]) * words_;
        return (row[ancestor / 64] >> (ancestor % 64) & 1) != 0;
    }
    void addDependency(NodeId after, NodeId before);
    void removeDependency(NodeId after, NodeId before);
    /// Extra dependencies of a node.
    const std::vector<NodeId>& extra(NodeId id) const { return extra_[id]; }

    /// `added` must be in no set yet.
    void merge(NodeId existing, NodeId added);
    /// Takes the node that was merged last out again.
    void unmerge(NodeId last);
    /// Is there a path between two sets of merged nodes? Both nodes are rows.
    bool hasPath(NodeId source, NodeId target);
    /// Name of the node's set: its first node.
    NodeId set(NodeId id) const { return set_[id]; }

private:
    void findAncestors(const Order& order, const std::vector<NodeId>& rows);
    bool leadsToSource(NodeId node, NodeId source) const;

    const Graph& graph_;
    std::vector<std::vector<NodeId>> extra_;
    std::vector<NodeId> set_;
    std::vector<std::vector<NodeId>> members_; ///< per first node of a set
    std::vector<int32_t> row_of_;
    size_t words_ = 0;
    std::vector<uint64_t> bits_;
    std::vector<uint32_t> seen_;
    std::vector<NodeId> stack_;
    uint32_t stamp_ = 0;
};

} // namespace gs
