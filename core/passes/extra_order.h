// Order between nodes beyond data: which must come before which, for reasons that the graph does not state.
#pragma once

#include "base/ids.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gs {

/// A set of pairs (before, after) that remembers in which order they were added. Few pairs per node.
class ExtraOrder {
public:
    struct Link {
        NodeId node = kNoNode;
        uint64_t number = 0; ///< grows with every pair added
    };

    explicit ExtraOrder(size_t nodes) : before_(nodes), after_(nodes) {}

    void resize(size_t nodes) {
        before_.resize(nodes);
        after_.resize(nodes);
    }
    size_t size() const { return before_.size(); }
    /// Nodes that must come before `node`, in the order they were added.
    const std::vector<Link>& before(NodeId node) const { return before_[node]; }
    const std::vector<Link>& after(NodeId node) const { return after_[node]; }
    bool has(NodeId before, NodeId after) const;
    void add(NodeId before, NodeId after);
    void remove(NodeId before, NodeId after);
    void clear(NodeId node);
    /// All pairs in the order they were added.
    std::vector<std::pair<NodeId, NodeId>> all() const;

private:
    std::vector<std::vector<Link>> before_, after_;
    uint64_t next_ = 0;
};

} // namespace gs
