#include "profile/backends/cuda/nvrtc.h"

#include <array>
#include <nvrtc.h>

namespace gs::cuda {

Result<std::vector<char>> compileKernels(const std::string& source, const std::string& architecture) {
    nvrtcProgram program = nullptr;
    if (const nvrtcResult made =
            nvrtcCreateProgram(&program, source.c_str(), "gatherscope_kernels.cu", 0, nullptr, nullptr);
        made != NVRTC_SUCCESS)
        return Error{"kernel-does-not-compile", nvrtcGetErrorString(made), {}, {}};
    const std::string target = "--gpu-architecture=" + architecture;
    const std::array<const char*, 2> options = {target.c_str(), "--std=c++17"};
    const nvrtcResult compiled =
        nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
    std::string log;
    size_t size = 0;
    if (nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
        log.resize(size);
        nvrtcGetProgramLog(program, log.data());
    }
    std::vector<char> code;
    if (compiled == NVRTC_SUCCESS && nvrtcGetCUBINSize(program, &size) == NVRTC_SUCCESS) {
        code.resize(size);
        nvrtcGetCUBIN(program, code.data());
    }
    nvrtcDestroyProgram(&program);
    if (code.empty())
        return Error{"kernel-does-not-compile",
                     std::string(nvrtcGetErrorString(compiled)) + " for " + architecture + ": " + log,
                     {},
                     {}};
    return code;
}

std::string nvrtcVersionText() {
    int major = 0, minor = 0;
    nvrtcVersion(&major, &minor);
    return std::to_string(major) + "." + std::to_string(minor);
}

} // namespace gs::cuda
