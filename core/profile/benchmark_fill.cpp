#include "profile/benchmark_inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace gs {

namespace {

/// Repeats along a tensor: far beyond what a cache line or a branch predictor could learn from.
constexpr int64_t kPattern = 8191;

/// So many times the elements is a storage that is not filled as a whole.
constexpr int64_t kSparse = 64;

/// Well spread 64 bits of a number (constants of SplitMix64).
uint64_t spread(uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

double unitRandom(int64_t index) {
    return static_cast<double>(spread(static_cast<uint64_t>(index)) >> 11) * 0x1p-53;
}

/// Nearest even, as hardware rounds; the values are finite and small.
uint16_t toBFloat16(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// Values of magnitude below 2^15; those below 2^-14 become 0.
uint16_t toFloat16(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const int32_t exponent = static_cast<int32_t>((bits >> 23) & 0xffu) - 127 + 15;
    if (exponent <= 0)
        return static_cast<uint16_t>(sign);
    const uint32_t mantissa = (bits & 0x7fffffu) >> 13;
    return static_cast<uint16_t>(sign | (static_cast<uint32_t>(exponent) << 10) | mantissa);
}

template <typename T>
void put(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof(T));
}

void store(DType dtype, std::byte* at, double value) {
    switch (dtype) {
    case DType::Float64:
        return put(at, value);
    case DType::Float32:
        return put(at, static_cast<float>(value));
    case DType::BFloat16:
        return put(at, toBFloat16(static_cast<float>(value)));
    case DType::Float16:
        return put(at, toFloat16(static_cast<float>(value)));
    case DType::Int64:
    case DType::UInt64:
        return put(at, static_cast<int64_t>(value));
    case DType::Int32:
    case DType::UInt32:
        return put(at, static_cast<int32_t>(value));
    case DType::Int16:
    case DType::UInt16:
        return put(at, static_cast<int16_t>(value));
    case DType::Complex32:
        put(at, toFloat16(static_cast<float>(value)));
        return put(at + 2, uint16_t{0});
    case DType::Complex64:
        put(at, static_cast<float>(value));
        return put(at + 4, 0.0f);
    case DType::Complex128:
        put(at, value);
        return put(at + 8, 0.0);
    case DType::Float8E4M3FN: // the exponent's highest bit clear: finite in every form of 8 bits
    case DType::Float8E5M2:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2FNUZ:
    case DType::Float8E8M0FNU:
    case DType::Float4E2M1FNX2:
        return put(at, static_cast<uint8_t>(static_cast<int64_t>(std::abs(value) * 31) & 0x3f));
    default:
        return put(at, static_cast<int8_t>(value));
    }
}

/// Value number `index` in row-major order.
double valueAt(const TensorSpec& spec, int64_t index) {
    const int64_t last = spec.shape.empty() ? 1 : spec.shape.back();
    const int64_t count = std::max<int64_t>(spec.numel(), 1);
    const int64_t bound = std::max<int64_t>(spec.bound, 1);
    switch (spec.fill) {
    case InputFill::Zeros:
        return 0;
    case InputFill::Ones:
        return 1;
    case InputFill::Random:
        if (dtypeIsFloat(spec.dtype))
            return 2 * unitRandom(index % kPattern) - 1;
        if (spec.dtype == DType::Bool)
            return static_cast<double>(spread(static_cast<uint64_t>(index)) & 1);
        return std::floor(unitRandom(index) * 8);
    case InputFill::Positive:
        return dtypeIsFloat(spec.dtype) ? 0.5 + unitRandom(index % kPattern) : 1;
    case InputFill::Indices:
        return static_cast<double>(spread(static_cast<uint64_t>(index)) % static_cast<uint64_t>(bound));
    case InputFill::Offsets:
        return static_cast<double>(spec.bound / count * (index + 1) +
                                   std::min(index + 1, spec.bound % count));
    case InputFill::Counts:
        return static_cast<double>(spec.bound / count + (index < spec.bound % count ? 1 : 0));
    case InputFill::Mask:
        return static_cast<double>(spread(static_cast<uint64_t>(index)) & 1);
    case InputFill::Permutation:
        // A step without a common factor visits every place once.
        for (int64_t step = last * 5 / 8 + 1;; ++step) {
            if (std::gcd(step, last) == 1)
                return static_cast<double>((index % last) * step % last);
        }
    }
    return 0;
}

/// Values that do not depend on their place are laid down without regard to strides, a pattern at a time.
void fillByPattern(const TensorSpec& spec, std::byte* storage) {
    const int64_t size = dtypeBytes(spec.dtype);
    const int64_t total = spec.storageElements();
    const int64_t head = std::min(total, kPattern);
    for (int64_t i = 0; i < head; ++i)
        store(spec.dtype, storage + i * size, valueAt(spec, i));
    for (int64_t done = head; done < total; done += head)
        std::memcpy(storage + done * size, storage, static_cast<size_t>(std::min(head, total - done) * size));
}

/// Leaves what no index reaches as it is.
void fillByPlace(const TensorSpec& spec, std::byte* storage) {
    const int64_t size = dtypeBytes(spec.dtype);
    std::vector<int64_t> index(spec.shape.size(), 0);
    const int64_t count = spec.numel();
    int64_t offset = 0;
    for (int64_t i = 0; i < count; ++i) {
        store(spec.dtype, storage + offset * size, valueAt(spec, i));
        for (size_t d = spec.shape.size(); d-- > 0;) {
            offset += spec.stride[d];
            if (++index[d] < spec.shape[d])
                break;
            offset -= spec.stride[d] * spec.shape[d];
            index[d] = 0;
        }
    }
}

} // namespace

int64_t TensorSpec::numel() const {
    int64_t count = 1;
    for (int64_t size : shape)
        count *= size;
    return count;
}

int64_t TensorSpec::storageElements() const {
    int64_t last = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0)
            return 0;
        last += (shape[i] - 1) * stride[i];
    }
    return last + 1;
}

int64_t TensorSpec::storageBytes() const {
    return storageElements() * dtypeBytes(dtype);
}

bool hangsOnPlace(InputFill fill) {
    return fill == InputFill::Indices || fill == InputFill::Offsets || fill == InputFill::Counts ||
           fill == InputFill::Permutation;
}

void fillTensor(const TensorSpec& spec, std::byte* storage) {
    if (spec.storageElements() == 0)
        return;
    // A few rows that lie gigabytes apart: nobody reads what is between them.
    const bool sparse = spec.storageElements() / kSparse > spec.numel();
    if (hangsOnPlace(spec.fill) && !sparse)
        std::memset(storage, 0, static_cast<size_t>(spec.storageBytes()));
    if (hangsOnPlace(spec.fill) || sparse)
        fillByPlace(spec, storage);
    else
        fillByPattern(spec, storage);
}

} // namespace gs
