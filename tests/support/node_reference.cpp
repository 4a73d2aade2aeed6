#include "support/node_reference_call.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace gs::test {

int64_t RefTensor::numel() const {
    int64_t count = 1;
    for (int64_t size : shape)
        count *= size;
    return count;
}

namespace {

/// Nearest number with `bits` of mantissa and exponents from `least` on, halves to even.
double nearest(double value, int bits, int least, double most) {
    if (value == 0 || !std::isfinite(value))
        return value;
    const auto word = std::bit_cast<uint64_t>(value);
    int exponent = static_cast<int>(word >> 52 & 2047) - 1022; // as frexp has it, of normal numbers
    if (exponent - bits >= least) {                            // no subnormal result: cut the mantissa's word
        const int rest = 53 - bits;
        const uint64_t half_up = (uint64_t{1} << (rest - 1)) - 1 + (word >> rest & 1);
        const auto rounded = std::bit_cast<double>((word + half_up) >> rest << rest);
        return std::fabs(rounded) > most ? std::copysign(INFINITY, value) : rounded;
    }
    std::frexp(value, &exponent);
    const int unit = std::max(exponent - bits, least);
    const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
    return std::fabs(rounded) > most ? std::copysign(INFINITY, value) : rounded;
}

} // namespace

double roundedTo(DType dtype, double value) {
    switch (dtype) {
    case DType::Float32:
    case DType::Complex64:
        return static_cast<double>(static_cast<float>(value));
    case DType::BFloat16:
        return nearest(value, 8, -133, 3.3895313892515355e38);
    case DType::Float16:
        return nearest(value, 11, -24, 65504);
    case DType::Bool:
        return value != 0 ? 1 : 0;
    case DType::Float64:
        return value;
    default:
        return std::trunc(value);
    }
}

int64_t broadcastOffset(const std::vector<int64_t>& of, const std::vector<int64_t>& shape, int64_t flat) {
    int64_t offset = 0, stride = 1;
    for (size_t back = 0; back < shape.size(); ++back) {
        const int64_t size = shape[shape.size() - 1 - back];
        const int64_t at = size > 0 ? flat % size : 0;
        flat /= size > 0 ? size : 1;
        if (back >= of.size())
            continue;
        const int64_t own = of[of.size() - 1 - back];
        offset += own == 1 ? 0 : at * stride;
        stride *= own;
    }
    return offset;
}

const RefTensor* RefCall::tensor(size_t index, const char* name) const {
    const Arg* arg = graph.arg(node, index);
    arg = arg || !*name ? arg : graph.kwarg(node, name);
    return arg && arg->node() != kNoNode ? reference.value(arg->node()) : nullptr;
}

double RefCall::number(size_t index, const char* name, double fallback) const {
    const Arg* arg = graph.arg(node, index);
    arg = arg ? arg : graph.kwarg(node, name);
    if (!arg)
        return fallback;
    if (arg->kind == Arg::Kind::Float)
        return arg->real;
    if (arg->kind == Arg::Kind::Node && graph.value(arg->node()).kind != Value::Kind::Tensor)
        return graph.value(arg->node()).number;
    return arg->isInt() || arg->kind == Arg::Kind::Bool ? static_cast<double>(arg->integer) : fallback;
}

std::string RefCall::word(size_t index, const char* name) const {
    const Arg* arg = graph.arg(node, index);
    arg = arg ? arg : graph.kwarg(node, name);
    return arg && arg->kind == Arg::Kind::String ? std::string(graph.text(arg->text)) : std::string();
}

std::vector<int64_t> RefCall::list(size_t index) const {
    const Arg* arg = graph.arg(node, index);
    std::vector<int64_t> items;
    if (arg && arg->isInt())
        items.push_back(arg->integer);
    if (!arg || arg->kind != Arg::Kind::List)
        return items;
    for (const Arg& item : graph.children(*arg))
        items.push_back(item.kind == Arg::Kind::Node ? static_cast<int64_t>(graph.value(item.node()).number)
                                                     : item.integer);
    return items;
}

RefTensor RefCall::result(size_t item) const {
    RefTensor out;
    const Value& value = graph.value(node);
    const Value* one =
        value.kind == Value::Kind::List && item < value.items.size() ? &value.items[item] : &value;
    if (one->kind != Value::Kind::Tensor)
        return out;
    out.dtype = one->tensor.dtype;
    for (const Dim& dim : one->tensor.shape)
        out.shape.push_back(dim.value);
    out.data.resize(static_cast<size_t>(out.numel()) * (out.dtype == DType::Complex64 ? 2 : 1));
    return out;
}

void RefCall::give(size_t item, RefTensor tensor) const {
    for (double& value : tensor.data)
        value = roundedTo(tensor.dtype, value);
    reference.set(node, item, std::move(tensor));
}

const RefTensor* NodeReference::value(NodeId node, size_t item) {
    if (auto found = values_.find({node, item}); found != values_.end())
        return &found->second;
    if (!compute(node))
        return nullptr;
    auto found = values_.find({node, item});
    return found == values_.end() ? nullptr : &found->second;
}

bool NodeReference::compute(NodeId node) {
    const std::string_view target = graph_.targetText(node);
    std::string packet(target.substr(0, target.find('.', target.find('.') + 1)));
    const bool writes = packet.ends_with('_');
    if (writes)
        packet.pop_back();
    const RefCall call{*this, graph_, node};
    for (RefLoop loop : {pointwiseLoop(packet), reductionLoop(packet), movementLoop(packet)}) {
        if (!loop)
            continue;
        if (!loop(call))
            break;
        if (const Arg* written = graph_.arg(node, 0); writes && written && written->node() != kNoNode)
            values_[{written->node(), 0}] = values_[{node, 0}];
        return true;
    }
    if (missing_.empty())
        missing_ = target;
    return false;
}

} // namespace gs::test
