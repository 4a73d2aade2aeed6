#include "graph/tensor_meta.h"

#include <algorithm>
#include <array>

namespace gs {

namespace {

struct DTypeRow {
    std::string_view name;
    std::string_view abbreviation;
    int64_t bytes;
    bool is_float;
};

// In the order of the enum. float4_e2m1fn_x2 packs two numbers into one byte.
constexpr std::array<DTypeRow, 23> kRows = {{
    {"unknown", "?", 0, false},
    {"float64", "f64", 8, true},
    {"float32", "f32", 4, true},
    {"float16", "f16", 2, true},
    {"bfloat16", "bf16", 2, true},
    {"float8_e4m3fn", "f8e4m3fn", 1, true},
    {"float8_e5m2", "f8e5m2", 1, true},
    {"float8_e4m3fnuz", "f8e4m3fnuz", 1, true},
    {"float8_e5m2fnuz", "f8e5m2fnuz", 1, true},
    {"float8_e8m0fnu", "f8e8m0fnu", 1, true},
    {"float4_e2m1fn_x2", "f4e2m1fnx2", 1, true},
    {"int64", "i64", 8, false},
    {"int32", "i32", 4, false},
    {"int16", "i16", 2, false},
    {"int8", "i8", 1, false},
    {"uint64", "u64", 8, false},
    {"uint32", "u32", 4, false},
    {"uint16", "u16", 2, false},
    {"uint8", "u8", 1, false},
    {"bool", "b8", 1, false},
    {"complex32", "c32", 4, true},
    {"complex64", "c64", 8, true},
    {"complex128", "c128", 16, true},
}};

const DTypeRow& row(DType dtype) {
    return kRows[static_cast<size_t>(dtype)];
}

int64_t saturatingProduct(int64_t a, int64_t b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? kHugeSize : product;
}

} // namespace

std::string_view dtypeName(DType dtype) {
    return row(dtype).name;
}
std::string_view dtypeAbbreviation(DType dtype) {
    return row(dtype).abbreviation;
}
int64_t dtypeBytes(DType dtype) {
    return row(dtype).bytes;
}
bool dtypeIsFloat(DType dtype) {
    return row(dtype).is_float;
}

DType dtypeFromName(std::string_view name) {
    for (size_t i = 1; i < kRows.size(); ++i) {
        if (kRows[i].name == name || kRows[i].abbreviation == name)
            return static_cast<DType>(i);
    }
    return DType::Unknown;
}

bool TensorMeta::symbolic() const {
    return std::any_of(shape.begin(), shape.end(), [](const Dim& dim) { return dim.symbolic(); });
}

int64_t TensorMeta::numel() const {
    int64_t count = 1;
    for (const Dim& dim : shape) {
        if (dim.value < 0)
            return kUnknownSize;
        count = saturatingProduct(count, dim.value);
    }
    return count;
}

int64_t TensorMeta::bytes() const {
    const int64_t count = numel();
    if (count < 0 || dtypeBytes(dtype) == 0)
        return kUnknownSize;
    return saturatingProduct(count, dtypeBytes(dtype));
}

} // namespace gs
