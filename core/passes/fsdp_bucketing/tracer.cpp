#include "passes/fsdp_bucketing/tracer.h"

#include <algorithm>
#include <numeric>

namespace gs {

int64_t PlainTensor::numel() const {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

bool PlainTensor::contiguous() const {
    int64_t expected = 1;
    for (size_t i = shape.size(); i-- > 0;) {
        if (shape[i] == 0)
            return true;
        if (shape[i] != 1 && stride[i] != expected)
            return false;
        expected *= shape[i];
    }
    return true;
}

std::optional<PlainTensor> plainTensor(const Value& value) {
    if (value.kind != Value::Kind::Tensor)
        return std::nullopt;
    PlainTensor plain{value.tensor.dtype, value.tensor.device, {}, {}};
    const auto copy = [](const std::vector<Dim>& dims, Sizes& out) {
        for (const Dim& dim : dims)
            out.push_back(dim.value);
        return std::all_of(dims.begin(), dims.end(),
                           [](const Dim& dim) { return !dim.symbolic() && dim.value >= 0; });
    };
    if (plain.dtype == DType::Unknown || !copy(value.tensor.shape, plain.shape))
        return std::nullopt;
    constexpr int64_t kMost = int64_t{1} << 50; // products of sizes stay below 64 bits
    if (const int64_t numel = value.tensor.numel(); numel < 0 || numel > kMost)
        return std::nullopt;
    if (!value.tensor.has_stride || value.tensor.stride.size() != plain.shape.size() ||
        !copy(value.tensor.stride, plain.stride))
        plain.stride = rowMajor(plain.shape);
    return plain;
}

Value plainValue(const PlainTensor& tensor) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = tensor.dtype;
    value.tensor.device = tensor.device;
    value.tensor.has_stride = true;
    for (const int64_t size : tensor.shape)
        value.tensor.shape.push_back({size, kEmptyString});
    for (const int64_t stride : tensor.stride)
        value.tensor.stride.push_back({stride, kEmptyString});
    return value;
}

Sizes rowMajor(const Sizes& shape) {
    Sizes stride(shape.size());
    int64_t next = 1;
    for (size_t i = shape.size(); i-- > 0;) {
        stride[i] = next;
        next *= std::max<int64_t>(shape[i], 1);
    }
    return stride;
}

std::optional<Sizes> viewStrides(const Sizes& old_shape, const Sizes& old_stride, const Sizes& shape) {
    if (old_shape.empty())
        return Sizes(shape.size(), 1);
    if (std::find(old_shape.begin(), old_shape.end(), 0) != old_shape.end())
        return old_shape == shape ? old_stride : rowMajor(shape);
    Sizes stride(shape.size());
    size_t left = shape.size(); // dimensions of the view that have no stride yet
    int64_t base = old_stride.back(), chunk = 1, covered = 1;
    for (size_t dim = old_shape.size(); dim-- > 0;) {
        chunk *= old_shape[dim];
        const bool chunk_ends = dim == 0 || (old_shape[dim - 1] != 1 && old_stride[dim - 1] != chunk * base);
        if (!chunk_ends)
            continue;
        for (; left > 0 && (covered < chunk || shape[left - 1] == 1); --left) {
            stride[left - 1] = covered * base;
            covered *= shape[left - 1];
        }
        if (covered != chunk)
            return std::nullopt;
        if (dim > 0)
            base = old_stride[dim - 1];
        chunk = covered = 1;
    }
    return left == 0 ? std::optional(stride) : std::nullopt;
}

DraftId Tracer::add(std::string_view name, std::string_view target, std::vector<DraftArg> args, Value value,
                    DraftComm comm) {
    DraftNode node{names_.create(name), target, std::move(args), std::move(value), comm, origins_};
    nodes_.push_back(draft_.insertBefore(place_, std::move(node)));
    return nodes_.back();
}

DraftId Tracer::empty(int64_t numel, DType dtype, StringId device) {
    const Sizes shape{numel};
    return add("empty", "aten.empty.memory_format",
               {DraftArg::numbers(shape), DraftArg::type(dtype).as("dtype"),
                DraftArg::device(device).as("device"), DraftArg::flag(false).as("pin_memory")},
               plainValue({dtype, device, shape, {1}}));
}

DraftId Tracer::narrow(DraftId of, int64_t start, int64_t length) {
    PlainTensor part = tensor(of);
    part.shape[0] = length;
    return add(
        "slice", "aten.slice.Tensor",
        {DraftArg::node(of), DraftArg::number(0), DraftArg::number(start), DraftArg::number(start + length)},
        plainValue(part));
}

DraftId Tracer::reshape(DraftId of, const Sizes& shape) {
    PlainTensor seen = tensor(of);
    const std::optional<Sizes> stride = viewStrides(seen.shape, seen.stride, shape);
    DraftId source = of;
    if (!stride) {
        seen.stride = rowMajor(seen.shape);
        source = add("clone", "aten.clone.default", {DraftArg::node(of)}, plainValue(seen));
    }
    seen.shape = shape;
    seen.stride = stride.value_or(rowMajor(shape));
    return add(stride ? "view" : "_unsafe_view", stride ? "aten.view.default" : "aten._unsafe_view.default",
               {DraftArg::node(source), DraftArg::numbers(shape)}, plainValue(seen));
}

namespace {

/// Type of a concatenation; for the float types that parameters have.
DType promoted(DType a, DType b) {
    if (a == b)
        return a;
    if (dtypeBytes(a) != dtypeBytes(b))
        return dtypeBytes(a) > dtypeBytes(b) ? a : b;
    return DType::Float32; // bfloat16 and float16
}

} // namespace

DraftId Tracer::cat(const std::vector<DraftId>& parts, int64_t dim) {
    PlainTensor whole = tensor(parts.front());
    const auto along = static_cast<size_t>(dim);
    for (size_t i = 1; i < parts.size(); ++i) {
        const PlainTensor part = tensor(parts[i]);
        whole.shape[along] += part.shape[along];
        whole.dtype = promoted(whole.dtype, part.dtype);
    }
    whole.stride = rowMajor(whole.shape);
    std::vector<DraftArg> args{DraftArg::list(parts)};
    if (dim != 0)
        args.push_back(DraftArg::number(dim));
    return add("cat", "aten.cat.default", std::move(args), plainValue(whole));
}

DraftId Tracer::wait(DraftId launch) {
    return add("wait_tensor", "_c10d_functional.wait_tensor.default", {DraftArg::node(launch)},
               draft_.value(launch));
}

std::vector<DraftId> Tracer::split(DraftId of, const Sizes& sizes, int64_t dim) {
    Value parts;
    parts.kind = Value::Kind::List;
    PlainTensor part = tensor(of);
    for (const int64_t size : sizes) {
        part.shape[static_cast<size_t>(dim)] = size;
        parts.items.push_back(plainValue(part));
    }
    std::vector<DraftArg> args{DraftArg::node(of), DraftArg::numbers(sizes)};
    if (dim != 0)
        args.push_back(DraftArg::number(dim));
    const DraftId whole = add("split_with_sizes", "aten.split_with_sizes.default", std::move(args), parts);
    std::vector<DraftId> items;
    for (size_t i = 0; i < sizes.size(); ++i)
        items.push_back(add("getitem", "operator.getitem",
                            {DraftArg::node(whole), DraftArg::number(static_cast<int64_t>(i))},
                            parts.items[i]));
    return items;
}

namespace {

/// Strides of a view-like node from its input's; nothing for operators that are not followed.
std::optional<Sizes> followedStrides(const Draft& draft, DraftId id, const PlainTensor& input,
                                     const PlainTensor& output) {
    const std::string_view target = draft.target(id);
    if (target == "aten.view.default" || target == "aten.reshape.default")
        return viewStrides(input.shape, input.stride, output.shape);
    if (target == "aten.alias.default" || target == "aten.detach.default")
        return input.stride;
    if (target == "aten.t.default")
        return Sizes(input.stride.rbegin(), input.stride.rend());
    if (target == "aten.slice.Tensor" && !draft.added(id)) {
        const Arg* step = draft.graph().arg(id, 4);
        if (!step || (step->kind == Arg::Kind::Int && step->integer == 1))
            return input.stride;
    }
    return std::nullopt;
}

} // namespace

void repairStrides(Draft& draft, std::vector<DraftId> users) {
    for (size_t at = 0; at < users.size(); ++at) {
        const DraftId id = users[at];
        const auto output = plainTensor(draft.value(id));
        const auto input =
            draft.inputs(id).size() == 1 ? plainTensor(draft.value(draft.inputs(id)[0])) : std::nullopt;
        if (!output || !input)
            continue;
        const auto stride = followedStrides(draft, id, *input, *output);
        if (!stride || *stride == output->stride || stride->size() != output->stride.size())
            continue;
        PlainTensor repaired = *output;
        repaired.stride = *stride;
        draft.setValue(id, plainValue(repaired));
        users.insert(users.end(), draft.users(id).begin(), draft.users(id).end());
    }
}

} // namespace gs
