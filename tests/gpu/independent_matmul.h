// A product of bf16 matrices timed without anything of Gatherscope: cuBLASLt in a plain loop, the host's
// clock.
#pragma once

#include <cstdint>
#include <optional>

/// Median nanoseconds of a call, or nothing if a library refused.
std::optional<int64_t> independentMatmulNs(int64_t rows, int64_t inner, int64_t columns);
