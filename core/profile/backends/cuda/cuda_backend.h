// NVIDIA devices: cuBLASLt, generated kernels through NVRTC, NCCL. Everything that has its own inputs is
// timed by events on a stream.
#pragma once

#include "profile/backends/cuda/collectives.h"

namespace gs {

/// For the registry.
BackendInfo cudaBackend();

namespace cuda {

class CudaBackend final : public Backend {
public:
    /// Takes the device of plane.localRank(). Errors: "no-device".
    static Result<std::unique_ptr<Backend>> make(ControlPlane& plane);
    ~CudaBackend() override;

    std::string name() const override { return "cuda"; }
    DeviceFacts facts() override;
    Result<std::unique_ptr<PreparedOp>> prepare(const Graph& graph, NodeId node) override;
    Result<std::unique_ptr<PreparedOp>> prepareRegion(const Graph& graph, const FusedRegion& region) override;
    Result<std::unique_ptr<PreparedOp>> prepareCollective(const CollectiveSpec& spec) override;
    Result<std::vector<int64_t>> time(PreparedOp& op, const TimingPlan& plan) override;
    Result<TogetherTimes> timeTogether(PreparedOp& collective, PreparedOp& compute,
                                       const TimingPlan& plan) override;

private:
    CudaBackend(ControlPlane& plane, int device) : communicators_(plane), device_(device) {}
    Status start();
    Status keepBusy(cudaStream_t stream);
    Status flushCaches(cudaStream_t stream);
    Result<TogetherTimes> once(CollectiveOp& collective, CudaOp& compute);

    Communicators communicators_;
    MatmulLibrary matmul_;
    WorkRegistry registry_;
    int device_ = 0;
    cudaStream_t compute_ = nullptr;
    cudaStream_t transfer_ = nullptr;
    cudaLibrary_t spin_library_ = nullptr;
    cudaKernel_t spin_ = nullptr;
    DeviceMemory flush_;
};

} // namespace cuda
} // namespace gs
