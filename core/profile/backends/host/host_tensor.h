// Tensors in the host's memory.
#pragma once

#include "profile/benchmark_inputs.h"

#include <memory>

namespace gs::host {

struct Tensor {
    TensorSpec spec;
    std::shared_ptr<std::byte> data; ///< 64 bytes aligned; null for an empty tensor

    std::byte* at(int64_t element) const { return data.get() + element * dtypeBytes(spec.dtype); }
    size_t rank() const { return spec.shape.size(); }
    bool dense() const; ///< row-major without gaps
};

/// With its values and every page touched. Throws std::bad_alloc.
Tensor makeTensor(const TensorSpec& spec);
/// The same memory under another shape.
Tensor viewOf(const Tensor& tensor, std::vector<int64_t> shape, std::vector<int64_t> stride);
std::vector<int64_t> denseStrides(const std::vector<int64_t>& shape);

/// One element. Complex and 8-bit floating types read as 0.
double readElement(DType dtype, const std::byte* at);
/// Rounds to nearest; integers are cut off, as PyTorch casts.
void writeElement(DType dtype, std::byte* at, double value);
/// All elements in row-major order.
std::vector<double> valuesOf(const Tensor& tensor);
/// Types that the loops of this backend compute with.
bool isComputable(DType dtype);

/// Bytes that may still be allocated: what the kernel calls available, within the limit of the control group.
int64_t availableBytes();

} // namespace gs::host
