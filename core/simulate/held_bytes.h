// Bytes that communication holds during a step: what a scheduler's budget limits (passes.md §10).
#pragma once

#include "simulate/step_machine.h"

namespace gs {

/// Per node of a graph, what it takes and gives back. A gather's output is held from its launch to the end of
/// its last use (wait or consumer through views); the input of a reduce-scatter from the start of the node
/// that makes it to the end of the transfer. Unknown sizes count as 0.
class HeldModel {
public:
    HeldModel(const Graph& graph, const CollectiveTable& collectives);

    /// Bytes taken when `node` starts.
    int64_t takes(NodeId node) const { return takes_[node]; }
    /// One input of a reduce-scatter.
    struct Gradient {
        NodeId maker = kNoNode;
        int32_t collective = -1;
        int64_t bytes = 0;
    };
    const std::vector<Gradient>& gradients() const { return gradients_; }
    /// Gathers that `node` uses (or launches), as indices of collectives.
    std::span<const int32_t> uses(NodeId node) const {
        return {uses_.data() + use_begin_[node], use_begin_[node + 1] - use_begin_[node]};
    }
    int64_t gatheredBytes(int32_t collective) const { return gathered_[static_cast<size_t>(collective)]; }
    uint32_t useCount(int32_t collective) const { return use_count_[static_cast<size_t>(collective)]; }
    /// Given back when the transfer ends.
    int64_t gradientBytes(int32_t collective) const { return gradient_[static_cast<size_t>(collective)]; }
    size_t collectives() const { return gathered_.size(); }

private:
    std::vector<int64_t> takes_;
    std::vector<uint32_t> use_begin_;
    std::vector<int32_t> uses_;
    std::vector<int64_t> gathered_, gradient_;
    std::vector<Gradient> gradients_;
    std::vector<uint32_t> use_count_;
};

/// The running sum along an order. A plain value apart from its model.
class HeldBytes {
public:
    explicit HeldBytes(const HeldModel& model);

    /// Gives back what transfers held that ended since the last call.
    void settle(const StepMachine& machine);
    /// Call in program order, before and after the machine runs the node.
    void begin(NodeId node, const StepMachine& machine) {
        settle(machine);
        live_ += model_->takes(node);
        peak_ = live_ > peak_ ? live_ : peak_;
    }
    void end(NodeId node);

    int64_t live() const { return live_; }
    int64_t peak() const { return peak_; }
    /// Uses of a gather that have not run yet.
    uint32_t usesLeft(int32_t collective) const { return uses_left_[static_cast<size_t>(collective)]; }

private:
    const HeldModel* model_;
    std::vector<uint32_t> uses_left_;
    size_t settled_ = 0; ///< of the machine's finish order
    int64_t live_ = 0;
    int64_t peak_ = 0;
};

} // namespace gs
