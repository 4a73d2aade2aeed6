// What a StructuralKey says about the size of the work, apart from what kind of work it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gs {

/// Keys with one `kind` differ in size only: operator, dtypes, numbers of dimensions, order of the strides
/// and scalar arguments are equal; of a collective also members, group size and topology; of a fused region
/// all members, what they read of each other, and which operands are broadcast along which dimensions.
struct KeySize {
    std::string kind; ///< "aten.mm.default(bf16[2d], bf16[2d:10]) -> bf16[2d]"
    /// Multiply-adds of matrix products and attention, bytes of collectives (the larger side), else bytes of
    /// all tensors; of a fused region those that it reads from outside and leaves behind. Positive.
    int64_t size = 0;
};

/// Nothing for keys of unknown sizes, or without a tensor.
std::optional<KeySize> keySize(std::string_view key);

} // namespace gs
