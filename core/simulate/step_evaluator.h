// Step time and peak of many orders of one graph, without a timeline.
#pragma once

#include "simulate/held_bytes.h"

namespace gs {

struct StepCost {
    int64_t step_ns = 0;
    int64_t peak_bytes = 0; ///< = Timeline::peak_held_bytes
};

/// Gives what `simulate` gives for the same order, to the nanosecond, several times faster: nodes that take
/// no time and hold nothing are skipped.
class StepEvaluator {
public:
    StepEvaluator(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                  const SimulationSettings& settings);

    StepCost run(const Order& order) const;
    /// Same, but gives up as soon as the clock passes `limit_ns` (then step_ns > limit_ns).
    StepCost run(const Order& order, int64_t limit_ns) const;

    const StepModel& model() const { return model_; }
    const HeldModel& held() const { return held_; }

private:
    enum class Role : uint8_t { Nothing, Work, Launch, Wait, Holds };

    StepModel model_;
    HeldModel held_;
    std::vector<Role> role_;
    std::vector<int64_t> cost_ns_;
    std::vector<int32_t> collective_;
};

} // namespace gs
