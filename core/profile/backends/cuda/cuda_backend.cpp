#include "profile/backends/cuda/cuda_backend.h"

#include "base/median.h"
#include "profile/backends/cuda/device_facts.h"
#include "profile/backends/cuda/nvrtc.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>

namespace gs {

namespace cuda {

namespace {

/// Of one run of an operator or collective; gatherscope-rank has a limit for all of them.
constexpr std::chrono::seconds kLimit{20};

/// Views that a graph calls operators: nothing runs.
class NoWork final : public CudaOp {
public:
    using CudaOp::CudaOp;
    Status launch(cudaStream_t) override { return Unit{}; }
};

} // namespace

Result<std::unique_ptr<Backend>> CudaBackend::make(ControlPlane& plane) {
    const Result<std::vector<DeviceFacts>> devices = probeDevices();
    if (!devices)
        return devices.error();
    const auto count = static_cast<int32_t>(devices->size());
    if (plane.localRank() >= count)
        return Error{
            "no-device",
            fmt::format("rank {} of this machine has no device: there are {}", plane.localRank(), count),
            {},
            "Start one rank per device."};
    std::unique_ptr<CudaBackend> backend(new CudaBackend(plane, plane.localRank()));
    if (Status started = backend->start(); !started)
        return started.error();
    return std::unique_ptr<Backend>(std::move(backend));
}

Status CudaBackend::start() {
    if (Status chosen = checked(cudaSetDevice(device_), "cudaSetDevice"); !chosen)
        return chosen;
    for (cudaStream_t* stream : {&compute_, &transfer_}) {
        if (Status made = checked(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking),
                                  "cudaStreamCreateWithFlags");
            !made)
            return made;
    }
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device_);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device_);
    const Result<std::vector<char>> code = compileKernels(
        "extern \"C\" __global__ void spin(long long cycles) {\n"
        "    const long long start = clock64();\n    while (clock64() - start < cycles) {}\n}\n",
        fmt::format("sm_{}{}", major, minor));
    if (!code)
        return code.error();
    if (Status loaded = checked(cudaLibraryLoadData(&spin_library_, code.value().data(), nullptr, nullptr, 0,
                                                    nullptr, nullptr, 0),
                                "cudaLibraryLoadData");
        !loaded)
        return loaded;
    return checked(cudaLibraryGetKernel(&spin_, spin_library_, "spin"), "cudaLibraryGetKernel");
}

CudaBackend::~CudaBackend() {
    if (spin_library_)
        cudaLibraryUnload(spin_library_);
    for (cudaStream_t stream : {compute_, transfer_}) {
        if (stream)
            cudaStreamDestroy(stream);
    }
}

DeviceFacts CudaBackend::facts() {
    return factsOf(device_);
}

Result<std::unique_ptr<PreparedOp>> CudaBackend::prepare(const Graph& graph, NodeId node) {
    const std::string_view target = graph.targetText(node);
    Result<CudaOpPtr> op = Error{};
    if (target.starts_with("aten._unsafe_view") || target.starts_with("aten.sym_")) {
        op = CudaOpPtr(std::make_unique<NoWork>(compute_));
    } else if (MatmulLibrary::isMatmul(target)) {
        op = matmul_.prepare(graph, node, compute_);
    } else {
        FusedRegion one;
        one.nodes = {node};
        op = prepareKernels(graph, one, compute_);
    }
    if (!op)
        return op.error();
    return std::unique_ptr<PreparedOp>(std::move(op.value()));
}

Result<std::unique_ptr<PreparedOp>> CudaBackend::prepareRegion(const Graph& graph,
                                                               const FusedRegion& region) {
    Result<CudaOpPtr> op = prepareKernels(graph, region, compute_);
    if (!op)
        return op.error();
    return std::unique_ptr<PreparedOp>(std::move(op.value()));
}

Result<std::unique_ptr<PreparedOp>> CudaBackend::prepareCollective(const CollectiveSpec& spec) {
    Result<std::unique_ptr<CollectiveOp>> op = communicators_.prepare(spec, transfer_);
    if (!op)
        return op.error();
    return std::unique_ptr<PreparedOp>(std::move(op.value()));
}

/// Fills the stream while the host puts events and kernels behind it: without that, an event would come long
/// before the short kernel that it is to time.
Status CudaBackend::keepBusy(cudaStream_t stream) {
    long long cycles = 100'000; // some 60 µs
    void* arguments[] = {&cycles};
    return checked(
        cudaLaunchKernel(reinterpret_cast<const void*>(spin_), dim3(1), dim3(1), arguments, 0, stream),
        "spin");
}

Status CudaBackend::flushCaches(cudaStream_t stream) {
    if (!flush_.data()) {
        int cache = 0;
        cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device_);
        Result<DeviceMemory> made = DeviceMemory::allocate(std::max<int64_t>(2 * int64_t{cache}, 64 << 20));
        if (!made)
            return made.error();
        flush_ = std::move(made.value());
    }
    return checked(cudaMemsetAsync(flush_.data(), 0, static_cast<size_t>(flush_.bytes()), stream),
                   "cudaMemsetAsync");
}

Result<std::vector<int64_t>> CudaBackend::time(PreparedOp& op, const TimingPlan& plan) {
    auto& work = dynamic_cast<CudaOp&>(op);
    cudaStream_t stream = work.stream();
    std::vector<std::pair<Event, Event>> events(static_cast<size_t>(plan.iterations));
    for (int32_t i = -plan.warmups; i < plan.iterations; ++i) {
        Status status = plan.cache_cold ? flushCaches(stream) : Status(Unit{});
        if (status)
            status = keepBusy(stream);
        if (status && i >= 0)
            status = checked(cudaEventRecord(events[static_cast<size_t>(i)].first.get(), stream), "event");
        if (status)
            status = work.launch(stream);
        if (status && i >= 0)
            status = checked(cudaEventRecord(events[static_cast<size_t>(i)].second.get(), stream), "event");
        if (!status)
            return status.error();
    }
    const Event end;
    cudaEventRecord(end.get(), stream);
    if (Status done = waitFor(
            end.get(), [&work] { return work.failure(); }, kLimit * (plan.warmups + plan.iterations));
        !done)
        return done.error();
    std::vector<int64_t> times;
    for (const auto& [first, second] : events)
        times.push_back(nanosecondsBetween(first.get(), second.get()));
    return times;
}

/// One collective beside as many kernels as run until it is done.
Result<TogetherTimes> CudaBackend::once(CollectiveOp& collective, CudaOp& compute) {
    constexpr size_t kAhead =
        4; // the stream must not run dry, nor be filled long beyond the collective's end
    constexpr size_t kMost = 20'000;
    const Event begin, end;
    std::deque<std::pair<Event, Event>> kernels;
    const auto addKernel = [&]() -> Status {
        auto& [first, second] = kernels.emplace_back();
        cudaEventRecord(first.get(), compute_);
        const Status launched = compute.launch(compute_);
        cudaEventRecord(second.get(), compute_);
        return launched;
    };
    for (size_t i = 0; i < kAhead; ++i) {
        if (Status added = addKernel(); !added)
            return added.error();
    }
    cudaEventRecord(begin.get(), transfer_);
    if (Status launched = collective.launchAsync(registry_, transfer_, transfer_); !launched)
        return launched.error();
    cudaEventRecord(end.get(), transfer_);
    const auto start = std::chrono::steady_clock::now();
    while (cudaEventQuery(end.get()) == cudaErrorNotReady && kernels.size() < kMost) {
        if (std::chrono::steady_clock::now() - start > kLimit)
            return Error{"timed-out", "the collective is not done", {}, {}};
        if (Status failed = collective.failure(); !failed)
            return failed.error();
        if (cudaEventQuery(kernels[kernels.size() - kAhead].second.get()) == cudaErrorNotReady)
            continue;
        if (Status added = addKernel(); !added)
            return added.error();
    }
    if (Status waited = registry_.waitTensor(collective.storage(), "wait_tensor"); !waited)
        return waited.error();
    for (cudaEvent_t last : {end.get(), kernels.back().second.get()}) {
        if (Status done = waitFor(
                last, [&] { return collective.failure(); }, kLimit);
            !done)
            return done.error();
    }
    TogetherTimes times;
    times.collective_ns = nanosecondsBetween(begin.get(), end.get());
    std::vector<int64_t> beside;
    for (const auto& [first, second] : kernels) {
        const bool overlaps = nanosecondsBetween(begin.get(), first.get()) >= 0 &&
                              nanosecondsBetween(second.get(), end.get()) >= 0;
        if (overlaps)
            beside.push_back(nanosecondsBetween(first.get(), second.get()));
    }
    // A kernel that is longer than the collective: the one that ran when it was launched.
    times.compute_ns = beside.empty()
                           ? nanosecondsBetween(kernels.front().first.get(), kernels.front().second.get())
                           : median(std::move(beside));
    return times;
}

Result<TogetherTimes> CudaBackend::timeTogether(PreparedOp& collective, PreparedOp& compute,
                                                const TimingPlan& plan) {
    auto& transfer = dynamic_cast<CollectiveOp&>(collective);
    auto& kernel = dynamic_cast<CudaOp&>(compute);
    std::vector<int64_t> transfers, kernels;
    for (int32_t i = -plan.warmups; i < plan.iterations; ++i) {
        const Result<TogetherTimes> times = once(transfer, kernel);
        if (!times)
            return times.error();
        if (i < 0)
            continue;
        transfers.push_back(times->collective_ns);
        kernels.push_back(times->compute_ns);
    }
    return TogetherTimes{median(std::move(transfers)), median(std::move(kernels))};
}

} // namespace cuda

BackendInfo cudaBackend() {
    BackendInfo info;
    info.name = "cuda";
    info.meaning = "NVIDIA devices: cuBLASLt, generated kernels, NCCL";
    info.built = true;
    info.probe = cuda::probeDevices;
    info.make = cuda::CudaBackend::make;
    return info;
}

} // namespace gs
