#include "base/units.h"
#include "passes/lint/checks.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

/// What lies between a parameter and its gather.
struct ShardChain {
    NodeId pad = kNoNode; ///< a constant_pad_nd that adds something
    NodeId shard = kNoNode;
};

/// Zero-width pads are kept so that all ranks have the same nodes.
bool addsSomething(const Graph& graph, NodeId pad) {
    const Arg* widths = graph.arg(pad, 1);
    if (!widths || widths->kind != Arg::Kind::List)
        return true;
    const auto items = graph.children(*widths);
    return std::any_of(items.begin(), items.end(),
                       [](const Arg& width) { return !width.isInt() || width.integer != 0; });
}

ShardChain shardChain(const Graph& graph, NodeId node) {
    ShardChain chain;
    for (int steps = 0; steps < 16; ++steps) {
        const bool pad = graph.targetText(node) == "aten.constant_pad_nd.default";
        if (pad && addsSomething(graph, node))
            chain.pad = node;
        const bool through = pad || graph.node(node).kind == NodeKind::View ||
                             graph.hasTrait(node, kTraitCast) ||
                             graph.targetText(node) == "aten.clone.default";
        if (!through || graph.inputs(node).empty())
            break;
        node = graph.inputs(node).front();
    }
    chain.shard = node;
    return chain;
}

bool isSymbolic(const Graph& graph, NodeId node) {
    const TensorMeta* tensor = graph.value(node).firstTensor();
    return tensor && tensor->symbolic();
}

/// Bytes of a result that its consumers cut off again behind the wait.
int64_t cutBytes(const Graph& graph, const Collective& item) {
    int64_t kept = kUnknownSize;
    for (const NodeId wait : item.waits) {
        for (const NodeId user : graph.users(wait)) {
            const std::string_view target = graph.targetText(user);
            if (target == "aten.slice.Tensor" || target == "aten.narrow.default")
                kept = std::max(kept, graph.value(user).bytes());
        }
    }
    return kept < 0 || item.output_bytes < 0 ? 0 : std::max<int64_t>(item.output_bytes - kept, 0);
}

struct Uneven {
    const Collective* first = nullptr;
    size_t count = 0;
    int64_t cut_bytes = 0;
};

void checkGather(LintContext& context, const Collective& item, Uneven& uneven) {
    const Graph& graph = context.graph;
    const NodeId sent = graph.inputs(item.launch).front();
    const ShardChain chain = shardChain(graph, sent);
    const int64_t cut = cutBytes(graph, item);
    if (chain.pad != kNoNode || cut > 0) {
        ++uneven.count;
        uneven.cut_bytes += cut;
        if (!uneven.first)
            uneven.first = &item;
    }
    const TensorMeta* shard = graph.value(chain.shard).firstTensor();
    if (shard && shard->numel() == 0 && chain.pad != kNoNode)
        context.report(Severity::Info, "empty-shard", item.launch,
                       fmt::format("this rank holds nothing of \"{}\": it sends only padding in {}",
                                   parameterName(graph, chain.shard), context.quoted(item.launch)),
                       "it must take part all the same; reductions over the shard see no element");
    const Value& result = graph.value(item.launch);
    const bool out = graph.kwarg(item.launch, "out") != nullptr;
    if (item.kind != CollectiveKind::AllGather || out || item.group_size < 2 || item.input_bytes < 0 ||
        item.output_bytes < 0 || isSymbolic(graph, sent) || isSymbolic(graph, item.launch) ||
        result.kind != Value::Kind::Tensor)
        return;
    int64_t whole = 0;
    if (!__builtin_mul_overflow(item.input_bytes, item.group_size, &whole) && whole != item.output_bytes)
        context.report(
            Severity::Warning, "shard-size", item.launch,
            fmt::format("{} sends {} from each of {} ranks, but its result has {}: the shards are not "
                        "equal and not padded",
                        context.quoted(item.launch), formatBytes(item.input_bytes), item.group_size,
                        formatBytes(item.output_bytes)),
            "pad every shard to the largest one; NCCL gathers equal shards only");
}

} // namespace

void lintShards(LintContext& context) {
    Uneven uneven;
    for (const Collective& item : context.collectives.all()) {
        if (item.isGather() && !item.inFlightAtEntry() && !context.graph.inputs(item.launch).empty())
            checkGather(context, item, uneven);
    }
    if (!uneven.first)
        return;
    context.report(
        Severity::Info, "uneven-shards", uneven.first->launch,
        fmt::format("{} {} of unevenly sharded tensors: shards are padded, and {} of the results are cut "
                    "off again; the first is {}",
                    uneven.count, uneven.count == 1 ? "gather is" : "gathers are",
                    formatBytes(uneven.cut_bytes), context.quoted(uneven.first->launch)),
        "pad widths and local shapes differ between ranks: `compare` tells this from a real mismatch");
}

} // namespace gs
