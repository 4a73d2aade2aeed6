#include "profile/backends/kernels/index_digits.h"

#include <fmt/format.h>

namespace gs::kernels {

int64_t elements(const Shape& shape) {
    int64_t count = 1;
    for (int64_t size : shape)
        count *= size;
    return count;
}

std::string Digit::text() const {
    const bool divides = div != 1, wraps = div * size < base_size;
    if (!divides && !wraps)
        return base;
    const std::string quotient = divides ? fmt::format("({} / {})", base, div) : base;
    return wraps ? fmt::format("({} % {})", quotient, size) : quotient;
}

std::string text(const DimIndex& index) {
    std::string out;
    for (const Digit& digit : index)
        out = out.empty() ? digit.text() : fmt::format("({} * {} + {})", out, digit.size, digit.text());
    return out.empty() ? "0" : out;
}

DimIndex whole(std::string base, int64_t size) {
    if (size == 1)
        return {};
    return {{std::move(base), size, 1, size}};
}

DimIndex flatten(const Index& index) {
    DimIndex flat;
    for (const DimIndex& dim : index) {
        for (const Digit& digit : dim) {
            if (digit.size == 1)
                continue;
            if (!flat.empty() && flat.back().base == digit.base && flat.back().base_size == digit.base_size &&
                flat.back().div == digit.div * digit.size) {
                flat.back().div = digit.div;
                flat.back().size *= digit.size;
            } else {
                flat.push_back(digit);
            }
        }
    }
    return flat;
}

namespace {

/// Takes the least significant part of `size` off `flat`; false if the digits do not fit.
bool takeLast(DimIndex& flat, int64_t size, DimIndex& taken) {
    while (size > 1) {
        if (flat.empty())
            return false;
        Digit& last = flat.back();
        if (size % last.size == 0) {
            size /= last.size;
            taken.insert(taken.begin(), last);
            flat.pop_back();
        } else if (last.size % size == 0) {
            taken.insert(taken.begin(), Digit{last.base, last.base_size, last.div, size});
            last.div *= size;
            last.size /= size;
            size = 1;
        } else {
            return false;
        }
    }
    return true;
}

} // namespace

Index split(DimIndex flat, const Shape& shape) {
    const auto attempt = [&shape](DimIndex digits, Index& out) {
        out.assign(shape.size(), {});
        for (size_t d = shape.size(); d-- > 0;) {
            if (!takeLast(digits, shape[d], out[d]))
                return false;
        }
        return true;
    };
    Index out;
    // Sizes that do not fit the digits: the number itself is one digit, which divides into any shape.
    if (!attempt(flat, out))
        attempt(whole(text(flat), elements(shape)), out);
    return out;
}

Index reshaped(const Index& index, const Shape& to) {
    return split(flatten(index), to);
}

Index broadcast(const Index& index, const Shape& from) {
    Index out(from.size());
    for (size_t d = 0; d < from.size(); ++d) {
        const size_t at = index.size() - from.size() + d;
        if (from[d] != 1)
            out[d] = index[at];
    }
    return out;
}

} // namespace gs::kernels
