// What can only be checked on a device: times of products beside an independent loop, results of generated
// kernels beside those of plain loops, ten thousand collectives in flight. Prints lines for the report; the
// exit code says whether all of it held.
#include "backends/kernels/kernel_memory.h"
#include "gpu/independent_matmul.h"
#include "graph/graph_builder.h"
#include "profile/backends/cuda/cuda_backend.h"
#include "profile/backends/cuda/device_facts.h"
#include "profile/backends/cuda/nvrtc.h"
#include "support/kernel_cases.h"
#include "support/one_rank.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace gs;
using namespace gs::test;

namespace {

GraphPtr productOf(int64_t rows, int64_t inner, int64_t columns) {
    GraphBuilder b;
    const auto matrix = [&](int64_t r, int64_t c) {
        Value value;
        value.kind = Value::Kind::Tensor;
        value.tensor.dtype = DType::BFloat16;
        value.tensor.shape = {{r, kEmptyString}, {c, kEmptyString}};
        return value;
    };
    const NodeId x = b.addNode("x", NodeOp::Placeholder, "x"), y = b.addNode("y", NodeOp::Placeholder, "y");
    b.setValue(x, matrix(rows, inner));
    b.setValue(y, matrix(inner, columns));
    const NodeId product = b.addNode("product", NodeOp::CallFunction, "aten.mm.default");
    b.setArgs(product, {b.nodeArg(x), b.nodeArg(y)});
    b.setValue(product, matrix(rows, columns));
    Diagnostics diagnostics;
    return b.finish(&diagnostics);
}

bool products(Backend& backend) {
    bool good = true;
    fmt::print("product (bf16)            ours       independent  ratio  TFLOP/s\n");
    for (const auto& [m, k, n] : {std::array<int64_t, 3>{8192, 4096, 4096},
                                  {8192, 4096, 14336},
                                  {8192, 14336, 4096},
                                  {4096, 4096, 4096},
                                  {2048, 2048, 2048}}) {
        const GraphPtr graph = productOf(m, k, n);
        auto op = backend.prepare(*graph, *graph->find("product"));
        if (!op) {
            fmt::print("{}x{}x{}: {}\n", m, k, n, op.error().message);
            good = false;
            continue;
        }
        auto times = backend.time(*op.value(), {3, 11, false});
        const auto other = independentMatmulNs(m, k, n);
        if (!times || !other) {
            fmt::print("{}x{}x{}: not timed\n", m, k, n);
            good = false;
            continue;
        }
        std::ranges::sort(times.value());
        const int64_t ours = times.value()[times.value().size() / 2];
        const double ratio = double(ours) / double(*other);
        fmt::print("{:>6} x {:>5} x {:>5}  {:>9.1f} us  {:>9.1f} us  {:>5.2f}  {:>7.1f}\n", m, k, n,
                   double(ours) / 1e3, double(*other) / 1e3, ratio,
                   2.0 * double(m) * double(n) * double(k) / double(ours) / 1e3);
        good = good && ratio > 0.85 && ratio < 1.15;
    }
    return good;
}

/// Runs a program on the device from the memory's inputs; the memory then holds its outputs.
Status runOnDevice(const FusedProgram& program, std::vector<std::vector<char>>& memory,
                   const std::string& architecture) {
    std::string source(kernelPrelude(KernelTarget::Cuda));
    for (const Kernel& kernel : program.kernels)
        source += kernel.source;
    const auto code = cuda::compileKernels(source, architecture);
    if (!code)
        return code.error();
    cudaLibrary_t library = nullptr;
    if (Status loaded = cuda::checked(
            cudaLibraryLoadData(&library, code.value().data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            "load");
        !loaded)
        return loaded;
    std::vector<void*> device(memory.size());
    for (size_t i = 0; i < memory.size(); ++i) {
        cudaMalloc(&device[i], std::max<size_t>(memory[i].size(), 1));
        cudaMemcpy(device[i], memory[i].data(), memory[i].size(), cudaMemcpyHostToDevice);
    }
    for (const Kernel& kernel : program.kernels) {
        cudaKernel_t function = nullptr;
        cudaLibraryGetKernel(&function, library, kernel.name.c_str());
        std::vector<void*> arguments;
        for (uint32_t tensor : kernel.tensors)
            arguments.push_back(&device[tensor]);
        cudaLaunchKernel(reinterpret_cast<const void*>(function), dim3(static_cast<unsigned>(kernel.blocks)),
                         dim3(static_cast<unsigned>(kernel.threads)), arguments.data(), 0, nullptr);
    }
    const Status ran = cuda::checked(cudaDeviceSynchronize(), "run");
    for (size_t i = 0; i < memory.size(); ++i) {
        cudaMemcpy(memory[i].data(), device[i], memory[i].size(), cudaMemcpyDeviceToHost);
        cudaFree(device[i]);
    }
    cudaLibraryUnload(library);
    return ran;
}

/// Empty if the device's results are those of plain loops.
std::string checkKernels(const KernelCase& item, const FusedProgram& program,
                         const std::string& architecture) {
    std::vector<std::vector<char>> memory = kernelMemory(program, Filling::Positive, 1);
    NodeReference reference(*item.graph);
    for (size_t i = 0; i < memory.size(); ++i) {
        const KernelTensor& tensor = program.tensors[i];
        if (tensor.role == KernelTensor::Role::Input)
            reference.set(tensor.node, tensor.item, readTensor(tensor, memory[i]));
    }
    if (Status ran = runOnDevice(program, memory, architecture); !ran)
        return ran.error().message;
    for (NodeId node : item.region.nodes)
        reference.value(node);
    for (size_t i = 0; i < memory.size(); ++i) {
        const KernelTensor& tensor = program.tensors[i];
        const RefTensor* wanted =
            tensor.role == KernelTensor::Role::Output ? reference.value(tensor.node, tensor.item) : nullptr;
        if (!wanted)
            continue;
        if (std::string wrong = difference(readTensor(tensor, memory[i]), *wanted); !wrong.empty())
            return wrong;
    }
    return {};
}

bool generatedKernels(const std::vector<std::string>& files) {
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, 0);
    const std::string architecture = fmt::format("sm_{}{}", properties.major, properties.minor);
    size_t compared = 0, wrong = 0;
    for (const KernelCase& item : kernelCasesOf(files)) {
        const auto program = generateKernels(*item.graph, item.region, "k");
        constexpr int64_t kLargest = 6 << 20;
        if (!program || program.value().bytes() > kLargest)
            continue;
        ++compared;
        if (const std::string message = checkKernels(item, program.value(), architecture); !message.empty()) {
            fmt::print("{}: {}\n", item.key.substr(0, 200), message);
            ++wrong;
        }
    }
    fmt::print("kernels compared with plain loops: {}, different: {}\n", compared, wrong);
    return compared > 20 && wrong == 0;
}

bool collectives() {
    OneRank plane;
    size_t warnings = 0;
    WorkRegistry registry([&](const Diagnostic&) { ++warnings; });
    cuda::Communicators communicators(plane);
    CollectiveSpec spec;
    spec.kind = CollectiveKind::AllGather;
    spec.dtype = DType::BFloat16;
    spec.input_bytes = spec.output_bytes = 1 << 16;
    spec.ranks = {0};
    auto op = communicators.prepare(spec, nullptr);
    if (!op) {
        fmt::print("NCCL: {}\n", op.error().message);
        return false;
    }
    size_t before = 0, after = 0, total = 0;
    bool good = true;
    for (int i = 0; i < 10'100 && good; ++i) {
        if (i == 100)
            cudaMemGetInfo(&before, &total);
        good = op.value()->launchAsync(registry, nullptr, nullptr).ok() &&
               registry.waitTensor(op.value()->storage(), "wait_tensor").ok();
    }
    good = good && cudaDeviceSynchronize() == cudaSuccess && registry.size() == 0 && warnings == 0;
    cudaMemGetInfo(&after, &total);
    op.value()->launchAsync(registry, nullptr, nullptr);
    const bool unwaited = registry.reportUnwaited() == 1 && warnings == 1;
    registry.waitTensor(op.value()->storage(), "wait_tensor");
    registry.waitTensor(op.value()->storage(), "wait_tensor");
    const bool twice = warnings == 2;
    cudaDeviceSynchronize();
    fmt::print(
        "10,000 asynchronous collectives: {}; device memory {:+} bytes; unwaited warns: {}; waited twice "
        "warns: {}\n",
        good ? "good" : "WRONG", int64_t(before) - int64_t(after), unwaited, twice);
    return good && unwaited && twice && before <= after + (8 << 20);
}

} // namespace

int main(int argc, char** argv) {
    const auto devices = cuda::probeDevices();
    if (!devices) {
        fmt::print("{}\n", devices.error().message);
        return 2;
    }
    const DeviceFacts& device = devices.value().front();
    fmt::print("device: {}, driver {}, {}\n", device.name, device.driver, device.clocks);
    for (const auto& [library, version] : device.versions)
        fmt::print("  {} {}\n", library, version);
    OneRank plane;
    auto backend = cudaBackend().make(plane);
    if (!backend) {
        fmt::print("{}\n", backend.error().message);
        return 2;
    }
    const bool fast = products(*backend.value());
    const bool right = generatedKernels({argv + 1, argv + argc});
    const bool orderly = collectives();
    fmt::print("products {}, kernels {}, collectives {}\n", fast ? "good" : "WRONG", right ? "good" : "WRONG",
               orderly ? "good" : "WRONG");
    return fast && right && orderly ? 0 : 1;
}
