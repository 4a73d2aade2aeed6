// Roofline: an operator takes the longer of its arithmetic at the device's peak and its bytes at the memory's
// bandwidth. Source of the idea: Williams et al. 2009; two variants are reproduced exactly: PyTorch 2.15's
// estimate_roofline_runtime_ms and the formula of the corpus (FORMAT.md).
#pragma once

#include "cost/cost_model.h"
#include "cost/fused_regions.h"

#include <array>
#include <optional>
#include <string>

namespace gs {

inline constexpr size_t kDTypeCount = static_cast<size_t>(DType::Complex128) + 1;

struct RooflineParams {
    std::array<double, kDTypeCount> peak_flops{}; ///< FLOP/s, dense; 0 = see other_peak_flops
    double other_peak_flops = 0;                  ///< of dtypes without an own number
    double memory_bandwidth = 0;                  ///< bytes/s
    double compute_efficiency = 1;                ///< share of the peak that is reached
    double memory_efficiency = 1;
    int64_t launch_floor_ns = 0; ///< no kernel is faster
    bool peak_of_input = true;   ///< the peak is that of the first operand's dtype; false: of the result's
    bool broadcast_once = true;  ///< a dimension with stride 0 is read once
    bool count_repeats = false;  ///< an operand used twice is read twice

    double peak(DType dtype) const;
};

struct RooflineEstimate {
    double compute_ns = 0;
    double memory_ns = 0;
    int64_t flops = -1; ///< -1 = the operator has no FLOP formula, only bytes count
    int64_t bytes = 0;  ///< read and written
    double ns = 0;      ///< the larger one, without the launch floor
};

/// Nothing if a size is unknown, the node has no value, or its FLOPs should count but are not known; never
/// negative or NaN. Does not ask what kind of node it is: see AnalyticalModel.
std::optional<RooflineEstimate> roofline(const Graph& graph, NodeId id, const RooflineParams& params);

/// Of a fused region as one kernel: its inputs read once and its outputs written once. Its arithmetic does
/// not count.
std::optional<RooflineEstimate> regionRoofline(const Graph& graph, const FusedRegion& region,
                                               const RooflineParams& params);

/// Whole nanoseconds, at least the launch floor and 1, at most kMaxCostNs; ties to even as Python's round.
int64_t rooflineNs(const RooflineEstimate& estimate, const RooflineParams& params);
/// "memory bound: 402.7 MB at 2.68 TB/s", "compute bound: 1.10 TFLOP at 692 TFLOP/s", "launch floor".
std::string rooflineNote(const RooflineEstimate& estimate, const RooflineParams& params);

} // namespace gs
