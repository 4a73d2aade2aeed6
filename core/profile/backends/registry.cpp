#include "profile/backend.h"

namespace gs {

#ifdef GATHERSCOPE_BACKEND_HOST
BackendInfo hostBackend();
#endif
#ifdef GATHERSCOPE_BACKEND_CUDA
BackendInfo cudaBackend();
#endif
#ifdef GATHERSCOPE_BACKEND_ATEN
BackendInfo atenBackend();
#endif

namespace {

[[maybe_unused]] BackendInfo notBuilt(const char* name, const char* meaning, const char* why_not) {
    return {name, meaning, false, nullptr, nullptr, why_not};
}

} // namespace

const std::vector<BackendInfo>& backends() {
    static const std::vector<BackendInfo> kBackends = {
#ifdef GATHERSCOPE_BACKEND_CUDA
        cudaBackend(),
#else
        notBuilt("cuda", "NVIDIA devices: cuBLASLt, generated kernels, NCCL", "CUDA or NCCL was not found"),
#endif
#ifdef GATHERSCOPE_BACKEND_HOST
        hostBackend(),
#else
        notBuilt("host", "the processors of this machine, by oneDNN and MPI", "oneDNN was not found"),
#endif
#ifdef GATHERSCOPE_BACKEND_ATEN
        atenBackend(),
#else
        notBuilt("aten", "any operator of PyTorch, by libtorch", "libtorch was not found"),
#endif
    };
    return kBackends;
}

} // namespace gs
