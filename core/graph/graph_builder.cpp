#include "graph/graph_builder.h"

#include "base/hash.h"
#include "graph/collectives.h"
#include "graph/order_edges.h"
#include "graph/structural_hash.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

/// Sorts (node, item) pairs into one CSR array; items of a node keep their order.
template <typename T>
void toCsr(size_t count, const std::vector<std::pair<NodeId, T>>& pairs, std::vector<uint32_t>& begin,
           std::vector<T>& items) {
    begin.assign(count + 1, 0);
    for (const auto& [node, item] : pairs)
        ++begin[node + 1];
    for (size_t i = 0; i < count; ++i)
        begin[i + 1] += begin[i];
    items.resize(pairs.size());
    std::vector<uint32_t> fill(begin.begin(), begin.end() - 1);
    for (const auto& [node, item] : pairs)
        items[fill[node]++] = item;
}

bool hasChildren(const Arg& arg) {
    return arg.kind == Arg::Kind::List || arg.kind == Arg::Kind::Dict || arg.kind == Arg::Kind::Slice;
}

NodeKind kindOf(NodeOp op, uint16_t traits) {
    switch (op) {
    case NodeOp::Placeholder:
        return NodeKind::Placeholder;
    case NodeOp::GetAttr:
        return NodeKind::GetAttr;
    case NodeOp::Output:
        return NodeKind::Output;
    default:
        break;
    }
    if (traits & kTraitCollective)
        return NodeKind::Launch;
    if (traits & kTraitWait)
        return NodeKind::Wait;
    if (traits & kTraitUnpack)
        return NodeKind::Unpack;
    if (traits & kTraitFree)
        return NodeKind::Free;
    if (traits & kTraitBarrier)
        return NodeKind::Barrier;
    if (traits & kTraitView)
        return NodeKind::View;
    return NodeKind::Compute;
}

} // namespace

GraphBuilder::GraphBuilder() {
    graph_.values_.emplace_back(); // ValueId 0: no value
}

GraphBuilder::GraphBuilder(const Graph& base) {
    graph_.info_ = base.info_;
    graph_.strings_ = std::make_shared<StringPool>(base.strings_);
    graph_.groups_ = base.groups_;
    graph_.targets_ = base.targets_;
    graph_.values_ = base.values_;
    for (TargetId id = 0; id < graph_.targets_.size(); ++id)
        target_ids_.emplace(graph_.targets_[id].text, id);
    for (ValueId id = 0; id < graph_.values_.size(); ++id)
        value_ids_.emplace(hashValue(graph_.values_[id], ValueHash::WithSymbols), id);
    graph_.nodes_.reserve(base.size() + base.size() / 8);
    graph_.meta_.reserve(base.size() + base.size() / 8);
    graph_.args_.reserve(base.args_.size() + base.args_.size() / 8);
    graph_.by_name_.reserve(base.strings_->size() + base.size() / 8);
    graph_.by_name_.resize(base.strings_->size(), kNoNode);
    graph_.input_.reserve(base.input_.size() + base.input_.size() / 8);
    explicit_traits_.reserve(graph_.nodes_.capacity());
    explicit_inputs_.reserve(graph_.nodes_.capacity());
}

void GraphBuilder::reserve(size_t nodes) {
    constexpr size_t kMost = size_t{1} << 20; // a count from a damaged text must not take all memory
    nodes = std::min(nodes, kMost);
    graph_.nodes_.reserve(nodes);
    graph_.meta_.reserve(nodes);
    graph_.args_.reserve(nodes * 4);
    graph_.by_name_.reserve(nodes * 2);
    graph_.input_.reserve(nodes * 2);
}

bool GraphBuilder::isTaken(StringId name) const {
    return name < graph_.by_name_.size() && graph_.by_name_[name] != kNoNode;
}

TargetId GraphBuilder::internTarget(std::string_view text) {
    const StringId id = intern(text);
    const auto [found, added] = target_ids_.try_emplace(id, static_cast<TargetId>(graph_.targets_.size()));
    if (added)
        graph_.targets_.push_back({id, opTraits(text)});
    return found->second;
}

NodeId GraphBuilder::append(StringId name, NodeOp op, TargetId target, uint32_t line) {
    const auto id = static_cast<NodeId>(graph_.nodes_.size());
    Node node;
    node.name = name;
    node.op = op;
    node.target = target;
    node.source_line = line;
    if (name >= graph_.by_name_.size())
        graph_.by_name_.resize(name + 1, kNoNode);
    graph_.by_name_[name] = id;
    graph_.nodes_.push_back(node);
    graph_.meta_.emplace_back();
    explicit_traits_.push_back(false);
    explicit_inputs_.push_back(false);
    return id;
}

StringId GraphBuilder::uniqueName(StringId wanted, const SourcePos& where) {
    if (wanted != kEmptyString && !isTaken(wanted))
        return wanted;
    const std::string name(text(wanted));
    std::string unique;
    for (int suffix = 1; unique.empty() || isTaken(intern(unique)); ++suffix)
        unique = fmt::format("{}__{}", name.empty() ? "unnamed" : name, suffix);
    diagnostics_.add({Severity::Error, "duplicate-name", where, name,
                      name.empty() ? "a node has no name"
                                   : fmt::format("the name \"{}\" is taken by an earlier node", name),
                      fmt::format("the node is shown as \"{}\"; its users read the first one", unique)});
    return intern(unique);
}

NodeId GraphBuilder::addNode(std::string_view name, NodeOp op, std::string_view target, SourcePos where) {
    const StringId name_id = uniqueName(intern(name), where);
    return append(name_id, op, internTarget(target), where.line);
}

Arg GraphBuilder::copyArg(const Graph& base, const Arg& arg, const std::vector<NodeId>& map) {
    Arg copy = arg;
    if (arg.kind == Arg::Kind::Node) {
        copy.first = map[arg.node()];
    } else if (hasChildren(arg)) {
        const auto children = base.args_.begin() + arg.first;
        copy.first = static_cast<uint32_t>(graph_.args_.size());
        graph_.args_.insert(graph_.args_.end(), children, children + arg.count);
        for (uint32_t i = 0; i < arg.count; ++i) {
            const Arg& child = children[i];
            if (child.kind == Arg::Kind::Node || hasChildren(child)) {
                const Arg mapped = copyArg(base, child, map); // may move args_
                graph_.args_[copy.first + i] = mapped;
            }
        }
    }
    return copy;
}

NodeId GraphBuilder::copyNode(const Graph& base, NodeId id, const std::vector<NodeId>& map) {
    const Node& from = base.node(id);
    const NodeId copy =
        append(uniqueName(from.name, {{}, from.source_line, 0}), from.op, from.target, from.source_line);
    Node& to = graph_.nodes_[copy];
    const StringId name = to.name; // differs from the original's if that is taken
    to = from;
    to.name = name;
    to.args = copyArg(base, from.args, map);
    to.kwargs = copyArg(base, from.kwargs, map);
    graph_.meta_[copy] = base.meta(id);
    explicit_traits_[copy] = true;
    for (const NodeId weak : base.weakInputs(id)) {
        if (map[weak] != kNoNode)
            weak_inputs_.emplace_back(copy, map[weak]);
    }
    for (const StringId origin : base.origins(id))
        origins_.emplace_back(copy, origin);
    return copy;
}

void GraphBuilder::setValue(NodeId id, const Value& value) {
    const uint64_t hash = hashValue(value, ValueHash::WithSymbols);
    const auto [begin, end] = value_ids_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
        if (graph_.values_[it->second] == value) {
            node(id).value = it->second;
            return;
        }
    }
    node(id).value = static_cast<ValueId>(graph_.values_.size());
    graph_.values_.push_back(value);
    value_ids_.emplace(hash, node(id).value);
}

Arg GraphBuilder::nodeArg(NodeId id) const {
    Arg arg;
    arg.kind = Arg::Kind::Node;
    arg.first = id;
    return arg;
}

Arg GraphBuilder::nodeArg(std::string_view name, NodeId user, SourcePos where) {
    const NodeId id = findNode(name);
    if (id != kNoNode && id != user)
        return nodeArg(id);
    unresolved_.push_back({user, intern(name), std::move(where)});
    return textArg(Arg::Kind::Repr, name);
}

Arg GraphBuilder::intArg(int64_t value) const {
    Arg arg;
    arg.kind = Arg::Kind::Int;
    arg.integer = value;
    return arg;
}

Arg GraphBuilder::floatArg(double value) const {
    Arg arg;
    arg.kind = Arg::Kind::Float;
    arg.real = value;
    return arg;
}

Arg GraphBuilder::boolArg(bool value) const {
    Arg arg;
    arg.kind = Arg::Kind::Bool;
    arg.integer = value ? 1 : 0;
    return arg;
}

Arg GraphBuilder::textArg(Arg::Kind kind, std::string_view text) {
    Arg arg;
    arg.kind = kind;
    arg.text = intern(text);
    return arg;
}

Arg GraphBuilder::symbolArg(std::string_view expression, int64_t hint) {
    Arg arg = textArg(Arg::Kind::Symbol, expression);
    arg.integer = hint;
    return arg;
}

Arg GraphBuilder::listArg(std::span<const Arg> items) {
    Arg arg;
    arg.kind = Arg::Kind::List;
    arg.first = static_cast<uint32_t>(graph_.args_.size());
    arg.count = static_cast<uint32_t>(items.size());
    graph_.args_.insert(graph_.args_.end(), items.begin(), items.end());
    return arg;
}

Arg GraphBuilder::sliceArg(std::span<const Arg> three) {
    Arg arg = listArg(three);
    arg.kind = Arg::Kind::Slice;
    return arg;
}

Arg GraphBuilder::dictArg(std::span<const Arg> items) {
    Arg arg = listArg(items);
    arg.kind = Arg::Kind::Dict;
    return arg;
}

void GraphBuilder::setInputs(NodeId id, std::vector<NodeId> inputs) {
    explicit_inputs_[id] = true;
    for (const NodeId input : inputs)
        stated_inputs_.emplace_back(id, input);
}

void GraphBuilder::addWeakInput(NodeId id, NodeId before) {
    weak_inputs_.emplace_back(id, before);
}

void GraphBuilder::addOrigin(NodeId id, StringId name) {
    origins_.emplace_back(id, name);
}

void GraphBuilder::setTraits(NodeId id, uint16_t bits) {
    node(id).traits = bits;
    explicit_traits_[id] = true;
}

void GraphBuilder::addMutation(NodeId id, NodeId storage_of) {
    mutations_.emplace_back(id, storage_of);
}

GroupId GraphBuilder::addGroup(std::string_view name, std::vector<int32_t> ranks,
                               std::string_view description) {
    GroupId id = graph_.findGroup(name);
    if (id == kNoGroup) {
        id = static_cast<GroupId>(graph_.groups_.size());
        graph_.groups_.push_back({intern(name), kEmptyString, {}, 0});
    }
    ProcessGroup& group = graph_.groups_[id];
    if (!description.empty())
        group.description = intern(description);
    if (!ranks.empty()) {
        group.size = static_cast<int32_t>(ranks.size());
        group.ranks = std::move(ranks);
    }
    return id;
}

NodeId GraphBuilder::findNode(std::string_view name) const {
    return graph_.find(name).value_or(kNoNode);
}

void GraphBuilder::collectInputs() {
    std::vector<NodeId> seen_by(graph_.nodes_.size(), kNoNode);
    std::stable_sort(stated_inputs_.begin(), stated_inputs_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    auto stated = stated_inputs_.begin();
    graph_.input_begin_.assign(1, 0);
    graph_.input_begin_.reserve(graph_.nodes_.size() + 1);
    for (NodeId id = 0; id < graph_.nodes_.size(); ++id) {
        const auto visit = [&](const auto& self, const Arg& arg) -> void {
            if (arg.kind == Arg::Kind::Node && seen_by[arg.first] != id) {
                seen_by[arg.first] = id;
                graph_.input_.push_back(arg.first);
            } else if (hasChildren(arg)) {
                for (uint32_t i = 0; i < arg.count; ++i)
                    self(self, graph_.args_[arg.first + i]);
            }
        };
        if (!explicit_inputs_[id]) {
            visit(visit, graph_.nodes_[id].args);
            visit(visit, graph_.nodes_[id].kwargs);
        }
        for (; stated != stated_inputs_.end() && stated->first == id; ++stated)
            graph_.input_.push_back(stated->second);
        graph_.input_begin_.push_back(static_cast<uint32_t>(graph_.input_.size()));
    }
}

void GraphBuilder::collectUsers() {
    const size_t count = graph_.nodes_.size();
    graph_.user_begin_.assign(count + 1, 0);
    for (const NodeId input : graph_.input_)
        ++graph_.user_begin_[input + 1];
    for (size_t i = 0; i < count; ++i)
        graph_.user_begin_[i + 1] += graph_.user_begin_[i];
    graph_.user_.resize(graph_.input_.size());
    std::vector<uint32_t> fill(graph_.user_begin_.begin(), graph_.user_begin_.end() - 1);
    for (NodeId id = 0; id < count; ++id) {
        for (const NodeId input : graph_.inputs(id))
            graph_.user_[fill[input]++] = id;
    }
}

void GraphBuilder::classify() {
    for (NodeId id = 0; id < graph_.nodes_.size(); ++id) {
        Node& node = graph_.nodes_[id];
        const uint16_t known = graph_.targets_[node.target].traits.bits;
        if (node.op != NodeOp::CallFunction && node.op != NodeOp::CallMethod)
            node.traits = 0;
        else if (!explicit_traits_[id])
            node.traits = known;
        else // files know these seven tags; the rest is ours
            node.traits |= known & static_cast<uint16_t>(
                                       ~(kTraitPointwise | kTraitView | kTraitCompute | kTraitReduction));
        node.kind = kindOf(node.op, node.traits);
        if (node.kind == NodeKind::Placeholder)
            graph_.placeholders_end_ = id + 1;
        if (node.kind == NodeKind::Output)
            graph_.output_ = id;
    }
}

void GraphBuilder::resolveGroups() {
    for (NodeId id = 0; id < graph_.nodes_.size(); ++id) {
        if (graph_.nodes_[id].kind != NodeKind::Launch)
            continue;
        const OpTraits& traits = graph_.targets_[graph_.nodes_[id].target].traits;
        const std::string name(collectiveGroupName(graph_, id));
        if (name.empty())
            continue;
        const GroupId group = addGroup(name, {}, {});
        const Arg* size =
            traits.group_size_arg < 0 ? nullptr : graph_.arg(id, static_cast<size_t>(traits.group_size_arg));
        if (graph_.groups_[group].size == 0 && size && size->isInt() && size->integer > 0 &&
            size->integer <= INT32_MAX)
            graph_.groups_[group].size = static_cast<int32_t>(size->integer);
    }
}

void GraphBuilder::collectOrderEdges() {
    Items<OrderEdge> edges = findOrderEdges(graph_, mutations_);
    if (!stated_order_.empty()) {
        std::erase_if(edges, [&](const auto& edge) { return stated_order_.count(edge.first) > 0; });
        for (const auto& [node, stated] : stated_order_) {
            for (const OrderEdge& edge : stated)
                edges.emplace_back(node, edge);
        }
    }
    toCsr(graph_.nodes_.size(), edges, graph_.order_begin_, graph_.order_);
}

void GraphBuilder::reportUnresolved() {
    for (UnresolvedName& item : unresolved_) {
        const std::string name(text(item.name));
        const std::string user =
            item.user == kNoNode ? std::string() : std::string(text(node(item.user).name));
        const NodeId later = findNode(name);
        std::string message =
            later == kNoNode
                ? fmt::format("\"{}\" uses \"{}\", which no node of the graph is called", user, name)
            : later == item.user
                ? fmt::format("\"{}\" uses itself as an argument", name)
                : fmt::format("\"{}\" uses \"{}\", which comes after it: a cycle or a wrong order", user,
                              name);
        diagnostics_.add({Severity::Error, later == kNoNode ? "unknown-input" : "cycle",
                          std::move(item.where), user, std::move(message),
                          "the argument is left out: this edge is missing from the analysis"});
    }
    unresolved_.clear();
}

GraphPtr GraphBuilder::finish(Diagnostics* diagnostics) {
    const size_t count = graph_.nodes_.size();
    reportUnresolved();
    collectInputs();
    collectUsers();
    toCsr(count, weak_inputs_, graph_.weak_begin_, graph_.weak_);
    toCsr(count, origins_, graph_.origin_begin_, graph_.origin_);
    classify();
    resolveGroups();
    collectOrderEdges();
    graph_.structural_hash_ = gs::structuralHash(graph_);
    if (diagnostics)
        diagnostics->append(diagnostics_);
    return std::make_shared<const Graph>(std::move(graph_));
}

} // namespace gs
