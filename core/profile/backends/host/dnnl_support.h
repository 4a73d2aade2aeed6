// oneDNN's memory and primitives over our tensors.
#pragma once

#include "host_op.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <unordered_map>

namespace gs::host {

dnnl::engine& dnnlEngine();
dnnl::stream& dnnlStream();

/// Nothing for types that oneDNN does not have.
std::optional<dnnl::memory::data_type> dnnlType(DType dtype);
/// Nothing for types and ranks that oneDNN does not have. A tensor without dimensions is one of one element.
std::optional<dnnl::memory::desc> dnnlDesc(const Tensor& tensor);

struct DnnlArgument {
    int index;
    dnnl::memory::desc desc;
    Tensor tensor; ///< kept alive
};

/// Runs the primitive on its memory and waits for it.
Body dnnlRun(dnnl::primitive primitive, const std::vector<DnnlArgument>& args);

/// Nothing if the implementation that oneDNN chose is its slow reference.
template <typename Desc>
std::optional<Body> dnnlBody(const Desc& pd, dnnl::primitive primitive,
                             const std::vector<DnnlArgument>& args) {
    const std::string_view implementation = pd.impl_info_str();
    if (implementation.starts_with("ref") || implementation.find(":ref") != std::string_view::npos)
        return std::nullopt;
    return dnnlRun(std::move(primitive), args);
}

/// oneDNN says by an exception that it does not know a case.
template <typename F>
std::optional<Body> unlessRefused(F make) {
    try {
        return make();
    } catch (const dnnl::error&) {
        return std::nullopt;
    }
}

} // namespace gs::host
