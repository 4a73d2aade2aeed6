#include "passes/bucket_members.h"

#include <algorithm>
#include <fmt/format.h>
#include <queue>

namespace gs {

namespace {

/// Regions of the buckets made by hand begin here.
constexpr uint32_t kHandRegion = 0x80000000;
constexpr std::string_view kPlainGather = "_c10d_functional.all_gather_into_tensor";

bool isPlainGather(const Graph& graph, NodeId launch) {
    const std::string_view target = graph.targetText(launch);
    return target.substr(0, kPlainGather.size()) == kPlainGather &&
           (target.size() == kPlainGather.size() || target[kPlainGather.size()] == '.');
}

} // namespace

BucketPlanner::BucketPlanner(const Graph& graph, const CollectiveTable& collectives,
                             const BucketOptions& options)
    : graph_(graph), collectives_(collectives), options_(options), bucket_of_(graph.size(), -1),
      seen_by_(graph.size(), kNoNode) {}

BucketPlan BucketPlanner::run() {
    std::vector<uint32_t> candidates;
    std::vector<size_t> decision_of;
    for (uint32_t i = 0; i < collectives_.size(); ++i) {
        const Collective& item = collectives_[i];
        if (item.launch == kNoNode || !item.isGather())
            continue;
        plan_.decisions.push_back({item.launch, -1, candidateReason(item)});
        if (plan_.decisions.back().reason.empty()) {
            candidates.push_back(i);
            decision_of.push_back(plan_.decisions.size() - 1);
        }
    }
    std::vector<uint32_t> regions = gatherRegions(graph_, collectives_, candidates, options_);
    for (size_t i = 0; i < candidates.size(); ++i) {
        const int32_t hand = handGroupOf(collectives_[candidates[i]].launch);
        if (hand >= 0)
            regions[i] = kHandRegion + static_cast<uint32_t>(hand);
    }
    for (size_t i = 0; i < candidates.size(); ++i)
        place(candidates[i], regions[i], plan_.decisions[decision_of[i]]);
    return std::move(plan_);
}

/// Which bucket made by hand a launch is a member of; -1 if none.
int32_t BucketPlanner::handGroupOf(NodeId launch) const {
    for (size_t i = 0; i < options_.by_hand.size(); ++i) {
        for (const std::string& member : options_.by_hand[i]) {
            if (member == graph_.name(launch))
                return static_cast<int32_t>(i);
        }
    }
    return -1;
}

std::string BucketPlanner::candidateReason(const Collective& gather) const {
    if (gather.kind == CollectiveKind::AllGatherCoalesced)
        return "it is coalesced already";
    if (!isPlainGather(graph_, gather.launch))
        return fmt::format("{} has no coalesced form", graph_.targetText(gather.launch));
    const Arg* shard = graph_.arg(gather.launch, 0);
    if (!shard || shard->node() == kNoNode || !graph_.arg(gather.launch, 2))
        return "its arguments are not as the operator's schema has them";
    const int32_t hand = handGroupOf(gather.launch);
    if (hand < 0 && !options_.automatic)
        return "only the buckets made by hand are";
    if (hand >= 0 && options_.by_hand[static_cast<size_t>(hand)].size() == 1)
        return "it was taken out by hand";
    if (hand < 0 && !gather.weight_gather && !options_.all_gathers)
        return "it gathers no parameter";
    if (gather.group == kNoGroup)
        return "its process group is not known";
    if (gather.waits.empty())
        return "it is never waited for";
    if (gather.consumers.empty())
        return "nothing uses what it gathers";
    if (hand < 0 && options_.cap_bytes && gather.input_bytes < 0)
        return "the size of its shard is not known, so the cap cannot be kept";
    return {};
}

bool BucketPlanner::fits(const GatherBucket& bucket, const Collective& gather) const {
    const Collective& last = collectives_[bucket.members.back()];
    if (last.dtype != gather.dtype || last.group_size != gather.group_size)
        return false;
    return bucket.by_hand || !options_.cap_bytes ||
           bucket.shard_bytes <= *options_.cap_bytes - gather.input_bytes;
}

void BucketPlanner::place(uint32_t collective, uint32_t region, BucketDecision& decision) {
    const Collective& gather = collectives_[collective];
    const auto [open, added] = open_.try_emplace({region, gather.group}, -1);
    std::vector<NodeId> preparation;
    if (!added && fits(plan_.buckets[static_cast<size_t>(open->second)], gather)) {
        decision.reason = collectPreparation(open->second, gather.launch, preparation);
        if (!decision.reason.empty())
            return;
    } else {
        open->second = static_cast<int32_t>(plan_.buckets.size());
        plan_.buckets.push_back({});
        plan_.buckets.back().region = region;
        plan_.buckets.back().by_hand = region >= kHandRegion;
    }
    decision.bucket = open->second;
    GatherBucket& bucket = plan_.buckets[static_cast<size_t>(open->second)];
    bucket.members.push_back(collective);
    bucket.hoisted.insert(bucket.hoisted.end(), preparation.begin(), preparation.end());
    const bool known = gather.input_bytes >= 0 && bucket.shard_bytes >= 0;
    bucket.shard_bytes = known ? bucket.shard_bytes + gather.input_bytes : kUnknownSize;
    bucket_of_[gather.launch] = open->second;
    for (NodeId node : preparation)
        bucket_of_[node] = open->second;
}

/// Finds what has to move in front of the bucket's launch. Nodes are looked at from the back, so that all
/// users of a node that may be in the preparation were seen before it: a node with another user ends the
/// search at once, and the whole pass stays linear.
std::string BucketPlanner::collectPreparation(int32_t bucket, NodeId launch,
                                              std::vector<NodeId>& preparation) {
    const NodeId before = collectives_[plan_.buckets[static_cast<size_t>(bucket)].members.front()].launch;
    std::priority_queue<NodeId> todo;
    std::string reason;
    const auto need = [&](NodeId node, std::string_view what) {
        if (node < before || inBucket(bucket, node) || seen_by_[node] == launch)
            return;
        seen_by_[node] = launch;
        if (what.empty())
            todo.push(node);
        else if (reason.empty())
            reason = fmt::format("{} must stay behind {}, which is behind the bucket's launch", what,
                                 graph_.name(node));
    };
    const auto need_all = [&](NodeId node) {
        for (NodeId input : graph_.inputs(node))
            need(input, {});
        for (const OrderEdge& edge : graph_.orderEdges(node))
            need(edge.node, graph_.name(node));
    };
    seen_by_[launch] = launch;
    need_all(launch);
    while (reason.empty() && !todo.empty()) {
        const NodeId node = todo.top();
        todo.pop();
        reason = immovableReason(bucket, before, launch, node);
        preparation.push_back(node);
        need_all(node);
    }
    return reason;
}

std::string BucketPlanner::immovableReason(int32_t bucket, NodeId before, NodeId launch, NodeId node) const {
    constexpr uint16_t kStays = kTraitCompute | kTraitMutable | kTraitFree | kTraitBarrier |
                                kTraitCollective | kTraitWait | kTraitAttention;
    const NodeOp op = graph_.node(node).op;
    const bool movable = op == NodeOp::GetAttr || (graph_.isCall(node) && op != NodeOp::CallModule);
    if (!movable || (graph_.node(node).traits & kStays) != 0)
        return fmt::format("its input {} comes from behind the bucket's launch {} and is no preparation",
                           graph_.name(node), graph_.name(before));
    for (NodeId user : graph_.users(node)) {
        if (seen_by_[user] != launch && !inBucket(bucket, user))
            return fmt::format("its preparation {} is used by {} too", graph_.name(node), graph_.name(user));
    }
    return {};
}

} // namespace gs
