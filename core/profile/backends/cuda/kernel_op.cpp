#include "profile/backends/cuda/cuda_op.h"
#include "profile/backends/cuda/nvrtc.h"
#include "profile/backends/kernels/fused_kernel.h"

#include <fmt/format.h>

namespace gs::cuda {

namespace {

/// Tensors of a program on the device and its kernels, loaded.
class KernelOp final : public CudaOp {
public:
    KernelOp(FusedProgram program, cudaStream_t stream) : CudaOp(stream), program_(std::move(program)) {}
    ~KernelOp() override {
        if (library_)
            cudaLibraryUnload(library_);
    }
    KernelOp(const KernelOp&) = delete;
    KernelOp& operator=(const KernelOp&) = delete;

    Status load(const std::vector<char>& code) {
        if (Status loaded =
                checked(cudaLibraryLoadData(&library_, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                        "cudaLibraryLoadData");
            !loaded)
            return loaded;
        for (const Kernel& kernel : program_.kernels) {
            cudaKernel_t found = nullptr;
            if (Status got = checked(cudaLibraryGetKernel(&found, library_, kernel.name.c_str()),
                                     "cudaLibraryGetKernel");
                !got)
                return got;
            kernels_.push_back(found);
        }
        return Unit{};
    }

    /// `outside`: how the registry fills what the region reads.
    Status allocate(const std::map<NodeId, TensorSpec>& outside) {
        if (Status room = fits(program_.bytes()); !room)
            return room;
        for (const KernelTensor& tensor : program_.tensors) {
            Result<DeviceMemory> memory = DeviceMemory::allocate(tensor.bytes());
            if (!memory)
                return memory.error();
            const bool input = tensor.role == KernelTensor::Role::Input;
            if (Status filled = input ? fill(memory.value(), kernelInput(tensor, outside)) : Status(Unit{});
                !filled)
                return filled;
            memory_.push_back(std::move(memory.value()));
        }
        return Unit{};
    }

    Status launch(cudaStream_t stream) override {
        for (size_t i = 0; i < kernels_.size(); ++i) {
            const Kernel& kernel = program_.kernels[i];
            std::vector<void*> pointers, arguments;
            for (uint32_t tensor : kernel.tensors)
                pointers.push_back(memory_[tensor].data());
            for (void*& pointer : pointers)
                arguments.push_back(&pointer);
            const cudaError_t error = cudaLaunchKernel(
                reinterpret_cast<const void*>(kernels_[i]), dim3(static_cast<unsigned>(kernel.blocks)),
                dim3(static_cast<unsigned>(kernel.threads)), arguments.data(), 0, stream);
            if (error != cudaSuccess)
                return checked(error, kernel.name.c_str());
        }
        return Unit{};
    }

private:
    FusedProgram program_;
    cudaLibrary_t library_ = nullptr;
    std::vector<cudaKernel_t> kernels_;
    std::vector<DeviceMemory> memory_;
};

} // namespace

Result<CudaOpPtr> prepareKernels(const Graph& graph, const FusedRegion& region, cudaStream_t stream) {
    Result<FusedProgram> program = generateKernels(graph, region, "region");
    if (!program)
        return program.error();
    const auto outside = BenchmarkInputRegistry::global().makeOutside(graph, region.nodes);
    if (!outside)
        return outside.error();
    if (Status room = fits(program->bytes()); !room)
        return room.error();
    int device = 0, major = 0, minor = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    std::string source(kernelPrelude(KernelTarget::Cuda));
    for (const Kernel& kernel : program->kernels)
        source += kernel.source;
    Result<std::vector<char>> code = compileKernels(source, fmt::format("sm_{}{}", major, minor));
    if (!code)
        return code.error();
    auto op = std::make_unique<KernelOp>(std::move(program.value()), stream);
    if (Status loaded = op->load(code.value()); !loaded)
        return loaded.error();
    if (Status allocated = op->allocate(outside.value()); !allocated)
        return allocated.error();
    return CudaOpPtr(std::move(op));
}

} // namespace gs::cuda
