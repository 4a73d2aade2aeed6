// Makes graphs: used by every reader and every pass that rewrites nodes.
#pragma once

#include "graph/graph.h"

#include <unordered_map>

namespace gs {

/// Nodes are added in program order; an argument may name only nodes added before (a later or unknown name
/// is a diagnostic and becomes a Repr argument, so that the rest of the graph still opens).
///
///     GraphBuilder b;
///     NodeId x = b.addNode("x", NodeOp::Placeholder, "x");
///     NodeId y = b.addNode("mm", NodeOp::CallFunction, "aten.mm.default");
///     b.setArgs(y, {b.nodeArg(x), b.nodeArg(x)});
///     GraphPtr graph = b.finish(&diagnostics);
class GraphBuilder {
public:
    GraphBuilder();
    /// Starts with the strings, targets, values, info and groups of `base`, but without nodes; see
    /// copyNode(). Nodes that are copied keep their string, target and value ids.
    explicit GraphBuilder(const Graph& base);

    /// Room for about so many nodes; only saves time.
    void reserve(size_t nodes);
    GraphInfo& info() { return graph_.info_; }
    StringId intern(std::string_view text) { return graph_.strings_->intern(text); }
    std::string_view text(StringId id) const { return graph_.strings_->view(id); }
    size_t size() const { return graph_.nodes_.size(); }

    /// Adds a node. A name that is taken already gets a suffix and a diagnostic "duplicate-name".
    NodeId addNode(std::string_view name, NodeOp op, std::string_view target, SourcePos where = {});
    /// Copies node `id` of `base` (the graph given to the constructor): its arguments are mapped through
    /// `map` (old id → new id); an argument whose map entry is kNoNode is a bug. Returns the new id.
    NodeId copyNode(const Graph& base, NodeId id, const std::vector<NodeId>& map);

    Node& node(NodeId id) { return graph_.nodes_[id]; }
    void setValue(NodeId id, const Value& value);
    const Value& value(NodeId id) const { return graph_.value(id); }
    NodeMeta& meta(NodeId id) { return graph_.meta_[id]; }
    const Graph& graph() const { return graph_; }

    Arg noneArg() const { return {}; }
    Arg nodeArg(NodeId id) const;
    /// A node by name; finish() reports a name that is unknown or defined only later.
    Arg nodeArg(std::string_view name, NodeId user, SourcePos where = {});
    Arg intArg(int64_t value) const;
    Arg floatArg(double value) const;
    Arg boolArg(bool value) const;
    Arg textArg(Arg::Kind kind, std::string_view text);
    Arg symbolArg(std::string_view expression, int64_t hint);
    Arg listArg(std::span<const Arg> items);
    Arg listArg(std::initializer_list<Arg> items) { return listArg(std::span(items.begin(), items.size())); }
    Arg sliceArg(std::span<const Arg> three);
    /// `items` alternates String keys and values.
    Arg dictArg(std::span<const Arg> items);

    void setArgs(NodeId id, std::span<const Arg> items) { node(id).args = listArg(items); }
    void setArgs(NodeId id, std::initializer_list<Arg> items) { node(id).args = listArg(items); }
    void setKwargs(NodeId id, std::span<const Arg> items) { node(id).kwargs = dictArg(items); }

    /// States the inputs of a node explicitly (scheduler level, where arguments are buffers). Otherwise they
    /// are collected from args and kwargs.
    void setInputs(NodeId id, std::vector<NodeId> inputs);
    void addWeakInput(NodeId id, NodeId before);
    void addOrigin(NodeId id, StringId name);
    /// Tags of the file override the traits of resources/op_traits.json for this node.
    void setTraits(NodeId id, uint16_t bits);
    /// A mutation beyond the schema's (level scheduler states them by buffer).
    void addMutation(NodeId id, NodeId storage_of);

    /// States all mutation and effect edges into a node, instead of those that the operators tell.
    void setOrderEdges(NodeId id, std::vector<OrderEdge> edges) { stated_order_[id] = std::move(edges); }

    /// Index of a group by name, made if it is new.
    GroupId addGroup(std::string_view name, std::vector<int32_t> ranks, std::string_view description);
    /// States the size of a group whose ranks are not known.
    void setGroupSize(GroupId group, int32_t size) { graph_.groups_[group].size = size; }
    NodeId findNode(std::string_view name) const; ///< kNoNode if not added yet

    /// Computes kinds, edges, users, groups and the hash. The builder is empty afterwards.
    GraphPtr finish(Diagnostics* diagnostics);
    Diagnostics& diagnostics() { return diagnostics_; }

private:
    /// A pair (node, item) of a list per node; finish() sorts them into one CSR array.
    template <typename T>
    using Items = std::vector<std::pair<NodeId, T>>;

    struct UnresolvedName {
        NodeId user = kNoNode;
        StringId name = kEmptyString;
        SourcePos where;
    };

    TargetId internTarget(std::string_view text);
    Arg copyArg(const Graph& base, const Arg& arg, const std::vector<NodeId>& map);
    bool isTaken(StringId name) const;
    /// `wanted`, or a name made from it if it is empty or taken (with a diagnostic).
    StringId uniqueName(StringId wanted, const SourcePos& where);
    NodeId append(StringId name, NodeOp op, TargetId target, uint32_t line);
    void collectInputs();
    void collectUsers();
    void classify();
    void resolveGroups();
    void collectOrderEdges();
    void reportUnresolved();

    Graph graph_;
    std::vector<bool> explicit_traits_;
    std::vector<bool> explicit_inputs_;
    Items<NodeId> stated_inputs_;
    Items<NodeId> weak_inputs_;
    Items<StringId> origins_;
    Items<NodeId> mutations_;
    std::unordered_map<NodeId, std::vector<OrderEdge>> stated_order_;
    std::unordered_map<StringId, TargetId> target_ids_;
    std::unordered_multimap<uint64_t, ValueId> value_ids_; ///< by hashValue()
    std::vector<UnresolvedName> unresolved_;
    Diagnostics diagnostics_;
};

} // namespace gs
