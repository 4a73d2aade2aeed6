// Limits of time in tests: those of an optimised build hold for one, what is instrumented gets more.
#pragma once

#include <cstdint>

namespace gs::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int64_t kSlowdown = 10;
#else
inline constexpr int64_t kSlowdown = 1;
#endif

/// For work that takes processor time; waiting takes as long as ever.
constexpr int64_t timeLimit(int64_t ms) {
    return ms * kSlowdown;
}

} // namespace gs::test
