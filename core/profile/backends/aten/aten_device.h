// Which device libtorch computes on here, and its clock. CUDA is asked through the runtime library that
// libtorch_cuda brings along: nothing of it is linked.
#pragma once

#include "profile/backend.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gs::aten {

/// Loads libtorch_cuda if it is there; true if it has a device. Asked once.
bool hasCuda();
/// CUDA devices, or the processors where there are none.
std::vector<DeviceFacts> devices();
std::string torchVersion();

/// Memory that operators may take on the device (-1 = the processors' memory).
int64_t freeBytes(int device);

/// Times of what was put on the device between two marks: events on CUDA, the steady clock on processors.
class Stopwatch {
public:
    explicit Stopwatch(bool cuda);
    ~Stopwatch();
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    void start();
    /// Waits until what was started is done.
    int64_t stopNs();

private:
    bool cuda_;
    void* first_ = nullptr;
    void* second_ = nullptr;
    int64_t start_ns_ = 0;
};

} // namespace gs::aten
