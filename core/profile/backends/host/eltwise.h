// Which of oneDNN's functions an operator is.
#pragma once

#include "profile/benchmark_inputs.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>

namespace gs::host {

struct Eltwise {
    dnnl::algorithm kind;
    float alpha = 0, beta = 0;
};

/// Of one tensor, perhaps with a number.
std::optional<Eltwise> eltwiseOf(const std::string& name, const BenchmarkInputs& inputs);
/// Of two tensors.
std::optional<dnnl::algorithm> binaryOf(const std::string& name);

} // namespace gs::host
