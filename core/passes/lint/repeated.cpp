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

/// Gathers of one tensor with nothing between them that would make it right.
struct Repeat {
    SentKey key;
    std::vector<const Collective*> gathers;
    bool held = false;   ///< an earlier result is alive when it is gathered again
    bool phases = false; ///< forward and backward are told apart
};

Repeat findRepeat(const LintContext& context, const SentKey& key,
                  const std::vector<const Collective*>& gathers) {
    Repeat repeat{key, {gathers.front()}, false, false};
    for (size_t i = 1; i < gathers.size(); ++i) {
        const Collective& before = *gathers[i - 1];
        const Collective& item = *gathers[i];
        if (freedBefore(context, before, item.launch) || reshardedBetween(context, before, item))
            continue;
        repeat.held = repeat.held || context.lastUse(before) > item.launch;
        repeat.phases = repeat.phases || context.phaseOf(item.launch) != Phase::Unknown;
        repeat.gathers.push_back(&item);
    }
    return repeat;
}

/// A whole step whose phases nobody states: backward gathers again what forward gathered, in the reverse
/// order.
bool looksLikeBackward(const std::vector<Repeat>& repeats) {
    constexpr size_t kLeast = 4;
    size_t pairs = 0, reversed = 0;
    for (size_t i = 0; i < repeats.size(); ++i) {
        if (repeats[i].held || repeats[i].phases || repeats[i].gathers.size() != 2)
            return false;
        if (i == 0)
            continue;
        ++pairs;
        reversed += repeats[i].gathers[1]->launch < repeats[i - 1].gathers[1]->launch ? 1 : 0;
    }
    return repeats.size() >= kLeast && reversed * 10 >= pairs * 7;
}

void report(LintContext& context, const Repeat& repeat) {
    const Graph& graph = context.graph;
    const Collective& last = *repeat.gathers.back();
    const size_t count = repeat.gathers.size();
    const int64_t extra =
        last.output_bytes < 0 ? kUnknownSize : last.output_bytes * static_cast<int64_t>(count - 1);
    const bool weight = last.weight_gather && graph.node(repeat.key.source).op == NodeOp::Placeholder;
    context.report(
        Severity::Warning, "gathered-twice", last.launch,
        fmt::format("{} \"{}\" is gathered {} times on {} without a free in between: by {} and {}{}",
                    weight ? "the parameter" : "the tensor", parameterName(graph, repeat.key.source), count,
                    context.groupText(repeat.key.group), context.quoted(repeat.gathers.front()->launch),
                    count == 2 ? context.quoted(last.launch) : fmt::format("{} more", count - 1),
                    extra > 0 ? fmt::format("; {} again", formatBytes(extra)) : std::string()),
        repeat.held
            ? "the first result is still held when it is gathered again: use that one"
            : "keep the first result if memory allows, or free it explicitly to say that this is meant");
}

void reportRepeats(LintContext& context, std::vector<Repeat> repeats) {
    std::sort(repeats.begin(), repeats.end(), [](const Repeat& a, const Repeat& b) {
        return a.gathers.front()->launch < b.gathers.front()->launch;
    });
    if (!looksLikeBackward(repeats)) {
        for (const Repeat& repeat : repeats)
            report(context, repeat);
        return;
    }
    const NodeId first = repeats.back().gathers[1]->launch;
    context.report(
        Severity::Info, "gathered-again", first,
        fmt::format("{} tensors are gathered a second time in the reverse order, from {} on: this looks "
                    "like a backward pass after sharding again",
                    repeats.size(), context.quoted(first)),
        "keeping the gathered weights would save these gathers and cost their memory");
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
    std::vector<Repeat> repeats;
    for (const auto& [key, gathers] : sent) {
        Repeat repeat = findRepeat(context, key, gathers);
        if (repeat.gathers.size() > 1)
            repeats.push_back(std::move(repeat));
    }
    reportRepeats(context, std::move(repeats));
    reportSums(context);
}

} // namespace gs
