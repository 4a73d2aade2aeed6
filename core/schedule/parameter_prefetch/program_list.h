// A program order in which nodes move in O(1) and "is a before b" is one comparison.
#pragma once

#include "graph/graph.h"

namespace gs {

/// Doubly linked list over a permutation of nodes; every node carries a label that grows along the list.
/// A move takes a label between its new neighbours'; where there is none left, all labels are spread anew
/// (O(n), after some 40 moves to one place at the earliest).
class ProgramList {
public:
    explicit ProgramList(const Order& order);

    bool before(NodeId a, NodeId b) const { return label_[a] < label_[b]; }
    uint64_t label(NodeId id) const { return label_[id]; }
    NodeId first() const { return next_[end()]; }
    /// The node behind `id`; end() behind the last one.
    NodeId next(NodeId id) const { return next_[id]; }
    /// Stands behind the last node: a place to move in front of, later than every node.
    NodeId end() const { return static_cast<NodeId>(next_.size() - 1); }
    /// Takes `id` out and puts it right in front of `place`; nothing happens where both are one.
    void moveBefore(NodeId id, NodeId place);
    Order order() const;

private:
    void link(NodeId a, NodeId b) {
        next_[a] = b;
        previous_[b] = a;
    }
    void spreadLabels();

    std::vector<NodeId> next_, previous_; ///< one more than nodes: the end, which closes the ring
    std::vector<uint64_t> label_;
};

} // namespace gs
