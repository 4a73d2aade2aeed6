// Rules of operators that move or name elements: views, slices, concatenations.
#include "import/shape_rules.h"

#include <algorithm>
#include <unordered_map>

namespace gs {

namespace {

Dim product(const std::vector<Dim>& dims) {
    Dim all{1, kEmptyString};
    for (const Dim& dim : dims) {
        if (dim.value < 0 || all.value < 0 || __builtin_mul_overflow(all.value, dim.value, &all.value))
            return {kUnknownSize, dim.symbol};
    }
    return all;
}

/// With one size -1: what is left of `all` elements.
std::vector<Dim> withInferred(std::vector<Dim> shape, const std::vector<Dim>& from) {
    const auto open = std::find_if(shape.begin(), shape.end(),
                                   [](const Dim& dim) { return dim.value == -1 && !dim.symbolic(); });
    if (open == shape.end())
        return shape;
    std::vector<Dim> others;
    for (auto it = shape.begin(); it != shape.end(); ++it) {
        if (it != open)
            others.push_back(*it);
    }
    const int64_t all = product(from).value, rest = product(others).value;
    open->value = all >= 0 && rest > 0 ? all / rest : kUnknownSize;
    return shape;
}

Value permuted(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    std::vector<Dim> shape;
    for (const int64_t dim : call.integers(1)) {
        const size_t index = dimIndex(dim, tensor->shape.size());
        if (index == tensor->shape.size())
            return {};
        shape.push_back(tensor->shape[index]);
    }
    return like(*tensor, std::move(shape));
}

Value transposed(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    std::vector<Dim> shape = tensor->shape;
    const bool t = call.target().substr(0, 7) == "aten.t.";
    const size_t a = t ? 0 : dimIndex(call.integer(1, 0), shape.size());
    const size_t b = t ? 1 : dimIndex(call.integer(2, 1), shape.size());
    if (a < shape.size() && b < shape.size())
        std::swap(shape[a], shape[b]);
    return like(*tensor, std::move(shape));
}

Value viewed(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    const Arg* shape = call.arg(1);
    if (!shape || shape->kind != Arg::Kind::List)
        return {};
    return like(*tensor, withInferred(call.dims(1), tensor->shape));
}

Value expanded(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    std::vector<Dim> shape = call.dims(1);
    if (!tensor || shape.size() < tensor->shape.size())
        return {};
    const size_t shift = shape.size() - tensor->shape.size();
    for (size_t i = shift; i < shape.size(); ++i) {
        if (shape[i].value == -1 && !shape[i].symbolic())
            shape[i] = tensor->shape[i - shift];
    }
    return like(*tensor, std::move(shape));
}

Value unsqueezed(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    std::vector<Dim> shape = tensor->shape;
    const size_t at = dimIndex(call.integer(1, 0), shape.size() + 1);
    if (at > shape.size())
        return {};
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), Dim{1, kEmptyString});
    return like(*tensor, std::move(shape));
}

Value squeezed(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    const std::vector<int64_t> dims = call.integers(1);
    std::vector<Dim> shape;
    for (size_t i = 0; i < tensor->shape.size(); ++i) {
        const bool named = dims.empty() || std::any_of(dims.begin(), dims.end(), [&](int64_t dim) {
                               return dimIndex(dim, tensor->shape.size()) == i;
                           });
        if (!named || tensor->shape[i].value != 1)
            shape.push_back(tensor->shape[i]);
    }
    return like(*tensor, std::move(shape));
}

Value sliced(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    std::vector<Dim> shape = tensor->shape;
    const size_t at = dimIndex(call.integer(1, 0), shape.size());
    if (at == shape.size())
        return {};
    const int64_t size = shape[at].value;
    const auto clamp = [&](int64_t position) {
        return std::clamp<int64_t>(position < 0 ? position + size : position, 0, size);
    };
    const int64_t step = std::max<int64_t>(call.integer(4, 1), 1);
    const Arg* stop = call.arg(3);
    const bool open = !stop || stop->kind == Arg::Kind::None;
    const int64_t begin = size < 0 ? 0 : clamp(call.integer(2, 0));
    const int64_t end = size < 0 ? 0 : open ? size : clamp(call.integer(3, size));
    shape[at] = {size < 0 ? kUnknownSize : (std::max<int64_t>(end - begin, 0) + step - 1) / step,
                 kEmptyString};
    return like(*tensor, std::move(shape));
}

Value selected(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    std::vector<Dim> shape = tensor->shape;
    const size_t at = dimIndex(call.integer(1, 0), shape.size());
    if (at == shape.size())
        return {};
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at));
    return like(*tensor, std::move(shape));
}

Value concatenated(const ShapeCall& call) {
    const std::vector<TensorMeta> inputs = call.tensors(0);
    if (inputs.empty())
        return {};
    std::vector<Dim> shape = inputs.front().shape;
    const size_t at = dimIndex(call.integer(1, 0, "dim"), shape.size());
    if (at == shape.size())
        return {};
    for (size_t i = 1; i < inputs.size(); ++i) {
        if (inputs[i].shape.size() != shape.size())
            return {};
        const int64_t more = inputs[i].shape[at].value;
        shape[at] = {shape[at].value < 0 || more < 0 ? kUnknownSize : shape[at].value + more, kEmptyString};
    }
    return like(inputs.front(), std::move(shape));
}

Value splitInto(const ShapeCall& call) {
    constexpr int64_t kMaxParts = 100000; // more are a damaged text
    const TensorMeta* tensor = call.tensor(0);
    const size_t rank = tensor ? tensor->shape.size() : 0;
    const size_t at = dimIndex(call.integer(2, 0, "dim"), rank);
    if (!tensor || at == rank)
        return {};
    std::vector<int64_t> sizes = call.integers(1);
    const int64_t all = tensor->shape[at].value;
    if (const Arg* one = call.arg(1); one && one->kind == Arg::Kind::Int) {
        const int64_t part = one->integer;
        sizes.clear();
        if (part <= 0 || all < 0 || all / part > kMaxParts)
            return {};
        for (int64_t left = all; left > 0; left -= part)
            sizes.push_back(std::min(part, left));
    }
    std::vector<Value> items;
    for (const int64_t size : sizes) {
        std::vector<Dim> shape = tensor->shape;
        shape[at] = {size, kEmptyString};
        items.push_back(like(*tensor, std::move(shape)));
    }
    return listValue(std::move(items));
}

Value item(const ShapeCall& call) {
    const Value* list = call.value(0);
    const int64_t index = call.integer(1, -1);
    if (!list || list->kind != Value::Kind::List || index < 0 ||
        static_cast<size_t>(index) >= list->items.size())
        return {};
    return list->items[static_cast<size_t>(index)];
}

Value asComplex(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor || tensor->shape.empty())
        return {};
    std::vector<Dim> shape = tensor->shape;
    shape.pop_back();
    const bool wide = tensor->dtype == DType::Float64;
    return tensorValue(wide ? DType::Complex128 : DType::Complex64, std::move(shape), tensor->device);
}

Value asReal(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    std::vector<Dim> shape = tensor->shape;
    shape.push_back({2, kEmptyString});
    const bool wide = tensor->dtype == DType::Complex128;
    return tensorValue(wide ? DType::Float64 : DType::Float32, std::move(shape), tensor->device);
}

Value padded(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    const std::vector<int64_t> pads = call.integers(1);
    std::vector<Dim> shape = tensor->shape;
    for (size_t i = 0; i + 1 < pads.size() && i / 2 < shape.size(); i += 2) {
        Dim& dim = shape[shape.size() - 1 - i / 2];
        dim.value = dim.value < 0 ? kUnknownSize : dim.value + pads[i] + pads[i + 1];
    }
    return like(*tensor, std::move(shape));
}

} // namespace

ShapeRule findViewRule(std::string_view packet) {
    static const std::unordered_map<std::string_view, ShapeRule> kRules = {
        {"aten.permute", permuted},     {"aten.t", transposed},
        {"aten.transpose", transposed}, {"aten.view", viewed},
        {"aten.reshape", viewed},       {"aten._unsafe_view", viewed},
        {"aten.expand", expanded},      {"aten.unsqueeze", unsqueezed},
        {"aten.squeeze", squeezed},     {"aten.slice", sliced},
        {"aten.select", selected},      {"aten.cat", concatenated},
        {"aten.split", splitInto},      {"aten.split_with_sizes", splitInto},
        {"operator.getitem", item},     {"aten.view_as_complex", asComplex},
        {"aten.view_as_real", asReal},  {"aten.constant_pad_nd", padded},
    };
    const auto found = kRules.find(packet);
    return found == kRules.end() ? nullptr : found->second;
}

} // namespace gs
