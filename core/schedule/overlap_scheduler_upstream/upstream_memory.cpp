#include "schedule/overlap_scheduler_upstream/upstream_memory.h"

#include <algorithm>

namespace gs {

namespace {

constexpr int64_t kMostBytes = int64_t{1} << 50; // sums stay below 64 bits

/// Bytes from the first to the last element, as PyTorch allocates a tensor of these strides.
int64_t storageOf(const Graph& graph, const TensorMeta& tensor) {
    if (graph.text(tensor.device).starts_with("cpu"))
        return 0;
    if (!tensor.has_stride || tensor.stride.size() != tensor.shape.size())
        return std::clamp<int64_t>(tensor.bytes(), 0, kMostBytes);
    int64_t last = 0;
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
        int64_t step = 0;
        if (tensor.shape[i].value < 0 || tensor.stride[i].value < 0)
            return std::clamp<int64_t>(tensor.bytes(), 0, kMostBytes);
        if (tensor.shape[i].value == 0)
            return 0;
        if (__builtin_mul_overflow(tensor.shape[i].value - 1, tensor.stride[i].value, &step) ||
            __builtin_add_overflow(last, step, &last))
            return kMostBytes;
    }
    return std::min(last, kMostBytes / 16 - 1) * dtypeBytes(tensor.dtype) + dtypeBytes(tensor.dtype);
}

int64_t storageOf(const Graph& graph, const Value& value) {
    if (value.kind == Value::Kind::Tensor)
        return storageOf(graph, value.tensor);
    int64_t sum = 0;
    for (const Value& item : value.items)
        sum = std::min(sum + storageOf(graph, item), kMostBytes);
    return sum;
}

bool alwaysAlive(const Graph& graph, NodeId node) {
    const NodeOp op = graph.node(node).op;
    return op == NodeOp::Placeholder || op == NodeOp::GetAttr;
}

} // namespace

std::vector<int64_t> storageBytes(const Graph& graph) {
    std::vector<int64_t> by_value;
    for (const Value& value : graph.values())
        by_value.push_back(storageOf(graph, value));
    std::vector<int64_t> bytes(graph.size());
    for (NodeId id = 0; id < graph.size(); ++id)
        bytes[id] = graph.node(id).op == NodeOp::Output ? 0 : by_value[graph.node(id).value];
    return bytes;
}

MemoryTracker::MemoryTracker(const Graph& graph, const std::vector<int64_t>& bytes)
    : graph_(graph), bytes_(bytes), uses_left_(graph.size()), freed_(graph.size(), false) {
    for (NodeId id = 0; id < graph.size(); ++id) {
        uses_left_[id] = static_cast<uint32_t>(graph.users(id).size());
        if (alwaysAlive(graph, id))
            current_ += bytes[id];
    }
    peak_ = current_;
}

void MemoryTracker::schedule(NodeId node) {
    for (const NodeId input : graph_.inputs(node))
        --uses_left_[input];
    if (alwaysAlive(graph_, node) || graph_.node(node).op == NodeOp::Output)
        return; // the output keeps what it reads, unless something reads it once more afterwards
    current_ += bytes_[node];
    peak_ = std::max(peak_, current_);
    for (const NodeId input : graph_.inputs(node)) {
        if (uses_left_[input] != 0 || freed_[input] || graph_.name(input).starts_with("primals"))
            continue;
        freed_[input] = true;
        current_ -= bytes_[input];
    }
}

} // namespace gs
