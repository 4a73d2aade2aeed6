// The functions that generated sources call: what differs between targets first, then what they share.
#include "profile/backends/kernels/fused_kernel.h"

namespace gs {

namespace {

/// NVRTC without a single include: compiling a kernel then takes a fraction of the time.
constexpr const char* kCuda = R"gs(
#define GS_FN __device__ __forceinline__
#define GS_BODY __device__ __forceinline__
#define GS_RESTRICT __restrict__
#define GS_UNROLL _Pragma("unroll")
#define GS_THREADS(n) n
#define GS_ARGS(...) __VA_ARGS__
#define GS_KERNEL(name, threads, items, parameters, arguments, casts)                                    \
    extern "C" __global__ void __launch_bounds__(threads) name(parameters) {                             \
        name##_body(blockIdx.x, (int)threadIdx.x, arguments);                                            \
    }
typedef long long gs_long;
struct gs_bfloat16 { unsigned short bits; };
struct gs_half { unsigned short bits; };
GS_FN float gs_get(gs_bfloat16 v) { return __uint_as_float((unsigned)v.bits << 16); }
GS_FN float gs_get(gs_half v) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v.bits)); return f; }
GS_FN gs_bfloat16 gs_to_bfloat16(float f) {
    gs_bfloat16 v; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(v.bits) : "f"(f)); return v;
}
GS_FN gs_half gs_to_half(float f) {
    gs_half v; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(v.bits) : "f"(f)); return v;
}
GS_FN float gs_infinity() { return __int_as_float(0x7f800000); }
GS_FN float gs_nan() { return __int_as_float(0x7fc00000); }
GS_FN float gs_rsqrt(float v) { return 1.0f / sqrtf(v); }
GS_FN double gs_rsqrt(double v) { return 1.0 / sqrt(v); }
)gs";

constexpr const char* kCudaTogether = R"gs(
// All threads of a row get the row's result. Along r: kRow neighbouring threads, or every kLanes-th one.
template <class Op, int kRow, int kLanes, bool kColumns, class T> GS_FN T gs_together(T value, int thread) {
    if (kRow == 1)
        return value;
    if (!kColumns) {
        constexpr int kWarp = kRow < 32 ? kRow : 32;
        if constexpr (!gs_is_complex<T>::value) {
            for (int step = kWarp / 2; step > 0; step /= 2)
                value = Op::of(value, (T)__shfl_xor_sync(0xffffffffu, value, step));
            if (kRow <= 32)
                return value;
            __shared__ T warps[32];
            if (thread % 32 == 0)
                warps[thread / 32] = value;
            __syncthreads();
            value = warps[0];
            for (int i = 1; i < kRow / 32; ++i)
                value = Op::of(value, warps[i]);
            __syncthreads();
            return value;
        }
    }
    __shared__ T all[kRow * kLanes];
    constexpr int kStep = kColumns ? kLanes : 1;
    const int place = kColumns ? thread / kLanes : thread % kRow;
    all[thread] = value;
    __syncthreads();
    for (int half = kRow / 2; half > 0; half /= 2) {
        if (place < half)
            all[thread] = Op::of(all[thread], all[thread + half * kStep]);
        __syncthreads();
    }
    value = all[thread - place * kStep];
    __syncthreads();
    return value;
}
)gs";

constexpr const char* kHost = R"gs(
#include <cmath>
#include <cstring>
#define GS_FN static inline
#define GS_BODY static inline
#define GS_RESTRICT __restrict__
#define GS_UNROLL
#define GS_THREADS(n) 1
#define GS_ARGS(...) __VA_ARGS__
#define GS_KERNEL(name, threads, items, parameters, arguments, casts)                                    \
    static void name##_all(parameters) {                                                                 \
        for (gs_long block = 0; block < (items); ++block)                                                \
            name##_body(block, 0, arguments);                                                            \
    }                                                                                                    \
    extern "C" void name(void** p) { name##_all(casts); }
typedef long long gs_long;
struct gs_bfloat16 { unsigned short bits; };
struct gs_half { unsigned short bits; };
GS_FN float gs_of_bits(unsigned bits) { float f; std::memcpy(&f, &bits, 4); return f; }
GS_FN unsigned gs_bits_of(float f) { unsigned bits; std::memcpy(&bits, &f, 4); return bits; }
GS_FN float gs_get(gs_bfloat16 v) { return gs_of_bits((unsigned)v.bits << 16); }
GS_FN gs_bfloat16 gs_to_bfloat16(float f) {
    unsigned bits = gs_bits_of(f);
    if (f != f)
        return {0x7fff};
    bits += 0x7fff + ((bits >> 16) & 1);
    return {(unsigned short)(bits >> 16)};
}
GS_FN float gs_get(gs_half v) {
    const unsigned sign = (v.bits & 0x8000u) << 16, exponent = (v.bits >> 10) & 31, mantissa = v.bits & 1023;
    if (exponent == 31)
        return gs_of_bits(sign | 0x7f800000u | mantissa << 13);
    const float size = exponent ? std::ldexp((float)(mantissa | 1024), (int)exponent - 25)
                                : std::ldexp((float)mantissa, -24);
    return sign ? -size : size;
}
GS_FN gs_half gs_to_half(float f) {
    const unsigned short sign = (unsigned short)(gs_bits_of(f) >> 16 & 0x8000u);
    if (f != f)
        return {0x7fff};
    const float size = std::fabs(f);
    if (size >= 65520.0f)
        return {(unsigned short)(sign | 0x7c00)};
    int exponent = 0;
    std::frexp(size, &exponent);
    const int unit = exponent - 11 < -24 ? -24 : exponent - 11;
    const unsigned count = (unsigned)std::nearbyint(std::ldexp(size, -unit));
    // A count of 2048 carries into the exponent by itself.
    return {(unsigned short)(sign | (unit == -24 ? count : ((unsigned)(unit + 25) << 10) + count - 1024))};
}
GS_FN float gs_infinity() { return INFINITY; }
GS_FN float gs_nan() { return NAN; }
GS_FN float gs_rsqrt(float v) { return 1.0f / std::sqrt(v); }
GS_FN double gs_rsqrt(double v) { return 1.0 / std::sqrt(v); }
template <class Op, int, int, bool, class T> GS_FN T gs_together(T value, int) { return value; }
)gs";

constexpr const char* kShared = R"gs(
struct gs_complex {
    float re, im;
    GS_MEMBER gs_complex() {}
    GS_MEMBER gs_complex(float r, float i = 0) : re(r), im(i) {}
};
GS_FN gs_complex operator+(gs_complex a, gs_complex b) { return gs_complex(a.re + b.re, a.im + b.im); }
GS_FN gs_complex operator-(gs_complex a, gs_complex b) { return gs_complex(a.re - b.re, a.im - b.im); }
GS_FN gs_complex operator-(gs_complex a) { return gs_complex(-a.re, -a.im); }
GS_FN gs_complex operator*(gs_complex a, gs_complex b) {
    return gs_complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
GS_FN gs_complex operator/(gs_complex a, gs_complex b) {
    const float n = b.re * b.re + b.im * b.im;
    return gs_complex((a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n);
}
GS_FN gs_complex gs_conj(gs_complex a) { return gs_complex(a.re, -a.im); }
GS_FN float gs_part(gs_complex a, gs_long part) { return part == 0 ? a.re : a.im; }

template <class T> GS_FN T gs_get(T v) { return v; }
template <class To> struct gs_putter { template <class T> GS_MEMBER static To of(T v) { return (To)v; } };
template <> struct gs_putter<gs_bfloat16> { GS_MEMBER static gs_bfloat16 of(float v) { return gs_to_bfloat16(v); } };
template <> struct gs_putter<gs_half> { GS_MEMBER static gs_half of(float v) { return gs_to_half(v); } };
template <class To, class T> GS_FN To gs_put(T v) { return gs_putter<To>::of(v); }
template <class As> GS_FN float gs_round(float v) { return gs_get(gs_putter<As>::of(v)); }
template <class To> struct gs_caster {
    template <class T> GS_MEMBER static To of(T v) { return (To)v; }
    GS_MEMBER static To of(gs_complex v) { return (To)v.re; }
};
template <> struct gs_caster<bool> {
    template <class T> GS_MEMBER static bool of(T v) { return v != 0; }
    GS_MEMBER static bool of(gs_complex v) { return v.re != 0 || v.im != 0; }
};
template <> struct gs_caster<gs_complex> {
    template <class T> GS_MEMBER static gs_complex of(T v) { return gs_complex((float)v); }
    GS_MEMBER static gs_complex of(gs_complex v) { return v; }
};
template <class To, class T> GS_FN To gs_cast(T v) { return gs_caster<To>::of(v); }

template <class T, int N> struct alignas(sizeof(T) * N) gs_vec { T at[N]; };
template <int N, class T> GS_FN gs_vec<T, N> gs_load(const T* from) { return *(const gs_vec<T, N>*)from; }
template <int N, class T> GS_FN void gs_store(T* to, gs_vec<T, N> v) { *(gs_vec<T, N>*)to = v; }

template <class T> struct gs_bounds;
#define GS_BOUNDS(T, low, high)                                                                          \
    template <> struct gs_bounds<T> {                                                                    \
        GS_MEMBER static T least() { return low; }                                                       \
        GS_MEMBER static T most() { return high; }                                                       \
    };
GS_BOUNDS(float, -3.402823466e+38f, 3.402823466e+38f)
GS_BOUNDS(double, -1.7976931348623157e308, 1.7976931348623157e308)
GS_BOUNDS(gs_long, -9223372036854775807LL - 1, 9223372036854775807LL)
GS_BOUNDS(int, -2147483647 - 1, 2147483647)
GS_BOUNDS(short, -32768, 32767)
GS_BOUNDS(signed char, -128, 127)
GS_BOUNDS(unsigned char, 0, 255)
GS_BOUNDS(bool, false, true)
template <class T> struct gs_is_complex { static const bool value = false; };
template <> struct gs_is_complex<gs_complex> { static const bool value = true; };
template <class T> struct gs_is_float { static const bool value = false; };
template <> struct gs_is_float<float> { static const bool value = true; };
template <> struct gs_is_float<double> { static const bool value = true; };
template <class T> GS_FN T gs_smallest() { return gs_bounds<T>::least(); }
template <class T> GS_FN T gs_largest() { return gs_bounds<T>::most(); }
template <class T> GS_FN T gs_lowest() { return gs_is_float<T>::value ? (T)-gs_infinity() : gs_bounds<T>::least(); }
template <class T> GS_FN T gs_highest() { return gs_is_float<T>::value ? (T)gs_infinity() : gs_bounds<T>::most(); }

template <class T> GS_FN bool gs_isnan(T v) { return v != v; }
template <class T> GS_FN bool gs_isinf(T v) { return gs_is_float<T>::value && (v == gs_highest<T>() || v == gs_lowest<T>()); }
template <class T> GS_FN T gs_abs(T v) { return v < 0 ? (T)-v : v; }
GS_FN float gs_abs(float v) { return fabsf(v); }
GS_FN double gs_abs(double v) { return fabs(v); }
template <class T> GS_FN T gs_sign(T v) { return (T)((v > 0) - (v < 0)); }
template <class T> GS_FN T gs_square(T v) { return v * v; }
template <class T> GS_FN T gs_not(T v) { return (T)~v; }
GS_FN bool gs_not(bool v) { return !v; }
// NaN wins, as in ATen; fmax and fmin prefer the number.
template <class T, class U> GS_FN T gs_max(T a, U b) { return a != a || a > (T)b ? a : (T)b; }
template <class T, class U> GS_FN T gs_min(T a, U b) { return a != a || a < (T)b ? a : (T)b; }
template <class T> GS_FN T gs_fmax(T a, T b) { return b != b || a > b ? a : b; }
template <class T> GS_FN T gs_fmin(T a, T b) { return b != b || a < b ? a : b; }
template <class T, class U, class V> GS_FN T gs_clamp(T v, U low, V high) { return gs_min(gs_max(v, low), high); }

struct gs_sum_of {
    template <class T> GS_MEMBER static T first() { return T(0); }
    template <class T> GS_MEMBER static T of(T a, T b) { return a + b; }
};
struct gs_prod_of {
    template <class T> GS_MEMBER static T first() { return T(1); }
    template <class T> GS_MEMBER static T of(T a, T b) { return a * b; }
};
struct gs_max_of {
    template <class T> GS_MEMBER static T first() { return gs_lowest<T>(); }
    template <class T> GS_MEMBER static T of(T a, T b) { return gs_max(a, b); }
};
struct gs_min_of {
    template <class T> GS_MEMBER static T first() { return gs_highest<T>(); }
    template <class T> GS_MEMBER static T of(T a, T b) { return gs_min(a, b); }
};

#define GS_MATH(name)                                                                                    \
    GS_FN float gs_##name(float v) { return name##f(v); }                                                \
    GS_FN double gs_##name(double v) { return name(v); }                                                 \
    template <class T> GS_FN float gs_##name(T v) { return name##f((float)v); }
GS_MATH(sqrt) GS_MATH(exp) GS_MATH(exp2) GS_MATH(expm1) GS_MATH(log) GS_MATH(log2) GS_MATH(log10) GS_MATH(log1p)
GS_MATH(sin) GS_MATH(cos) GS_MATH(tan) GS_MATH(asin) GS_MATH(acos) GS_MATH(atan) GS_MATH(sinh) GS_MATH(cosh)
GS_MATH(tanh) GS_MATH(erf) GS_MATH(erfc) GS_MATH(floor) GS_MATH(ceil) GS_MATH(trunc) GS_MATH(rint)
GS_FN float gs_atan2(float a, float b) { return atan2f(a, b); }
GS_FN double gs_atan2(double a, double b) { return atan2(a, b); }
GS_FN float gs_copysign(float a, float b) { return copysignf(a, b); }
GS_FN double gs_copysign(double a, double b) { return copysign(a, b); }
GS_FN float gs_fmod(float a, float b) { return fmodf(a, b); }
GS_FN double gs_fmod(double a, double b) { return fmod(a, b); }
template <class T> GS_FN T gs_fmod(T a, T b) { return (T)(a % b); }
template <class T> GS_FN T gs_sigmoid(T v) { return 1 / (1 + gs_exp(-v)); }
template <class T> GS_FN T gs_lerp(T a, T b, T w) { return w < (T)0.5 ? a + w * (b - a) : b - (b - a) * (1 - w); }

enum gs_mode { gs_none_mode, gs_tanh_mode, gs_floor_mode, gs_trunc_mode };
template <class T> GS_FN T gs_remainder(T a, T b) {
    const T r = gs_fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;
}
template <class T> GS_FN T gs_divide(T a, T b, gs_mode mode) {
    if constexpr (gs_is_float<T>::value) {
        const T q = a / b;
        return mode == gs_floor_mode ? gs_floor(q) : mode == gs_trunc_mode ? gs_trunc(q) : q;
    } else {
        const T q = (T)(a / b);
        return mode == gs_floor_mode && (T)(q * b) != a && (a < 0) != (b < 0) ? (T)(q - 1) : q;
    }
}
GS_FN gs_complex gs_divide(gs_complex a, gs_complex b, gs_mode) { return a / b; }
// The usual exponents are constants, so that the others' code goes away.
template <class T, class U> GS_FN T gs_pow(T base, U exponent) {
    if (exponent == (U)2)
        return base * base;
    if (exponent == (U)1)
        return base;
    if (exponent == (U)3)
        return base * base * base;
    if constexpr (gs_is_float<T>::value) {
        if (exponent == (U)0.5)
            return gs_sqrt(base);
        if (exponent == (U)-0.5)
            return gs_rsqrt(base);
        if (exponent == (U)-1)
            return 1 / base;
        return sizeof(T) == 4 ? (T)powf((float)base, (float)exponent) : (T)pow((double)base, (double)exponent);
    } else {
        T result = 1;
        for (U i = 0; i < exponent; ++i)
            result = (T)(result * base);
        return result;
    }
}
template <class T> GS_FN T gs_gelu(T v, gs_mode mode) {
    if (mode == gs_tanh_mode)
        return (T)0.5 * v * (1 + gs_tanh((T)0.7978845608028654 * (v + (T)0.044715 * v * v * v)));
    return (T)0.5 * v * (1 + gs_erf(v * (T)0.7071067811865476));
}
template <class T> GS_FN T gs_gelu_slope(T v, gs_mode mode) {
    if (mode == gs_tanh_mode) {
        const T t = gs_tanh((T)0.7978845608028654 * (v + (T)0.044715 * v * v * v));
        return (T)0.5 * (1 + t) +
               (T)0.5 * v * (1 - t * t) * (T)0.7978845608028654 * (1 + (T)0.134145 * v * v);
    }
    return (T)0.5 * (1 + gs_erf(v * (T)0.7071067811865476)) + v * (T)0.3989422804014327 * gs_exp((T)-0.5 * v * v);
}
)gs";

} // namespace

std::string_view kernelPrelude(KernelTarget target) {
    static const std::string kCudaText =
        std::string("#define GS_MEMBER __device__ __forceinline__\n") + kCuda + kShared + kCudaTogether;
    static const std::string kHostText = std::string("#define GS_MEMBER inline\n") + kHost + kShared;
    return target == KernelTarget::Cuda ? kCudaText : kHostText;
}

} // namespace gs
