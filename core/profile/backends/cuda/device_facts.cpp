#include "profile/backends/cuda/device_facts.h"

#include "profile/backends/cuda/nvrtc.h"

#include <array>
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nccl.h>

namespace gs::cuda {

namespace {

std::string versionText(int number) {
    return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

/// The management library comes with the driver, so it is asked for at run time only. Its values here:
/// nvml.h of the CUDA toolkit.
class Management {
public:
    Management() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
        auto start = find<int (*)()>("nvmlInit_v2");
        usable_ = start && start() == 0;
    }
    ~Management() {
        if (usable_)
            find<int (*)()>("nvmlShutdown")();
        if (library_)
            dlclose(library_);
    }
    Management(const Management&) = delete;
    Management& operator=(const Management&) = delete;

    std::string driver() const {
        auto ask = find<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
        std::array<char, 96> text{};
        return usable_ && ask && ask(text.data(), text.size()) == 0 ? text.data() : std::string();
    }

    std::string clocks(const std::string& bus) const {
        constexpr int kMultiprocessors = 1;
        auto handle = find<int (*)(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
        auto now = find<int (*)(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
        auto most = find<int (*)(void*, int, unsigned*)>("nvmlDeviceGetMaxClockInfo");
        auto reasons = find<int (*)(void*, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
        void* device = nullptr;
        unsigned current = 0, greatest = 0;
        if (!usable_ || !handle || !now || !most || handle(bus.c_str(), &device) != 0 ||
            now(device, kMultiprocessors, &current) != 0 || most(device, kMultiprocessors, &greatest) != 0)
            return {};
        unsigned long long why = 0;
        const bool known = reasons && reasons(device, &why) == 0;
        return fmt::format("{} MHz of {} MHz{}", current, greatest, known ? throttling(why) : "");
    }

private:
    /// Idle and clocks that somebody set are no throttling.
    static std::string throttling(unsigned long long why) {
        constexpr std::array<std::pair<unsigned long long, const char*>, 5> kReasons = {
            {{0x4, "power cap"},
             {0x8, "slowdown by the board"},
             {0x20, "heat"},
             {0x40, "heat"},
             {0x80, "power brake"}}};
        std::string out;
        for (const auto& [bit, name] : kReasons) {
            if ((why & bit) != 0)
                out += (out.empty() ? ", throttled: " : ", ") + std::string(name);
        }
        return out.empty() ? ", not throttled" : out;
    }

    template <typename Function>
    Function find(const char* name) const {
        return library_ ? reinterpret_cast<Function>(dlsym(library_, name)) : nullptr;
    }

    void* library_ = nullptr;
    bool usable_ = false;
};

} // namespace

DeviceFacts factsOf(int device) {
    DeviceFacts facts;
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        return facts;
    facts.name = properties.name;
    facts.memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
    int version = 0;
    cudaRuntimeGetVersion(&version);
    facts.versions["CUDA runtime"] = versionText(version);
    cudaDriverGetVersion(&version);
    facts.versions["CUDA driver"] = versionText(version);
    facts.versions["cuBLASLt"] = std::to_string(cublasLtGetVersion());
    facts.versions["NVRTC"] = nvrtcVersionText();
    if (ncclGetVersion(&version) == ncclSuccess)
        facts.versions["NCCL"] = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
    facts.versions["compute capability"] = fmt::format("{}.{}", properties.major, properties.minor);
    std::array<char, 32> bus{};
    cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device);
    const Management management;
    facts.driver = management.driver();
    facts.clocks = management.clocks(bus.data());
    size_t free = 0, total = 0;
    int current = 0;
    cudaGetDevice(&current);
    if (cudaSetDevice(device) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess)
        facts.free_bytes = static_cast<int64_t>(free);
    cudaSetDevice(current);
    return facts;
}

Result<std::vector<DeviceFacts>> probeDevices() {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        cudaGetLastError();
        int driver = 0; // 0 = none, for which CUDA's own words are those of an old one
        cudaDriverGetVersion(&driver);
        const char* words = error == cudaSuccess ? "no CUDA device" : cudaGetErrorString(error);
        return Error{"no-device",
                     driver == 0 ? fmt::format("no CUDA driver is installed ({})", words)
                                 : fmt::format("no CUDA device can be used: {} (driver for CUDA {})", words,
                                               versionText(driver)),
                     {},
                     "The NVIDIA driver of this machine makes its devices usable; nvidia-smi lists them."};
    }
    std::vector<DeviceFacts> devices;
    for (int device = 0; device < count; ++device)
        devices.push_back(factsOf(device));
    return devices;
}

} // namespace gs::cuda
