#include "passes/fsdp_bucketing/merge.h"

#include "passes/fsdp_bucketing/tracer.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace gs {

namespace {

DraftId packedInput(const Draft& draft, DraftId launch) {
    const DraftId cast = privateCast(draft, launch);
    return draft.inputs(cast == kNoNode ? launch : cast)[0];
}

/// This rank's place in the group of a launch.
int64_t rankInGroup(const Draft& draft, DraftId launch) {
    const Graph& graph = draft.graph();
    const DraftComm comm = draft.comm(launch);
    for (const ProcessGroup& group : graph.groups()) {
        if (group.name != comm.group)
            continue;
        const auto found = std::find(group.ranks.begin(), group.ranks.end(), graph.info().rank);
        if (found != group.ranks.end())
            return found - group.ranks.begin();
    }
    return graph.info().rank > 0 && comm.group_size > 0 ? graph.info().rank % comm.group_size : 0;
}

Sizes times(Sizes shape, int64_t factor) {
    shape[0] *= factor;
    return shape;
}

class Merger {
public:
    Merger(Draft& draft, const FsdpBucket& bucket, DraftId place)
        : draft_(draft), bucket_(bucket), comm_(draft.comm(bucket.front())),
          out_(plainTensor(draft.value(bucket.front())).value()),
          tracer_(draft, place, origins(draft, bucket)) {
        for (const DraftId launch : bucket)
            inputs_.push_back(packedInput(draft, launch));
    }

    DraftId gather(FsdpMergeMode mode, int64_t rank) {
        const int64_t group = comm_.group_size;
        const int64_t total = std::accumulate(inputs_.begin(), inputs_.end(), int64_t{0},
                                              [&](int64_t sum, DraftId id) { return sum + numel(id); });
        DraftId whole = kNoNode, part = kNoNode;
        if (mode == FsdpMergeMode::Default) {
            whole = tracer_.empty(total * group, out_.dtype, out_.device);
            part = tracer_.narrow(whole, total * rank, total);
            std::vector<DraftId> flat;
            for (const DraftId id : inputs_)
                flat.push_back(tracer_.reshape(id, {numel(id)}));
            const DraftId packed = tracer_.cat(flat, 0);
            part = tracer_.add("copy_", "aten.copy_.default", {DraftArg::node(part), DraftArg::node(packed)},
                               draft_.value(part));
        } else {
            whole = tracer_.add("_pre_bucket_all_gather", "bucketing._pre_bucket_all_gather.default",
                                {DraftArg::list(inputs_), DraftArg::number(group), DraftArg::type(out_.dtype),
                                 DraftArg::types(std::vector<DType>(inputs_.size(), out_.dtype)),
                                 DraftArg::number(rank)},
                                plainValue({out_.dtype, out_.device, {total * group}, {1}}));
            part = tracer_.narrow(whole, total * rank, total);
        }
        launch_ =
            tracer_.add("all_gather_into_tensor_out", "_c10d_functional.all_gather_into_tensor_out.default",
                        {DraftArg::node(part), DraftArg::number(group), DraftArg::string(comm_.group),
                         DraftArg::node(whole).as("out")},
                        plainValue({out_.dtype, out_.device, {total * group}, {1}}), comm_);
        const DraftId rows = tracer_.reshape(tracer_.wait(launch_), {group, total});
        finish(mode == FsdpMergeMode::Default ? unpack(rows) : unpackByCopy(rows));
        return launch_;
    }

    DraftId reduceScatter(FsdpMergeMode mode) {
        const int64_t group = comm_.group_size;
        Sizes lengths;
        int64_t total = 0;
        for (const DraftId id : inputs_) {
            total += numel(id);
            lengths.push_back(numel(id) / group);
        }
        std::vector<Sizes> shapes;
        for (const DraftId id : inputs_) {
            shapes.push_back(tracer_.tensor(id).shape);
            shapes.back()[0] /= group;
        }
        std::vector<DraftId> packs;
        const DraftId packed = mode == FsdpMergeMode::Default ? packByColumns(total) : packByOp(total, packs);
        launch_ = tracer_.add("reduce_scatter_tensor", "_c10d_functional.reduce_scatter_tensor.default",
                              {DraftArg::node(packed), DraftArg::string(comm_.reduce_op),
                               DraftArg::number(group), DraftArg::string(comm_.group)},
                              plainValue({out_.dtype, out_.device, {total / group}, {1}}), comm_);
        finish(reshapeAll(tracer_.split(tracer_.wait(launch_), lengths, 0), shapes));
        eraseUnread(packs);
        return launch_;
    }

    DraftId allReduce() {
        std::vector<DraftId> flat;
        Sizes lengths;
        std::vector<Sizes> shapes;
        for (const DraftId id : inputs_) {
            flat.push_back(tracer_.reshape(id, {numel(id)}));
            lengths.push_back(numel(id));
            shapes.push_back(tracer_.tensor(id).shape);
        }
        const DraftId packed = tracer_.cat(flat, 0);
        launch_ = tracer_.add(
            "all_reduce", "_c10d_functional.all_reduce.default",
            {DraftArg::node(packed), DraftArg::string(comm_.reduce_op), DraftArg::string(comm_.group)},
            draft_.value(packed), comm_);
        finish(reshapeAll(tracer_.split(tracer_.wait(launch_), lengths, 0), shapes));
        return launch_;
    }

private:
    static std::vector<NodeId> origins(const Draft& draft, const FsdpBucket& bucket) {
        std::vector<NodeId> origins;
        for (const DraftId launch : bucket) {
            if (!draft.added(launch))
                origins.push_back(launch);
        }
        return origins;
    }

    int64_t numel(DraftId id) const { return tracer_.tensor(id).numel(); }

    std::vector<DraftId> reshapeAll(const std::vector<DraftId>& parts, const std::vector<Sizes>& shapes) {
        std::vector<DraftId> outs;
        for (size_t i = 0; i < parts.size(); ++i)
            outs.push_back(tracer_.reshape(parts[i], shapes[i]));
        return outs;
    }

    Sizes shardLengths() const {
        Sizes lengths;
        for (const DraftId id : inputs_)
            lengths.push_back(numel(id));
        return lengths;
    }

    std::vector<DraftId> unpack(DraftId rows) {
        std::vector<Sizes> shapes;
        for (const DraftId id : inputs_)
            shapes.push_back(times(tracer_.tensor(id).shape, comm_.group_size));
        return reshapeAll(tracer_.split(rows, shardLengths(), 1), shapes);
    }

    /// Unpacks into tensors of their own.
    std::vector<DraftId> unpackByCopy(DraftId rows) {
        std::vector<DraftId> outs, views;
        for (const DraftId id : inputs_)
            outs.push_back(tracer_.empty(numel(id) * comm_.group_size, out_.dtype, out_.device));
        for (size_t i = 0; i < outs.size(); ++i) {
            const DraftId view = tracer_.reshape(outs[i], {comm_.group_size, numel(inputs_[i])});
            const DraftId typed =
                tracer_.add("view", "aten.view.dtype", {DraftArg::node(view), DraftArg::type(out_.dtype)},
                            draft_.value(view));
            views.push_back(
                tracer_.add("alias", "aten.alias.default", {DraftArg::node(typed)}, draft_.value(typed)));
        }
        tracer_.add("split_with_sizes_copy", "aten.split_with_sizes_copy.out",
                    {DraftArg::node(rows), DraftArg::numbers(shardLengths()), DraftArg::number(1),
                     DraftArg::list(views).as("out")},
                    {});
        for (size_t i = 0; i < outs.size(); ++i)
            outs[i] = tracer_.reshape(outs[i], times(tracer_.tensor(inputs_[i]).shape, comm_.group_size));
        return outs;
    }

    DraftId packByColumns(int64_t total) {
        std::vector<DraftId> rows;
        for (const DraftId id : inputs_)
            rows.push_back(tracer_.reshape(id, {comm_.group_size, numel(id) / comm_.group_size}));
        return tracer_.reshape(tracer_.cat(rows, 1), {total});
    }

    /// `packs`: nodes of padded packs whose sources are packed directly; they may be dead afterwards.
    DraftId packByOp(int64_t total, std::vector<DraftId>& packs) {
        std::vector<int64_t> unpadded;
        for (size_t i = 0; i < inputs_.size(); ++i) {
            const auto pack = matchPaddedPack(draft_, inputs_[i], comm_.group_size);
            if (!pack)
                continue;
            packs.insert(packs.end(), pack->nodes.begin(), pack->nodes.end());
            inputs_[i] = pack->source;
            unpadded.push_back(static_cast<int64_t>(i));
        }
        std::vector<DraftArg> args{DraftArg::list(inputs_), DraftArg::number(comm_.group_size)};
        if (!unpadded.empty())
            args.push_back(DraftArg::numbers(unpadded));
        return tracer_.add("_pre_bucket_reduce_scatter", "bucketing._pre_bucket_reduce_scatter.default",
                           std::move(args), plainValue({out_.dtype, out_.device, {total}, {1}}));
    }

    /// Users read the parts; members, their waits and private casts go.
    void finish(const std::vector<DraftId>& outs) {
        std::vector<DraftId> users;
        std::vector<DraftId> waits;
        for (size_t i = 0; i < outs.size(); ++i) {
            waits.push_back(draft_.users(bucket_[i])[0]);
            const auto readers = draft_.users(waits.back());
            users.insert(users.end(), readers.begin(), readers.end());
            draft_.replaceUses(waits.back(), outs[i]);
        }
        repairStrides(draft_, users);
        for (size_t i = 0; i < outs.size(); ++i) {
            const DraftId cast = privateCast(draft_, bucket_[i]);
            draft_.erase(waits[i]);
            draft_.erase(bucket_[i]);
            if (cast != kNoNode)
                draft_.erase(cast);
        }
        sortAround();
    }

    /// Sorts the stretch from the first to the last input that is no placeholder, as far as it spans the new
    /// nodes.
    void sortAround() {
        const std::vector<DraftId>& nodes = tracer_.nodes();
        std::unordered_set<DraftId> wanted(inputs_.begin(), inputs_.end());
        DraftId first = nodes.front(), last = nodes.back();
        for (DraftId id = draft_.previous(first);
             id != draft_.end() && draft_.nodeOp(id) != NodeOp::Placeholder && !wanted.empty();
             id = draft_.previous(id)) {
            if (wanted.erase(id) != 0)
                first = id;
        }
        for (DraftId id = draft_.next(last);
             id != draft_.end() && draft_.nodeOp(id) != NodeOp::Output && !wanted.empty();
             id = draft_.next(id)) {
            if (wanted.erase(id) != 0)
                last = id;
        }
        std::vector<DraftId> region;
        for (DraftId id = first; id != draft_.next(last); id = draft_.next(id))
            region.push_back(id);
        draft_.sortRegion(region);
    }

    void eraseUnread(std::vector<DraftId> nodes) {
        std::unordered_set<DraftId> wanted(nodes.begin(), nodes.end());
        std::vector<DraftId> order = draft_.order();
        for (size_t i = order.size(); i-- > 0;) {
            if (wanted.count(order[i]) != 0 && draft_.users(order[i]).empty())
                draft_.erase(order[i]);
        }
    }

    Draft& draft_;
    const FsdpBucket& bucket_;
    DraftComm comm_;
    PlainTensor out_; ///< dtype and device of the merged collective
    Tracer tracer_;
    std::vector<DraftId> inputs_;
    DraftId launch_ = kNoNode;
};

} // namespace

std::string whyNotMergeable(const Draft& draft, const FsdpBucket& bucket) {
    const DraftComm comm = draft.comm(bucket.front());
    if (comm.group == kEmptyString)
        return "its process group is not stated as a text";
    const bool reduces_all = draft.op(bucket.front()) == DraftOp::AllReduce;
    if (!reduces_all && comm.group_size <= 0)
        return "the size of its group is not stated";
    for (const DraftId launch : bucket) {
        if (draft.users(launch).size() != 1)
            return fmt::format("{} has {} users, a merged one may have one wait only", draft.name(launch),
                               draft.users(launch).size());
        if (draft.comm(launch) != comm)
            return fmt::format("{} has another group size", draft.name(launch));
        const auto input = plainTensor(draft.value(packedInput(draft, launch)));
        if (!input || !plainTensor(draft.value(launch)))
            return fmt::format("{} has sizes that are symbolic or not known", draft.name(launch));
        if (!reduces_all && input->shape.empty())
            return fmt::format("{} moves a tensor without dimensions", draft.name(launch));
        if (draft.op(launch) == DraftOp::ReduceScatter && input->shape[0] % comm.group_size != 0)
            return fmt::format("{} scatters rows that its group does not divide", draft.name(launch));
    }
    return {};
}

DraftId mergeBucket(Draft& draft, const FsdpBucket& bucket, FsdpMergeMode mode, DraftId place) {
    Merger merger(draft, bucket, place);
    switch (draft.op(bucket.front())) {
    case DraftOp::ReduceScatter:
        return merger.reduceScatter(mode);
    case DraftOp::AllReduce:
        return merger.allReduce();
    default:
        return merger.gather(mode, rankInGroup(draft, bucket.front()));
    }
}

DraftId privateCast(const Draft& draft, DraftId launch) {
    const DraftId input = draft.inputs(launch)[0];
    const bool gather = draft.op(launch) == DraftOp::AllGather || draft.op(launch) == DraftOp::AllGatherOut;
    return gather && draft.op(input) == DraftOp::Cast && draft.users(input).size() == 1 &&
                   !draft.inputs(input).empty()
               ? input
               : kNoNode;
}

} // namespace gs
