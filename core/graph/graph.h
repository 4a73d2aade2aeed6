// The program model: nodes in program order with data, effect and advisory edges (passes.md §1).
// A Graph is immutable; GraphBuilder makes one. NodeId = position in program order.
#pragma once

#include "base/diagnostics.h"
#include "base/ids.h"
#include "base/string_pool.h"
#include "graph/op_traits.h"
#include "graph/tensor_meta.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gs {

enum class NodeOp : uint8_t { Placeholder, GetAttr, CallFunction, CallMethod, CallModule, Output };
/// "placeholder", "get_attr", "call_function", …
std::string_view nodeOpName(NodeOp op);

/// Role of a node in scheduling.
enum class NodeKind : uint8_t {
    Placeholder,
    GetAttr,
    Compute,
    View,
    Unpack,
    Launch,
    Wait,
    Free,
    Barrier,
    Output
};
std::string_view nodeKindName(NodeKind kind);

enum class Phase : uint8_t { Unknown, Forward, Backward };

/// Level of the graph: ATen nodes, or Inductor's scheduler nodes (fused kernels as units).
enum class GraphLevel : uint8_t { Fx, Scheduler };

/// One argument value; lists and dicts refer to a range of the graph's argument array.
struct Arg {
    enum class Kind : uint8_t {
        None,
        Node,
        Int,
        Float,
        Bool,
        String,
        DType,
        Device,
        Layout,
        MemoryFormat,
        Symbol, ///< symbolic integer: text = expression, number = hint (kUnknownSize without)
        Slice,  ///< three children
        List,   ///< children
        Dict,   ///< children: String key, value, String key, value, …
        Repr    ///< anything else, by its text
    };
    Kind kind = Kind::None;
    StringId text = kEmptyString; ///< String, DType, Device, Layout, MemoryFormat, Symbol, Repr
    uint32_t first = 0;           ///< first child (List, Dict, Slice) or the NodeId (Node)
    uint32_t count = 0;           ///< number of children
    union {
        int64_t integer = 0; ///< Int, Bool, hint of Symbol
        double real;         ///< Float
    };

    NodeId node() const { return kind == Kind::Node ? first : kNoNode; }
    bool isInt() const { return kind == Kind::Int || kind == Kind::Symbol; }
};

/// What a node yields.
struct Value {
    enum class Kind : uint8_t { None, Tensor, List, Number, Symbol, Repr };
    Kind kind = Kind::None;
    TensorMeta tensor;            ///< Tensor
    std::vector<Value> items;     ///< List
    StringId text = kEmptyString; ///< Symbol (expression), Repr
    double number = 0;            ///< Number, hint of Symbol

    /// Sum over all tensors in it; kUnknownSize if any is unknown; 0 without tensors.
    int64_t bytes() const;
    /// First tensor in it, or null.
    const TensorMeta* firstTensor() const;
    bool operator==(const Value&) const = default;
};

/// Index into a graph's table of distinct values. 0 = no value.
using ValueId = uint32_t;

/// Metadata that only some inputs carry and only some passes read.
struct NodeMeta {
    StringId fqn = kEmptyString;             ///< placeholder: parameter name
    StringId param_name = kEmptyString;      ///< FSDP tag
    StringId comm_type = kEmptyString;       ///< FSDP tag
    StringId bucket_id = kEmptyString;       ///< FSDP tag: fsdp_bucket_id
    StringId bucket_copy_out = kEmptyString; ///< FSDP tag: fsdp_bucket_copy_out
    std::vector<StringId> bucket_members;    ///< FSDP tag
    int64_t unsharded_bytes = kUnknownSize;  ///< FSDP tag: fsdp_unsharded_nbytes
    int64_t seq_nr = -1;
    StringId desc_json = kEmptyString; ///< DTensor placements, closures (lowering reads them), as JSON
    bool autograd_backward = false;
    bool has_autograd_backward = false;
    bool recompute = false;
    StringId original_aten = kEmptyString;
};

struct Target {
    StringId text = kEmptyString;
    OpTraits traits; ///< copy, with what the file's own tags add
};

struct Node {
    StringId name = kEmptyString;
    TargetId target = 0;
    NodeOp op = NodeOp::CallFunction;
    NodeKind kind = NodeKind::Compute;
    uint16_t traits = 0; ///< OpTrait bits: the target's, or the file's tags where it has them
    Phase phase = Phase::Unknown;
    bool moved_by_pass = false; ///< made or changed by a pass; origins() tells from what
    ValueId value = 0;
    StringId module = kEmptyString;
    StringId source = kEmptyString; ///< "file:line code"
    Arg args;                       ///< a List
    Arg kwargs;                     ///< a Dict
    int64_t flops = -1;             ///< -1 = the file does not say
    uint32_t source_line = 0;       ///< line of the input file it was read from; 0 = not from a file
};

enum class EdgeKind : uint8_t { Data, Mutation, Effect, Advisory };

/// An ordering edge beyond plain arguments: `node` must stay before the node that owns the edge.
struct OrderEdge {
    NodeId node = kNoNode;
    EdgeKind kind = EdgeKind::Mutation;
};

struct ProcessGroup {
    StringId name = kEmptyString;
    StringId description = kEmptyString;
    std::vector<int32_t> ranks; ///< may be empty: not known
    int32_t size = 0;           ///< from ranks or from the collectives' own argument; 0 = not known
};

struct GraphInfo {
    std::string name;
    std::string producer;
    std::string capture;
    std::string model;
    std::string source_file;
    int32_t world_size = 0;
    int32_t rank = 0;
    GraphLevel level = GraphLevel::Fx;
    bool has_shapes = true; ///< false: the text form carried no tensor metadata at all
};

class Graph {
public:
    size_t size() const { return nodes_.size(); }
    const GraphInfo& info() const { return info_; }
    const Node& node(NodeId id) const { return nodes_[id]; }
    std::string_view text(StringId id) const { return strings_->view(id); }
    const StringPool& strings() const { return *strings_; }
    std::string_view name(NodeId id) const { return text(nodes_[id].name); }
    std::string_view targetText(NodeId id) const { return text(targets_[nodes_[id].target].text); }
    const Target& target(NodeId id) const { return targets_[nodes_[id].target]; }
    const Target& targetById(TargetId id) const { return targets_[id]; }
    size_t targetCount() const { return targets_.size(); }
    const Value& value(NodeId id) const { return values_[nodes_[id].value]; }
    /// Distinct values; repeated layers share theirs.
    std::span<const Value> values() const { return values_; }
    const NodeMeta& meta(NodeId id) const { return meta_[id]; }

    /// Distinct argument nodes in order of first occurrence (args, then kwargs) = fx's all_input_nodes.
    std::span<const NodeId> inputs(NodeId id) const { return row(input_begin_, input_, id); }
    /// Nodes that have `id` among their inputs, in program order.
    std::span<const NodeId> users(NodeId id) const { return row(user_begin_, user_, id); }
    /// Mutation and effect edges into `id` beyond its arguments. Never crossed by a pass.
    std::span<const OrderEdge> orderEdges(NodeId id) const { return row(order_begin_, order_, id); }
    /// Advisory predecessors (Inductor's WeakDep).
    std::span<const NodeId> weakInputs(NodeId id) const { return row(weak_begin_, weak_, id); }
    /// Names of the input nodes that a pass made this node from, or of fused ATen nodes (level scheduler).
    std::span<const StringId> origins(NodeId id) const { return row(origin_begin_, origin_, id); }

    /// Children of a List, Dict or Slice argument.
    std::span<const Arg> children(const Arg& arg) const { return {args_.data() + arg.first, arg.count}; }
    /// Positional argument `index` of a node, or null.
    const Arg* arg(NodeId id, size_t index) const;
    /// Keyword argument by name, or null.
    const Arg* kwarg(NodeId id, std::string_view name) const;

    std::optional<NodeId> find(std::string_view name) const;
    NodeId output() const { return output_; } ///< kNoNode if the graph has none
    /// 1 + position of the last placeholder; 0 without placeholders.
    NodeId placeholdersEnd() const { return placeholders_end_; }

    std::span<const ProcessGroup> groups() const { return groups_; }
    GroupId findGroup(std::string_view name) const;

    /// Hash of the structure: targets, edges by position, shapes, dtypes and scalar arguments, never names
    /// of nodes or symbols. Equal graphs of two ranks have equal hashes. Definition: HACKING.md.
    uint64_t structuralHash() const { return structural_hash_; }

    bool hasTrait(NodeId id, OpTrait trait) const { return (nodes_[id].traits & trait) != 0; }
    bool isCall(NodeId id) const {
        return nodes_[id].op == NodeOp::CallFunction || nodes_[id].op == NodeOp::CallMethod ||
               nodes_[id].op == NodeOp::CallModule;
    }

private:
    friend class GraphBuilder;
    template <typename T>
    static std::span<const T> row(const std::vector<uint32_t>& begin, const std::vector<T>& items,
                                  NodeId id) {
        return {items.data() + begin[id], begin[id + 1] - begin[id]};
    }

    GraphInfo info_;
    std::shared_ptr<StringPool> strings_ = std::make_shared<StringPool>();
    std::vector<Target> targets_;
    std::vector<Node> nodes_;
    std::vector<Value> values_;
    std::vector<NodeMeta> meta_;
    std::vector<Arg> args_;
    std::vector<uint32_t> input_begin_, user_begin_, order_begin_, weak_begin_, origin_begin_;
    std::vector<NodeId> input_, user_, weak_;
    std::vector<OrderEdge> order_;
    std::vector<StringId> origin_;
    std::vector<ProcessGroup> groups_;
    std::vector<NodeId>
        by_name_; ///< by StringId; kNoNode = no node has this name. May be shorter than the pool.
    NodeId output_ = kNoNode;
    NodeId placeholders_end_ = 0;
    uint64_t structural_hash_ = 0;
};

using GraphPtr = std::shared_ptr<const Graph>;

/// A program order: order[i] = node at position i.
using Order = std::vector<NodeId>;

Order identityOrder(const Graph& graph);
/// Inverse: position[node].
std::vector<uint32_t> positionsOf(const Order& order);

/// First broken data, mutation or effect edge of an order, if any.
struct BrokenEdge {
    NodeId before = kNoNode; ///< must come first, but does not
    NodeId after = kNoNode;
    EdgeKind kind = EdgeKind::Data;
};
/// Checks that `order` is a permutation that respects every data, mutation and effect edge. An order that is
/// no permutation reports {kNoNode, kNoNode}.
std::optional<BrokenEdge> findBrokenEdge(const Graph& graph, const Order& order);

} // namespace gs
