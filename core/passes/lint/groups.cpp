#include "base/units.h"
#include "passes/lint/checks.h"
#include "passes/redistribute_plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gs {

namespace {

/// Per node whether it only prepares inputs of the graph for sending: buckets of several parameters are made
/// so.
std::vector<bool> preparedInputs(const Graph& graph) {
    static const std::set<std::string_view> kPacking = {"aten.cat.default",
                                                        "aten.copy_.default",
                                                        "aten.clone.default",
                                                        "aten.empty.memory_format",
                                                        "aten.constant_pad_nd.default",
                                                        "fsdp.all_gather_copy_in.default",
                                                        "aten.split_with_sizes.default"};
    std::vector<bool> prepared(graph.size(), false);
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph.node(id);
        bool good = node.op == NodeOp::Placeholder || node.op == NodeOp::GetAttr ||
                    node.kind == NodeKind::View || node.kind == NodeKind::Unpack ||
                    graph.hasTrait(id, kTraitCast) || kPacking.count(graph.targetText(id)) > 0;
        for (const NodeId input : graph.inputs(id))
            good = good && prepared[input];
        prepared[id] = good;
    }
    return prepared;
}

/// Gathers of activations (tensor or sequence parallel): no scheduler of weights can move them.
void reportActivations(LintContext& context) {
    struct Seen {
        NodeId first = kNoNode;
        size_t count = 0;
        int64_t bytes = 0;
    };
    std::map<GroupId, Seen> by_group;
    size_t gathers = 0;
    const std::vector<bool> prepared = preparedInputs(context.graph);
    for (const Collective& item : context.collectives.all()) {
        if (!item.isGather() || item.inFlightAtEntry())
            continue;
        ++gathers;
        const auto sent = context.graph.inputs(item.launch);
        const bool bucket =
            !sent.empty() && std::all_of(sent.begin(), sent.end(), [&](NodeId id) { return prepared[id]; });
        if (item.weight_gather || bucket)
            continue;
        Seen& seen = by_group[item.group];
        seen.first = std::min(seen.first, item.launch);
        ++seen.count;
        seen.bytes += std::max<int64_t>(item.output_bytes, 0);
    }
    if (gathers > 0 && !by_group.empty() && context.collectives.weightGatherCount() == 0) {
        context.report(Severity::Info, "no-weight-gathers", by_group.begin()->second.first,
                       fmt::format("none of the {} gathers is of a parameter: launching weights earlier does "
                                   "not apply here",
                                   gathers),
                       "gathers=all treats every gather as a candidate");
        return;
    }
    for (const auto& [group, seen] : by_group)
        context.report(Severity::Info, "activation-gathers", seen.first,
                       fmt::format("{} of {} gathers are of activations on {} ({} in all), the first is {}",
                                   seen.count, gathers, context.groupText(group), formatBytes(seen.bytes),
                                   context.quoted(seen.first)),
                       "weights do not wait for them where they have a group of their own; gathers=all makes "
                       "them candidates");
}

/// A program with collectives and no gather: an empty list of gathers would look like a fault of the reader.
void reportNoGathers(LintContext& context) {
    const Graph& graph = context.graph;
    std::map<std::string_view, size_t> kinds;
    NodeId first = kNoNode;
    for (const Collective& item : context.collectives.all()) {
        if (item.isGather() || item.inFlightAtEntry())
            return;
        first = std::min(first, item.launch);
        ++kinds[collectiveKindName(item.kind)];
    }
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (isRedistribute(graph, id)) // may become gathers
            return;
    }
    if (kinds.empty())
        return;
    std::string text;
    for (const auto& [kind, count] : kinds)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
    context.report(
        Severity::Info, "no-gathers", first,
        fmt::format("no collective of this graph is an all-gather ({}): there is no weight to launch "
                    "earlier",
                    text),
        "weights that FSDP shards are gathered in the forward and backward graphs of the step");
}

/// Collectives that exist only after lowering: what they are depends on placements, which Dynamo closes over.
void reportRedistributes(LintContext& context) {
    const Graph& graph = context.graph;
    NodeId first = kNoNode;
    size_t count = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (!isRedistribute(graph, id))
            continue;
        first = std::min(first, id);
        ++count;
    }
    if (count > 0)
        context.report(
            Severity::Info, "redistributes", first,
            fmt::format("{} {}: which collectives they become is not known before lowering, the first "
                        "is {}",
                        count, count == 1 ? "redistribute" : "redistributes", context.quoted(first)),
            "open the AOT or post-grad graph of the same program to see their collectives");
}

/// One group is one stream: a collective ends only after all that were launched before it on that group.
void reportForcedWaits(LintContext& context) {
    struct Stream {
        std::vector<const Collective*> launched;
        size_t waited = 0; ///< all before this index have been waited for
        std::vector<bool> done;
    };
    std::map<GroupId, Stream> streams;
    std::map<NodeId, std::pair<GroupId, size_t>> place; // launch → place on its stream
    const Graph& graph = context.graph;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const int32_t index = context.collectives.indexOf(id);
        if (index < 0)
            continue;
        const Collective& item = context.collectives[static_cast<size_t>(index)];
        if (graph.node(id).kind == NodeKind::Launch && item.group != kNoGroup && !item.waits.empty()) {
            Stream& stream = streams[item.group];
            place[id] = {item.group, stream.launched.size()};
            stream.launched.push_back(&item);
            stream.done.push_back(false);
        }
        if (graph.node(id).kind != NodeKind::Wait || item.launch == kNoNode || id != item.waits.front())
            continue;
        const auto at = place.find(item.launch);
        if (at == place.end())
            continue;
        Stream& stream = streams[at->second.first];
        stream.done[at->second.second] = true;
        while (stream.waited < stream.done.size() && stream.done[stream.waited])
            ++stream.waited;
        if (stream.waited >= at->second.second)
            continue;
        const Collective& earlier = *stream.launched[stream.waited];
        context.report(Severity::Info, "wait-forces-earlier", id,
                       fmt::format("{} also waits for {}, launched before it on the same {} and needed only "
                                   "by {}",
                                   context.quoted(id), context.quoted(earlier.launch),
                                   context.groupText(item.group), context.quoted(earlier.waits.front())),
                       "launch the one that is needed first first, or give it a group of its own");
    }
}

} // namespace

void lintGroups(LintContext& context) {
    reportActivations(context);
    reportNoGathers(context);
    reportRedistributes(context);
    reportForcedWaits(context);
}

} // namespace gs
