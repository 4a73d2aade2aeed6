#include "views/timeline/hand_edits.h"

#include "schedule/manual_moves.h"
#include "views/timeline/launch_drag.h"

#include <algorithm>

namespace gs {

namespace {

std::string nameOf(const Graph& graph, NodeId node) {
    return std::string(graph.name(node));
}

/// Launches of the scheduled program that an edit is about.
std::vector<NodeId> launchesOf(const Analysis& analysis, const Edit& edit) {
    std::vector<NodeId> launches;
    const auto add = [&](const std::string& name) {
        const NodeId node = resolveNode(*analysis.after.graph, name);
        if (node != kNoNode)
            launches.push_back(node);
    };
    if (edit.kind != Edit::Kind::Bucket)
        add(edit.node);
    for (const std::string& member : edit.members)
        add(member);
    return launches;
}

} // namespace

std::vector<std::string> bucketMembers(const Analysis& analysis, NodeId launch) {
    const Graph& graph = *analysis.after.graph;
    const Graph& lowered = *analysis.before.graph;
    if (lowered.find(graph.name(launch)))
        return {nameOf(graph, launch)};
    std::vector<std::string> members;
    for (const StringId origin : graph.origins(launch)) {
        const auto id = lowered.find(graph.text(origin));
        if (id && lowered.node(*id).kind == NodeKind::Launch)
            members.emplace_back(graph.text(origin));
    }
    return members;
}

std::vector<Edit> editsOf(const Analysis& analysis, NodeId launch) {
    std::vector<Edit> found;
    for (const Edit& edit : analysis.request.edits) {
        const std::vector<NodeId> launches = launchesOf(analysis, edit);
        if (std::find(launches.begin(), launches.end(), launch) != launches.end())
            found.push_back(edit);
    }
    return found;
}

std::vector<std::optional<Edit::Kind>> editedLaunches(const Analysis& analysis) {
    std::vector<std::optional<Edit::Kind>> kinds(analysis.after.graph->size());
    for (const Edit& edit : analysis.request.edits) {
        for (const NodeId launch : launchesOf(analysis, edit))
            kinds[launch] = edit.kind;
    }
    return kinds;
}

NodeId gatherBeside(const Analysis& analysis, NodeId launch, int direction) {
    const CollectiveTable& collectives = *analysis.after.collectives;
    const int32_t index = collectives.indexOf(launch);
    if (index < 0 || !collectives[static_cast<size_t>(index)].isGather())
        return kNoNode;
    NodeId best = kNoNode;
    for (const Collective& item : collectives.all()) {
        if (!item.isGather() || item.launch == kNoNode ||
            item.group != collectives[static_cast<size_t>(index)].group)
            continue;
        const bool beyond = direction > 0 ? item.launch > launch : item.launch < launch;
        const bool nearer = best == kNoNode || (direction > 0 ? item.launch < best : item.launch > best);
        if (beyond && nearer)
            best = item.launch;
    }
    return best;
}

Edit bucketOf(const Analysis& analysis, NodeId one, NodeId other) {
    Edit edit;
    edit.kind = Edit::Kind::Bucket;
    for (const NodeId launch : {std::min(one, other), std::max(one, other)}) {
        for (std::string& member : bucketMembers(analysis, launch))
            edit.members.push_back(std::move(member));
    }
    return edit;
}

Edit aloneEdit(const std::string& member) {
    Edit edit;
    edit.kind = Edit::Kind::Bucket;
    edit.members = {member};
    return edit;
}

Edit forbidEdit(const Analysis& analysis, NodeId launch) {
    Edit edit;
    edit.kind = Edit::Kind::Forbid;
    edit.node = nameOf(*analysis.after.graph, launch);
    return edit;
}

Edit pinEdit(const SnapshotPtr& snapshot, NodeId launch) {
    const LaunchDrag drag(snapshot, launch);
    return drag.edit(drag.home(), Edit::Kind::Pin);
}

AnalysisRequest withoutHand(const Analysis& analysis, NodeId launch) {
    AnalysisRequest request = analysis.request;
    for (const Edit& edit : editsOf(analysis, launch)) {
        if (edit.kind != Edit::Kind::Bucket)
            request.edits = withoutEdits(std::move(request.edits), edit.node);
        for (const std::string& member : edit.members)
            request.edits = withoutEdits(std::move(request.edits), member);
    }
    return request;
}

} // namespace gs
