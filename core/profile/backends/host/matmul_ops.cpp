#include "dnnl_ops.h"
#include "shapes.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace gs::host {

namespace {

/// Without terms every sum is 0.
Body clear(const Tensor& out) {
    return [out] { std::memset(out.data.get(), 0, static_cast<size_t>(out.spec.storageBytes())); };
}

Tensor asFloat(const Tensor& tensor) {
    TensorSpec spec = tensor.spec;
    spec.dtype = DType::Float32;
    return makeTensor(spec);
}

Result<Body> product(OpCall& call, MatmulCall matmul) {
    if (matmul.out.spec.numel() == 0)
        return Body([] {});
    if (matmul.a.spec.numel() == 0 || matmul.b.spec.numel() == 0) {
        if (matmul.bias)
            return notSupported("a product without terms is added to");
        return clear(matmul.out);
    }
    if (std::optional<Body> body = dnnlMatmul(matmul))
        return *std::move(body);
    const DType dtype = matmul.a.spec.dtype;
    if (dtype != DType::BFloat16 && dtype != DType::Float16)
        return notSupported(fmt::format("oneDNN has no product of {} here", dtypeName(dtype)));
    matmul.a = asFloat(matmul.a);
    matmul.b = asFloat(matmul.b);
    matmul.out = asFloat(matmul.out);
    if (matmul.bias)
        matmul.bias = asFloat(*matmul.bias);
    std::optional<Body> body = dnnlMatmul(matmul);
    if (!body)
        return notSupported(fmt::format("oneDNN has no such product of {} or float32", dtypeName(dtype)));
    call.note =
        fmt::format("computed in float32: oneDNN has no product of {} on this processor", dtypeName(dtype));
    return *std::move(body);
}

/// mm, bmm, addmm, baddbmm: (bias,) a, b.
Result<Body> makeMatmul(OpCall& call) {
    const bool adds = call.name == "addmm" || call.name == "baddbmm";
    const Tensor* a = call.tensor(adds ? 1 : 0);
    const Tensor* b = call.tensor(adds ? 2 : 1);
    const Tensor* bias = adds ? call.tensor(0) : nullptr;
    if (!a || !b || (adds && !bias) || call.outputs.size() != 1 || a->rank() != b->rank() || a->rank() < 2 ||
        a->rank() > 3 || call.out().rank() != a->rank())
        return notSupported("this form of a matrix product is not known");
    std::vector<int64_t> shape = a->spec.shape;
    shape.back() = b->spec.shape.back();
    const size_t terms = a->rank() - 2;
    if (a->spec.shape.back() != b->spec.shape[terms] ||
        (a->rank() == 3 && a->spec.shape.front() != b->spec.shape.front()) ||
        call.out().spec.shape != shape || (bias && !broadcastsTo(*bias, shape)))
        return notSupported("the shapes of a matrix product disagree");
    MatmulCall matmul{*a, *b, call.out(), std::nullopt};
    if (bias)
        matmul.bias = *bias;
    matmul.alpha = call.number(99, "alpha").value_or(1);
    matmul.beta = call.number(99, "beta").value_or(1);
    return product(call, std::move(matmul));
}

/// x · weightᵀ + bias over the last dimension of x.
Result<Body> makeLinear(OpCall& call) {
    const Tensor* x = call.tensor(0);
    const Tensor* weight = call.tensor(1, "weight");
    const Tensor* bias = call.tensor(2, "bias");
    if (!x || !weight || call.outputs.size() != 1 || x->rank() < 2 || weight->rank() != 2 || !x->dense() ||
        !call.out().dense())
        return notSupported("this form of a linear layer is not known");
    const int64_t terms = x->spec.shape.back(), width = weight->spec.shape[0];
    std::vector<int64_t> shape = x->spec.shape;
    shape.back() = width;
    if (weight->spec.shape[1] != terms || call.out().spec.shape != shape ||
        (bias && bias->spec.shape != std::vector<int64_t>{width}))
        return notSupported("the shapes of a linear layer disagree");
    const int64_t rows = call.out().spec.numel() / std::max<int64_t>(width, 1);
    MatmulCall matmul{viewOf(*x, {rows, terms}, {terms, 1}),
                      viewOf(*weight, {terms, width}, {weight->spec.stride[1], weight->spec.stride[0]}),
                      viewOf(call.out(), {rows, width}, {width, 1}), std::nullopt};
    if (bias)
        matmul.bias = *bias;
    return product(call, std::move(matmul));
}

} // namespace

Maker matmulMaker(const std::string& name) {
    static const std::map<std::string, Maker> kMakers = {{"mm", makeMatmul},
                                                         {"bmm", makeMatmul},
                                                         {"addmm", makeMatmul},
                                                         {"baddbmm", makeMatmul},
                                                         {"linear", makeLinear}};
    const auto found = kMakers.find(name);
    return found == kMakers.end() ? nullptr : found->second;
}

} // namespace gs::host
