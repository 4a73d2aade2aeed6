#include "cost/roofline.h"

#include "cost/flops.h"
#include "cost/operands.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace gs {

namespace {

int64_t saturatingSum(int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? kHugeSize : sum;
}

int64_t tensorBytes(const TensorMeta& tensor, bool broadcast_once) {
    if (!broadcast_once || !tensor.has_stride || tensor.stride.size() != tensor.shape.size())
        return tensor.bytes();
    int64_t bytes = dtypeBytes(tensor.dtype);
    if (bytes == 0)
        return kUnknownSize;
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
        const bool broadcast = tensor.stride[i].value == 0 && !tensor.stride[i].symbolic();
        if (tensor.shape[i].value < 0)
            return kUnknownSize;
        if (!broadcast && __builtin_mul_overflow(bytes, tensor.shape[i].value, &bytes))
            bytes = kHugeSize;
    }
    return bytes;
}

int64_t valueBytes(const Value& value, bool broadcast_once) {
    if (value.kind == Value::Kind::Tensor)
        return tensorBytes(value.tensor, broadcast_once);
    int64_t sum = 0;
    for (const Value& item : value.items) {
        const int64_t bytes = valueBytes(item, broadcast_once);
        if (bytes < 0)
            return kUnknownSize;
        sum = saturatingSum(sum, bytes);
    }
    return sum;
}

/// Adds up the nodes in an argument, each as often as it occurs.
int64_t argumentBytes(const Graph& graph, const Arg& arg, bool broadcast_once) {
    if (arg.kind == Arg::Kind::Node)
        return valueBytes(readValue(graph, arg.node()), broadcast_once);
    if (arg.kind != Arg::Kind::List && arg.kind != Arg::Kind::Dict && arg.kind != Arg::Kind::Slice)
        return 0;
    int64_t sum = 0;
    for (const Arg& child : graph.children(arg)) {
        const int64_t bytes = argumentBytes(graph, child, broadcast_once);
        if (bytes < 0)
            return kUnknownSize;
        sum = saturatingSum(sum, bytes);
    }
    return sum;
}

int64_t readBytes(const Graph& graph, NodeId id, const RooflineParams& params) {
    if (params.count_repeats) {
        const int64_t args = argumentBytes(graph, graph.node(id).args, params.broadcast_once);
        const int64_t kwargs = argumentBytes(graph, graph.node(id).kwargs, params.broadcast_once);
        return args < 0 || kwargs < 0 ? kUnknownSize : saturatingSum(args, kwargs);
    }
    int64_t sum = 0;
    for (NodeId input : graph.inputs(id)) {
        const int64_t bytes = valueBytes(readValue(graph, input), params.broadcast_once);
        if (bytes < 0)
            return kUnknownSize;
        sum = saturatingSum(sum, bytes);
    }
    return sum;
}

DType peakDType(const Graph& graph, NodeId id, bool of_input) {
    if (of_input) {
        for (NodeId input : graph.inputs(id)) {
            if (const TensorMeta* tensor = readValue(graph, input).firstTensor())
                return tensor->dtype;
        }
    }
    const TensorMeta* tensor = graph.value(id).firstTensor();
    return tensor ? tensor->dtype : DType::Unknown;
}

/// "402.7 MB", "1.10 TFLOP": three to four digits with a decimal prefix.
std::string scaled(double value, const char* unit) {
    static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z"};
    size_t prefix = 0;
    while (value >= 1000 && prefix + 1 < std::size(kPrefixes)) {
        value /= 1000;
        ++prefix;
    }
    const int decimals = prefix == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return fmt::format("{:.{}f} {}{}", value, decimals, kPrefixes[prefix], unit);
}

} // namespace

double RooflineParams::peak(DType dtype) const {
    const double own = peak_flops[static_cast<size_t>(dtype)];
    return own > 0 ? own : other_peak_flops;
}

std::optional<RooflineEstimate> roofline(const Graph& graph, NodeId id, const RooflineParams& params) {
    const Value& value = graph.value(id);
    if (value.kind == Value::Kind::None || value.kind == Value::Kind::Repr)
        return std::nullopt;
    const int64_t read = readBytes(graph, id, params);
    const int64_t written = valueBytes(value, params.broadcast_once);
    const double bandwidth = params.memory_bandwidth * params.memory_efficiency;
    if (read < 0 || written < 0 || !(bandwidth > 0))
        return std::nullopt;
    RooflineEstimate estimate;
    estimate.bytes = saturatingSum(read, written);
    estimate.memory_ns = static_cast<double>(estimate.bytes) / bandwidth * 1e9;
    if (const auto flops = flopsOf(graph, id)) {
        const double rate =
            params.peak(peakDType(graph, id, params.peak_of_input)) * params.compute_efficiency;
        if (!(rate > 0))
            return std::nullopt;
        estimate.flops = *flops;
        estimate.compute_ns = static_cast<double>(*flops) / rate * 1e9;
    } else if (hasFlopFormula(graph.targetText(id))) {
        return std::nullopt;
    }
    estimate.ns = std::max(estimate.compute_ns, estimate.memory_ns);
    return std::isfinite(estimate.ns) ? std::optional(estimate) : std::nullopt;
}

std::optional<RooflineEstimate> regionRoofline(const Graph& graph, const FusedRegion& region,
                                               const RooflineParams& params) {
    const RegionOperands operands = regionOperands(graph, region);
    const double bandwidth = params.memory_bandwidth * params.memory_efficiency;
    RooflineEstimate estimate;
    for (const std::vector<NodeId>* side : {&operands.inputs, &operands.outputs}) {
        for (const NodeId id : *side) {
            const int64_t bytes = valueBytes(readValue(graph, id), params.broadcast_once);
            if (bytes < 0)
                return std::nullopt;
            estimate.bytes = saturatingSum(estimate.bytes, bytes);
        }
    }
    estimate.memory_ns = static_cast<double>(estimate.bytes) / bandwidth * 1e9;
    estimate.ns = estimate.memory_ns;
    return std::isfinite(estimate.ns) ? std::optional(estimate) : std::nullopt;
}

int64_t rooflineNs(const RooflineEstimate& estimate, const RooflineParams& params) {
    const double rounded = std::nearbyint(std::min(estimate.ns, static_cast<double>(kMaxCostNs)));
    return std::max(
        {static_cast<int64_t>(rounded), std::min(params.launch_floor_ns, kMaxCostNs), int64_t{1}});
}

std::string rooflineNote(const RooflineEstimate& estimate, const RooflineParams& params) {
    if (estimate.ns < static_cast<double>(params.launch_floor_ns))
        return fmt::format("launch floor: {} would take less",
                           scaled(static_cast<double>(estimate.bytes), "B"));
    if (estimate.compute_ns > estimate.memory_ns) {
        const double flops = static_cast<double>(estimate.flops);
        return fmt::format("compute bound: {} at {}", scaled(flops, "FLOP"),
                           scaled(flops / estimate.compute_ns * 1e9, "FLOP/s"));
    }
    return fmt::format("memory bound: {} at {}", scaled(static_cast<double>(estimate.bytes), "B"),
                       scaled(params.memory_bandwidth * params.memory_efficiency, "B/s"));
}

} // namespace gs
