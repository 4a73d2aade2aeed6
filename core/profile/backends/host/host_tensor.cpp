#include "host_tensor.h"

#include "half.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>

namespace gs::host {

namespace {

constexpr size_t kAlignment = 64;

template <typename T>
T get(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

template <typename T>
void put(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof(T));
}

/// A file of one number; -1 if there is none ("max" is none).
int64_t numberIn(const char* path) {
    std::ifstream in(path);
    int64_t value = -1;
    return in >> value ? value : -1;
}

} // namespace

bool Tensor::dense() const {
    int64_t expected = 1;
    for (size_t d = spec.shape.size(); d-- > 0;) {
        if (spec.shape[d] != 1 && spec.stride[d] != expected)
            return false;
        expected *= spec.shape[d];
    }
    return true;
}

Tensor makeTensor(const TensorSpec& spec) {
    Tensor tensor{spec, nullptr};
    const size_t bytes = static_cast<size_t>(spec.storageBytes());
    if (bytes == 0)
        return tensor;
    void* memory = nullptr;
    if (posix_memalign(&memory, kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment) != 0)
        throw std::bad_alloc();
    tensor.data = std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), std::free);
    fillTensor(spec, tensor.data.get());
    return tensor;
}

Tensor viewOf(const Tensor& tensor, std::vector<int64_t> shape, std::vector<int64_t> stride) {
    Tensor view = tensor;
    view.spec.shape = std::move(shape);
    view.spec.stride = std::move(stride);
    return view;
}

std::vector<int64_t> denseStrides(const std::vector<int64_t>& shape) {
    std::vector<int64_t> stride(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
        stride[d - 1] = stride[d] * std::max<int64_t>(shape[d], 1);
    return stride;
}

bool isComputable(DType dtype) {
    switch (dtype) {
    case DType::Float64:
    case DType::Float32:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Int64:
    case DType::Int32:
    case DType::Int16:
    case DType::Int8:
    case DType::UInt8:
    case DType::Bool:
        return true;
    default:
        return false;
    }
}

double readElement(DType dtype, const std::byte* at) {
    switch (dtype) {
    case DType::Float64:
        return get<double>(at);
    case DType::Float32:
        return double(get<float>(at));
    case DType::Float16:
        return double(fromFloat16(get<uint16_t>(at)));
    case DType::BFloat16:
        return double(fromBFloat16(get<uint16_t>(at)));
    case DType::Int64:
        return static_cast<double>(get<int64_t>(at));
    case DType::Int32:
        return get<int32_t>(at);
    case DType::Int16:
        return get<int16_t>(at);
    case DType::Int8:
        return get<int8_t>(at);
    case DType::UInt8:
        return get<uint8_t>(at);
    case DType::Bool:
        return get<uint8_t>(at) != 0;
    default:
        return 0;
    }
}

void writeElement(DType dtype, std::byte* at, double value) {
    switch (dtype) {
    case DType::Float64:
        return put(at, value);
    case DType::Float32:
        return put(at, static_cast<float>(value));
    case DType::Float16:
        return put(at, toFloat16(static_cast<float>(value)));
    case DType::BFloat16:
        return put(at, toBFloat16(static_cast<float>(value)));
    case DType::Int64:
        return put(at, static_cast<int64_t>(value));
    case DType::Int32:
        return put(at, static_cast<int32_t>(value));
    case DType::Int16:
        return put(at, static_cast<int16_t>(value));
    case DType::Int8:
        return put(at, static_cast<int8_t>(value));
    case DType::UInt8:
        return put(at, static_cast<uint8_t>(value));
    case DType::Bool:
        return put(at, static_cast<uint8_t>(value != 0));
    default:
        return;
    }
}

std::vector<double> valuesOf(const Tensor& tensor) {
    std::vector<double> out;
    const int64_t count = tensor.spec.numel();
    out.reserve(static_cast<size_t>(count));
    std::vector<int64_t> index(tensor.rank(), 0);
    int64_t offset = 0;
    for (int64_t i = 0; i < count; ++i) {
        out.push_back(readElement(tensor.spec.dtype, tensor.at(offset)));
        for (size_t d = tensor.rank(); d-- > 0;) {
            offset += tensor.spec.stride[d];
            if (++index[d] < tensor.spec.shape[d])
                break;
            offset -= tensor.spec.stride[d] * tensor.spec.shape[d];
            index[d] = 0;
        }
    }
    return out;
}

int64_t availableBytes() {
    int64_t available = 0;
    std::ifstream in("/proc/meminfo");
    for (std::string name, rest; in >> name; std::getline(in, rest)) {
        if (name == "MemAvailable:" && in >> available)
            break;
    }
    available *= 1024;
    // Version 2 of control groups as a container sees its own, then version 1.
    for (const auto& [limit, used] : {std::pair{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
                                      std::pair{"/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                                "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
        const int64_t most = numberIn(limit), now = numberIn(used);
        if (most >= 0 && now >= 0)
            available = std::min(available, std::max<int64_t>(most - now, 0));
    }
    return available;
}

} // namespace gs::host
