#include "simulate/held_bytes.h"

#include <algorithm>

namespace gs {

namespace {

/// Sums of many huge sizes must stay far from overflow.
constexpr int64_t kMostBytes = int64_t{1} << 44;

int64_t knownBytes(int64_t bytes) {
    return std::clamp<int64_t>(bytes, 0, kMostBytes);
}

/// The node that makes the tensor: views share what their first input holds, an all-reduce gives its input
/// another value.
NodeId makerOf(const Graph& graph, const CollectiveTable& collectives, NodeId id) {
    while (!graph.inputs(id).empty()) {
        const NodeKind kind = graph.node(id).kind;
        const int32_t index = collectives.indexOf(id);
        const CollectiveKind of =
            index < 0 ? CollectiveKind::None : collectives[static_cast<size_t>(index)].kind;
        const bool reduced =
            of == CollectiveKind::AllReduce && (kind == NodeKind::Wait || kind == NodeKind::Launch);
        if (kind != NodeKind::View && !reduced)
            break;
        id = graph.inputs(id).front();
    }
    return id;
}

bool scatters(const Collective& item) {
    return item.kind == CollectiveKind::ReduceScatter || item.kind == CollectiveKind::ReduceScatterCoalesced;
}

} // namespace

HeldModel::HeldModel(const Graph& graph, const CollectiveTable& collectives)
    : takes_(graph.size(), 0), use_begin_(graph.size() + 1, 0), gathered_(collectives.size(), 0),
      gradient_(collectives.size(), 0), use_count_(collectives.size(), 0) {
    std::vector<std::pair<NodeId, int32_t>> uses;
    for (size_t i = 0; i < collectives.size(); ++i) {
        const Collective& item = collectives[i];
        if (item.launch == kNoNode)
            continue;
        if (item.isGather() && item.output_bytes > 0) {
            gathered_[i] = knownBytes(item.output_bytes);
            takes_[item.launch] += gathered_[i];
            std::vector<NodeId> users{item.launch};
            users.insert(users.end(), item.waits.begin(), item.waits.end());
            users.insert(users.end(), item.consumers.begin(), item.consumers.end());
            for (const NodeId user : users)
                uses.emplace_back(user, static_cast<int32_t>(i));
            use_count_[i] = static_cast<uint32_t>(users.size());
        } else if (scatters(item)) {
            for (const NodeId input : graph.inputs(item.launch)) {
                const int64_t bytes = knownBytes(graph.value(input).bytes());
                const NodeId maker = makerOf(graph, collectives, input);
                // An input of the graph is there anyway; it is no gradient that waits.
                if (graph.node(maker).kind == NodeKind::Placeholder ||
                    graph.node(maker).kind == NodeKind::GetAttr)
                    continue;
                takes_[maker] += bytes;
                gradients_.push_back({maker, static_cast<int32_t>(i), bytes});
                gradient_[i] += bytes;
            }
        }
    }
    std::sort(uses.begin(), uses.end());
    for (const auto& [node, collective] : uses) {
        ++use_begin_[node + 1];
        uses_.push_back(collective);
    }
    for (size_t i = 0; i < graph.size(); ++i)
        use_begin_[i + 1] += use_begin_[i];
}

HeldBytes::HeldBytes(const HeldModel& model) : model_(&model) {
    for (size_t i = 0; i < model.collectives(); ++i)
        uses_left_.push_back(model.useCount(static_cast<int32_t>(i)));
}

void HeldBytes::settle(const StepMachine& machine) {
    const std::vector<int32_t>& done = machine.finishOrder();
    for (; settled_ < done.size(); ++settled_)
        live_ -= model_->gradientBytes(done[settled_]);
}

void HeldBytes::end(NodeId node) {
    for (const int32_t collective : model_->uses(node)) {
        if (--uses_left_[static_cast<size_t>(collective)] == 0)
            live_ -= model_->gatheredBytes(collective);
    }
}

} // namespace gs
