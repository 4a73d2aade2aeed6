#include "graph/order_edges.h"

#include <unordered_map>

namespace gs {

namespace {

class Finder {
public:
    Finder(const Graph& graph, const std::vector<std::pair<NodeId, NodeId>>& extra_writes)
        : graph_(graph), root_(graph.size()), last_write_(graph.size(), kNoNode),
          written_(graph.size(), false) {
        for (const auto& [node, storage] : extra_writes)
            extra_writes_[node].push_back(storage);
    }

    std::vector<std::pair<NodeId, OrderEdge>> run() {
        markWrittenRoots();
        for (NodeId id = 0; id < graph_.size(); ++id) {
            readInputs(id);
            for (NodeId written : writes_)
                write(id, written);
            orderAgainstBarriers(id);
        }
        return std::move(edges_);
    }

private:
    /// Roots of storages and which of them are ever written; only those need their readers remembered.
    void markWrittenRoots() {
        for (NodeId id = 0; id < graph_.size(); ++id) {
            collectWrites(id);
            root_[id] = id;
            if (!writes_.empty())
                root_[id] = root_[writes_.front()];
            else if (sharesFirstInput(id))
                root_[id] = root_[graph_.inputs(id).front()];
            for (NodeId written : writes_)
                written_[root_[written]] = true;
        }
    }

    bool sharesFirstInput(NodeId id) const {
        const NodeKind kind = graph_.node(id).kind;
        return !graph_.inputs(id).empty() &&
               (kind == NodeKind::View || kind == NodeKind::Wait || kind == NodeKind::Unpack);
    }

    bool waitsForGraphInput(NodeId id) const {
        if (graph_.node(id).kind != NodeKind::Wait || graph_.inputs(id).empty())
            return false;
        const NodeId waited = graph_.inputs(id).front();
        const NodeOp op = graph_.node(root_[waited]).op;
        if (graph_.node(waited).kind == NodeKind::Launch)
            return false;
        return op == NodeOp::Placeholder || op == NodeOp::GetAttr;
    }

    void collectWrites(NodeId id) {
        writes_.clear();
        if (graph_.isCall(id) && (graph_.node(id).traits & (kTraitMutable | kTraitFree)) != 0) {
            const OpTraits& traits = graph_.target(id).traits;
            for (uint8_t index : traits.mutated_args)
                addNodes(graph_.arg(id, index));
            for (const std::string& name : traits.mutated_kwargs)
                addNodes(graph_.kwarg(id, name));
        }
        if (waitsForGraphInput(id)) // a collective that eager code launched writes it until then
            writes_.push_back(graph_.inputs(id).front());
        if (extra_writes_.empty())
            return;
        if (const auto found = extra_writes_.find(id); found != extra_writes_.end())
            writes_.insert(writes_.end(), found->second.begin(), found->second.end());
    }

    void addNodes(const Arg* arg) {
        if (!arg)
            return;
        if (arg->kind == Arg::Kind::Node)
            writes_.push_back(arg->node());
        else if (arg->kind == Arg::Kind::List)
            for (const Arg& child : graph_.children(*arg))
                addNodes(&child);
    }

    void readInputs(NodeId id) {
        collectWrites(id);
        for (NodeId input : graph_.inputs(id)) {
            const NodeId root = root_[input];
            if (!written_[root])
                continue;
            addEdge(id, last_write_[root], EdgeKind::Mutation, input);
            reads_[root].push_back(id);
        }
    }

    void write(NodeId id, NodeId written) {
        const NodeId root = root_[written];
        const EdgeKind kind = graph_.node(id).kind == NodeKind::Free ? EdgeKind::Effect : EdgeKind::Mutation;
        addEdge(id, last_write_[root], kind, written);
        for (NodeId reader : reads_[root])
            addEdge(id, reader, kind, written);
        reads_[root].clear();
        last_write_[root] = id;
    }

    void orderAgainstBarriers(NodeId id) {
        const NodeKind kind = graph_.node(id).kind;
        const bool is_barrier = kind == NodeKind::Barrier;
        if (!is_barrier && kind != NodeKind::Launch && kind != NodeKind::Wait && writes_.empty())
            return;
        addEdge(id, last_barrier_, EdgeKind::Effect, kNoNode);
        if (is_barrier) {
            for (NodeId before : since_barrier_)
                addEdge(id, before, EdgeKind::Effect, kNoNode);
            since_barrier_.clear();
            last_barrier_ = id;
        } else {
            since_barrier_.push_back(id);
        }
    }

    /// `argument`: the input through which the edge arises; an edge to it is a plain data edge already.
    void addEdge(NodeId id, NodeId before, EdgeKind kind, NodeId argument) {
        if (before == kNoNode || before == id || before == argument)
            return;
        edges_.emplace_back(id, OrderEdge{before, kind});
    }

    const Graph& graph_;
    std::unordered_map<NodeId, std::vector<NodeId>> extra_writes_;
    std::vector<std::pair<NodeId, OrderEdge>> edges_;
    std::vector<NodeId> root_;
    std::vector<NodeId> last_write_;
    std::unordered_map<NodeId, std::vector<NodeId>>
        reads_; ///< readers since the last write, of written storages
    std::vector<bool> written_;
    std::vector<NodeId> writes_;
    std::vector<NodeId> since_barrier_;
    NodeId last_barrier_ = kNoNode;
};

} // namespace

std::vector<std::pair<NodeId, OrderEdge>>
findOrderEdges(const Graph& graph, const std::vector<std::pair<NodeId, NodeId>>& extra_writes) {
    return Finder(graph, extra_writes).run();
}

std::string_view edgeKindName(EdgeKind kind) {
    switch (kind) {
    case EdgeKind::Data:
        return "data";
    case EdgeKind::Mutation:
        return "mutation";
    case EdgeKind::Effect:
        return "effect";
    case EdgeKind::Advisory:
        return "advisory";
    }
    return "data";
}

} // namespace gs
