// What the cuda backend prepares: work that can be put on any stream.
#pragma once

#include "profile/backend.h"
#include "profile/backends/cuda/device.h"

namespace gs::cuda {

class CudaOp : public PreparedOp {
public:
    explicit CudaOp(cudaStream_t stream) : stream_(stream) {}
    /// Puts it on `stream` once and returns at once.
    virtual Status launch(cudaStream_t stream) = 0;
    Status run() override { return launch(stream_); }
    /// An error that only asking finds (a communicator's).
    virtual Status failure() { return Unit{}; }
    cudaStream_t stream() const { return stream_; }

private:
    cudaStream_t stream_;
};

using CudaOpPtr = std::unique_ptr<CudaOp>;

/// Pointwise, reductions, copies: generated kernels, compiled for this device.
Result<CudaOpPtr> prepareKernels(const Graph& graph, const FusedRegion& region, cudaStream_t stream);

/// mm, addmm, bmm, baddbmm by cuBLASLt.
class MatmulLibrary {
public:
    MatmulLibrary();
    ~MatmulLibrary();
    MatmulLibrary(const MatmulLibrary&) = delete;
    MatmulLibrary& operator=(const MatmulLibrary&) = delete;

    static bool isMatmul(std::string_view target);
    Result<CudaOpPtr> prepare(const Graph& graph, NodeId node, cudaStream_t stream);

private:
    void* handle_ = nullptr;
};

} // namespace gs::cuda
