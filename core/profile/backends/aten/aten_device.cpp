#include "profile/backends/aten/aten_device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <chrono>
#include <cmath>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <torch/csrc/api/include/torch/version.h>
#include <unistd.h>

namespace gs::aten {

namespace {

/// A function of the CUDA runtime that libtorch_cuda brought, or null.
template <typename Function>
Function runtime(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

int deviceCount() {
    int count = 0;
    auto ask = runtime<int (*)(int*)>("cudaGetDeviceCount");
    return ask && ask(&count) == 0 ? count : 0;
}

std::string processorName() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name"))
            return line.substr(line.find(':') + 2);
    }
    return "processors";
}

int64_t nowNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace

bool hasCuda() {
    static const bool kHas = [] {
        dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL);
        return at::globalContext().hasCUDA() && deviceCount() > 0;
    }();
    return kHas;
}

std::string torchVersion() {
    return TORCH_VERSION;
}

int64_t freeBytes(int device) {
    if (device >= 0) {
        size_t free = 0, total = 0;
        auto choose = runtime<int (*)(int)>("cudaSetDevice");
        auto ask = runtime<int (*)(size_t*, size_t*)>("cudaMemGetInfo");
        return choose && ask && choose(device) == 0 && ask(&free, &total) == 0 ? static_cast<int64_t>(free)
                                                                               : 0;
    }
    return int64_t{sysconf(_SC_AVPHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

std::vector<DeviceFacts> devices() {
    std::vector<DeviceFacts> all;
    for (int device = 0; hasCuda() && device < deviceCount(); ++device) {
        DeviceFacts facts;
        facts.name = fmt::format("CUDA device {} of torch", device);
        facts.free_bytes = freeBytes(device);
        all.push_back(facts);
    }
    if (all.empty()) {
        DeviceFacts facts;
        facts.name = fmt::format("{}, {} threads", processorName(), at::get_num_threads());
        facts.memory_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
        facts.free_bytes = freeBytes(-1);
        all.push_back(facts);
    }
    for (DeviceFacts& facts : all)
        facts.versions["torch"] = torchVersion();
    return all;
}

Stopwatch::Stopwatch(bool cuda) : cuda_(cuda) {
    for (void** event : {&first_, &second_}) {
        if (cuda_)
            runtime<int (*)(void**)>("cudaEventCreate")(event);
    }
}

Stopwatch::~Stopwatch() {
    for (void* event : {first_, second_}) {
        if (event)
            runtime<int (*)(void*)>("cudaEventDestroy")(event);
    }
}

void Stopwatch::start() {
    if (cuda_) // torch's current stream is the default one here
        runtime<int (*)(void*, void*)>("cudaEventRecord")(first_, nullptr);
    else
        start_ns_ = nowNs();
}

int64_t Stopwatch::stopNs() {
    if (!cuda_)
        return nowNs() - start_ns_;
    runtime<int (*)(void*, void*)>("cudaEventRecord")(second_, nullptr);
    runtime<int (*)(void*)>("cudaEventSynchronize")(second_);
    float milliseconds = 0;
    runtime<int (*)(float*, void*, void*)>("cudaEventElapsedTime")(&milliseconds, first_, second_);
    return std::llround(double(milliseconds) * 1e6);
}

} // namespace gs::aten
