// Memory of a generated kernel's tensors: filled with reproducible values, read back as plain numbers.
#pragma once

#include "profile/backends/kernels/fused_kernel.h"
#include "support/node_reference.h"

namespace gs::test {

enum class Filling : uint8_t { Positive, Signed };

/// Bytes of all tensors of a program: inputs filled (indices within their limits), others zero.
std::vector<std::vector<char>> kernelMemory(const FusedProgram& program, Filling filling, uint64_t seed);
/// What a tensor's memory holds, in row-major order.
RefTensor readTensor(const KernelTensor& tensor, const std::vector<char>& memory);
/// Empty if both agree within what their dtype and the length of sums allow, else the worst difference.
std::string difference(const RefTensor& got, const RefTensor& wanted);

} // namespace gs::test
