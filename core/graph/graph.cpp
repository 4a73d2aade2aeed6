#include "graph/graph.h"

#include <algorithm>

namespace gs {

std::string_view nodeOpName(NodeOp op) {
    switch (op) {
    case NodeOp::Placeholder:
        return "placeholder";
    case NodeOp::GetAttr:
        return "get_attr";
    case NodeOp::CallFunction:
        return "call_function";
    case NodeOp::CallMethod:
        return "call_method";
    case NodeOp::CallModule:
        return "call_module";
    case NodeOp::Output:
        return "output";
    }
    return "call_function";
}

std::string_view nodeKindName(NodeKind kind) {
    switch (kind) {
    case NodeKind::Placeholder:
        return "placeholder";
    case NodeKind::GetAttr:
        return "get_attr";
    case NodeKind::Compute:
        return "compute";
    case NodeKind::View:
        return "view";
    case NodeKind::Unpack:
        return "unpack";
    case NodeKind::Launch:
        return "launch";
    case NodeKind::Wait:
        return "wait";
    case NodeKind::Free:
        return "free";
    case NodeKind::Barrier:
        return "barrier";
    case NodeKind::Output:
        return "output";
    }
    return "compute";
}

int64_t Value::bytes() const {
    if (kind == Kind::Tensor)
        return tensor.bytes();
    int64_t sum = 0;
    for (const Value& item : items) {
        const int64_t bytes = item.bytes();
        if (bytes < 0)
            return kUnknownSize;
        if (__builtin_add_overflow(sum, bytes, &sum))
            return kHugeSize;
    }
    return sum;
}

const TensorMeta* Value::firstTensor() const {
    if (kind == Kind::Tensor)
        return &tensor;
    for (const Value& item : items) {
        if (const TensorMeta* found = item.firstTensor())
            return found;
    }
    return nullptr;
}

const Arg* Graph::arg(NodeId id, size_t index) const {
    const Arg& args = nodes_[id].args;
    return index < args.count ? &args_[args.first + index] : nullptr;
}

const Arg* Graph::kwarg(NodeId id, std::string_view name) const {
    const Arg& kwargs = nodes_[id].kwargs;
    for (uint32_t i = 0; i + 1 < kwargs.count; i += 2) {
        if (text(args_[kwargs.first + i].text) == name)
            return &args_[kwargs.first + i + 1];
    }
    return nullptr;
}

std::optional<NodeId> Graph::find(std::string_view name) const {
    const StringId id = strings_->find(name);
    if (id == kEmptyString || id >= by_name_.size() || by_name_[id] == kNoNode)
        return std::nullopt;
    return by_name_[id];
}

GroupId Graph::findGroup(std::string_view name) const {
    for (size_t i = 0; i < groups_.size(); ++i) {
        if (text(groups_[i].name) == name)
            return static_cast<GroupId>(i);
    }
    return kNoGroup;
}

Order identityOrder(const Graph& graph) {
    Order order(graph.size());
    for (size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<NodeId>(i);
    return order;
}

std::vector<uint32_t> positionsOf(const Order& order) {
    std::vector<uint32_t> position(order.size());
    for (size_t i = 0; i < order.size(); ++i)
        position[order[i]] = static_cast<uint32_t>(i);
    return position;
}

std::optional<BrokenEdge> findBrokenEdge(const Graph& graph, const Order& order) {
    std::vector<uint32_t> position(graph.size(), kNoNode);
    if (order.size() != graph.size())
        return BrokenEdge{};
    for (size_t i = 0; i < order.size(); ++i) {
        if (order[i] >= graph.size() || position[order[i]] != kNoNode)
            return BrokenEdge{};
        position[order[i]] = static_cast<uint32_t>(i);
    }
    for (NodeId id = 0; id < graph.size(); ++id) {
        for (NodeId input : graph.inputs(id)) {
            if (position[input] > position[id])
                return BrokenEdge{input, id, EdgeKind::Data};
        }
        for (const OrderEdge& edge : graph.orderEdges(id)) {
            if (position[edge.node] > position[id])
                return BrokenEdge{edge.node, id, edge.kind};
        }
    }
    return std::nullopt;
}

} // namespace gs
