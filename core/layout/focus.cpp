#include "layout/focus.h"

#include "base/units.h"
#include "layout/focus_builder.h"
#include "layout/labels.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr size_t kMaxLaunches = 6;   ///< of a bucket that was several gathers before
constexpr size_t kMaxWaits = 6;      ///< of a coalesced launch
constexpr size_t kMaxNeighbours = 6; ///< inputs or users of a plain node that get a box each

/// One program of the pair with what is looked up in it.
struct Side {
    const Graph& graph;
    const CollectiveTable& collectives;
    Order order;
};

/// Launch and its private preparation, for programs without a decision: producers whose every user is in the
/// chain.
std::vector<NodeId> launchChain(const Side& side, const Collective& gather) {
    std::vector<NodeId> chain{gather.launch};
    chain.insert(chain.end(), gather.unpacks.begin(), gather.unpacks.end());
    const auto in_chain = [&](NodeId node) {
        return std::find(chain.begin(), chain.end(), node) != chain.end() ||
               side.graph.node(node).kind == NodeKind::Wait;
    };
    for (size_t i = 0; i < chain.size() && chain.size() < 64; ++i) {
        for (NodeId input : side.graph.inputs(chain[i])) {
            const auto users = side.graph.users(input);
            if (side.graph.isCall(input) && side.graph.node(input).kind != NodeKind::Launch &&
                !in_chain(input) && std::all_of(users.begin(), users.end(), in_chain))
                chain.push_back(input);
        }
    }
    return chain;
}

/// "cast → pad → all_gather".
std::string chainTitle(const Graph& graph, std::vector<NodeId> chain) {
    std::sort(chain.begin(), chain.end());
    std::vector<std::string> labels; // a bucket prepares every member; each kind of step is named once
    for (NodeId node : chain) {
        std::string label = opLabel(graph, node);
        if (graph.node(node).kind != NodeKind::Unpack &&
            std::find(labels.begin(), labels.end(), label) == labels.end())
            labels.push_back(std::move(label));
    }
    return fmt::format("{}", fmt::join(labels, " → "));
}

/// Nodes on the way from a wait to `consumer` through views and unpacks, the wait first.
std::vector<NodeId> waitPath(const Graph& graph, NodeId wait, NodeId consumer) {
    std::vector<NodeId> path{wait};
    NodeId at = wait;
    while (path.size() < 32) {
        NodeId next = kNoNode;
        for (NodeId user : graph.users(at)) {
            if (user == consumer)
                return path;
            const NodeKind kind = graph.node(user).kind;
            if (next == kNoNode && (kind == NodeKind::View || kind == NodeKind::Unpack))
                next = user;
        }
        if (next == kNoNode)
            break;
        path.push_back(next);
        at = next;
    }
    return consumer == kNoNode ? std::vector<NodeId>{wait} : path;
}

std::string consumerDetail(const Graph& graph, NodeId node) {
    return std::string(shortModule(moduleOf(graph, node)));
}

void addParameters(FocusBuilder& builder, const Side& side, const std::vector<NodeId>& launches) {
    std::vector<NodeId> parameters;
    for (NodeId launch : launches) {
        const Collective& gather = side.collectives[static_cast<size_t>(side.collectives.indexOf(launch))];
        parameters.insert(parameters.end(), gather.parameters.begin(), gather.parameters.end());
    }
    if (parameters.empty())
        return;
    if (parameters.size() == 1)
        builder.addBox(BoxRole::Parameter, parameters, parameters.front(),
                       parameterName(side.graph, parameters.front()));
    else
        builder.addBox(BoxRole::Parameter, parameters, parameters.front(),
                       fmt::format("{} parameters", formatCount(static_cast<int64_t>(parameters.size()))));
}

/// Wait and first consumer boxes of one launch. Returns the position of its first wait.
void addWaits(FocusBuilder& builder, const Side& side, const Collective& gather) {
    std::vector<NodeId> waits = gather.waits;
    std::sort(waits.begin(), waits.end(),
              [&](NodeId a, NodeId b) { return builder.position(a) < builder.position(b); });
    NodeId consumer = kNoNode;
    for (NodeId node : gather.consumers) {
        if (consumer == kNoNode || builder.position(node) < builder.position(consumer))
            consumer = node;
    }
    for (size_t i = 0; i < waits.size() && i < kMaxWaits; ++i) {
        std::vector<NodeId> path = waitPath(side.graph, waits[i], consumer);
        std::string detail;
        for (size_t k = 1; k < path.size(); ++k)
            detail += (k == 1 ? "→ " : " → ") + opLabel(side.graph, path[k]);
        builder.addBox(BoxRole::Wait, std::move(path), waits[i], "wait_tensor", std::move(detail));
    }
    if (waits.size() > kMaxWaits) {
        const std::vector<NodeId> rest(waits.begin() + kMaxWaits, waits.end());
        builder.addBox(BoxRole::Wait, rest, rest.front(),
                       fmt::format("{} more waits", formatCount(static_cast<int64_t>(rest.size()))));
    }
    if (consumer != kNoNode)
        builder.addBox(BoxRole::Compute, {consumer}, consumer, std::string(side.graph.name(consumer)),
                       consumerDetail(side.graph, consumer));
}

/// `group` moves with the one launch; empty = look up each launch's chain. The window begins at the first
/// launch or at schedule position `window_start`, whichever is earlier.
LayoutGraph gatherPicture(const Side& side, std::vector<NodeId> launches, std::vector<NodeId> group,
                          NodeId floor, uint32_t window_start, const FocusOptions& options) {
    FocusBuilder builder(side.graph, side.order, options);
    if (launches.empty())
        return builder.finish(true);
    const size_t dropped = launches.size() > kMaxLaunches ? launches.size() - kMaxLaunches : 0;
    addParameters(builder, side, launches);
    launches.resize(launches.size() - dropped);
    uint32_t first = window_start, last = 0;
    for (NodeId launch : launches) {
        const Collective& gather = side.collectives[static_cast<size_t>(side.collectives.indexOf(launch))];
        std::vector<NodeId> chain = group.empty() ? launchChain(side, gather) : group;
        std::string title = chainTitle(side.graph, chain);
        const BoxRole role = gather.weight_gather ? BoxRole::Gather : BoxRole::Collective;
        const int index = builder.addBox(role, std::move(chain), launch, std::move(title));
        if (index >= 0)
            builder.box(index).focus = true;
        first = std::min(first, builder.position(launch));
        for (NodeId wait : gather.waits)
            last = std::max(last, builder.position(wait));
        addWaits(builder, side, gather);
    }
    if (floor != kNoNode && !builder.has(floor)) {
        const int index =
            builder.addBox(BoxRole::Compute, {floor}, floor, std::string(side.graph.name(floor)), "floor");
        if (index >= 0)
            builder.box(index).floor = true;
    }
    builder.foldBetween(first, last);
    return builder.finish(true);
}

/// Plain neighbourhood: inputs above, users below.
LayoutGraph nodePicture(const Side& side, NodeId node, const FocusOptions& options) {
    FocusBuilder builder(side.graph, side.order, options);
    const auto add = [&](NodeId id) {
        const Node& n = side.graph.node(id);
        const int32_t collective = side.collectives.indexOf(id);
        const BoxRole role =
            n.op == NodeOp::Placeholder || n.op == NodeOp::GetAttr ? BoxRole::Parameter
            : n.kind == NodeKind::Launch
                ? (side.collectives[static_cast<size_t>(collective)].weight_gather ? BoxRole::Gather
                                                                                   : BoxRole::Collective)
            : n.kind == NodeKind::Wait    ? BoxRole::Wait
            : n.kind == NodeKind::Compute ? BoxRole::Compute
                                          : BoxRole::View;
        const std::string title =
            role == BoxRole::Parameter ? parameterName(side.graph, id) : std::string(side.graph.name(id));
        return builder.addBox(role, {id}, id, title,
                              role == BoxRole::Parameter ? std::string() : consumerDetail(side.graph, id));
    };
    const auto addAll = [&](std::span<const NodeId> nodes, const char* what) {
        const size_t shown = nodes.size() > kMaxNeighbours ? kMaxNeighbours - 1 : nodes.size();
        for (size_t i = 0; i < shown; ++i)
            add(nodes[i]);
        if (shown < nodes.size()) {
            std::vector<NodeId> rest(nodes.begin() + static_cast<std::ptrdiff_t>(shown), nodes.end());
            const NodeId first = rest.front();
            const int64_t count = static_cast<int64_t>(rest.size());
            builder.addBox(BoxRole::Folded, std::move(rest), first,
                           fmt::format("{} more {}", formatCount(count), what));
        }
    };
    addAll(side.graph.inputs(node), "inputs");
    const int index = add(node);
    if (index >= 0)
        builder.box(index).focus = true;
    addAll(side.graph.users(node), "users");
    return builder.finish(false);
}

/// Nodes of `graph` that a node of the other program is or was made from.
std::vector<NodeId> counterparts(const Graph& from, NodeId node, const Graph& graph) {
    if (const auto same = graph.find(from.name(node)))
        return {*same};
    std::vector<NodeId> found;
    for (StringId origin : from.origins(node)) {
        if (const auto id = graph.find(from.text(origin)))
            found.push_back(*id);
    }
    return found;
}

/// Launches that the nodes belong to, each once.
std::vector<NodeId> launchesOf(const Side& side, const std::vector<NodeId>& nodes) {
    std::vector<NodeId> launches;
    for (NodeId node : nodes) {
        const NodeId launch = launchOf(side.collectives, node);
        if (launch != kNoNode && std::find(launches.begin(), launches.end(), launch) == launches.end())
            launches.push_back(launch);
    }
    return launches;
}

/// Where the window of the after picture begins in the before program: the earliest node there that now lies
/// between launch and wait.
uint32_t windowStart(const Side& before, const Side& after, const Collective& gather,
                     const std::vector<NodeId>& group) {
    const std::vector<uint32_t> now = positionsOf(after.order);
    const std::vector<uint32_t> then = positionsOf(before.order);
    uint32_t wait = static_cast<uint32_t>(after.order.size());
    for (NodeId id : gather.waits)
        wait = std::min(wait, now[id]);
    uint32_t start = static_cast<uint32_t>(before.order.size());
    for (uint32_t at = now[gather.launch] + 1; at < wait && at < after.order.size(); ++at) {
        const NodeId node = after.order[at];
        if (after.graph.node(node).kind != NodeKind::Compute ||
            std::find(group.begin(), group.end(), node) != group.end())
            continue;
        if (&before.graph == &after.graph) {
            start = std::min(start, then[node]);
        } else if (const auto same = before.graph.find(after.graph.name(node))) {
            start = std::min(start, then[*same]);
        }
    }
    return start;
}

void focusGather(const Analysis& analysis, const Side& before, const Side& after, NodeId launch,
                 const FocusOptions& options, FocusPair& pair) {
    const Collective& gather = after.collectives[static_cast<size_t>(after.collectives.indexOf(launch))];
    pair.gather = true;
    pair.subject = gather.weight_gather ? gatheredParameters(after.graph, gather)
                                        : std::string(after.graph.name(launch));
    const Decision* decision = nullptr;
    if (analysis.after.schedule) {
        for (const Decision& item : analysis.after.schedule->decisions)
            decision = item.launch == launch ? &item : decision;
    }
    std::vector<NodeId> group;
    if (decision && decision->verdict != Verdict::NotCandidate) {
        pair.has_decision = true;
        pair.moved_up = static_cast<int64_t>(decision->cur) - static_cast<int64_t>(decision->target);
        pair.floor_distance = static_cast<int64_t>(decision->target) - static_cast<int64_t>(decision->floor);
        pair.floor_node = decision->floor_node;
        group = decision->moved_group;
    }
    if (group.empty())
        group = launchChain(after, gather);
    const auto none = static_cast<uint32_t>(-1);
    pair.after = gatherPicture(after, {launch}, group, pair.floor_node, none, options);

    std::vector<NodeId> launches = launchesOf(before, counterparts(after.graph, launch, before.graph));
    NodeId floor = kNoNode;
    if (pair.floor_node != kNoNode) {
        const std::vector<NodeId> floors = counterparts(after.graph, pair.floor_node, before.graph);
        floor = floors.empty() ? kNoNode : floors.front();
    }
    pair.before = gatherPicture(before, std::move(launches), {}, floor,
                                windowStart(before, after, gather, group), options);
}

/// Whole programs, as far as a picture needs them.
bool complete(const Analysis& analysis) {
    return analysis.before.graph && analysis.after.graph && analysis.before.collectives &&
           analysis.after.collectives;
}

} // namespace

LocatedNode locateNode(const Analysis& analysis, std::string_view name) {
    LocatedNode out;
    if (!complete(analysis))
        return out;
    const Graph& before = *analysis.before.graph;
    const Graph& after = *analysis.after.graph;
    out.before = before.find(name).value_or(kNoNode);
    out.after = after.find(name).value_or(kNoNode);
    if (out.after != kNoNode && out.before == kNoNode) {
        const std::vector<NodeId> members = counterparts(after, out.after, before);
        out.before = members.empty() ? kNoNode : members.front();
    } else if (out.after == kNoNode && out.before != kNoNode) {
        for (const Collective& item : analysis.after.collectives->all()) {
            if (item.launch == kNoNode)
                continue;
            for (StringId origin : after.origins(item.launch)) {
                if (after.text(origin) == name)
                    out.after = item.launch;
            }
        }
    }
    return out;
}

NodeId launchOf(const CollectiveTable& collectives, NodeId node) {
    const int32_t index = collectives.indexOf(node);
    return index < 0 ? kNoNode : collectives[static_cast<size_t>(index)].launch;
}

Order programOrder(const Program& program) {
    if (program.schedule && program.schedule->order.size() == program.graph->size())
        return program.schedule->order;
    return identityOrder(*program.graph);
}

FocusPair focusOn(const Analysis& analysis, std::string_view name, const FocusOptions& options) {
    FocusPair pair;
    if (!complete(analysis))
        return pair;
    const Side before{*analysis.before.graph, *analysis.before.collectives, programOrder(analysis.before)};
    const Side after{*analysis.after.graph, *analysis.after.collectives, programOrder(analysis.after)};
    const LocatedNode located = locateNode(analysis, name);
    const NodeId node = located.after;
    if (node == kNoNode) {
        if (located.before != kNoNode) { // a pass took it away
            pair.subject = name;
            pair.before = nodePicture(before, located.before, options);
        }
        return pair;
    }
    const NodeId launch = launchOf(after.collectives, node);
    if (launch != kNoNode &&
        !after.collectives[static_cast<size_t>(after.collectives.indexOf(launch))].waits.empty()) {
        focusGather(analysis, before, after, launch, options, pair);
        return pair;
    }
    pair.subject = after.graph.name(node);
    pair.after = nodePicture(after, node, options);
    if (located.before != kNoNode)
        pair.before = nodePicture(before, located.before, options);
    return pair;
}

} // namespace gs
