#include "dnnl_ops.h"

#include "dnnl_support.h"
#include "eltwise.h"
#include "shapes.h"

#include <fmt/format.h>
#include <map>

namespace gs::host {

namespace {

using dnnl::algorithm;
using dnnl::memory;

std::optional<Body> eltwise(const Tensor& in, const Tensor& out, const Eltwise& what) {
    if (in.spec.dtype != out.spec.dtype || in.spec.shape != out.spec.shape || !in.dense() || !out.dense())
        return std::nullopt;
    const memory::desc desc({in.spec.numel()}, *dnnlType(in.spec.dtype), memory::format_tag::a);
    const dnnl::eltwise_forward::primitive_desc pd(
        {dnnl::prop_kind::forward_inference, what.kind, desc, what.alpha, what.beta}, dnnlEngine());
    return dnnlBody(pd, dnnl::eltwise_forward(pd), {{DNNL_ARG_SRC, desc, in}, {DNNL_ARG_DST, desc, out}});
}

std::optional<Body> binary(const Tensor& a, const Tensor& b, const Tensor& out, algorithm how) {
    // Of the forms that broadcast, the optimised code knows those of equal ranks whose first operand is full.
    if (!sameShape(a, out) || !broadcastsTo(b, out.spec.shape) || a.rank() == 0 || a.rank() > 5)
        return std::nullopt;
    Tensor wide = b;
    while (wide.rank() < out.rank()) {
        wide.spec.shape.insert(wide.spec.shape.begin(), 1);
        wide.spec.stride.insert(wide.spec.stride.begin(), 1);
    }
    wide.spec.stride = wide.dense() ? denseStrides(wide.spec.shape) : wide.spec.stride;
    const auto da = dnnlDesc(a), db = dnnlDesc(wide), dc = dnnlDesc(out);
    if (!da || !db || !dc)
        return std::nullopt;
    const dnnl::binary::primitive_desc pd({how, *da, *db, *dc}, dnnlEngine());
    return dnnlBody(pd, dnnl::binary(pd),
                    {{DNNL_ARG_SRC_0, *da, a}, {DNNL_ARG_SRC_1, *db, wide}, {DNNL_ARG_DST, *dc, out}});
}

/// Casts and copies between layouts.
std::optional<Body> reorder(const Tensor& in, const Tensor& out) {
    if (in.spec.shape != out.spec.shape)
        return std::nullopt;
    const auto from = dnnlDesc(in), to = dnnlDesc(out);
    if (!from || !to)
        return std::nullopt;
    const dnnl::reorder::primitive_desc pd(dnnlEngine(), *from, dnnlEngine(), *to);
    return dnnlBody(pd, dnnl::reorder(pd), {{DNNL_ARG_FROM, *from, in}, {DNNL_ARG_TO, *to, out}});
}

std::optional<Body> pointwise(const OpCall& call) {
    const Tensor* a = call.tensor(0);
    if (!a || !dnnlType(a->spec.dtype) || !dnnlType(call.out().spec.dtype) || a->spec.numel() == 0)
        return std::nullopt;
    if (call.name == "_to_copy" || call.name == "convert_element_type" || call.name == "clone")
        return reorder(*a, call.out());
    if (const std::optional<Eltwise> function = eltwiseOf(call.name, call.inputs))
        return eltwise(*a, call.out(), *function);
    const std::optional<algorithm> how = binaryOf(call.name);
    const Tensor* b = call.tensor(1, "other");
    const bool scaled = call.value(2, "alpha") || call.value(2, "rounding_mode");
    if (!how || !b || scaled || !dnnlType(b->spec.dtype))
        return std::nullopt;
    const bool commutes = call.name == "add" || call.name == "mul";
    return commutes && a->spec.shape != call.out().spec.shape ? binary(*b, *a, call.out(), *how)
                                                              : binary(*a, *b, call.out(), *how);
}

/// Of a sum of products, what comes before the products are added.
dnnl::primitive_attr matmulScale(const MatmulCall& call) {
    dnnl::primitive_attr attr;
    if (call.alpha != 1)
        attr.set_output_scales(0, {static_cast<float>(call.alpha)});
    return attr;
}

std::optional<Body> matmul(const MatmulCall& call) {
    const auto a = dnnlDesc(call.a), b = dnnlDesc(call.b), out = dnnlDesc(call.out);
    if (!a || !b || !out)
        return std::nullopt;
    dnnl::primitive_attr attr = matmulScale(call);
    std::vector<DnnlArgument> args = {
        {DNNL_ARG_SRC, *a, call.a}, {DNNL_ARG_WEIGHTS, *b, call.b}, {DNNL_ARG_DST, *out, call.out}};
    if (!call.bias) {
        const dnnl::matmul::primitive_desc pd({*a, *b, *out}, attr, dnnlEngine());
        return dnnlBody(pd, dnnl::matmul(pd), args);
    }
    Tensor bias = *call.bias;
    while (bias.rank() < call.out.rank()) {
        bias.spec.shape.insert(bias.spec.shape.begin(), 1);
        bias.spec.stride.insert(bias.spec.stride.begin(), bias.spec.numel());
    }
    const auto bias_desc = dnnlDesc(bias);
    if (!bias_desc || call.beta != 1)
        return std::nullopt;
    const bool row = bias.spec.numel() == call.out.spec.shape.back() &&
                     bias.spec.shape.back() == bias.spec.numel() && call.alpha == 1;
    if (row) {
        args.push_back({DNNL_ARG_BIAS, *bias_desc, bias});
        const dnnl::matmul::primitive_desc pd({*a, *b, *bias_desc, *out}, attr, dnnlEngine());
        return dnnlBody(pd, dnnl::matmul(pd), args);
    }
    dnnl::post_ops after;
    after.append_binary(algorithm::binary_add, *bias_desc);
    attr.set_post_ops(after);
    args.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, *bias_desc, bias});
    const dnnl::matmul::primitive_desc pd({*a, *b, *out}, attr, dnnlEngine());
    return dnnlBody(pd, dnnl::matmul(pd), args);
}

} // namespace

std::string dnnlVersion() {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

std::optional<Body> dnnlMatmul(const MatmulCall& call) {
    return unlessRefused([&] { return matmul(call); });
}

std::optional<Body> dnnlPointwise(const OpCall& call) {
    return unlessRefused([&] { return pointwise(call); });
}

std::optional<Body> dnnlSoftmax(const Tensor& in, const Tensor& out, size_t dim, bool log) {
    return unlessRefused([&]() -> std::optional<Body> {
        const auto from = dnnlDesc(in), to = dnnlDesc(out);
        if (!from || !to || in.spec.dtype != out.spec.dtype || !in.dense() || !out.dense())
            return std::nullopt;
        const int axis = static_cast<int>(dim);
        if (log) {
            const dnnl::logsoftmax_forward::primitive_desc pd(
                {dnnl::prop_kind::forward_inference, *from, axis}, dnnlEngine());
            return dnnlBody(pd, dnnl::logsoftmax_forward(pd),
                            {{DNNL_ARG_SRC, *from, in}, {DNNL_ARG_DST, *to, out}});
        }
        const dnnl::softmax_forward::primitive_desc pd({dnnl::prop_kind::forward_inference, *from, axis},
                                                       dnnlEngine());
        return dnnlBody(pd, dnnl::softmax_forward(pd), {{DNNL_ARG_SRC, *from, in}, {DNNL_ARG_DST, *to, out}});
    });
}

std::optional<Body> dnnlReduction(const std::string& name, const Tensor& in, const Tensor& out) {
    static const std::map<std::string, algorithm> kOps = {{"sum", algorithm::reduction_sum},
                                                          {"mean", algorithm::reduction_mean},
                                                          {"amax", algorithm::reduction_max},
                                                          {"amin", algorithm::reduction_min}};
    const auto how = kOps.find(name);
    if (how == kOps.end() || in.rank() == 0 || in.rank() > 5 || in.spec.shape == out.spec.shape)
        return std::nullopt;
    return unlessRefused([&]() -> std::optional<Body> {
        const auto from = dnnlDesc(in), to = dnnlDesc(out);
        if (!from || !to)
            return std::nullopt;
        const dnnl::reduction::primitive_desc pd({how->second, *from, *to, 0, 0}, dnnlEngine());
        return dnnlBody(pd, dnnl::reduction(pd), {{DNNL_ARG_SRC, *from, in}, {DNNL_ARG_DST, *to, out}});
    });
}

std::optional<Body> dnnlConcat(const std::vector<const Tensor*>& parts, const Tensor& out, size_t dim) {
    return unlessRefused([&]() -> std::optional<Body> {
        std::vector<memory::desc> sources;
        std::vector<DnnlArgument> args;
        for (const Tensor* part : parts) {
            const auto desc = dnnlDesc(*part);
            if (!desc || part->spec.dtype != out.spec.dtype || part->spec.numel() == 0)
                return std::nullopt;
            args.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(sources.size()), *desc, *part});
            sources.push_back(*desc);
        }
        const auto to = dnnlDesc(out);
        if (!to)
            return std::nullopt;
        const dnnl::concat::primitive_desc pd(*to, static_cast<int>(dim), sources, dnnlEngine());
        args.push_back({DNNL_ARG_DST, *to, out});
        return dnnlBody(pd, dnnl::concat(pd), args);
    });
}

std::optional<Body> dnnlLayerNorm(const Tensor& in, const Tensor* weight, const Tensor* bias,
                                  const Tensor& out, const Tensor* mean, size_t norm_dims, double eps) {
    // Statistics that are results, other types than f32 for scales: the loops do those.
    if (mean || norm_dims != 1 || !in.dense() || !out.dense() || in.rank() < 2 ||
        (weight && (weight->spec.dtype != DType::Float32 || !weight->dense())) ||
        (bias && (bias->spec.dtype != DType::Float32 || !bias->dense())) ||
        (weight == nullptr) != (bias == nullptr))
        return std::nullopt;
    return unlessRefused([&]() -> std::optional<Body> {
        const auto from = dnnlDesc(in), to = dnnlDesc(out);
        if (!from || !to || in.spec.dtype != out.spec.dtype)
            return std::nullopt;
        auto flags = dnnl::normalization_flags::none;
        std::vector<DnnlArgument> args = {{DNNL_ARG_SRC, *from, in}, {DNNL_ARG_DST, *to, out}};
        if (weight) {
            flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
            args.push_back({DNNL_ARG_SCALE, *dnnlDesc(*weight), *weight});
            args.push_back({DNNL_ARG_SHIFT, *dnnlDesc(*bias), *bias});
        }
        const dnnl::layer_normalization_forward::primitive_desc pd(
            {dnnl::prop_kind::forward_inference, *from, static_cast<float>(eps), flags}, dnnlEngine());
        return dnnlBody(pd, dnnl::layer_normalization_forward(pd), args);
    });
}

} // namespace gs::host
