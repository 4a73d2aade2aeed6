// Generated kernels compiled for this machine by the system's compiler, and run.
#pragma once

#include "profile/backends/kernels/fused_kernel.h"

#include <memory>
#include <optional>
#include <string>

namespace gs::test {

/// Path of a C++ compiler, or nothing.
std::optional<std::string> hostCompiler();

class HostKernels {
public:
    /// Compiles the kernels of all programs into one library. Null with a message if that fails.
    static std::unique_ptr<HostKernels> compile(const std::vector<const FusedProgram*>& programs,
                                                std::string& message);
    ~HostKernels();
    /// Runs a kernel on the memory of the program's tensors.
    bool run(const Kernel& kernel, const std::vector<void*>& tensors) const;

private:
    void* library_ = nullptr;
};

} // namespace gs::test
