// Indices of tensors in the generated kernels, as mixed-radix digits of the loop variables: reshapes only
// regroup digits, so that no division is left where the shapes fit each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gs::kernels {

using Shape = std::vector<int64_t>;
int64_t elements(const Shape& shape);

/// (base / div) % size, where base is a variable or expression with values below base_size.
struct Digit {
    std::string base;
    int64_t base_size = 1;
    int64_t div = 1;
    int64_t size = 1;
    bool operator==(const Digit&) const = default;
    std::string text() const;
};

/// Most significant first; the product of the sizes is the dimension's size. Empty for size 1.
using DimIndex = std::vector<Digit>;
/// One per dimension.
using Index = std::vector<DimIndex>;

/// C expression of a dimension's index; "0" if it is empty.
std::string text(const DimIndex& index);
/// All digits in row-major order, neighbours joined where they belong to one number.
DimIndex flatten(const Index& index);
/// Digits of a row-major number as an index of `shape`; equal element counts.
Index split(DimIndex flat, const Shape& shape);
Index reshaped(const Index& index, const Shape& to);
/// Index of an operand of shape `from` that is broadcast (aligned at the last dimension) to `index`.
Index broadcast(const Index& index, const Shape& from);
/// The whole expression `base` < size as one dimension.
DimIndex whole(std::string base, int64_t size);

} // namespace gs::kernels
