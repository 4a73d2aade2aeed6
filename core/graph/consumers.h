// What really uses the result of a wait: through views, unpacks and copies into other memory.
#pragma once

#include "graph/graph.h"

namespace gs {

/// Traits of the operator that a node runs: that of auto_functionalized and auto_functionalized_v2 is their
/// first argument.
const OpTraits& effectiveTraits(const Graph& graph, NodeId id);

/// Searches one graph many times; each search is linear in what it visits.
class ConsumerSearch {
public:
    explicit ConsumerSearch(const Graph& graph) : graph_(graph), seen_(graph.size(), 0) {}

    /// Nodes reached from `waits`, in program order. A copy into memory that others read (kTraitHandsOn) is
    /// followed to those that read it afterwards, until it is written again or freed. `input`: the graph
    /// input of a collective in flight at entry, which is read behind its wait ("wait_tensor(y); return y *
    /// y").
    std::vector<NodeId> find(const std::vector<NodeId>& waits, NodeId input = kNoNode);

private:
    /// A value to follow; only users in (after, until) see it.
    struct Reach {
        NodeId value = kNoNode;
        NodeId after = 0;
        NodeId until = kNoNode;
    };

    void visit(const Reach& from, NodeId user);
    bool handsOn(const Reach& from, NodeId user);
    NodeId lifeEnd(NodeId memory, NodeId after) const;

    const Graph& graph_;
    std::vector<uint32_t> seen_;
    uint32_t stamp_ = 0;
    std::vector<Reach> stack_;
    std::vector<NodeId> found_;
};

} // namespace gs
