// Compiling generated kernels. Needs no device.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace gs::cuda {

/// Machine code of `source` for `architecture` ("sm_90"). Error: "kernel-does-not-compile" with NVRTC's log.
Result<std::vector<char>> compileKernels(const std::string& source, const std::string& architecture);
/// "13.0"
std::string nvrtcVersionText();

} // namespace gs::cuda
