// What oneDNN computes. Each function answers nothing where oneDNN has no optimised implementation of the
// case; the loops of this backend take over.
#pragma once

#include "host_op.h"

#include <string>

namespace gs::host {

std::string dnnlVersion();

/// out = a × b (+ bias), per matrix of a batch; tensors of rank 2 or 3. `beta` scales `bias`.
struct MatmulCall {
    Tensor a, b, out;
    std::optional<Tensor> bias;
    double alpha = 1, beta = 1;
};
/// Nothing if oneDNN does not know the types here.
std::optional<Body> dnnlMatmul(const MatmulCall& call);

std::optional<Body> dnnlPointwise(const OpCall& call);
/// softmax or log_softmax along one dimension.
std::optional<Body> dnnlSoftmax(const Tensor& in, const Tensor& out, size_t dim, bool log);
std::optional<Body> dnnlLayerNorm(const Tensor& in, const Tensor* weight, const Tensor* bias,
                                  const Tensor& out, const Tensor* mean, size_t norm_dims, double eps);
/// sum, mean, amax, amin: `out` has 1 where it was reduced.
std::optional<Body> dnnlReduction(const std::string& name, const Tensor& in, const Tensor& out);
std::optional<Body> dnnlConcat(const std::vector<const Tensor*>& parts, const Tensor& out, size_t dim);

} // namespace gs::host
