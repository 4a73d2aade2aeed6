// Reductions, softmax and norms.
#include "dnnl_ops.h"
#include "rows.h"
#include "shapes.h"
#include "tile_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace gs::host {

namespace {

struct Reduction {
    Combine how = Combine::Sum;
    double start = 0;
    double scale = 1;   ///< of the result
    bool truth = false; ///< operands as 0 and 1
};

/// Dimensions that a call reduces; all where it names none.
std::vector<size_t> reducedDims(const OpCall& call, size_t rank) {
    std::vector<size_t> dims;
    for (const int64_t dim : call.integers(1, "dim"))
        dims.push_back(static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim));
    if (dims.empty()) {
        for (size_t d = 0; d < rank; ++d)
            dims.push_back(d);
    }
    std::sort(dims.begin(), dims.end());
    return dims;
}

/// `out` with 1 where `in` was reduced, so that both have the same rank.
Tensor withReducedDims(const Tensor& out, size_t rank, const std::vector<size_t>& dims) {
    if (out.rank() == rank)
        return out;
    Tensor wide = out;
    for (const size_t dim : dims) {
        const auto at = static_cast<std::ptrdiff_t>(std::min(dim, wide.rank()));
        wide.spec.shape.insert(wide.spec.shape.begin() + at, 1);
        wide.spec.stride.insert(wide.spec.stride.begin() + at, 1);
    }
    return wide;
}

Result<Body> makeReduction(OpCall& call) {
    const Tensor* in = call.tensor(0);
    if (!in || call.outputs.size() != 1 || !isComputable(in->spec.dtype) || in->rank() > kMostDimensions)
        return notSupported("this form of a reduction is not known");
    const std::vector<size_t> dims = reducedDims(call, in->rank());
    if (std::any_of(dims.begin(), dims.end(), [&](size_t d) { return d >= in->rank(); }) && in->rank() > 0)
        return notSupported("it reduces a dimension that is not there");
    const Tensor out = withReducedDims(call.out(), in->rank(), dims);
    if (out.rank() != in->rank())
        return notSupported("the result's rank does not fit");
    for (size_t d = 0; d < in->rank(); ++d) {
        const bool reduced = std::binary_search(dims.begin(), dims.end(), d);
        if (out.spec.shape[d] != (reduced ? 1 : in->spec.shape[d]))
            return notSupported("the result's shape is not what is left of the reduced tensor");
    }
    if (std::optional<Body> body = dnnlReduction(call.name, *in, out))
        return *std::move(body);
    double count = 1;
    for (const size_t d : dims)
        count *= in->rank() > 0 ? static_cast<double>(in->spec.shape[d]) : 1;
    const double infinite = std::numeric_limits<double>::infinity();
    const std::map<std::string, Reduction> reductions = {
        {"sum", {Combine::Sum, 0, 1, false}},         {"mean", {Combine::Sum, 0, 1 / count, false}},
        {"prod", {Combine::Product, 1, 1, false}},    {"amax", {Combine::Max, -infinite, 1, false}},
        {"amin", {Combine::Min, infinite, 1, false}}, {"all", {Combine::Min, 1, 1, true}},
        {"any", {Combine::Max, 0, 1, true}}};
    const Reduction how = reductions.at(call.name);
    return reduceLoop(*in, out, how.how, how.start, how.scale, how.truth);
}

/// _softmax, _log_softmax: (x, dim, half_to_float).
Result<Body> makeSoftmax(OpCall& call) {
    const Tensor* in = call.tensor(0);
    if (!in || call.outputs.size() != 1 || in->rank() == 0)
        return notSupported("this form of a softmax is not known");
    const std::optional<size_t> axis = dimensionOf(call.integer(1, "dim", -1), in->rank());
    if (!axis || !sameShape(*in, call.out()))
        return notSupported("a softmax along no dimension of its argument, or of another shape than it");
    const bool log = call.name.find("log") != std::string::npos;
    if (in->spec.numel() == 0)
        return Body([] {});
    if (std::optional<Body> body = dnnlSoftmax(*in, call.out(), *axis, log))
        return *std::move(body);
    return rowLoop({*in}, {call.out()}, *axis, [log](const Rows& row, int64_t n) {
        const double* x = row.in[0];
        double* y = row.out[0];
        const double most = *std::max_element(x, x + n);
        double sum = 0;
        for (int64_t i = 0; i < n; ++i)
            sum += std::exp(x[i] - most);
        for (int64_t i = 0; i < n; ++i)
            y[i] = log ? x[i] - most - std::log(sum) : std::exp(x[i] - most) / sum;
    });
}

/// _softmax_backward_data, _log_softmax_backward_data: (gradient, result, dim, type).
Result<Body> makeSoftmaxBackward(OpCall& call) {
    const Tensor* gradient = call.tensor(0);
    const Tensor* result = call.tensor(1);
    if (!gradient || !result || call.outputs.size() != 1 || gradient->rank() == 0)
        return notSupported("this form of a softmax is not known");
    const std::optional<size_t> axis = dimensionOf(call.integer(2, "dim", -1), gradient->rank());
    if (!axis || !sameShape(*gradient, *result) || !sameShape(*gradient, call.out()))
        return notSupported("gradient, result and dimension of a softmax disagree");
    const bool log = call.name.find("log") != std::string::npos;
    return rowLoop({*gradient, *result}, {call.out()}, *axis, [log](const Rows& row, int64_t n) {
        const double *g = row.in[0], *y = row.in[1];
        double sum = 0;
        for (int64_t i = 0; i < n; ++i)
            sum += log ? g[i] : g[i] * y[i];
        for (int64_t i = 0; i < n; ++i)
            row.out[0][i] = log ? g[i] - std::exp(y[i]) * sum : y[i] * (g[i] - sum);
    });
}

/// The last dimensions, from `first`, as one; nothing if they do not lie one after another.
std::optional<Tensor> joinedFrom(const Tensor& tensor, size_t first) {
    if (!tensor.dense() || first >= tensor.rank())
        return std::nullopt;
    std::vector<int64_t> shape(tensor.spec.shape.begin(),
                               tensor.spec.shape.begin() + static_cast<std::ptrdiff_t>(first));
    int64_t width = 1;
    for (size_t d = first; d < tensor.rank(); ++d)
        width *= tensor.spec.shape[d];
    shape.push_back(width);
    return viewOf(tensor, shape, denseStrides(shape));
}

/// layer_norm and native_layer_norm: (x, sizes, weight, bias, eps); rms_norm: (x, sizes, weight, eps).
Result<Body> makeNorm(OpCall& call) {
    const bool rms = call.name == "rms_norm";
    const Tensor* in = call.tensor(0);
    const size_t norm_dims = call.integers(1, "normalized_shape").size();
    if (!in || norm_dims == 0 || norm_dims > in->rank() || call.outputs.empty())
        return notSupported("this form of a norm is not known");
    const Tensor* weight = call.tensor(2, "weight");
    const Tensor* bias = rms ? nullptr : call.tensor(3, "bias");
    const double eps = call.number(rms ? 3 : 4, "eps").value_or(rms ? 0x1p-23 : 1e-5);
    const size_t first = in->rank() - norm_dims;
    const Tensor* mean = call.outputs.size() > 1 ? &call.outputs[1] : nullptr;
    const std::vector<int64_t> normed(in->spec.shape.begin() + static_cast<std::ptrdiff_t>(first),
                                      in->spec.shape.end());
    const auto fits = [&](const Tensor* tensor) { return !tensor || tensor->spec.shape == normed; };
    if (!fits(weight) || !fits(bias) || call.integers(1, "normalized_shape") != normed ||
        !sameShape(*in, call.out()))
        return notSupported("the shapes of a norm, its factors and its result disagree");
    if (!rms) {
        if (std::optional<Body> body = dnnlLayerNorm(*in, weight, bias, call.out(), mean, norm_dims, eps))
            return *std::move(body);
    }
    const std::optional<Tensor> x = joinedFrom(*in, first), y = joinedFrom(call.out(), first);
    const auto factors = [](const Tensor* tensor) {
        return tensor ? valuesOf(*tensor) : std::vector<double>();
    };
    if (!x || !y || call.outputs.size() > 1)
        return notSupported("a norm of strided tensors, or one that yields its statistics, is not known");
    return rowLoop({*x}, {*y}, first,
                   [=, w = factors(weight), b = factors(bias)](const Rows& row, int64_t n) {
                       double sum = 0, squares = 0;
                       for (int64_t i = 0; i < n; ++i)
                           sum += row.in[0][i];
                       const double shift = rms ? 0 : sum / static_cast<double>(n);
                       for (int64_t i = 0; i < n; ++i)
                           squares += (row.in[0][i] - shift) * (row.in[0][i] - shift);
                       const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
                       for (int64_t i = 0; i < n; ++i) {
                           const auto at = static_cast<size_t>(i);
                           const double value = (row.in[0][i] - shift) * scale * (w.empty() ? 1 : w[at]);
                           row.out[0][i] = value + (b.empty() ? 0 : b[at]);
                       }
                   });
}

Result<Body> makeCumulative(OpCall& call) {
    const Tensor* in = call.tensor(0);
    if (!in || call.outputs.size() != 1 || in->rank() == 0)
        return notSupported("this form of a cumulative sum is not known");
    const std::optional<size_t> axis = dimensionOf(call.integer(1, "dim", 0), in->rank());
    if (!axis || !sameShape(*in, call.out()))
        return notSupported("a sum along no dimension of its argument, or of another shape than it");
    return rowLoop({*in}, {call.out()}, *axis, [](const Rows& row, int64_t n) {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i)
            row.out[0][i] = sum += row.in[0][i];
    });
}

/// Mean (1) or sum (2) of the squared differences.
Result<Body> makeSquaredError(OpCall& call) {
    const Tensor *x = call.tensor(0), *y = call.tensor(1);
    const int64_t how = call.integer(2, "reduction", 1);
    if (!x || !y || call.outputs.size() != 1 || !sameShape(*x, *y) || how == 0 || !x->dense() ||
        !y->dense() || call.out().spec.numel() != 1)
        return notSupported("this form of a squared error is not known");
    const int64_t count = x->spec.numel();
    const double scale = how == 1 && count > 0 ? 1.0 / static_cast<double>(count) : 1;
    return Body([x = *x, y = *y, out = call.out(), count, scale] {
        double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (count > 32 * kTile)
        for (int64_t begin = 0; begin < count; begin += kTile) {
            float a[kTile], b[kTile];
            const int64_t n = std::min(kTile, count - begin);
            loadRow(x.spec.dtype, x.at(begin), 1, a, n);
            loadRow(y.spec.dtype, y.at(begin), 1, b, n);
            float part = 0;
            for (int64_t i = 0; i < n; ++i)
                part += (a[i] - b[i]) * (a[i] - b[i]);
            sum += static_cast<double>(part);
        }
        writeElement(out.spec.dtype, out.at(0), sum * scale);
    });
}

} // namespace

Maker reductionMaker(const std::string& name) {
    static const std::map<std::string, Maker> kMakers = {{"sum", makeReduction},
                                                         {"mean", makeReduction},
                                                         {"prod", makeReduction},
                                                         {"amax", makeReduction},
                                                         {"amin", makeReduction},
                                                         {"all", makeReduction},
                                                         {"any", makeReduction},
                                                         {"_softmax", makeSoftmax},
                                                         {"softmax", makeSoftmax},
                                                         {"_log_softmax", makeSoftmax},
                                                         {"log_softmax", makeSoftmax},
                                                         {"_softmax_backward_data", makeSoftmaxBackward},
                                                         {"_log_softmax_backward_data", makeSoftmaxBackward},
                                                         {"layer_norm", makeNorm},
                                                         {"native_layer_norm", makeNorm},
                                                         {"rms_norm", makeNorm},
                                                         {"cumsum", makeCumulative},
                                                         {"mse_loss", makeSquaredError}};
    const auto found = kMakers.find(name);
    return found == kMakers.end() ? nullptr : found->second;
}

} // namespace gs::host
