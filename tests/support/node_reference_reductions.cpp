#include "support/node_reference_call.h"

#include <cmath>
#include <functional>
#include <unordered_map>

namespace gs::test {

namespace {

using Mask = std::vector<bool>;

Mask maskOf(const std::vector<int64_t>& dims, size_t rank) {
    Mask mask(rank, dims.empty());
    for (int64_t dim : dims) {
        if (rank > 0)
            mask[static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim)] = true;
    }
    return mask;
}

/// Which result element each element of `shape` belongs to.
std::vector<size_t> groupsOf(const std::vector<int64_t>& shape, const Mask& mask) {
    int64_t count = 1;
    for (int64_t size : shape)
        count *= size;
    std::vector<size_t> groups(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i, stride = 1, group = 0;
        for (size_t d = shape.size(); d-- > 0;) {
            const int64_t at = rest % shape[d];
            rest /= shape[d];
            if (!mask[d]) {
                group += at * stride;
                stride *= shape[d];
            }
        }
        groups[static_cast<size_t>(i)] = static_cast<size_t>(group);
    }
    return groups;
}

std::vector<double> reduce(const std::vector<double>& data, const std::vector<size_t>& groups, double first,
                           const std::function<double(double, double)>& join) {
    size_t count = 0;
    for (size_t group : groups)
        count = std::max(count, group + 1);
    std::vector<double> out(count, first);
    for (size_t i = 0; i < data.size(); ++i)
        out[groups[i]] = join(out[groups[i]], data[i]);
    return out;
}

double plus(double a, double b) {
    return a + b;
}
double larger(double a, double b) {
    return std::isnan(a) || a > b ? a : b;
}
double smaller(double a, double b) {
    return std::isnan(a) || a < b ? a : b;
}

std::string packetOf(const RefCall& call) {
    const std::string_view target = call.graph.targetText(call.node);
    return std::string(target.substr(0, target.find('.', target.find('.') + 1)));
}

bool plain(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    const std::string packet = packetOf(call);
    const auto groups = groupsOf(x->shape, maskOf(call.list(1), x->shape.size()));
    std::vector<double> data = x->data;
    RefTensor out = call.result();
    if (packet == "aten.any" || packet == "aten.all") {
        for (double& v : data)
            v = v != 0;
    }
    if (packet == "aten.amax" || packet == "aten.any")
        out.data = reduce(data, groups, packet == "aten.any" ? 0 : -INFINITY, larger);
    else if (packet == "aten.amin" || packet == "aten.all")
        out.data = reduce(data, groups, packet == "aten.all" ? 1 : INFINITY, smaller);
    else
        out.data = reduce(data, groups, 0, plus);
    if (packet == "aten.mean") {
        for (double& v : out.data)
            v /= static_cast<double>(data.size()) / static_cast<double>(out.data.size());
    }
    call.give(0, std::move(out));
    return true;
}

bool softmax(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    const bool log = packetOf(call) == "aten._log_softmax";
    const auto groups = groupsOf(x->shape, maskOf(call.list(1), x->shape.size()));
    const std::vector<double> most = reduce(x->data, groups, -INFINITY, larger);
    std::vector<double> shifted(x->data.size());
    for (size_t i = 0; i < shifted.size(); ++i)
        shifted[i] = std::exp(x->data[i] - most[groups[i]]);
    const std::vector<double> sums = reduce(shifted, groups, 0, plus);
    RefTensor out = call.result();
    for (size_t i = 0; i < shifted.size(); ++i)
        out.data[i] =
            log ? x->data[i] - most[groups[i]] - std::log(sums[groups[i]]) : shifted[i] / sums[groups[i]];
    call.give(0, std::move(out));
    return true;
}

bool softmaxBackward(const RefCall& call) {
    const RefTensor* grad = call.tensor(0);
    const RefTensor* output = call.tensor(1);
    if (!grad || !output)
        return false;
    const bool log = packetOf(call) == "aten._log_softmax_backward_data";
    const auto groups = groupsOf(grad->shape, maskOf(call.list(2), grad->shape.size()));
    std::vector<double> terms = grad->data;
    for (size_t i = 0; !log && i < terms.size(); ++i)
        terms[i] *= output->data[i];
    const std::vector<double> sums = reduce(terms, groups, 0, plus);
    RefTensor out = call.result();
    for (size_t i = 0; i < terms.size(); ++i)
        out.data[i] = log ? grad->data[i] - std::exp(output->data[i]) * sums[groups[i]]
                          : terms[i] - output->data[i] * sums[groups[i]];
    call.give(0, std::move(out));
    return true;
}

bool nllForward(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    const RefTensor* target = call.tensor(1);
    if (!x || !target || x->shape.size() != 2)
        return false;
    double loss = 0, count = 0;
    for (size_t i = 0; i < target->data.size(); ++i) {
        if (target->data[i] == call.number(4, "ignore_index", -100))
            continue;
        loss -= x->data[i * static_cast<size_t>(x->shape[1]) + static_cast<size_t>(target->data[i])];
        ++count;
    }
    RefTensor out = call.result(0), weight = call.result(1);
    out.data = {call.number(3, "reduction", 1) == 1 ? loss / count : loss};
    weight.data = {count};
    call.give(0, std::move(out));
    call.give(1, std::move(weight));
    return true;
}

bool nllBackward(const RefCall& call) {
    const RefTensor* grad = call.tensor(0);
    const RefTensor* target = call.tensor(2);
    const RefTensor* weight = call.tensor(6);
    if (!grad || !target || !weight)
        return false;
    const double scale = call.number(4, "reduction", 1) == 1 ? 1 / weight->data[0] : 1;
    RefTensor out = call.result();
    for (size_t i = 0; i < target->data.size(); ++i) {
        if (target->data[i] != call.number(5, "ignore_index", -100))
            out.data[i * static_cast<size_t>(out.shape[1]) + static_cast<size_t>(target->data[i])] =
                -grad->data[0] * scale;
    }
    call.give(0, std::move(out));
    return true;
}

bool mse(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    const RefTensor* y = call.tensor(1);
    if (!x || !y || call.number(2, "reduction", 1) != 1)
        return false;
    RefTensor out = call.result();
    double sum = 0;
    for (size_t i = 0; i < x->data.size(); ++i)
        sum += (x->data[i] - y->data[i]) * (x->data[i] - y->data[i]);
    out.data = {sum / static_cast<double>(x->data.size())};
    call.give(0, std::move(out));
    return true;
}

bool mseBackward(const RefCall& call) {
    const RefTensor* grad = call.tensor(0);
    const RefTensor* x = call.tensor(1);
    const RefTensor* y = call.tensor(2);
    if (!grad || !x || !y || call.number(3, "reduction", 1) != 1)
        return false;
    RefTensor out = call.result();
    for (size_t i = 0; i < x->data.size(); ++i)
        out.data[i] = 2 * (x->data[i] - y->data[i]) * grad->data[0] / static_cast<double>(x->data.size());
    call.give(0, std::move(out));
    return true;
}

/// Rows of the normalised shape; RMS norms have no mean.
bool norm(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    const bool rms = packetOf(call) == "aten._fused_rms_norm";
    const RefTensor* weight = call.tensor(2);
    const RefTensor* bias = rms ? nullptr : call.tensor(3);
    const double eps = call.number(rms ? 3 : 4, "eps", 1.1920928955078125e-07);
    size_t row = 1;
    for (int64_t size : call.list(1))
        row *= static_cast<size_t>(size);
    RefTensor out = call.result(0), mean = call.result(1), spread = call.result(rms ? 1 : 2);
    for (size_t first = 0; first < x->data.size(); first += row) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < row && !rms; ++i)
            sum += x->data[first + i] / static_cast<double>(row);
        for (size_t i = 0; i < row; ++i)
            squares += (x->data[first + i] - sum) * (x->data[first + i] - sum) / static_cast<double>(row);
        const double scale = 1 / std::sqrt(squares + eps);
        for (size_t i = 0; i < row; ++i)
            out.data[first + i] = (x->data[first + i] - sum) * scale * (weight ? weight->data[i] : 1) +
                                  (bias ? bias->data[i] : 0);
        mean.data[first / row] = sum;
        spread.data[first / row] = scale;
    }
    call.give(0, std::move(out));
    if (!rms)
        call.give(1, std::move(mean));
    call.give(rms ? 1 : 2, std::move(spread));
    return true;
}

} // namespace

RefLoop reductionLoop(std::string_view packet) {
    static const std::unordered_map<std::string_view, RefLoop> kLoops = {
        {"aten.sum", plain},
        {"aten.mean", plain},
        {"aten.amax", plain},
        {"aten.amin", plain},
        {"aten.any", plain},
        {"aten.all", plain},
        {"aten._softmax", softmax},
        {"aten._log_softmax", softmax},
        {"aten._softmax_backward_data", softmaxBackward},
        {"aten._log_softmax_backward_data", softmaxBackward},
        {"aten.nll_loss_forward", nllForward},
        {"aten.nll_loss_backward", nllBackward},
        {"aten.mse_loss", mse},
        {"aten.mse_loss_backward", mseBackward},
        {"aten.native_layer_norm", norm},
        {"aten._fused_rms_norm", norm},
    };
    auto found = kLoops.find(packet);
    return found == kLoops.end() ? nullptr : found->second;
}

} // namespace gs::test
