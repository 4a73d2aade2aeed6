// Source text of the kernels of a fused region: one body for NVRTC and for a host compiler; only the prelude
// differs. Rounds like ATen: each operator's result to its own dtype, arithmetic of bf16 and f16 in float.
#pragma once

#include "profile/backends/kernels/index_digits.h"

#include "base/result.h"
#include "cost/fused_regions.h"
#include "profile/benchmark_inputs.h"

namespace gs {

enum class KernelTarget : uint8_t { Cuda, Host };

/// A tensor that the kernels of a program read or write.
struct KernelTensor {
    enum class Role : uint8_t { Input, Output, Temporary };
    Role role = Role::Input;
    NodeId node = kNoNode; ///< whose value it is; kNoNode for a temporary
    size_t item = 0;       ///< of a node that yields several values
    DType dtype = DType::Unknown;
    kernels::Shape shape;
    kernels::Shape strides;
    bool holds_indices = false; ///< an input whose values select elements of another one
    int64_t index_limit = 0;    ///< they must be in [0, index_limit)

    int64_t elements() const; ///< that its memory spans
    int64_t bytes() const;
};

/// `extern "C"`: on devices a kernel with one pointer per tensor; on hosts a function of a `void**`.
struct Kernel {
    std::string name;
    std::string source;            ///< without the prelude
    std::vector<uint32_t> tensors; ///< its parameters, as indices into the program's tensors
    int64_t blocks = 0;
    int32_t threads = 0;
};

struct FusedProgram {
    std::vector<KernelTensor> tensors;
    /// To be run in this order. One, unless the region has reductions over different elements: then as few as
    /// the generator finds, with temporaries between them.
    std::vector<Kernel> kernels;
    int64_t bytes() const; ///< of all tensors
};

/// `name` starts the names of the kernels. A region of one node is fine. Errors: "not-supported" (names the
/// operator; the caller measures the nodes one by one), "unknown-shape".
Result<FusedProgram> generateKernels(const Graph& graph, const FusedRegion& region, const std::string& name);

/// What an input is filled with: as the registry says for what a region reads (makeOutside()), but where its
/// values select elements of another tensor they stay within that one.
TensorSpec kernelInput(const KernelTensor& tensor, const std::map<NodeId, TensorSpec>& outside);

/// What must stand once before the sources of any number of kernels.
std::string_view kernelPrelude(KernelTarget target);

} // namespace gs
