// What every part of the cuda backend needs of the device: errors, memory, streams, events.
#pragma once

#include "base/result.h"
#include "graph/tensor_meta.h"
#include "profile/benchmark_inputs.h"

#include <chrono>
#include <cuda_runtime_api.h>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gs::cuda {

/// "device-error" with CUDA's own words.
Status checked(cudaError_t error, const char* what);

/// Error "would-not-fit" if the device has less than `bytes` (and a reserve) free. Asked before anything is
/// allocated.
Status fits(int64_t bytes);

/// Memory on the device.
class DeviceMemory {
public:
    DeviceMemory() = default;
    ~DeviceMemory();
    DeviceMemory(DeviceMemory&& other) noexcept;
    DeviceMemory& operator=(DeviceMemory&& other) noexcept;
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    static Result<DeviceMemory> allocate(int64_t bytes);
    void* data() const { return data_; }
    int64_t bytes() const { return bytes_; }

private:
    void* data_ = nullptr;
    int64_t bytes_ = 0;
};

/// With what fillTensor() makes of `spec`, again and again where values do not hang on their place: then only
/// its dtype counts.
Status fill(DeviceMemory& memory, TensorSpec spec);
/// Ordinary numbers, equal in every run: matrix products of zeros draw less power and run faster.
Status fillNumbers(DeviceMemory& memory, DType dtype);

class Event {
public:
    Event();
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    cudaEvent_t get() const { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};
using EventPtr = std::shared_ptr<Event>;

/// Waits for an event without standing still for ever: `failed` is asked in between (a collective's
/// communicator); "timed-out" after `limit`.
Status waitFor(cudaEvent_t event, const std::function<Status()>& failed, std::chrono::milliseconds limit);

int64_t nanosecondsBetween(cudaEvent_t first, cudaEvent_t second);

} // namespace gs::cuda
