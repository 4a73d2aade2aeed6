#include "passes/rewrite.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <numeric>

namespace gs {

std::string NodeNamer::next(std::string_view base) {
    const auto [found, added] = used_.try_emplace(std::string(base), 0);
    // fx never calls a node like a Python builtin, so "slice" starts with a number.
    if (added && base == "slice")
        found->second = 1;
    for (;;) {
        const int count = found->second++;
        std::string name = count == 0 ? std::string(base) : fmt::format("{}_{}", base, count);
        if (!graph_.find(name))
            return name;
    }
}

Dim DimMath::plain(const Dim& dim) const {
    if (!dim.symbolic())
        return dim;
    const std::string_view text = builder_.text(dim.symbol);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? Dim{value, kEmptyString} : dim;
}

Dim DimMath::named(std::string_view expression, int64_t value) const {
    return plain({value, expression.empty() ? kEmptyString : builder_.intern(expression)});
}

std::string DimMath::text(const Dim& dim) const {
    if (!dim.symbolic())
        return std::to_string(dim.value);
    const std::string text(builder_.text(dim.symbol));
    const bool atom = std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c); });
    return atom ? text : "(" + text + ")";
}

Dim DimMath::symbol(const std::string& expression, int64_t hint) {
    return {hint, builder_.intern(expression)};
}

Dim DimMath::product(const Dim& a, const Dim& b) {
    int64_t hint = kUnknownSize;
    if (a.value >= 0 && b.value >= 0 && __builtin_mul_overflow(a.value, b.value, &hint))
        hint = kHugeSize;
    if (!a.symbolic() && !b.symbolic())
        return {hint, kEmptyString};
    if (!a.symbolic() && a.value == 1)
        return b;
    if (!b.symbolic() && b.value == 1)
        return a;
    return symbol(fmt::format("{}*{}", text(a), text(b)), hint);
}

Dim DimMath::difference(const Dim& a, const Dim& b) {
    const int64_t hint = a.value >= 0 && b.value >= 0 ? a.value - b.value : kUnknownSize;
    if (a.symbolic() && a.symbol == b.symbol)
        return {0, kEmptyString};
    if (!a.symbolic() && !b.symbolic())
        return {hint, kEmptyString};
    return symbol(fmt::format("{} - {}", text(a), text(b)), hint);
}

Dim DimMath::ceilDivide(const Dim& a, int64_t b) {
    const int64_t hint = a.value >= 0 ? a.value / b + (a.value % b != 0 ? 1 : 0) : kUnknownSize;
    if (!a.symbolic())
        return {hint, kEmptyString};
    return symbol(fmt::format("({} + {})//{}", text(a), b - 1, b), hint);
}

Arg DimMath::arg(const Dim& dim) {
    return dim.symbolic() ? builder_.symbolArg(builder_.text(dim.symbol), dim.value)
                          : builder_.intArg(dim.value);
}

std::vector<Dim> denseStrides(const std::vector<Dim>& shape, const TensorMeta* like, DimMath& math) {
    std::vector<size_t> inner_first(shape.size());
    std::iota(inner_first.rbegin(), inner_first.rend(), size_t{0});
    const bool usable = like && like->has_stride && like->stride.size() == shape.size() &&
                        std::all_of(like->stride.begin(), like->stride.end(),
                                    [](const Dim& stride) { return stride.value >= 0; });
    if (usable) {
        std::stable_sort(inner_first.begin(), inner_first.end(),
                         [&](size_t a, size_t b) { return like->stride[a].value < like->stride[b].value; });
    }
    std::vector<Dim> strides(shape.size());
    Dim next{1, kEmptyString};
    for (size_t dim : inner_first) {
        strides[dim] = next;
        // As torch does, an empty dimension counts as one row.
        const bool empty = !shape[dim].symbolic() && shape[dim].value == 0;
        next = empty ? next : math.product(next, shape[dim]);
    }
    return strides;
}

Value tensorValue(TensorMeta tensor) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor = std::move(tensor);
    return value;
}

} // namespace gs
