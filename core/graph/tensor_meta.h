// Shapes and dtypes as a graph file states them; sizes may be symbolic with a hint.
#pragma once

#include "base/ids.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace gs {

/// Element types, by PyTorch's names. Unknown = the file names a type this table lacks.
enum class DType : uint8_t {
    Unknown,
    Float64,
    Float32,
    Float16,
    BFloat16,
    Float8E4M3FN,
    Float8E5M2,
    Float8E4M3FNUZ,
    Float8E5M2FNUZ,
    Float8E8M0FNU,
    Float4E2M1FNX2,
    Int64,
    Int32,
    Int16,
    Int8,
    UInt64,
    UInt32,
    UInt16,
    UInt8,
    Bool,
    Complex32,
    Complex64,
    Complex128
};

/// Full name as in `torch.bfloat16` without the prefix ("bfloat16"); "unknown" for Unknown.
std::string_view dtypeName(DType dtype);
/// Short form of print_readable ("bf16"); source: torch/utils/_dtype_abbrs.py of PyTorch 2.15.
std::string_view dtypeAbbreviation(DType dtype);
/// Bytes of one element; 0 for Unknown.
int64_t dtypeBytes(DType dtype);
/// By full name or abbreviation.
DType dtypeFromName(std::string_view name);
bool dtypeIsFloat(DType dtype);

inline constexpr int64_t kUnknownSize = -1;
inline constexpr int64_t kHugeSize = std::numeric_limits<int64_t>::max();

/// One size or stride. `value` is the number, or the hint of a symbol, or kUnknownSize without a hint.
struct Dim {
    int64_t value = 0;
    StringId symbol = kEmptyString; ///< Expression text of a symbolic size; empty = a plain number.

    bool symbolic() const { return symbol != kEmptyString; }
    bool operator==(const Dim&) const = default;
};

struct TensorMeta {
    DType dtype = DType::Unknown;
    bool has_stride = false;
    std::vector<Dim> shape;
    std::vector<Dim> stride;
    StringId device = kEmptyString; ///< "cuda:0"; empty = not stated.

    bool operator==(const TensorMeta&) const = default;
    bool symbolic() const;
    /// Product of the sizes, by hints. kUnknownSize if a size has no hint; saturates at kHugeSize.
    int64_t numel() const;
    /// numel × element size, with the same two special results; kUnknownSize for an unknown dtype.
    int64_t bytes() const;
};

} // namespace gs
