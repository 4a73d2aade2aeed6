// How much memory a test's program holds.
#pragma once

#include <cstddef>
#include <malloc.h>
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" size_t __sanitizer_get_current_allocated_bytes(); // its header does not come with gcc
#endif

namespace gs::test {

/// Bytes that were allocated and not freed. Sanitizers have an allocator of their own, which keeps what is
/// freed for a while: neither mallinfo nor the resident pages tell there.
inline size_t liveBytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return __sanitizer_get_current_allocated_bytes();
#else
    return mallinfo2().uordblks;
#endif
}

} // namespace gs::test
