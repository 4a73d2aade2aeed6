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

template <typename T, typename Make>
std::vector<char> pieceOf(size_t count, Make make) {
    std::vector<char> piece(count * sizeof(T));
    uint64_t state = 88172645463325252ull;
    for (size_t i = 0; i < count; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const T value = make(state);
        std::copy_n(reinterpret_cast<const char*>(&value), sizeof(T), piece.data() + i * sizeof(T));
    }
    return piece;
}

/// In [0.5, 1.5): also fit to divide by and to take roots of.
float ordinary(uint64_t random) {
    return 0.5f + static_cast<float>(random >> 40) * 0x1.0p-24f;
}

uint16_t highBits(float value) {
    uint32_t bits = 0;
    std::copy_n(reinterpret_cast<const char*>(&value), 4, reinterpret_cast<char*>(&bits));
    return static_cast<uint16_t>(bits >> 16);
}

constexpr size_t kPiece = size_t{1} << 18;

} // namespace

Status fillNumbers(DeviceMemory& memory, DType dtype) {
    switch (dtype) {
    case DType::BFloat16:
        return repeat(memory, pieceOf<uint16_t>(kPiece, [](uint64_t r) { return highBits(ordinary(r)); }));
    case DType::Float16: // exponent 14: [0.5, 1)
        return repeat(memory, pieceOf<uint16_t>(kPiece, [](uint64_t r) {
                          return static_cast<uint16_t>(0x3800 | (r >> 54));
                      }));
    case DType::Float32:
    case DType::Complex64:
        return repeat(memory, pieceOf<float>(kPiece, ordinary));
    case DType::Float64:
        return repeat(memory, pieceOf<double>(kPiece, [](uint64_t r) { return double(ordinary(r)); }));
    default: // counts, truth values, what has no arithmetic here
        return checked(cudaMemset(memory.data(), 0, static_cast<size_t>(memory.bytes())), "cudaMemset");
    }
}

Status fillIndices(DeviceMemory& memory, DType dtype, int64_t limit) {
    const auto bound = static_cast<uint64_t>(std::max<int64_t>(limit, 1));
    if (dtype == DType::Int64)
        return repeat(memory, pieceOf<int64_t>(kPiece, [bound](uint64_t r) {
                          return static_cast<int64_t>((r >> 16) % bound);
                      }));
    if (dtype == DType::Int32)
        return repeat(memory, pieceOf<int32_t>(kPiece, [bound](uint64_t r) {
                          return static_cast<int32_t>((r >> 16) % bound);
                      }));
    return fillNumbers(memory, dtype);
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
