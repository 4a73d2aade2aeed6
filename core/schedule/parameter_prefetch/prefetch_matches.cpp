// What document 002's pass finds before it moves anything: matches, launch chains, constraints.
#include "schedule/parameter_prefetch/parameter_prefetch.h"

#include "schedule/parameter_prefetch/prefetch_ops.h"

#include <algorithm>
#include <map>

namespace gs {

bool isOp(const Graph& graph, NodeId id, std::string_view packet) {
    if (graph.node(id).op != NodeOp::CallFunction)
        return false;
    const std::string_view target = graph.targetText(id);
    return target.substr(0, packet.size()) == packet &&
           (target.size() == packet.size() || target[packet.size()] == '.');
}

bool isPrefetchBarrier(const Graph& graph, const FsdpTags& tags, NodeId id) {
    if (graph.node(id).op == NodeOp::Output)
        return true;
    constexpr uint16_t kEffects = kTraitMutable | kTraitFree | kTraitBarrier;
    return graph.isCall(id) && (graph.node(id).traits & kEffects) != 0 && tags.role[id] != FsdpRole::Free;
}

namespace {

class Matcher {
public:
    Matcher(const Graph& graph, const FsdpTags& tags, const Order& order)
        : graph_(graph), tags_(tags), position_(positionsOf(order)), seen_by_(graph.size(), kNoNode) {}

    std::vector<PrefetchMatch> run(const Order& order) {
        std::vector<PrefetchMatch> matches;
        for (const NodeId id : order) {
            if (tags_.role[id] != FsdpRole::Gather)
                continue;
            PrefetchMatch match;
            match.launch = id;
            if (start(match) && walk(match))
                matches.push_back(std::move(match));
        }
        return matches;
    }

private:
    bool addWait(NodeId from, PrefetchMatch& match) {
        const auto users = graph_.users(from);
        if (users.size() != 1 || !isOp(graph_, users.front(), "_c10d_functional.wait_tensor"))
            return false;
        match.realization.push_back(users.front());
        return true;
    }

    /// The launch's one wait. Coalesced launches, which the document has not, have one behind each getitem.
    bool start(PrefetchMatch& match) {
        if (isOp(graph_, match.launch, "_c10d_functional.all_gather_into_tensor"))
            return addWait(match.launch, match);
        if (!isOp(graph_, match.launch, "_c10d_functional.all_gather_into_tensor_coalesced") ||
            graph_.users(match.launch).empty())
            return false;
        for (const NodeId unpack : graph_.users(match.launch)) {
            if (graph_.node(unpack).kind != NodeKind::Unpack || !addWait(unpack, match))
                return false;
        }
        match.realization.insert(match.realization.end(), graph_.users(match.launch).begin(),
                                 graph_.users(match.launch).end());
        return true;
    }

    bool walk(PrefetchMatch& match) {
        for (const NodeId id : match.realization)
            seen_by_[id] = match.launch;
        for (size_t at = 0; at < match.realization.size(); ++at) {
            for (const NodeId user : graph_.users(match.realization[at])) {
                if (seen_by_[user] == match.launch)
                    continue;
                seen_by_[user] = match.launch;
                if (passesOn(match.launch, user))
                    match.realization.push_back(user);
                else if (match.first_user == kNoNode || position_[user] < position_[match.first_user])
                    match.first_user = user;
            }
        }
        std::sort(match.realization.begin(), match.realization.end(),
                  [&](NodeId a, NodeId b) { return position_[a] < position_[b]; });
        return match.first_user != kNoNode;
    }

    bool passesOn(NodeId launch, NodeId user) const {
        const StringId bucket = graph_.meta(launch).bucket_id;
        return graph_.hasTrait(user, kTraitView) ||
               (bucket != kEmptyString && graph_.meta(user).bucket_copy_out == bucket &&
                graph_.targetText(user) == "aten.clone.default");
    }

    const Graph& graph_;
    const FsdpTags& tags_;
    std::vector<uint32_t> position_;
    std::vector<NodeId> seen_by_;
};

/// Producers of a bucket's launch that nothing else reads.
std::vector<NodeId> bucketPreparation(const Graph& graph, NodeId launch) {
    std::vector<NodeId> chain{launch};
    const auto inside = [&](NodeId id) { return std::find(chain.begin(), chain.end(), id) != chain.end(); };
    for (size_t at = 0; at < chain.size(); ++at) {
        // A node with several users joins when the last of them has.
        for (const NodeId input : graph.inputs(chain[at])) {
            const auto users = graph.users(input);
            if (graph.node(input).op == NodeOp::CallFunction && !inside(input) &&
                std::all_of(users.begin(), users.end(), inside))
                chain.push_back(input);
        }
    }
    std::sort(chain.begin(), chain.end());
    return chain;
}

} // namespace

std::vector<PrefetchMatch> collectMatches(const Graph& graph, const FsdpTags& tags, const Order& order) {
    return Matcher(graph, tags, order).run(order);
}

std::vector<NodeId> launchChain(const Graph& graph, NodeId launch) {
    if (graph.meta(launch).bucket_id != kEmptyString)
        return bucketPreparation(graph, launch);
    const Arg* first = graph.arg(launch, 0);
    const NodeId shard = first ? first->node() : kNoNode;
    if (shard == kNoNode || graph.users(shard).size() != 1 ||
        (!isOp(graph, shard, "prims.convert_element_type") && !isOp(graph, shard, "aten._to_copy")))
        return {launch};
    const auto inputs = graph.inputs(shard);
    const bool from_parameter = !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [&](NodeId id) {
        return graph.node(id).op == NodeOp::Placeholder;
    });
    return from_parameter ? std::vector<NodeId>{shard, launch} : std::vector<NodeId>{launch};
}

std::vector<std::vector<NodeId>> launchConstraints(const Graph& graph, const FsdpTags& tags,
                                                   const Order& order) {
    std::vector<std::vector<NodeId>> constraints(graph.size());
    NodeId effect = kNoNode;
    std::map<StringId, NodeId> frees; // by parameter
    for (const NodeId id : order) {
        const NodeMeta& meta = graph.meta(id);
        if (tags.role[id] == FsdpRole::Gather) {
            if (effect != kNoNode)
                constraints[id].push_back(effect);
            const auto add = [&](StringId name) {
                if (const auto found = frees.find(name); found != frees.end())
                    constraints[id].push_back(found->second);
            };
            if (meta.bucket_members.empty())
                add(meta.param_name);
            std::for_each(meta.bucket_members.begin(), meta.bucket_members.end(), add);
        }
        if (isPrefetchBarrier(graph, tags, id))
            effect = id;
        if (tags.role[id] == FsdpRole::Free)
            frees[meta.param_name] = id;
    }
    return constraints;
}

} // namespace gs
