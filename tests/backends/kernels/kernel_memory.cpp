#include "backends/kernels/kernel_memory.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace gs::test {

namespace {

template <typename T>
double read(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return static_cast<double>(value);
}
template <typename T>
void write(char* to, double value) {
    const T stored = static_cast<T>(value);
    std::memcpy(to, &stored, sizeof(T));
}

double halfValue(uint16_t bits) {
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const double size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                        : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                       : std::ldexp(mantissa, -24);
    return bits & 0x8000 ? -size : size;
}

/// Of a value that a half has exactly: no subnormal ones occur here.
uint16_t halfBits(double value) {
    int exponent = 0;
    const double part = std::frexp(std::fabs(value), &exponent);
    const int sign = value < 0 ? 0x8000 : 0;
    return static_cast<uint16_t>(
        value == 0 ? sign : sign | ((exponent + 14) << 10) | (static_cast<int>(part * 2048) & 1023));
}

double readElement(DType dtype, const char* from) {
    switch (dtype) {
    case DType::Float64:
        return read<double>(from);
    case DType::BFloat16: {
        const uint32_t bits = static_cast<uint32_t>(read<uint16_t>(from)) << 16;
        float value;
        std::memcpy(&value, &bits, 4);
        return value;
    }
    case DType::Float16:
        return halfValue(static_cast<uint16_t>(read<uint16_t>(from)));
    case DType::Int64:
        return read<int64_t>(from);
    case DType::Int32:
        return read<int32_t>(from);
    case DType::Int16:
        return read<int16_t>(from);
    case DType::Int8:
        return read<int8_t>(from);
    case DType::UInt8:
    case DType::Bool:
        return read<uint8_t>(from);
    default:
        return read<float>(from);
    }
}

void writeElement(DType dtype, char* to, double value) {
    switch (dtype) {
    case DType::Float64:
        return write<double>(to, value);
    case DType::BFloat16: {
        const auto rounded = static_cast<float>(roundedTo(dtype, value));
        uint32_t bits;
        std::memcpy(&bits, &rounded, 4);
        return write<uint16_t>(to, bits >> 16);
    }
    case DType::Float16:
        return write<uint16_t>(to, halfBits(roundedTo(dtype, value)));
    case DType::Int64:
        return write<int64_t>(to, value);
    case DType::Int32:
        return write<int32_t>(to, value);
    case DType::Int16:
        return write<int16_t>(to, value);
    case DType::Int8:
        return write<int8_t>(to, value);
    case DType::UInt8:
    case DType::Bool:
        return write<uint8_t>(to, value);
    default:
        return write<float>(to, value);
    }
}

/// Numbers in [0, 1) that depend on the seed only.
class Numbers {
public:
    explicit Numbers(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
    double next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<double>(state_ >> 11) * 0x1.0p-53;
    }

private:
    uint64_t state_;
};

double relativeError(DType dtype) {
    switch (dtype) {
    case DType::BFloat16:
        return 0.02; // one step, after a value in between fell on the other side of a step
    case DType::Float16:
        return 0.004;
    case DType::Float64:
        return 1e-9;
    case DType::Float32:
    case DType::Complex64:
        return 2e-4;
    default:
        return 0;
    }
}

} // namespace

std::vector<std::vector<char>> kernelMemory(const FusedProgram& program, Filling filling, uint64_t seed) {
    std::vector<std::vector<char>> memory;
    for (const KernelTensor& tensor : program.tensors) {
        const bool complex = tensor.dtype == DType::Complex64;
        const auto size = static_cast<size_t>(dtypeBytes(tensor.dtype)) / (complex ? 2 : 1);
        std::vector<char> bytes(static_cast<size_t>(tensor.bytes()), 0);
        Numbers numbers(seed + memory.size());
        for (size_t at = 0; tensor.role == KernelTensor::Role::Input && at < bytes.size(); at += size) {
            double value = numbers.next();
            if (tensor.holds_indices)
                value = std::floor(value * static_cast<double>(tensor.index_limit));
            else if (tensor.dtype == DType::Bool)
                value = value < 0.5;
            else if (!dtypeIsFloat(tensor.dtype) && !complex)
                value = std::floor(value * 8);
            else
                value = filling == Filling::Positive ? 0.5 + value : 2 * value - 1;
            writeElement(tensor.dtype, bytes.data() + at, value);
        }
        memory.push_back(std::move(bytes));
    }
    return memory;
}

RefTensor readTensor(const KernelTensor& tensor, const std::vector<char>& memory) {
    RefTensor out;
    out.dtype = tensor.dtype;
    out.shape = tensor.shape;
    const int64_t count = out.numel();
    const size_t parts = tensor.dtype == DType::Complex64 ? 2 : 1;
    const auto size = static_cast<size_t>(dtypeBytes(tensor.dtype)) / parts;
    out.data.reserve(static_cast<size_t>(count) * parts);
    std::vector<int64_t> place(tensor.shape.size());
    int64_t offset = 0;
    for (int64_t i = 0; i < count; ++i) {
        for (size_t part = 0; part < parts; ++part)
            out.data.push_back(readElement(
                tensor.dtype, memory.data() + (static_cast<size_t>(offset) * parts + part) * size));
        for (size_t d = place.size(); d-- > 0;) {
            offset += tensor.strides[d];
            if (++place[d] < tensor.shape[d])
                break;
            offset -= place[d] * tensor.strides[d];
            place[d] = 0;
        }
    }
    return out;
}

std::string difference(const RefTensor& got, const RefTensor& wanted) {
    if (got.data.size() != wanted.data.size())
        return fmt::format("{} elements, wanted {}", got.data.size(), wanted.data.size());
    double largest = 0;
    for (double value : wanted.data)
        largest = std::isfinite(value) ? std::max(largest, std::fabs(value)) : largest;
    const double relative = relativeError(wanted.dtype);
    for (size_t i = 0; i < got.data.size(); ++i) {
        const double a = got.data[i], b = wanted.data[i];
        if ((std::isnan(a) && std::isnan(b)) || a == b)
            continue;
        if (!(std::fabs(a - b) <=
              relative * std::max(std::fabs(a), std::fabs(b)) + relative * 0.05 * largest))
            return fmt::format("element {}: {} instead of {}", i, a, b);
    }
    return {};
}

} // namespace gs::test
