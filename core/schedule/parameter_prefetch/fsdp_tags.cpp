#include "schedule/parameter_prefetch/fsdp_tags.h"

#include <algorithm>

namespace gs {

namespace {

bool startsWith(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

void readRoles(const Graph& graph, FsdpTags& tags) {
    const auto is = [&](NodeId id, std::string_view type) {
        const std::string_view text = graph.text(graph.meta(id).comm_type);
        return startsWith(text, type) &&
               (text.size() == type.size() || text.substr(type.size()) == "_backward");
    };
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.meta(id).comm_type == kEmptyString)
            continue;
        if (is(id, "fsdp_all_gather")) {
            tags.role[id] = FsdpRole::Gather;
            tags.bytes[id] = graph.meta(id).unsharded_bytes;
        } else if (is(id, "fsdp_reshard_free")) {
            tags.role[id] = FsdpRole::Free;
        }
    }
}

/// First node of the backward part of a graph without phases; the graph's size if it has no such part.
NodeId backwardStart(const Graph& graph) {
    std::vector<bool> from_tangent(graph.size(), false);
    bool has_tangents = false, has_saved = false;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.node(id).op == NodeOp::Placeholder) {
            const bool tangent = startsWith(graph.name(id), "tangents");
            from_tangent[id] = tangent;
            has_tangents |= tangent;
            // A partitioned backward graph also takes what forward saved, under the names of its nodes.
            has_saved |= !tangent && !startsWith(graph.name(id), "primals");
        }
    }
    if (!has_tangents)
        return static_cast<NodeId>(graph.size());
    if (has_saved)
        return 0;
    for (NodeId id = graph.placeholdersEnd(); id < graph.size(); ++id) {
        const auto inputs = graph.inputs(id);
        if (std::any_of(inputs.begin(), inputs.end(), [&](NodeId input) { return from_tangent[input]; }))
            return id;
    }
    return static_cast<NodeId>(graph.size());
}

void readPhases(const Graph& graph, FsdpTags& tags) {
    bool stated = false, has_phases = false;
    for (NodeId id = 0; id < graph.size(); ++id) {
        stated |= graph.meta(id).has_autograd_backward;
        has_phases |= graph.node(id).phase != Phase::Unknown;
    }
    tags.derived_phases = !stated;
    const NodeId start = stated || has_phases ? 0 : backwardStart(graph);
    for (NodeId id = 0; id < graph.size(); ++id) {
        tags.backward[id] = stated       ? graph.meta(id).autograd_backward
                            : has_phases ? graph.node(id).phase == Phase::Backward
                                         : id >= start;
    }
}

} // namespace

FsdpTags readFsdpTags(const Graph& graph, const CollectiveTable& collectives, bool all_gathers) {
    FsdpTags tags;
    tags.role.resize(graph.size(), FsdpRole::None);
    tags.backward.resize(graph.size(), false);
    tags.bytes.resize(graph.size(), kUnknownSize);
    readRoles(graph, tags);
    readPhases(graph, tags);
    tags.derived_gathers = std::find(tags.role.begin(), tags.role.end(), FsdpRole::Gather) == tags.role.end();
    if (!tags.derived_gathers)
        return tags;
    for (const Collective& item : collectives.all()) {
        if (item.launch == kNoNode || !item.isGather() || (!item.weight_gather && !all_gathers))
            continue;
        tags.role[item.launch] = FsdpRole::Gather;
        tags.bytes[item.launch] = item.output_bytes;
    }
    return tags;
}

} // namespace gs
