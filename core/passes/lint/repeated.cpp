#include "base/units.h"
#include "passes/lint/checks.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gs {

namespace {

/// What a gather sends: equal keys are the same values in the same form to the same ranks.
struct SentKey {
    NodeId source = kNoNode;
    GroupId group = kNoGroup;
    DType dtype = DType::Unknown;
    auto operator<=>(const SentKey&) const = default;
};

/// The memory of an earlier gather was given back by hand: gathering again is meant.
bool freedBefore(const LintContext& context, const Collective& item, NodeId until) {
    for (const NodeId consumer : item.consumers) {
        if (consumer < until && context.graph.node(consumer).kind == NodeKind::Free)
            return true;
    }
    return false;
}

/// Sharding again between forward and backward saves memory and is no fault.
bool reshardedBetween(const LintContext& context, const Collective& a, const Collective& b) {
    return context.phaseOf(a.launch) != context.phaseOf(b.launch) && context.lastUse(a) < b.launch;
}

void reportRepeated(LintContext& context, const SentKey& key, const std::vector<const Collective*>& gathers) {
    std::vector<const Collective*> repeated{gathers.front()};
    bool held = false;
    for (size_t i = 1; i < gathers.size(); ++i) {
        const Collective& before = *gathers[i - 1];
        const Collective& item = *gathers[i];
        if (freedBefore(context, before, item.launch) || reshardedBetween(context, before, item))
            continue;
        held = held || context.lastUse(before) > item.launch;
        repeated.push_back(&item);
    }
    if (repeated.size() < 2)
        return;
    const Graph& graph = context.graph;
    const Collective& last = *repeated.back();
    const int64_t extra =
        last.output_bytes < 0 ? kUnknownSize : last.output_bytes * static_cast<int64_t>(repeated.size() - 1);
    const bool weight = last.weight_gather && graph.node(key.source).op == NodeOp::Placeholder;
    context.report(
        Severity::Warning, "gathered-twice", last.launch,
        fmt::format("{} \"{}\" is gathered {} times on {} without a free in between: by {} and {}{}",
                    weight ? "the parameter" : "the tensor", parameterName(graph, key.source),
                    repeated.size(), context.groupText(key.group), context.quoted(repeated.front()->launch),
                    repeated.size() == 2 ? context.quoted(last.launch)
                                         : fmt::format("{} more", repeated.size() - 1),
                    extra > 0 ? fmt::format("; {} again", formatBytes(extra)) : std::string()),
        held ? "the first result is still held when it is gathered again: use that one"
             : "keep the first result if memory allows, or free it explicitly to say that this is meant");
}

/// Root of an operand behind views and casts, if it is the wait of a reduction that is linear.
const Collective* linearReduction(const LintContext& context, NodeId operand) {
    const NodeId wait = context.sourceOf(operand);
    const int32_t index = context.collectives.indexOf(wait);
    if (index < 0 || context.graph.node(wait).kind != NodeKind::Wait)
        return nullptr;
    const Collective& item = context.collectives[static_cast<size_t>(index)];
    const bool reduction =
        item.kind == CollectiveKind::ReduceScatter || item.kind == CollectiveKind::AllReduce;
    return reduction && item.launch != kNoNode && item.consumers.size() == 1 ? &item : nullptr;
}

std::string_view reduceOp(const Graph& graph, NodeId launch) {
    const int8_t position = graph.target(launch).traits.reduce_op_arg;
    const Arg* op = position < 0 ? nullptr : graph.arg(launch, static_cast<size_t>(position));
    return op ? graph.text(op->text) : std::string_view();
}

/// reduce(a) + reduce(b) = reduce(a + b): one collective less, e.g. for the gradients of tied weights.
void reportSums(LintContext& context) {
    const Graph& graph = context.graph;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.targetText(id) != "aten.add.Tensor" || graph.inputs(id).size() != 2)
            continue;
        const Collective* a = linearReduction(context, graph.inputs(id)[0]);
        const Collective* b = linearReduction(context, graph.inputs(id)[1]);
        if (!a || !b || a == b || a->kind != b->kind || a->group != b->group || a->dtype != b->dtype ||
            reduceOp(graph, a->launch) != reduceOp(graph, b->launch))
            continue;
        const std::string_view op = reduceOp(graph, a->launch);
        if (op != "sum" && op != "avg")
            continue;
        context.report(Severity::Warning, "reduced-twice", b->launch,
                       fmt::format("{} adds the results of {} and {} on {}: one {} of the sum would do",
                                   context.quoted(id), context.quoted(a->launch), context.quoted(b->launch),
                                   context.groupText(a->group), collectiveKindName(a->kind)),
                       "add first and reduce once; the bits of the sum may differ");
    }
}

} // namespace

void lintRepeated(LintContext& context) {
    std::map<SentKey, std::vector<const Collective*>> sent;
    for (const Collective& item : context.collectives.all()) {
        if (!item.isGather() || item.inFlightAtEntry() || context.graph.inputs(item.launch).empty())
            continue;
        if (item.weight_gather) {
            for (const NodeId parameter : item.parameters)
                sent[{parameter, item.group, item.dtype}].push_back(&item);
        } else if (item.kind == CollectiveKind::AllGather) {
            const NodeId source = context.sourceOf(context.graph.inputs(item.launch).front());
            sent[{source, item.group, item.dtype}].push_back(&item);
        }
    }
    for (const auto& [key, gathers] : sent) {
        if (gathers.size() > 1)
            reportRepeated(context, key, gathers);
    }
    reportSums(context);
}

} // namespace gs
