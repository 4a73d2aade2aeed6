// The inner loops of pointwise work: tiles of numbers that stay in the first-level cache. Floats where every
// type fits them, doubles where 32- and 64-bit integers or doubles take part (exact up to 2^53).
#pragma once

#include "graph/tensor_meta.h"

#include <cstddef>
#include <cstdint>

namespace gs::host {

constexpr int64_t kTile = 512;

enum class TileOp : uint8_t {
    Copy,
    Truncate,
    NotZero,
    Neg,
    Abs,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Sqrt,
    Rsqrt,
    Reciprocal,
    Sigmoid,
    Tanh,
    Relu,
    Silu,
    GeluErf,
    GeluTanh,
    Square,
    Cube,
    Sin,
    Cos,
    Erf,
    Floor,
    Ceil,
    Round,
    Sign,
    IsNan,
    LogicalNot,
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Remainder,
    Max,
    Min,
    Pow,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    SiluBackward, ///< a = gradient, b = input
    GeluBackward,
    SigmoidBackward,
    TanhBackward,
    ThresholdBackward, ///< gradient where the input is above p
    ScaleAdd,          ///< a + p·b
    Where,             ///< a ≠ 0 ? b : c
    MulAdd,            ///< a + p·b·c
    DivAdd,            ///< a + p·b/c
    Lerp,              ///< a + c·(b − a)
};

/// out = op(a, b, c, p), element by element; `out` may be one of them.
void applyTile(TileOp op, const float* a, const float* b, const float* c, double p, float* out, int64_t n);
void applyTile(TileOp op, const double* a, const double* b, const double* c, double p, double* out,
               int64_t n);

/// n elements at `from`, `stride` elements apart (0 repeats one), as numbers.
void loadRow(DType dtype, const std::byte* from, int64_t stride, float* out, int64_t n);
void loadRow(DType dtype, const std::byte* from, int64_t stride, double* out, int64_t n);
void storeRow(DType dtype, const float* from, std::byte* to, int64_t stride, int64_t n);
void storeRow(DType dtype, const double* from, std::byte* to, int64_t stride, int64_t n);

enum class Combine : uint8_t { Sum, Product, Max, Min };
/// into[i] = into[i] ∘ from[i]
void combineTile(Combine how, const float* from, float* into, int64_t n);
void combineTile(Combine how, const double* from, double* into, int64_t n);

} // namespace gs::host
