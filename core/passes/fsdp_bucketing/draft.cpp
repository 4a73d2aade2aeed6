#include "passes/fsdp_bucketing/draft.h"

#include <algorithm>

namespace gs {

namespace {

DraftOp opOf(std::string_view target) {
    static const std::unordered_map<std::string_view, DraftOp> kOps = {
        {"_c10d_functional.all_gather_into_tensor.default", DraftOp::AllGather},
        {"_c10d_functional.all_gather_into_tensor_out.default", DraftOp::AllGatherOut},
        {"_c10d_functional.reduce_scatter_tensor.default", DraftOp::ReduceScatter},
        {"_c10d_functional.all_reduce.default", DraftOp::AllReduce},
        {"_c10d_functional.wait_tensor.default", DraftOp::Wait},
        {"prims.convert_element_type.default", DraftOp::Cast},
        {"aten._to_copy.default", DraftOp::Cast},
        {"aten.add.Tensor", DraftOp::Add}};
    const auto found = kOps.find(target);
    return found == kOps.end() ? DraftOp::Other : found->second;
}

void removeFrom(std::vector<DraftId>& list, DraftId id) {
    list.erase(std::remove(list.begin(), list.end(), id), list.end());
}

void addOnce(std::vector<DraftId>& list, DraftId id) {
    if (std::find(list.begin(), list.end(), id) == list.end())
        list.push_back(id);
}

} // namespace

Draft::Draft(const Graph& graph) : Draft(graph, identityOrder(graph)) {}

Draft::Draft(const Graph& graph, const Order& order)
    : graph_(graph), op_(graph.size()), inputs_(graph.size()), users_(graph.size()), next_(graph.size() + 1),
      previous_(graph.size() + 1), replaced_by_(graph.size(), kNoNode), erased_(graph.size(), false) {
    std::vector<DraftOp> by_target(graph.targetCount());
    for (TargetId id = 0; id < by_target.size(); ++id)
        by_target[id] = opOf(graph.text(graph.targetById(id).text));
    for (NodeId id = 0; id < graph.size(); ++id) {
        names_.create(graph.name(id));
        if (graph.node(id).op == NodeOp::CallFunction)
            op_[id] = by_target[graph.node(id).target];
        inputs_[id].assign(graph.inputs(id).begin(), graph.inputs(id).end());
        users_[id].assign(graph.users(id).begin(), graph.users(id).end());
    }
    DraftId last = end();
    for (const NodeId id : order) {
        link(last, id);
        last = id;
    }
    link(last, end());
}

std::string_view Draft::target(DraftId id) const {
    return added(id) ? added_[id - graph_.size()].target : graph_.targetText(id);
}

std::string_view Draft::name(DraftId id) const {
    return added(id) ? std::string_view(added_[id - graph_.size()].name) : graph_.name(id);
}

const Value& Draft::value(DraftId id) const {
    if (const auto found = value_.find(id); found != value_.end())
        return found->second;
    return added(id) ? added_[id - graph_.size()].value : graph_.value(id);
}

DraftComm Draft::comm(DraftId id) const {
    if (added(id))
        return added_[id - graph_.size()].comm;
    const OpTraits& traits = graph_.target(id).traits;
    const auto text = [&](int8_t index) {
        const Arg* arg = index < 0 ? nullptr : graph_.arg(id, static_cast<size_t>(index));
        return arg && arg->kind == Arg::Kind::String ? arg->text : kEmptyString;
    };
    DraftComm comm{text(traits.group_arg), text(traits.reduce_op_arg), 0};
    const Arg* size =
        traits.group_size_arg < 0 ? nullptr : graph_.arg(id, static_cast<size_t>(traits.group_size_arg));
    if (size && size->kind == Arg::Kind::Int)
        comm.group_size = size->integer;
    return comm;
}

std::vector<DraftId> Draft::order() const {
    std::vector<DraftId> order;
    for (DraftId id = first(); id != end(); id = next(id))
        order.push_back(id);
    return order;
}

DraftId Draft::insertBefore(DraftId place, DraftNode node) {
    const auto id = static_cast<DraftId>(size());
    node.name = names_.create(node.name);
    std::vector<DraftId> inputs;
    for (const DraftArg& arg : node.args) {
        for (const DraftId input : arg.nodes)
            addOnce(inputs, input);
    }
    for (const DraftId input : inputs)
        users_[input].push_back(id);
    op_.push_back(opOf(node.target));
    inputs_.push_back(std::move(inputs));
    users_.emplace_back();
    next_.push_back(kNoNode);
    previous_.push_back(kNoNode);
    replaced_by_.push_back(kNoNode);
    erased_.push_back(false);
    added_.push_back(std::move(node));
    link(previous(place), id);
    link(id, place);
    return id;
}

void Draft::replaceUses(DraftId old, DraftId by) {
    for (const DraftId user : users_[old]) {
        std::vector<DraftId>& inputs = inputs_[user];
        if (std::find(inputs.begin(), inputs.end(), by) != inputs.end())
            removeFrom(inputs, old);
        else
            std::replace(inputs.begin(), inputs.end(), old, by);
        addOnce(users_[by], user);
    }
    users_[old].clear();
    replaced_by_[old] = by;
}

void Draft::erase(DraftId id) {
    link(previous(id), next(id));
    for (const DraftId input : inputs_[id])
        removeFrom(users_[input], id);
    inputs_[id].clear();
    erased_[id] = true;
}

DraftId Draft::resolve(DraftId id) const {
    while (replaced_by_[id] != kNoNode)
        id = replaced_by_[id];
    return id;
}

/// PyTorch's stable topological sort: a node that is not ready waits for one of its inputs and follows it
/// directly. Shorter than `nodes` where they form a cycle.
template <typename Blocker>
std::vector<DraftId> Draft::sortedBy(const std::vector<DraftId>& nodes, Blocker blocker) const {
    enum : uint8_t { Outside, Pending, Ready };
    std::vector<uint8_t> state(size(), Outside);
    for (const DraftId id : nodes)
        state[id] = Pending;
    std::vector<DraftId> pending(nodes.rbegin(), nodes.rend());
    std::unordered_map<DraftId, std::vector<DraftId>> waiting;
    std::vector<DraftId> order, outputs;
    const auto is_pending = [&](DraftId id) { return state[id] == Pending; };
    while (!pending.empty()) {
        const DraftId id = pending.back();
        pending.pop_back();
        if (nodeOp(id) == NodeOp::Output) {
            outputs.push_back(id);
            continue;
        }
        if (const DraftId before = blocker(id, is_pending); before != kNoNode) {
            waiting[before].push_back(id);
            continue;
        }
        state[id] = Ready;
        order.push_back(id);
        if (const auto found = waiting.find(id); found != waiting.end()) {
            pending.insert(pending.end(), found->second.rbegin(), found->second.rend());
            waiting.erase(found);
        }
    }
    order.insert(order.end(), outputs.begin(), outputs.end());
    return order;
}

/// `more`: further predecessors per node.
std::vector<DraftId> Draft::sorted(const std::vector<DraftId>& nodes,
                                   const std::vector<std::vector<DraftId>>* more) const {
    return sortedBy(nodes, [&](DraftId id, const auto& is_pending) {
        const std::vector<DraftId>& inputs = inputs_[id];
        const auto found = std::find_if(inputs.rbegin(), inputs.rend(), is_pending);
        if (found != inputs.rend())
            return *found;
        if (more) {
            const auto before = std::find_if((*more)[id].begin(), (*more)[id].end(), is_pending);
            if (before != (*more)[id].end())
                return *before;
        }
        return kNoNode;
    });
}

std::vector<DraftId> Draft::stableOrder(const ExtraOrder& extra) const {
    return sortedBy(order(), [&](DraftId id, const auto& is_pending) {
        const std::vector<DraftId>& inputs = inputs_[id];
        const auto& links = extra.before(id);
        for (size_t i = links.size(); i-- > 0;) {
            const DraftId before = links[i].node;
            // An input that is named here as well counts at its place among the inputs.
            if (is_pending(before) && std::find(inputs.begin(), inputs.end(), before) == inputs.end())
                return before;
        }
        const auto found = std::find_if(inputs.rbegin(), inputs.rend(), is_pending);
        return found == inputs.rend() ? kNoNode : *found;
    });
}

void Draft::sortRegion(const std::vector<DraftId>& nodes) {
    if (nodes.empty())
        return;
    DraftId last = previous(nodes.front());
    const DraftId behind = next(nodes.back());
    for (const DraftId id : sorted(nodes, nullptr)) {
        link(last, id);
        last = id;
    }
    link(last, behind);
}

std::vector<uint32_t> Draft::topologicalRanks() const {
    std::vector<uint32_t> rank(size(), 0);
    uint32_t position = 0;
    for (const DraftId id : sorted(order(), nullptr))
        rank[id] = position++;
    return rank;
}

} // namespace gs
