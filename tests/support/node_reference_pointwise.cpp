#include "support/node_reference_call.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace gs::test {

namespace {

using Operands = const double*;
using Function = double (*)(Operands v);

/// Operands: tensors or numbers in the order of the row, broadcast to the result.
struct Row {
    Function function;
    std::vector<std::pair<const char*, double>> params; ///< name and what it is where a call leaves it out
};

double sigmoid(double v) {
    return 1 / (1 + std::exp(-v));
}

using Rows = std::unordered_map<std::string_view, Row>;

Rows arithmetic() {
    return {
        {"aten.add", {[](Operands v) { return v[0] + v[2] * v[1]; }, {{"", 0}, {"", 0}, {"alpha", 1}}}},
        {"aten.sub", {[](Operands v) { return v[0] - v[2] * v[1]; }, {{"", 0}, {"", 0}, {"alpha", 1}}}},
        {"aten.mul", {[](Operands v) { return v[0] * v[1]; }, {{"", 0}, {"", 0}}}},
        {"aten.div", {[](Operands v) { return v[0] / v[1]; }, {{"", 0}, {"", 0}}}},
        {"aten.floor_divide", {[](Operands v) { return std::floor(v[0] / v[1]); }, {{"", 0}, {"", 0}}}},
        {"aten.pow", {[](Operands v) { return std::pow(v[0], v[1]); }, {{"", 0}, {"", 0}}}},
        {"aten.maximum", {[](Operands v) { return std::max(v[0], v[1]); }, {{"", 0}, {"", 0}}}},
        {"aten.minimum", {[](Operands v) { return std::min(v[0], v[1]); }, {{"", 0}, {"", 0}}}},
        {"aten.clamp",
         {[](Operands v) { return std::min(std::max(v[0], v[1]), v[2]); },
          {{"", 0}, {"min", -INFINITY}, {"max", INFINITY}}}},
        {"aten.where", {[](Operands v) { return v[0] != 0 ? v[1] : v[2]; }, {{"", 0}, {"", 0}, {"", 0}}}},
        {"aten.masked_fill",
         {[](Operands v) { return v[1] != 0 ? v[2] : v[0]; }, {{"", 0}, {"", 0}, {"", 0}}}},
        {"aten.eq", {[](Operands v) { return double(v[0] == v[1]); }, {{"", 0}, {"", 0}}}},
        {"aten.ne", {[](Operands v) { return double(v[0] != v[1]); }, {{"", 0}, {"", 0}}}},
        {"aten.lt", {[](Operands v) { return double(v[0] < v[1]); }, {{"", 0}, {"", 0}}}},
        {"aten.le", {[](Operands v) { return double(v[0] <= v[1]); }, {{"", 0}, {"", 0}}}},
        {"aten.gt", {[](Operands v) { return double(v[0] > v[1]); }, {{"", 0}, {"", 0}}}},
        {"aten.ge", {[](Operands v) { return double(v[0] >= v[1]); }, {{"", 0}, {"", 0}}}},
        {"aten.bitwise_and",
         {[](Operands v) { return double(int64_t(v[0]) & int64_t(v[1])); }, {{"", 0}, {"", 0}}}},
        {"aten.bitwise_or",
         {[](Operands v) { return double(int64_t(v[0]) | int64_t(v[1])); }, {{"", 0}, {"", 0}}}},
        {"aten.logical_not", {[](Operands v) { return double(v[0] == 0); }, {{"", 0}}}},
    };
}

Rows functionsAndFills() {
    constexpr double kNone = NAN;
    return {
        {"aten.neg", {[](Operands v) { return -v[0]; }, {{"", 0}}}},
        {"aten.abs", {[](Operands v) { return std::fabs(v[0]); }, {{"", 0}}}},
        {"aten.exp", {[](Operands v) { return std::exp(v[0]); }, {{"", 0}}}},
        {"aten.log", {[](Operands v) { return std::log(v[0]); }, {{"", 0}}}},
        {"aten.sqrt", {[](Operands v) { return std::sqrt(v[0]); }, {{"", 0}}}},
        {"aten.rsqrt", {[](Operands v) { return 1 / std::sqrt(v[0]); }, {{"", 0}}}},
        {"aten.reciprocal", {[](Operands v) { return 1 / v[0]; }, {{"", 0}}}},
        {"aten.sin", {[](Operands v) { return std::sin(v[0]); }, {{"", 0}}}},
        {"aten.cos", {[](Operands v) { return std::cos(v[0]); }, {{"", 0}}}},
        {"aten.tanh", {[](Operands v) { return std::tanh(v[0]); }, {{"", 0}}}},
        {"aten.erf", {[](Operands v) { return std::erf(v[0]); }, {{"", 0}}}},
        {"aten.sigmoid", {[](Operands v) { return sigmoid(v[0]); }, {{"", 0}}}},
        {"aten.sigmoid_backward", {[](Operands v) { return v[0] * (1 - v[1]) * v[1]; }, {{"", 0}, {"", 0}}}},
        {"aten.relu", {[](Operands v) { return v[0] > 0 ? v[0] : 0; }, {{"", 0}}}},
        {"aten.silu", {[](Operands v) { return v[0] * sigmoid(v[0]); }, {{"", 0}}}},
        {"aten.silu_backward",
         {[](Operands v) {
              const double s = sigmoid(v[1]);
              return v[0] * (s + v[1] * s * (1 - s));
          },
          {{"", 0}, {"", 0}}}},
        {"aten.gelu", {[](Operands v) { return v[0] * 0.5 * std::erfc(-v[0] * M_SQRT1_2); }, {{"", 0}}}},
        {"aten.threshold_backward",
         {[](Operands v) { return v[1] > v[2] ? v[0] : 0; }, {{"", 0}, {"", 0}, {"", 0}}}},
        {"aten.clone", {[](Operands v) { return v[0]; }, {{"", 0}}}},
        {"aten._to_copy", {[](Operands v) { return v[0]; }, {{"", 0}}}},
        {"prims.convert_element_type", {[](Operands v) { return v[0]; }, {{"", 0}}}},
        {"aten.copy", {[](Operands v) { return v[1]; }, {{"", kNone}, {"", 0}}}},
        {"aten.fill", {[](Operands v) { return v[1]; }, {{"", kNone}, {"", 0}}}},
        {"aten.full", {[](Operands v) { return v[1]; }, {{"", kNone}, {"", 0}}}},
        {"aten.full_like", {[](Operands v) { return v[1]; }, {{"", kNone}, {"", 0}}}},
        {"aten.scalar_tensor", {[](Operands v) { return v[0]; }, {{"", 0}}}},
        {"aten.zeros", {[](Operands) { return 0.0; }, {}}},
        {"aten.zeros_like", {[](Operands) { return 0.0; }, {}}},
        {"aten.new_zeros", {[](Operands) { return 0.0; }, {}}},
        {"aten.ones", {[](Operands) { return 1.0; }, {}}},
        {"aten.ones_like", {[](Operands) { return 1.0; }, {}}},
    };
}

const Rows& rows() {
    static const Rows kRows = [] {
        Rows all = arithmetic();
        all.merge(functionsAndFills());
        return all;
    }();
    return kRows;
}

/// Products and copies of complex numbers; others do not occur.
bool complexLoop(const RefCall& call, std::string_view packet, RefTensor out) {
    const RefTensor* a = call.tensor(0);
    const RefTensor* b = call.tensor(1);
    if (!a || a->dtype != DType::Complex64)
        return false;
    const int64_t count = out.numel();
    for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(broadcastOffset(a->shape, out.shape, i)) * 2;
        double re = a->data[at], im = a->data[at + 1];
        if (packet == "aten.mul" && b && b->dtype == DType::Complex64) {
            const auto of = static_cast<size_t>(broadcastOffset(b->shape, out.shape, i)) * 2;
            const double r = b->data[of], m = b->data[of + 1];
            const double product = re * r - im * m;
            im = re * m + im * r;
            re = product;
        } else if (packet != "aten.clone") {
            return false;
        }
        out.data[static_cast<size_t>(i) * 2] = re;
        out.data[static_cast<size_t>(i) * 2 + 1] = im;
    }
    call.give(0, std::move(out));
    return true;
}

bool run(const RefCall& call) {
    const std::string_view target = call.graph.targetText(call.node);
    std::string packet(target.substr(0, target.find('.', target.find('.') + 1)));
    if (packet.ends_with('_'))
        packet.pop_back();
    const Row& row = rows().at(packet);
    RefTensor out = call.result();
    if (out.dtype == DType::Complex64)
        return complexLoop(call, packet, std::move(out));
    if ((packet == "aten.div" || packet == "aten.gelu") && !call.word(2, "rounding_mode").empty())
        return false;
    std::vector<const RefTensor*> tensors(row.params.size(), nullptr);
    std::vector<double> values(row.params.size() + 1);
    for (size_t i = 0; i < row.params.size(); ++i) {
        const auto [name, fallback] = row.params[i];
        if (!std::isnan(fallback))
            tensors[i] = call.tensor(i, name);
        values[i] = call.number(i, name, fallback);
        // Where a tensor is meant and there is none, its loop is missing.
        if (tensors[i] && tensors[i]->dtype == DType::Complex64)
            return false;
    }
    std::vector<bool> whole(tensors.size()); // nothing to broadcast
    for (size_t k = 0; k < tensors.size(); ++k)
        whole[k] = tensors[k] && tensors[k]->shape == out.shape;
    const int64_t count = out.numel();
    for (int64_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < tensors.size(); ++k) {
            if (tensors[k])
                values[k] = tensors[k]->data[static_cast<size_t>(
                    whole[k] ? i : broadcastOffset(tensors[k]->shape, out.shape, i))];
        }
        out.data[static_cast<size_t>(i)] = row.function(values.data());
    }
    call.give(0, std::move(out));
    return true;
}

} // namespace

RefLoop pointwiseLoop(std::string_view packet) {
    return rows().contains(packet) ? run : nullptr;
}

} // namespace gs::test
