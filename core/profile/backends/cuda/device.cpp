#include "profile/backends/cuda/device.h"

#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <thread>

namespace gs::cuda {

Status checked(cudaError_t error, const char* what) {
    if (error == cudaSuccess)
        return Unit{};
    return Error{"device-error", fmt::format("{}: {}", what, cudaGetErrorString(error)), {}, {}};
}

Status fits(int64_t bytes) {
    size_t free = 0, total = 0;
    if (Status asked = checked(cudaMemGetInfo(&free, &total), "cudaMemGetInfo"); !asked)
        return asked;
    // Libraries allocate behind our back while they run.
    const int64_t reserve = std::min<int64_t>(int64_t{256} << 20, static_cast<int64_t>(total / 20));
    const int64_t usable = static_cast<int64_t>(free) - reserve;
    if (bytes <= usable)
        return Unit{};
    return Error{"would-not-fit",
                 fmt::format("wants {}, {} of the device are free", formatBytes(bytes),
                             formatBytes(std::max<int64_t>(usable, 0))),
                 {},
                 {}};
}

DeviceMemory::~DeviceMemory() {
    if (data_)
        cudaFree(data_);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

Result<DeviceMemory> DeviceMemory::allocate(int64_t bytes) {
    if (Status room = fits(bytes); !room)
        return room.error();
    DeviceMemory memory;
    memory.bytes_ = std::max<int64_t>(bytes, 1);
    const cudaError_t error = cudaMalloc(&memory.data_, static_cast<size_t>(memory.bytes_));
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); // it stays otherwise, for the next call to report
        return Error{
            "would-not-fit", fmt::format("the device has no {} in one piece", formatBytes(bytes)), {}, {}};
    }
    if (Status made = checked(error, "cudaMalloc"); !made)
        return made.error();
    return memory;
}

namespace {

/// Copies a piece again and again, twice as much each time.
Status repeat(DeviceMemory& memory, const std::vector<char>& piece) {
    auto* to = static_cast<char*>(memory.data());
    int64_t done = std::min<int64_t>(memory.bytes(), static_cast<int64_t>(piece.size()));
    if (Status copied = checked(
            cudaMemcpy(to, piece.data(), static_cast<size_t>(done), cudaMemcpyHostToDevice), "cudaMemcpy");
        !copied)
        return copied;
    while (done < memory.bytes()) {
        const int64_t next = std::min(done, memory.bytes() - done);
        if (Status copied = checked(
                cudaMemcpy(to + done, to, static_cast<size_t>(next), cudaMemcpyDeviceToDevice), "cudaMemcpy");
            !copied)
            return copied;
        done += next;
    }
    return checked(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/// Of values that may be repeated: a few periods of what fillTensor() makes.
constexpr int64_t kPiece = int64_t{1} << 18;

} // namespace

Status fill(DeviceMemory& memory, TensorSpec spec) {
    if (memory.bytes() == 0)
        return Unit{};
    if (spec.fill == InputFill::Zeros || dtypeBytes(spec.dtype) <= 0)
        return checked(cudaMemset(memory.data(), 0, static_cast<size_t>(memory.bytes())), "cudaMemset");
    if (!hangsOnPlace(spec.fill)) {
        spec.shape = {std::min(kPiece, memory.bytes() / dtypeBytes(spec.dtype))};
        spec.stride = {1};
    }
    std::vector<char> piece(static_cast<size_t>(spec.storageBytes()));
    fillTensor(spec, reinterpret_cast<std::byte*>(piece.data()));
    return repeat(memory, piece);
}

Status fillNumbers(DeviceMemory& memory, DType dtype) {
    return fill(memory, {dtype, {}, {}, dtypeIsFloat(dtype) ? InputFill::Random : InputFill::Zeros, 0});
}

Event::Event() {
    cudaEventCreate(&event_);
}
Event::~Event() {
    if (event_)
        cudaEventDestroy(event_);
}

Status waitFor(cudaEvent_t event, const std::function<Status()>& failed, std::chrono::milliseconds limit) {
    const auto start = std::chrono::steady_clock::now();
    for (int asked = 0;; ++asked) {
        const cudaError_t state = cudaEventQuery(event);
        if (state == cudaSuccess)
            return Unit{};
        if (state != cudaErrorNotReady)
            return checked(state, "the device stopped");
        if (Status status = failed(); !status)
            return status;
        if (std::chrono::steady_clock::now() - start > limit)
            return Error{"timed-out", fmt::format("not done after {} s", limit.count() / 1000), {}, {}};
        if (asked > 1000) // short waits must not be made longer by sleeping
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

int64_t nanosecondsBetween(cudaEvent_t first, cudaEvent_t second) {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, first, second);
    return std::llround(double(milliseconds) * 1e6);
}

} // namespace gs::cuda
