#include "dnnl_support.h"

namespace gs::host {

dnnl::engine& dnnlEngine() {
    static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

dnnl::stream& dnnlStream() {
    static dnnl::stream stream(dnnlEngine());
    return stream;
}

std::optional<dnnl::memory::data_type> dnnlType(DType dtype) {
    switch (dtype) {
    case DType::Float32:
        return dnnl::memory::data_type::f32;
    case DType::BFloat16:
        return dnnl::memory::data_type::bf16;
    default: // its integers are for quantised networks, its f16 for GPUs
        return std::nullopt;
    }
}

std::optional<dnnl::memory::desc> dnnlDesc(const Tensor& tensor) {
    const auto type = dnnlType(tensor.spec.dtype);
    if (!type || tensor.rank() > 6 || !tensor.data)
        return std::nullopt;
    dnnl::memory::dims shape = tensor.spec.shape, stride = tensor.spec.stride;
    // Strides of dimensions of one element mean nothing, but oneDNN compares them.
    for (size_t d = shape.size(); d-- > 0;) {
        if (shape[d] == 1)
            stride[d] = d + 1 < shape.size() ? stride[d + 1] * shape[d + 1] : 1;
        if (stride[d] == 0 && shape[d] > 1)
            return std::nullopt; // repeats one element
    }
    if (shape.empty())
        shape = {1}, stride = {1};
    return dnnl::memory::desc(shape, *type, stride);
}

Body dnnlRun(dnnl::primitive primitive, const std::vector<DnnlArgument>& args) {
    std::unordered_map<int, dnnl::memory> memories;
    std::vector<std::shared_ptr<std::byte>> alive;
    for (const DnnlArgument& arg : args) {
        memories.emplace(arg.index, dnnl::memory(arg.desc, dnnlEngine(), arg.tensor.data.get()));
        alive.push_back(arg.tensor.data);
    }
    return [primitive = std::move(primitive), memories = std::move(memories), alive = std::move(alive)] {
        primitive.execute(dnnlStream(), memories);
        dnnlStream().wait();
    };
}

} // namespace gs::host
