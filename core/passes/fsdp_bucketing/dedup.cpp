#include "passes/fsdp_bucketing/fsdp_bucketing.h"
#include "passes/fsdp_bucketing/tracer.h"

#include <algorithm>

namespace gs {

namespace {

struct SummedPair {
    DraftId launch[2] = {kNoNode, kNoNode};
    DraftId wait[2] = {kNoNode, kNoNode};
};

/// The two waited reduce-scatters that `add` sums, if they may be one.
std::optional<SummedPair> matchPair(const Draft& draft, DraftId add) {
    if (draft.op(add) != DraftOp::Add)
        return std::nullopt;
    if (!draft.added(add)) { // a factor on the second term (alpha) is another sum
        const Node& node = draft.graph().node(add);
        if (node.args.count != 2 || node.kwargs.count != 0)
            return std::nullopt;
    }
    const auto inputs = draft.inputs(add);
    if (inputs.empty() || inputs.size() > 2)
        return std::nullopt;
    SummedPair pair;
    for (size_t i = 0; i < 2; ++i) {
        pair.wait[i] = inputs[i < inputs.size() ? i : 0];
        if (draft.op(pair.wait[i]) != DraftOp::Wait || draft.users(pair.wait[i]).size() != 1 ||
            draft.inputs(pair.wait[i]).empty())
            return std::nullopt;
        pair.launch[i] = draft.inputs(pair.wait[i])[0];
        if (draft.op(pair.launch[i]) != DraftOp::ReduceScatter || draft.users(pair.launch[i]).size() != 1 ||
            draft.inputs(pair.launch[i]).empty())
            return std::nullopt;
    }
    const DraftComm comm = draft.comm(pair.launch[0]);
    const std::string_view op = draft.graph().text(comm.reduce_op);
    if (comm != draft.comm(pair.launch[1]) || comm.group == kEmptyString || (op != "sum" && op != "avg"))
        return std::nullopt;
    const Value& a = draft.value(draft.inputs(pair.launch[0])[0]);
    const Value& b = draft.value(draft.inputs(pair.launch[1])[0]);
    if (a.kind != Value::Kind::Tensor || b.kind != Value::Kind::Tensor || a.tensor.dtype != b.tensor.dtype ||
        a.tensor.shape != b.tensor.shape)
        return std::nullopt;
    return pair;
}

std::vector<NodeId> originsOf(const Draft& draft, const SummedPair& pair, DraftId add,
                              const std::unordered_map<DraftId, std::vector<NodeId>>& known) {
    std::vector<NodeId> origins;
    for (const DraftId launch : pair.launch) {
        if (const auto found = known.find(launch); found != known.end())
            origins.insert(origins.end(), found->second.begin(), found->second.end());
        else if (!draft.added(launch))
            origins.push_back(launch);
    }
    if (!draft.added(add))
        origins.push_back(add);
    return origins;
}

} // namespace

size_t dedupReduceScatters(Draft& draft) {
    std::unordered_map<DraftId, std::vector<NodeId>> origins_of;
    size_t replaced = 0;
    // The reference's pass goes over the program from its end and starts again until nothing matches.
    for (bool again = true; again;) {
        again = false;
        std::vector<DraftId> order = draft.order();
        std::reverse(order.begin(), order.end());
        for (const DraftId add : order) {
            const auto pair = draft.erased(add) ? std::nullopt : matchPair(draft, add);
            if (!pair)
                continue;
            const DraftId a = draft.inputs(pair->launch[0])[0], b = draft.inputs(pair->launch[1])[0];
            const DraftComm comm = draft.comm(pair->launch[0]);
            const Value scattered = draft.value(pair->launch[0]);
            const std::vector<NodeId> origins = originsOf(draft, *pair, add, origins_of);
            const DraftId sum = draft.insertBefore(add, {"add_tensor",
                                                         "aten.add.Tensor",
                                                         {DraftArg::node(a), DraftArg::node(b)},
                                                         draft.value(a),
                                                         {},
                                                         origins});
            const DraftId launch =
                draft.insertBefore(add, {"reduce_scatter_tensor_default",
                                         "_c10d_functional.reduce_scatter_tensor.default",
                                         {DraftArg::node(sum), DraftArg::string(comm.reduce_op),
                                          DraftArg::number(comm.group_size), DraftArg::string(comm.group)},
                                         scattered,
                                         comm,
                                         origins});
            const DraftId wait = draft.insertBefore(add, {"wait_tensor_default",
                                                          "_c10d_functional.wait_tensor.default",
                                                          {DraftArg::node(launch)},
                                                          scattered,
                                                          {},
                                                          origins});
            origins_of[launch] = origins;
            draft.replaceUses(add, wait);
            draft.erase(add);
            for (size_t i = 0; i < (pair->wait[0] == pair->wait[1] ? 1u : 2u); ++i) {
                draft.erase(pair->wait[i]);
                draft.erase(pair->launch[i]);
            }
            ++replaced;
            again = true;
        }
    }
    return replaced;
}

} // namespace gs
