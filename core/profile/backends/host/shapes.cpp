#include "shapes.h"

#include <algorithm>

namespace gs::host {

std::optional<size_t> dimensionOf(int64_t stated, size_t rank) {
    const int64_t all = static_cast<int64_t>(rank);
    if (stated < -all || stated >= all)
        return std::nullopt;
    return static_cast<size_t>(stated < 0 ? stated + all : stated);
}

bool sameShape(const Tensor& a, const Tensor& b) {
    return a.spec.shape == b.spec.shape;
}

bool sameBut(const Tensor& a, const Tensor& b, size_t dim) {
    if (a.rank() != b.rank() || dim >= a.rank())
        return false;
    for (size_t d = 0; d < a.rank(); ++d) {
        if (d != dim && a.spec.shape[d] != b.spec.shape[d])
            return false;
    }
    return true;
}

bool broadcastsTo(const Tensor& tensor, const std::vector<int64_t>& shape) {
    if (tensor.rank() > shape.size())
        return false;
    const size_t shift = shape.size() - tensor.rank();
    for (size_t d = 0; d < tensor.rank(); ++d) {
        if (tensor.spec.shape[d] != 1 && tensor.spec.shape[d] != shape[d + shift])
            return false;
    }
    return true;
}

bool valuesWithin(const Tensor& index, int64_t from, int64_t to, std::optional<int64_t> ignored) {
    const std::vector<double> values = valuesOf(index);
    return std::all_of(values.begin(), values.end(), [&](double value) {
        const int64_t at = static_cast<int64_t>(value);
        return (at >= from && at < to) || (ignored && at == *ignored);
    });
}

} // namespace gs::host
