#include "tile_kernels.h"

#include "half.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

// One compilation for every width of vectors, chosen when the program starts. The sanitizers cannot run the
// functions that choose.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) &&     \
    !defined(__SANITIZE_THREAD__)
#define GS_EACH_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GS_EACH_CPU
#endif
#define GS_INLINE __attribute__((always_inline)) inline

namespace gs::host {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kInvSqrt2Pi = 0.39894228040143267794;
constexpr double kSqrt2OverPi = 0.79788456080286535588;

template <typename T, typename F>
GS_INLINE void map1(const T* a, T* out, int64_t n, F f) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i)
        out[i] = f(a[i]);
}

template <typename T, typename F>
GS_INLINE void map2(const T* a, const T* b, T* out, int64_t n, F f) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i)
        out[i] = f(a[i], b[i]);
}

template <typename T, typename F>
GS_INLINE void map3(const T* a, const T* b, const T* c, T* out, int64_t n, F f) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i)
        out[i] = f(a[i], b[i], c[i]);
}

GS_INLINE double exponential(double x) {
    return std::exp(x);
}

/// The library's is a call per number; this becomes vector code. x = n·ln 2 + r, and a polynomial for the
/// rest (constants of Cephes' expf: relative error below 2e-7).
GS_INLINE float exponential(float x) {
    constexpr float kMost = 88.72283f, kLeast = -87.33654f, kToInteger = 12582912.0f; // 1.5 · 2^23
    const float bounded = x > kMost ? kMost : x < kLeast ? kLeast : x;
    const float shifted = bounded * 1.44269504f + kToInteger;
    const float n = shifted - kToInteger;
    const float r = bounded - n * 0.693359375f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    // Half of the power, twice: the greatest n has no float of its own.
    const auto half = std::bit_cast<float>((static_cast<int32_t>(n * 0.5f) + 127) << 23);
    const auto rest =
        std::bit_cast<float>((static_cast<int32_t>(n) - static_cast<int32_t>(n * 0.5f) + 127) << 23);
    const float value = (p * r * r + r + 1.0f) * half * rest;
    return x > kMost ? std::numeric_limits<float>::infinity() : x < kLeast ? 0.0f : value;
}

template <typename T>
GS_INLINE T sigmoid(T x) {
    return T(1) / (T(1) + exponential(-x));
}

/// By the exponential: absolute error, not relative, is small.
template <typename T>
GS_INLINE T hyperbolicTangent(T x) {
    return T(1) - T(2) / (exponential(T(2) * x) + T(1));
}

template <typename T>
GS_INLINE bool applyUnary(TileOp op, const T* a, T* out, int64_t n) {
    switch (op) {
    case TileOp::Copy:
        if (a != out)
            std::memcpy(out, a, static_cast<size_t>(n) * sizeof(T));
        return true;
    case TileOp::Truncate:
        return map1(a, out, n, [](T x) { return std::trunc(x); }), true;
    case TileOp::NotZero:
        return map1(a, out, n, [](T x) { return T(x != 0); }), true;
    case TileOp::Neg:
        return map1(a, out, n, [](T x) { return -x; }), true;
    case TileOp::Abs:
        return map1(a, out, n, [](T x) { return std::abs(x); }), true;
    case TileOp::Exp:
        return map1(a, out, n, [](T x) { return exponential(x); }), true;
    case TileOp::Exp2:
        return map1(a, out, n, [](T x) { return std::exp2(x); }), true;
    case TileOp::Expm1:
        return map1(a, out, n, [](T x) { return std::expm1(x); }), true;
    case TileOp::Log:
        return map1(a, out, n, [](T x) { return std::log(x); }), true;
    case TileOp::Log2:
        return map1(a, out, n, [](T x) { return std::log2(x); }), true;
    case TileOp::Log1p:
        return map1(a, out, n, [](T x) { return std::log1p(x); }), true;
    case TileOp::Sqrt:
        return map1(a, out, n, [](T x) { return std::sqrt(x); }), true;
    case TileOp::Rsqrt:
        return map1(a, out, n, [](T x) { return T(1) / std::sqrt(x); }), true;
    case TileOp::Reciprocal:
        return map1(a, out, n, [](T x) { return T(1) / x; }), true;
    case TileOp::Sigmoid:
        return map1(a, out, n, [](T x) { return sigmoid(x); }), true;
    case TileOp::Tanh:
        return map1(a, out, n, [](T x) { return hyperbolicTangent(x); }), true;
    case TileOp::Relu:
        return map1(a, out, n, [](T x) { return x > 0 ? x : T(0); }), true;
    case TileOp::Silu:
        return map1(a, out, n, [](T x) { return x * sigmoid(x); }), true;
    case TileOp::GeluErf:
        return map1(a, out, n, [](T x) { return T(0.5) * x * (T(1) + std::erf(x * T(kSqrtHalf))); }), true;
    case TileOp::GeluTanh:
        return map1(a, out, n,
                    [](T x) {
                        const T inner = T(kSqrt2OverPi) * (x + T(0.044715) * x * x * x);
                        return T(0.5) * x * (T(1) + hyperbolicTangent(inner));
                    }),
               true;
    case TileOp::Square:
        return map1(a, out, n, [](T x) { return x * x; }), true;
    case TileOp::Cube:
        return map1(a, out, n, [](T x) { return x * x * x; }), true;
    default:
        return false;
    }
}

template <typename T>
GS_INLINE bool applyUnaryRest(TileOp op, const T* a, T* out, int64_t n) {
    switch (op) {
    case TileOp::Sin:
        return map1(a, out, n, [](T x) { return std::sin(x); }), true;
    case TileOp::Cos:
        return map1(a, out, n, [](T x) { return std::cos(x); }), true;
    case TileOp::Erf:
        return map1(a, out, n, [](T x) { return std::erf(x); }), true;
    case TileOp::Floor:
        return map1(a, out, n, [](T x) { return std::floor(x); }), true;
    case TileOp::Ceil:
        return map1(a, out, n, [](T x) { return std::ceil(x); }), true;
    case TileOp::Round:
        return map1(a, out, n, [](T x) { return std::nearbyint(x); }), true;
    case TileOp::Sign:
        return map1(a, out, n, [](T x) { return T(x > 0) - T(x < 0); }), true;
    case TileOp::IsNan:
        return map1(a, out, n, [](T x) { return T(x != x); }), true;
    case TileOp::LogicalNot:
        return map1(a, out, n, [](T x) { return T(x == 0); }), true;
    default:
        return false;
    }
}

template <typename T>
GS_INLINE bool applyArithmetic(TileOp op, const T* a, const T* b, T* out, int64_t n) {
    switch (op) {
    case TileOp::Add:
        return map2(a, b, out, n, [](T x, T y) { return x + y; }), true;
    case TileOp::Sub:
        return map2(a, b, out, n, [](T x, T y) { return x - y; }), true;
    case TileOp::Mul:
        return map2(a, b, out, n, [](T x, T y) { return x * y; }), true;
    case TileOp::Div:
        return map2(a, b, out, n, [](T x, T y) { return x / y; }), true;
    case TileOp::FloorDiv:
        return map2(a, b, out, n, [](T x, T y) { return std::floor(x / y); }), true;
    case TileOp::Remainder: // the sign of the divisor, as Python's %
        return map2(a, b, out, n, [](T x, T y) { return x - y * std::floor(x / y); }), true;
    case TileOp::Max:
        return map2(a, b, out, n, [](T x, T y) { return x > y || x != x ? x : y; }), true;
    case TileOp::Min:
        return map2(a, b, out, n, [](T x, T y) { return x < y || x != x ? x : y; }), true;
    case TileOp::Pow:
        return map2(a, b, out, n, [](T x, T y) { return std::pow(x, y); }), true;
    default:
        return false;
    }
}

template <typename T>
GS_INLINE bool applyLogic(TileOp op, const T* a, const T* b, T* out, int64_t n) {
    switch (op) {
    case TileOp::Eq:
        return map2(a, b, out, n, [](T x, T y) { return T(x == y); }), true;
    case TileOp::Ne:
        return map2(a, b, out, n, [](T x, T y) { return T(x != y); }), true;
    case TileOp::Lt:
        return map2(a, b, out, n, [](T x, T y) { return T(x < y); }), true;
    case TileOp::Le:
        return map2(a, b, out, n, [](T x, T y) { return T(x <= y); }), true;
    case TileOp::Gt:
        return map2(a, b, out, n, [](T x, T y) { return T(x > y); }), true;
    case TileOp::Ge:
        return map2(a, b, out, n, [](T x, T y) { return T(x >= y); }), true;
    case TileOp::And:
        return map2(a, b, out, n, [](T x, T y) { return T(int64_t(x) & int64_t(y)); }), true;
    case TileOp::Or:
        return map2(a, b, out, n, [](T x, T y) { return T(int64_t(x) | int64_t(y)); }), true;
    case TileOp::Xor:
        return map2(a, b, out, n, [](T x, T y) { return T(int64_t(x) ^ int64_t(y)); }), true;
    case TileOp::LogicalAnd:
        return map2(a, b, out, n, [](T x, T y) { return T((x != 0) & (y != 0)); }), true;
    case TileOp::LogicalOr:
        return map2(a, b, out, n, [](T x, T y) { return T((x != 0) | (y != 0)); }), true;
    case TileOp::LogicalXor:
        return map2(a, b, out, n, [](T x, T y) { return T((x != 0) != (y != 0)); }), true;
    default:
        return false;
    }
}

template <typename T>
GS_INLINE T geluSlope(T x) {
    return T(0.5) * (T(1) + std::erf(x * T(kSqrtHalf))) + x * T(kInvSqrt2Pi) * exponential(T(-0.5) * x * x);
}

template <typename T>
GS_INLINE bool applyRest(TileOp op, const T* a, const T* b, const T* c, T p, T* out, int64_t n) {
    switch (op) {
    case TileOp::SiluBackward:
        return map2(a, b, out, n,
                    [](T g, T x) {
                        const T s = sigmoid(x);
                        return g * s * (T(1) + x * (T(1) - s));
                    }),
               true;
    case TileOp::GeluBackward:
        return map2(a, b, out, n, [](T g, T x) { return g * geluSlope(x); }), true;
    case TileOp::SigmoidBackward: // b is the sigmoid itself
        return map2(a, b, out, n, [](T g, T y) { return g * y * (T(1) - y); }), true;
    case TileOp::TanhBackward:
        return map2(a, b, out, n, [](T g, T y) { return g * (T(1) - y * y); }), true;
    case TileOp::ThresholdBackward:
        return map2(a, b, out, n, [p](T g, T x) { return x > p ? g : T(0); }), true;
    case TileOp::ScaleAdd:
        return map2(a, b, out, n, [p](T x, T y) { return x + p * y; }), true;
    case TileOp::Where:
        return map3(a, b, c, out, n, [](T x, T y, T z) { return x != 0 ? y : z; }), true;
    case TileOp::MulAdd:
        return map3(a, b, c, out, n, [p](T x, T y, T z) { return x + p * y * z; }), true;
    case TileOp::DivAdd:
        return map3(a, b, c, out, n, [p](T x, T y, T z) { return x + p * y / z; }), true;
    case TileOp::Lerp:
        return map3(a, b, c, out, n, [](T x, T y, T z) { return x + z * (y - x); }), true;
    default:
        return false;
    }
}

template <typename T>
GS_INLINE void apply(TileOp op, const T* a, const T* b, const T* c, double p, T* out, int64_t n) {
    (void)(applyUnary(op, a, out, n) || applyUnaryRest(op, a, out, n) || applyArithmetic(op, a, b, out, n) ||
           applyLogic(op, a, b, out, n) || applyRest(op, a, b, c, static_cast<T>(p), out, n));
}

template <typename S, typename T, typename F>
GS_INLINE void loadAs(const std::byte* from, int64_t stride, T* out, int64_t n, F f) {
    const S* source = reinterpret_cast<const S*>(from);
    if (stride == 1) {
#pragma omp simd
        for (int64_t i = 0; i < n; ++i)
            out[i] = static_cast<T>(f(source[i]));
    } else if (stride == 0) {
        const T value = static_cast<T>(f(*source));
        for (int64_t i = 0; i < n; ++i)
            out[i] = value;
    } else {
        for (int64_t i = 0; i < n; ++i)
            out[i] = static_cast<T>(f(source[i * stride]));
    }
}

template <typename T>
GS_INLINE void load(DType dtype, const std::byte* from, int64_t stride, T* out, int64_t n) {
    const auto same = [](auto x) { return x; };
    switch (dtype) {
    case DType::Float64:
        return loadAs<double>(from, stride, out, n, same);
    case DType::Float32:
        return loadAs<float>(from, stride, out, n, same);
    case DType::Float16:
        return loadAs<uint16_t>(from, stride, out, n, [](uint16_t x) { return fromFloat16(x); });
    case DType::BFloat16:
        return loadAs<uint16_t>(from, stride, out, n, [](uint16_t x) { return fromBFloat16(x); });
    case DType::Int64:
        return loadAs<int64_t>(from, stride, out, n, same);
    case DType::Int32:
        return loadAs<int32_t>(from, stride, out, n, same);
    case DType::Int16:
        return loadAs<int16_t>(from, stride, out, n, same);
    case DType::Int8:
        return loadAs<int8_t>(from, stride, out, n, same);
    default: // UInt8, Bool
        return loadAs<uint8_t>(from, stride, out, n, same);
    }
}

template <typename S, typename T, typename F>
GS_INLINE void storeAs(const T* from, std::byte* to, int64_t stride, int64_t n, F f) {
    S* target = reinterpret_cast<S*>(to);
    if (stride == 1) {
#pragma omp simd
        for (int64_t i = 0; i < n; ++i)
            target[i] = f(from[i]);
    } else {
        for (int64_t i = 0; i < n; ++i)
            target[i * stride] = f(from[i]);
    }
}

template <typename T>
GS_INLINE void store(DType dtype, const T* from, std::byte* to, int64_t stride, int64_t n) {
    switch (dtype) {
    case DType::Float64:
        return storeAs<double>(from, to, stride, n, [](T x) { return static_cast<double>(x); });
    case DType::Float32:
        return storeAs<float>(from, to, stride, n, [](T x) { return static_cast<float>(x); });
    case DType::Float16:
        return storeAs<uint16_t>(from, to, stride, n, [](T x) { return toFloat16(static_cast<float>(x)); });
    case DType::BFloat16:
        return storeAs<uint16_t>(from, to, stride, n, [](T x) { return toBFloat16(static_cast<float>(x)); });
    case DType::Int64:
        return storeAs<int64_t>(from, to, stride, n, [](T x) { return static_cast<int64_t>(x); });
    case DType::Int32:
        return storeAs<int32_t>(from, to, stride, n, [](T x) { return static_cast<int32_t>(x); });
    case DType::Int16:
        return storeAs<int16_t>(from, to, stride, n, [](T x) { return static_cast<int16_t>(x); });
    case DType::Int8:
        return storeAs<int8_t>(from, to, stride, n, [](T x) { return static_cast<int8_t>(x); });
    case DType::UInt8:
        return storeAs<uint8_t>(from, to, stride, n, [](T x) { return static_cast<uint8_t>(x); });
    default: // Bool
        return storeAs<uint8_t>(from, to, stride, n, [](T x) { return static_cast<uint8_t>(x != 0); });
    }
}

template <typename T>
GS_INLINE void combine(Combine how, const T* from, T* into, int64_t n) {
    switch (how) {
    case Combine::Sum:
        return map2(into, from, into, n, [](T x, T y) { return x + y; });
    case Combine::Product:
        return map2(into, from, into, n, [](T x, T y) { return x * y; });
    case Combine::Max:
        return map2(into, from, into, n, [](T x, T y) { return x > y || x != x ? x : y; });
    case Combine::Min:
        return map2(into, from, into, n, [](T x, T y) { return x < y || x != x ? x : y; });
    }
}

} // namespace

GS_EACH_CPU void applyTile(TileOp op, const float* a, const float* b, const float* c, double p, float* out,
                           int64_t n) {
    apply<float>(op, a, b, c, p, out, n);
}
GS_EACH_CPU void applyTile(TileOp op, const double* a, const double* b, const double* c, double p,
                           double* out, int64_t n) {
    apply<double>(op, a, b, c, p, out, n);
}
GS_EACH_CPU void loadRow(DType dtype, const std::byte* from, int64_t stride, float* out, int64_t n) {
    load<float>(dtype, from, stride, out, n);
}
GS_EACH_CPU void loadRow(DType dtype, const std::byte* from, int64_t stride, double* out, int64_t n) {
    load<double>(dtype, from, stride, out, n);
}
GS_EACH_CPU void storeRow(DType dtype, const float* from, std::byte* to, int64_t stride, int64_t n) {
    store<float>(dtype, from, to, stride, n);
}
GS_EACH_CPU void storeRow(DType dtype, const double* from, std::byte* to, int64_t stride, int64_t n) {
    store<double>(dtype, from, to, stride, n);
}
GS_EACH_CPU void combineTile(Combine how, const float* from, float* into, int64_t n) {
    combine<float>(how, from, into, n);
}
GS_EACH_CPU void combineTile(Combine how, const double* from, double* into, int64_t n) {
    combine<double>(how, from, into, n);
}

} // namespace gs::host
