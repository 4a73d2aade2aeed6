#include "passes/fsdp_bucketing/fsdp_collectives.h"

#include <algorithm>
#include <cmath>

namespace gs {

namespace {

constexpr double kMib = 1024.0 * 1024.0;
constexpr NodeId kSeveral = kNoNode - 1;

bool isGather(DraftOp op) {
    return op == DraftOp::AllGather || op == DraftOp::AllGatherOut;
}

bool isKind(DraftOp op, FsdpKind kind) {
    switch (kind) {
    case FsdpKind::AllGather:
        return isGather(op);
    case FsdpKind::ReduceScatter:
        return op == DraftOp::ReduceScatter;
    case FsdpKind::AllReduce:
        return op == DraftOp::AllReduce;
    }
    return false;
}

/// All gathers as fx finds them: the functional ones first.
std::vector<DraftId> findAll(const Draft& draft, std::initializer_list<DraftOp> ops) {
    const std::vector<DraftId> order = draft.order();
    std::vector<DraftId> found;
    for (const DraftOp op : ops) {
        std::copy_if(order.begin(), order.end(), std::back_inserter(found),
                     [&](DraftId id) { return draft.op(id) == op; });
    }
    return found;
}

} // namespace

std::vector<bool> fsdpAllGathers(const Graph& graph) {
    std::vector<NodeId> from(graph.size(), kNoNode);
    std::vector<bool> result(graph.size(), false);
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.node(id).op == NodeOp::Placeholder) {
            from[id] = id;
            continue;
        }
        for (const NodeId input : graph.inputs(id)) {
            if (from[input] != kNoNode && from[input] != from[id])
                from[id] = from[id] == kNoNode ? from[input] : kSeveral;
        }
        result[id] = from[id] != kNoNode && from[id] != kSeveral &&
                     graph.target(id).traits.collective == CollectiveKind::AllGather;
    }
    return result;
}

bool isFsdpReduceScatterWait(const Draft& draft, DraftId wait) {
    if (draft.users(wait).empty())
        return false;
    std::unordered_set<DraftId> seen{wait};
    std::vector<DraftId> stack{wait};
    while (!stack.empty()) {
        const DraftId id = stack.back();
        stack.pop_back();
        for (const DraftId user : draft.users(id)) {
            if (draft.nodeOp(user) == NodeOp::Output)
                continue;
            if (draft.inputs(user).size() != 1)
                return false;
            if (seen.insert(user).second)
                stack.push_back(user);
        }
    }
    return true;
}

bool FsdpGroups::contains(StringId name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
}

FsdpGroups identifyFsdpGroups(const Draft& draft, const std::vector<bool>& fsdp_gathers) {
    FsdpGroups groups;
    for (const DraftId id : findAll(draft, {DraftOp::AllGather, DraftOp::AllGatherOut})) {
        if (!fsdp_gathers[id])
            continue;
        const DraftComm comm = draft.comm(id);
        if (!groups.contains(comm.group))
            groups.names.push_back(comm.group);
        if (!groups.size)
            groups.size = comm.group_size;
    }
    return groups;
}

std::vector<CollectiveSize> fsdpCollectiveSizes(const Draft& draft, const FsdpGroups& groups) {
    std::vector<CollectiveSize> sizes;
    const auto add = [&](std::string_view type, std::initializer_list<DraftOp> ops) {
        for (const DraftId id : findAll(draft, ops)) {
            if (!groups.contains(draft.comm(id).group))
                continue;
            const bool gather = isGather(draft.op(id));
            if (!gather && draft.inputs(id).empty())
                continue;
            const int64_t bytes = draft.value(gather ? id : draft.inputs(id)[0]).bytes();
            // Unknown sizes count as nothing, as in the reference.
            const double mib = static_cast<double>(std::max<int64_t>(bytes, 0)) / kMib;
            sizes.push_back({type, std::nearbyint(mib * 1000) / 1000, id});
        }
    };
    add("AG", {DraftOp::AllGather, DraftOp::AllGatherOut});
    add("RS", {DraftOp::ReduceScatter});
    add("AR", {DraftOp::AllReduce});
    return sizes;
}

FsdpCounts countFsdpCollectives(const Draft& draft, const FsdpGroups& groups) {
    FsdpCounts counts;
    for (DraftId id = draft.first(); id != draft.end(); id = draft.next(id)) {
        const DraftOp op = draft.op(id);
        const bool counted = isGather(op) || op == DraftOp::ReduceScatter || op == DraftOp::AllReduce;
        if (!counted || !groups.contains(draft.comm(id).group))
            continue;
        (isGather(op)                   ? counts.all_gather
         : op == DraftOp::ReduceScatter ? counts.reduce_scatter
                                        : counts.all_reduce) += 1;
    }
    return counts;
}

namespace {

struct BucketKey {
    DraftComm comm;
    DType dtype = DType::Unknown;
    bool operator==(const BucketKey&) const = default;
};

class Composer {
public:
    Composer(const Draft& draft, const ComposeOptions& options)
        : draft_(draft), options_(options), rank_(draft.topologicalRanks()), member_of_(draft.size(), 0),
          seen_by_(draft.size(), 0),
          cap_bytes_(static_cast<int64_t>(std::min(options.cap_mib * 1024 * 1024, 9e18))) {}

    FsdpBuckets run() {
        std::optional<BucketKey> open;
        std::vector<DraftId> run;
        for (DraftId wait = draft_.first(); wait != draft_.end(); wait = draft_.next(wait)) {
            if (draft_.op(wait) != DraftOp::Wait || draft_.inputs(wait).empty() ||
                !isKind(draft_.op(draft_.inputs(wait)[0]), options_.kind) ||
                (options_.accepts && !options_.accepts(wait)))
                continue;
            const DraftId launch = draft_.inputs(wait)[0];
            const BucketKey key = keyOf(launch);
            if (open != key) {
                cut(run);
                run.clear();
                open = key;
            }
            run.push_back(launch);
        }
        cut(run);
        return std::move(out_);
    }

private:
    BucketKey keyOf(DraftId launch) const {
        BucketKey key{draft_.comm(launch), DType::Unknown};
        key.comm.group_size = 0; // the name of the group says it all
        const TensorMeta* tensor = draft_.value(launch).firstTensor();
        const bool any_dtype = options_.multidtype && options_.kind == FsdpKind::AllGather;
        if (tensor && !any_dtype)
            key.dtype = tensor->dtype;
        return key;
    }

    /// Cuts one run into buckets.
    void cut(const std::vector<DraftId>& run) {
        if (run.size() < 2)
            return;
        FsdpBucket bucket;
        int64_t bytes = 0;
        start();
        for (const DraftId launch : run) {
            if (dependsOnBucket(launch))
                continue;
            const int64_t sent =
                draft_.inputs(launch).empty() ? kUnknownSize : draft_.value(draft_.inputs(launch)[0]).bytes();
            const int64_t got = draft_.value(launch).bytes();
            if (sent < 0 || got < 0) {
                out_.unknown_size.push_back(launch);
                continue;
            }
            const int64_t size = std::max(sent, got);
            if (!bucket.empty() && size > cap_bytes_ - bytes) {
                close(bucket);
                bytes = 0;
                start();
            }
            bytes = std::min(bytes, kHugeSize - size) + size;
            bucket.push_back(launch);
            member_of_[launch] = bucket_;
            lowest_ = std::min(lowest_, rank_[launch]);
        }
        close(bucket);
    }

    void start() {
        ++bucket_;
        lowest_ = kNoNode;
    }

    void close(FsdpBucket& bucket) {
        if (bucket.size() > 1)
            out_.buckets.push_back(bucket);
        bucket.clear();
    }

    /// Does a member come before `launch` on some path? Nodes before the first member need no look.
    bool dependsOnBucket(DraftId launch) {
        if (lowest_ == kNoNode)
            return false;
        ++search_;
        std::vector<DraftId> stack{launch};
        while (!stack.empty()) {
            const DraftId id = stack.back();
            stack.pop_back();
            for (const DraftId input : draft_.inputs(id)) {
                if (member_of_[input] == bucket_)
                    return true;
                if (rank_[input] > lowest_ && seen_by_[input] != search_) {
                    seen_by_[input] = search_;
                    stack.push_back(input);
                }
            }
        }
        return false;
    }

    const Draft& draft_;
    const ComposeOptions& options_;
    FsdpBuckets out_;
    std::vector<uint32_t> rank_;
    std::vector<uint32_t> member_of_; ///< number of the bucket a launch is in; 0 = none
    std::vector<uint32_t> seen_by_;   ///< number of the last search that saw a node
    int64_t cap_bytes_;
    uint32_t bucket_ = 0;
    uint32_t search_ = 0;
    uint32_t lowest_ = kNoNode; ///< least rank of a member
};

} // namespace

FsdpBuckets composeFsdpBuckets(const Draft& draft, const ComposeOptions& options) {
    return Composer(draft, options).run();
}

} // namespace gs
