#include "graph/collectives.h"

#include "graph/consumers.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr NodeId kManyParameters = kNoNode - 1;

/// For each node the one placeholder it derives from, kNoNode for none, kManyParameters for several. This is
/// document 001's single-placeholder test for all nodes at once, in O(edges).
std::vector<NodeId> singlePlaceholders(const Graph& graph) {
    std::vector<NodeId> from(graph.size(), kNoNode);
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.node(id).op == NodeOp::Placeholder) {
            from[id] = id;
            continue;
        }
        for (NodeId input : graph.inputs(id)) {
            const NodeId other = from[input];
            if (other == kNoNode || other == from[id])
                continue;
            from[id] = from[id] == kNoNode ? other : kManyParameters;
        }
    }
    return from;
}

/// Older captures keep parameters as get_attr nodes. Document 001's test knows placeholders only, so a
/// get_attr counts only where a straight chain of producers leads to one.
NodeId attributeAtChainStart(const Graph& graph, NodeId id) {
    constexpr int kLongestChain = 16;
    for (int i = 0; i < kLongestChain && graph.inputs(id).size() == 1; ++i)
        id = graph.inputs(id).front();
    return graph.node(id).op == NodeOp::GetAttr ? id : kNoNode;
}

/// What a launch sends: its inputs, or for a coalesced launch each item of its list, equal ones too.
std::vector<NodeId> sentTensors(const Graph& graph, NodeId launch) {
    const auto position = static_cast<size_t>(graph.target(launch).traits.input_arg);
    const Arg* list = graph.arg(launch, position);
    std::vector<NodeId> sent;
    if (list && list->kind == Arg::Kind::List) {
        for (const Arg& item : graph.children(*list)) {
            if (item.node() != kNoNode)
                sent.push_back(item.node());
        }
    }
    if (sent.empty() && list && list->node() != kNoNode && (graph.kwarg(launch, "out") || position > 0))
        sent = {list->node()}; // the other input is where the result goes
    if (sent.empty())
        sent.assign(graph.inputs(launch).begin(), graph.inputs(launch).end());
    return sent;
}

/// Shards that an operator such as FSDP2's copy-in packs: `id` is its result or an item of it. Empty if it is
/// something else.
std::vector<NodeId> shardsOfPack(const Graph& graph, NodeId id) {
    constexpr int kLongestChain = 8;
    for (int i = 0; i < kLongestChain && !graph.inputs(id).empty(); ++i) {
        const bool item = graph.node(id).kind == NodeKind::Unpack || graph.node(id).kind == NodeKind::View ||
                          graph.targetText(id) == "MultiOutput"; // getitem of the scheduler level
        if (!item)
            break;
        id = graph.inputs(id).front();
    }
    if (!(effectiveTraits(graph, id).bits & kTraitPack))
        return {};
    const Arg* list = graph.kwarg(id, "all_gather_inputs"); // of auto_functionalized
    if (!list)
        list = graph.arg(id, 0);
    std::vector<NodeId> shards;
    if (list && list->kind == Arg::Kind::List) {
        for (const Arg& item : graph.children(*list)) {
            if (item.node() != kNoNode)
                shards.push_back(item.node());
        }
    } else {
        shards.assign(graph.inputs(id).begin(), graph.inputs(id).end());
    }
    return shards;
}

/// Shards that a bucket packs for its gather: those of FSDP2's copy-in, or the parts of the cat behind the
/// copy of document 001's bucketing. Empty if the launch does not gather such a pack.
std::vector<NodeId> packedShards(const Graph& graph, NodeId launch) {
    const Arg* sent = graph.arg(launch, static_cast<size_t>(graph.target(launch).traits.input_arg));
    if (!sent || sent->node() == kNoNode)
        return {};
    if (std::vector<NodeId> shards = shardsOfPack(graph, sent->node()); !shards.empty())
        return shards;
    if (!graph.kwarg(launch, "out"))
        return {};
    const auto operands = graph.inputs(sent->node());
    if (graph.targetText(sent->node()) != "aten.copy_.default" || operands.size() != 2 ||
        graph.targetText(operands[1]) != "aten.cat.default")
        return {};
    return {graph.inputs(operands[1]).begin(), graph.inputs(operands[1]).end()};
}

int64_t bytesOf(const Graph& graph, const std::vector<NodeId>& tensors) {
    int64_t sum = 0;
    for (NodeId input : tensors) {
        const int64_t bytes = graph.value(input).bytes();
        if (bytes < 0)
            return kUnknownSize;
        if (__builtin_add_overflow(sum, bytes, &sum))
            return kHugeSize;
    }
    return sum;
}

/// What a launch yields; one that writes an argument instead (eager c10d operators) yields that.
const Value& resultOf(const Graph& graph, NodeId launch) {
    const Value& own = graph.value(launch);
    const std::vector<uint8_t>& written = graph.target(launch).traits.mutated_args;
    const Arg* out =
        own.kind != Value::Kind::None || written.empty() ? nullptr : graph.arg(launch, written.front());
    return out && out->node() != kNoNode ? graph.value(out->node()) : own;
}

Collective describeLaunch(const Graph& graph, NodeId launch, const std::vector<NodeId>& from) {
    Collective item;
    item.launch = launch;
    const OpTraits& traits = graph.target(launch).traits;
    item.kind = traits.collective == CollectiveKind::None ? CollectiveKind::Other : traits.collective;
    if (const std::string_view group = collectiveGroupName(graph, launch); !group.empty())
        item.group = graph.findGroup(group);
    const Arg* size =
        traits.group_size_arg < 0 ? nullptr : graph.arg(launch, static_cast<size_t>(traits.group_size_arg));
    if (size && size->isInt() && size->integer > 0 && size->integer <= INT32_MAX)
        item.group_size = static_cast<int32_t>(size->integer);
    else if (item.group != kNoGroup)
        item.group_size = graph.groups()[item.group].size;
    const std::vector<NodeId> sent = sentTensors(graph, launch);
    item.input_bytes = bytesOf(graph, sent);
    const Value& value = resultOf(graph, launch);
    item.output_bytes = value.kind == Value::Kind::None ? kUnknownSize : value.bytes();
    if (const TensorMeta* tensor = value.firstTensor())
        item.dtype = tensor->dtype;
    if (item.group_size == 0 && item.isGather() && item.input_bytes > 0 && item.output_bytes > 0 &&
        item.output_bytes % item.input_bytes == 0 && item.output_bytes / item.input_bytes <= INT32_MAX)
        item.group_size = static_cast<int32_t>(item.output_bytes / item.input_bytes);
    if (!item.isGather())
        return item;
    const auto is_parameter = [&](NodeId id) { return from[id] != kNoNode && from[id] != kManyParameters; };
    if (item.kind == CollectiveKind::AllGather) {
        NodeId only = kNoNode;
        for (NodeId input : graph.inputs(launch))
            only = from[input] == kNoNode                   ? only
                   : only == kNoNode || only == from[input] ? from[input]
                                                            : kManyParameters;
        if (only == kNoNode)
            only = attributeAtChainStart(graph, launch);
        item.weight_gather = only != kNoNode && only != kManyParameters;
        if (item.weight_gather)
            item.parameters.push_back(only);
        const std::vector<NodeId> shards = packedShards(graph, launch);
        if (!shards.empty() && std::all_of(shards.begin(), shards.end(), is_parameter)) {
            item.weight_gather = true;
            item.parameters.clear();
            for (const NodeId shard : shards)
                item.parameters.push_back(from[shard]);
        }
        return item;
    }
    item.weight_gather = !sent.empty() && std::all_of(sent.begin(), sent.end(), is_parameter);
    if (item.weight_gather) {
        for (NodeId input : sent)
            item.parameters.push_back(from[input]);
    }
    return item;
}

/// What a wait waits for: a launch; else the graph input of a collective in flight at entry; else nothing.
struct Waited {
    NodeId launch = kNoNode;
    NodeId input = kNoNode;
};

bool isGraphInput(const Graph& graph, NodeId id) {
    return graph.node(id).op == NodeOp::Placeholder || graph.node(id).op == NodeOp::GetAttr;
}

/// An unpack of a graph input, directly or through other unpacks.
bool unpacksGraphInput(const Graph& graph, NodeId id) {
    while (graph.node(id).kind == NodeKind::Unpack && !graph.inputs(id).empty())
        id = graph.inputs(id).front();
    return isGraphInput(graph, id);
}

/// Looks through unpacks, views and earlier waits; `of_wait` tells what those wait for.
template <typename OfWait>
Waited findWaited(const Graph& graph, NodeId wait, OfWait of_wait) {
    for (NodeId input : graph.inputs(wait)) { // level scheduler: the shard comes first, the launch second
        if (graph.node(input).kind == NodeKind::Launch)
            return {input, kNoNode};
    }
    NodeId at = graph.inputs(wait).empty() ? kNoNode : graph.inputs(wait).front();
    while (at != kNoNode) {
        const NodeKind kind = graph.node(at).kind;
        if (kind == NodeKind::Launch)
            return {at, kNoNode};
        if (kind == NodeKind::Wait)
            return of_wait(at);
        if (isGraphInput(graph, at) || (kind == NodeKind::Unpack && unpacksGraphInput(graph, at)))
            break;
        const bool through = kind == NodeKind::Unpack || kind == NodeKind::View;
        at = through && !graph.inputs(at).empty() ? graph.inputs(at).front() : kNoNode;
    }
    if (at == kNoNode)
        return {};
    for (const OrderEdge& edge : graph.orderEdges(wait)) { // a launch in the graph may write the input
        if (edge.kind != EdgeKind::Mutation)
            continue;
        // Launches that only read the input stay before the wait too, since the wait counts as a write.
        if (graph.node(edge.node).kind == NodeKind::Launch && graph.hasTrait(edge.node, kTraitMutable))
            return {edge.node, kNoNode};
        if (graph.node(edge.node).kind == NodeKind::Wait && of_wait(edge.node).launch != kNoNode)
            return of_wait(edge.node);
    }
    return {kNoNode, at};
}

Collective describeInFlight(const Graph& graph, NodeId input, NodeId wait) {
    Collective item;
    item.input = input;
    item.kind = CollectiveKind::InFlight;
    const Value& value = graph.value(input).firstTensor() ? graph.value(input) : graph.value(wait);
    item.output_bytes = value.kind == Value::Kind::None ? kUnknownSize : value.bytes();
    if (const TensorMeta* tensor = value.firstTensor())
        item.dtype = tensor->dtype;
    return item;
}

} // namespace

CollectiveTable::CollectiveTable(const Graph& graph) : index_of_(graph.size(), -1) {
    const std::vector<NodeId> from = singlePlaceholders(graph);
    for (NodeId id = 0; id < graph.size(); ++id) {
        const NodeKind kind = graph.node(id).kind;
        if (kind == NodeKind::Launch) {
            index_of_[id] = static_cast<int32_t>(items_.size());
            items_.push_back(describeLaunch(graph, id, from));
        } else if (kind == NodeKind::Unpack && !graph.inputs(id).empty()) {
            const NodeId of = graph.inputs(id).front();
            if (graph.node(of).kind == NodeKind::Launch) {
                index_of_[id] = index_of_[of];
                items_[static_cast<size_t>(index_of_[of])].unpacks.push_back(id);
            }
        } else if (kind == NodeKind::Wait) {
            const Waited waited = findWaited(graph, id, [this](NodeId earlier) {
                const int32_t index = index_of_[earlier];
                if (index < 0)
                    return Waited{};
                const Collective& item = items_[static_cast<size_t>(index)];
                return Waited{item.launch, item.input};
            });
            const NodeId source = waited.launch != kNoNode ? waited.launch : waited.input;
            if (source == kNoNode)
                continue;
            if (index_of_[source] < 0) { // several waits for one input wait for one collective
                index_of_[source] = static_cast<int32_t>(items_.size());
                items_.push_back(describeInFlight(graph, source, id));
                ++in_flight_;
            }
            index_of_[id] = index_of_[source];
            items_[static_cast<size_t>(index_of_[id])].waits.push_back(id);
        }
    }
    ConsumerSearch search(graph);
    for (Collective& item : items_) {
        item.consumers = search.find(item.waits, item.input);
        weight_gathers_ += item.weight_gather ? 1 : 0;
    }
}

std::string_view collectiveGroupName(const Graph& graph, NodeId launch) {
    const OpTraits& traits = graph.target(launch).traits;
    const Arg* group =
        traits.group_arg < 0 ? nullptr : graph.arg(launch, static_cast<size_t>(traits.group_arg));
    if (!group)
        return {};
    if (group->kind == Arg::Kind::String)
        return graph.text(group->text);
    if (group->kind != Arg::Kind::Node)
        return {};
    return graph.node(group->node()).op == NodeOp::GetAttr ? graph.targetText(group->node())
                                                           : graph.name(group->node());
}

std::string parameterName(const Graph& graph, NodeId placeholder) {
    const StringId fqn = graph.meta(placeholder).fqn;
    return std::string(fqn == kEmptyString ? graph.name(placeholder) : graph.text(fqn));
}

std::string gatheredParameters(const Graph& graph, const Collective& gather) {
    if (gather.parameters.empty())
        return {};
    if (gather.parameters.size() == 1)
        return parameterName(graph, gather.parameters.front());
    std::string names;
    for (NodeId id : gather.parameters)
        names += (names.empty() ? "" : ", ") + parameterName(graph, id);
    return fmt::format("{} parameters: {}", gather.parameters.size(), names);
}

} // namespace gs
