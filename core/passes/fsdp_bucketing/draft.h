// A graph while bucketing rewrites it, in the order that PyTorch's fx list would have: for a while users may
// stand before what they use. finish() makes a Graph of it again.
#pragma once

#include "graph/graph_builder.h"
#include "passes/extra_order.h"
#include "passes/fsdp_bucketing/fx_names.h"

#include <string>
#include <unordered_map>

namespace gs {

/// Below the input graph's size: its nodes; from there on: nodes that were added.
using DraftId = uint32_t;

/// What the passes of document 001 tell apart. By target, exactly: overloads beyond these are Other.
enum class DraftOp : uint8_t { Other, AllGather, AllGatherOut, ReduceScatter, AllReduce, Wait, Cast, Add };

struct DraftArg {
    enum class Kind : uint8_t { None, Node, Nodes, Int, Ints, Text, DType, DTypes, Device, Bool };
    Kind kind = Kind::None;
    std::vector<DraftId> nodes;
    std::vector<int64_t> ints;
    StringId text = kEmptyString;
    std::vector<DType> dtypes;
    std::string_view keyword; ///< empty = positional

    static DraftArg node(DraftId id) { return {Kind::Node, {id}, {}, kEmptyString, {}, {}}; }
    static DraftArg list(std::vector<DraftId> ids) {
        return {Kind::Nodes, std::move(ids), {}, kEmptyString, {}, {}};
    }
    static DraftArg number(int64_t value) { return {Kind::Int, {}, {value}, kEmptyString, {}, {}}; }
    static DraftArg numbers(std::vector<int64_t> values) {
        return {Kind::Ints, {}, std::move(values), kEmptyString, {}, {}};
    }
    static DraftArg string(StringId text) { return {Kind::Text, {}, {}, text, {}, {}}; }
    static DraftArg type(DType type) { return {Kind::DType, {}, {}, kEmptyString, {type}, {}}; }
    static DraftArg types(std::vector<DType> types) {
        return {Kind::DTypes, {}, {}, kEmptyString, std::move(types), {}};
    }
    static DraftArg device(StringId text) { return {Kind::Device, {}, {}, text, {}, {}}; }
    static DraftArg flag(bool value) { return {Kind::Bool, {}, {value ? 1 : 0}, kEmptyString, {}, {}}; }
    DraftArg as(std::string_view name) && {
        keyword = name;
        return std::move(*this);
    }
};

/// Group, reduction and size of a collective, as its arguments state them.
struct DraftComm {
    StringId group = kEmptyString; ///< kEmptyString: the argument is no text
    StringId reduce_op = kEmptyString;
    int64_t group_size = 0;
    bool operator==(const DraftComm&) const = default;
};

/// A node to add.
struct DraftNode {
    std::string name;        ///< wanted; see FxNames
    std::string_view target; ///< of static lifetime
    std::vector<DraftArg> args;
    Value value;
    DraftComm comm;              ///< of a collective
    std::vector<NodeId> origins; ///< nodes of the input graph it stands for; module and phase of the first
};

class Draft {
public:
    explicit Draft(const Graph& graph);
    /// The same in another order of its nodes.
    Draft(const Graph& graph, const Order& order);

    const Graph& graph() const { return graph_; }
    size_t size() const { return inputs_.size(); } ///< erased ones included
    bool added(DraftId id) const { return id >= graph_.size(); }
    NodeOp nodeOp(DraftId id) const { return added(id) ? NodeOp::CallFunction : graph_.node(id).op; }
    DraftOp op(DraftId id) const { return op_[id]; }
    std::string_view target(DraftId id) const;
    std::string_view name(DraftId id) const;
    const Value& value(DraftId id) const;
    void setValue(DraftId id, Value value) { value_[id] = std::move(value); }
    DraftComm comm(DraftId id) const;
    /// Distinct inputs in order of arguments; distinct users in no order.
    std::span<const DraftId> inputs(DraftId id) const { return inputs_[id]; }
    std::span<const DraftId> users(DraftId id) const { return users_[id]; }
    bool erased(DraftId id) const { return erased_[id]; }

    DraftId first() const { return next_[kEnd]; }
    DraftId next(DraftId id) const { return next_[id + 1]; }
    DraftId previous(DraftId id) const { return previous_[id + 1]; }
    DraftId end() const { return kNoNode; }
    std::vector<DraftId> order() const;

    DraftId insertBefore(DraftId place, DraftNode node);
    /// All users of `old` read `by` instead.
    void replaceUses(DraftId old, DraftId by);
    /// A node without users.
    void erase(DraftId id);
    /// Puts the contiguous stretch `nodes` into a stable topological order.
    void sortRegion(const std::vector<DraftId>& nodes);
    /// Position of every node in some topological order.
    std::vector<uint32_t> topologicalRanks() const;

    /// The graph in stable topological order. Mutation and effect edges of the input graph are kept; null if
    /// that is impossible.
    GraphPtr finish(Diagnostics& diagnostics) const;
    /// The graph in this order, which must be one that finish() could have. `made`: per node of the draft,
    /// the node of the graph that it or what replaced it became; kNoNode = none.
    GraphPtr finish(const std::vector<DraftId>& order, std::vector<NodeId>& made,
                    Diagnostics& diagnostics) const;
    /// The present nodes in PyTorch's stable topological order with this order between them too; shorter than
    /// the draft if there is a cycle.
    std::vector<DraftId> stableOrder(const ExtraOrder& extra) const;
    /// What the input graph orders beyond arguments, between the nodes that stand for its own now: per node,
    /// those before it.
    std::vector<std::vector<DraftId>> orderEdges() const;

private:
    static constexpr size_t kEnd = 0; ///< links are shifted by one: the end comes first
    void link(DraftId a, DraftId b) {
        next_[a + 1] = b;
        previous_[b + 1] = a;
    }
    DraftId resolve(DraftId id) const;
    /// `blocker(node, is_pending)`: the next input of a node that has to come first, or kNoNode.
    template <typename Blocker>
    std::vector<DraftId> sortedBy(const std::vector<DraftId>& nodes, Blocker blocker) const;
    std::vector<DraftId> sorted(const std::vector<DraftId>& nodes,
                                const std::vector<std::vector<DraftId>>* more) const;
    Arg makeArg(GraphBuilder& builder, const DraftArg& arg, const std::vector<NodeId>& made) const;
    NodeId build(GraphBuilder& builder, DraftId id, const std::vector<NodeId>& made) const;

    const Graph& graph_;
    FxNames names_;
    std::vector<DraftOp> op_;
    std::vector<std::vector<DraftId>> inputs_, users_;
    std::vector<DraftId> next_, previous_; ///< kNoNode + 1 wraps to kEnd
    std::vector<DraftId> replaced_by_;     ///< kNoNode = not replaced
    std::vector<bool> erased_;
    std::vector<DraftNode> added_;
    std::unordered_map<DraftId, Value> value_; ///< of nodes of the input graph that got another
};

} // namespace gs
