// Operators that only move elements.
#include "profile/backends/kernels/region_plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs::kernels {

bool isKernelType(DType dtype) {
    switch (dtype) {
    case DType::Float64:
    case DType::Float32:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Int64:
    case DType::Int32:
    case DType::Int16:
    case DType::Int8:
    case DType::UInt8:
    case DType::Bool:
    case DType::Complex64:
        return true;
    default:
        return false;
    }
}

namespace {

Result<size_t> dimAt(const Graph& graph, NodeId node, size_t index, size_t rank) {
    const Arg* arg = graph.arg(node, index);
    int64_t dim = arg && arg->isInt() ? arg->integer : 0;
    dim = dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
    if (dim < 0 || dim >= static_cast<int64_t>(rank))
        return notSupported(graph, node, "a dimension out of range");
    return static_cast<size_t>(dim);
}

Result<PrimId> concat(PlanBuilder& builder, NodeId node, const Shape& shape) {
    const Graph& graph = builder.graph();
    const Arg* list = graph.arg(node, 0);
    const Result<size_t> dim = dimAt(graph, node, 1, shape.size());
    if (!dim || !list || list->kind != Arg::Kind::List)
        return dim ? notSupported(graph, node, "operands that are no list") : dim.error();
    Prim prim;
    prim.kind = PrimKind::Concat;
    prim.dim = dim.value();
    prim.shape = shape;
    int64_t size = 0;
    for (const Arg& item : graph.children(*list)) {
        const TensorMeta* tensor = item.node() == kNoNode ? nullptr : tensorOf(graph.value(item.node()), 0);
        if (tensor && tensor->numel() == 0)
            continue;
        const Result<PrimId> part = builder.valueOf(item.node());
        if (!part)
            return part;
        const Prim& from = builder.prim(part.value());
        if (from.shape.size() != shape.size() || (prim.dtype != DType::Unknown && from.dtype != prim.dtype))
            return notSupported(graph, node, "operands of different ranks or types");
        prim.dtype = from.dtype;
        size += from.shape[prim.dim];
        prim.args.push_back(part.value());
    }
    constexpr size_t kMost = 128; // a chain of comparisons; more would not fit the kernel's parameters either
    if (prim.args.empty() || prim.args.size() > kMost || size != shape[prim.dim])
        return notSupported(graph, node, "too many operands, or none");
    return builder.add(std::move(prim));
}

Prim padding(PrimId source, const Shape& shape, DType dtype, size_t dim, int64_t before,
             std::string filling) {
    Prim pad;
    pad.kind = PrimKind::Pad;
    pad.dtype = dtype;
    pad.shape = shape;
    pad.args = {source};
    pad.dim = dim;
    pad.start = before;
    pad.expression = std::move(filling);
    return pad;
}

/// constant_pad_nd(self, pad, value): pairs from the last dimension on.
Result<PrimId> padded(PlanBuilder& builder, NodeId node, const Shape&) {
    const Graph& graph = builder.graph();
    Result<PrimId> made = builder.valueOf(graph.inputs(node).front());
    const Arg* list = graph.arg(node, 1);
    const Arg* value = graph.arg(node, 2);
    if (!made || !list || list->kind != Arg::Kind::List)
        return made ? notSupported(graph, node, "amounts that are no list") : made;
    std::string filling = "0";
    if (value && value->kind == Arg::Kind::Float)
        filling = fmt::format("{:.17g}", value->real);
    else if (value && value->isInt())
        filling = std::to_string(value->integer);
    const auto amounts = graph.children(*list);
    for (size_t i = 0; i + 1 < amounts.size(); i += 2) {
        const Prim& from = builder.prim(made.value());
        Shape shape = from.shape;
        const int64_t before = amounts[i].integer, after = amounts[i + 1].integer;
        if (i / 2 >= shape.size() || before < 0 || after < 0)
            return notSupported(graph, node, "amounts that cut");
        const size_t dim = shape.size() - 1 - i / 2;
        shape[dim] += before + after;
        if (before + after > 0)
            made = builder.add(padding(made.value(), shape, from.dtype, dim, before, filling));
    }
    return made;
}

/// slice_backward(grad, input_sizes, dim, start, end, step)
Result<PrimId> unsliced(PlanBuilder& builder, NodeId node, const Shape& shape) {
    const Graph& graph = builder.graph();
    const Result<PrimId> source = builder.valueOf(graph.inputs(node).front());
    const Result<size_t> dim = dimAt(graph, node, 2, shape.size());
    const Arg* start = graph.arg(node, 3);
    const Arg* step = graph.arg(node, 5);
    if (!source || !dim)
        return source ? Result<PrimId>(dim.error()) : source;
    if (!start || !start->isInt() || (step && step->integer != 1))
        return notSupported(graph, node, "steps over elements");
    const Prim& from = builder.prim(source.value());
    int64_t first = start->integer < 0 ? start->integer + shape[dim.value()] : start->integer;
    first = std::clamp<int64_t>(first, 0, shape[dim.value()]);
    if (from.shape.size() != shape.size() || first + from.shape[dim.value()] > shape[dim.value()])
        return notSupported(graph, node, "a slice beyond its source");
    return builder.add(padding(source.value(), shape, from.dtype, dim.value(), first, "0"));
}

} // namespace

Status addMovement(PlanBuilder& builder, NodeId node) {
    const Graph& graph = builder.graph();
    const std::string_view target = graph.targetText(node);
    const std::string_view packet = target.substr(0, target.find('.', target.find('.') + 1));
    const TensorMeta* tensor = tensorOf(graph.value(node), 0);
    const Result<Shape> shape = sizesOf(tensor);
    if (!shape)
        return shape.error();
    if (elements(shape.value()) == 0 || !isKernelType(tensor->dtype))
        return notSupported(graph, node, "a result of this type or size");
    Result<PrimId> made = notSupported(graph, node, "no row says what it computes");
    if (packet == "aten.cat") {
        made = concat(builder, node, shape.value());
    } else if (graph.inputs(node).empty()) {
        return made.error();
    } else if (packet == "aten.constant_pad_nd") {
        made = padded(builder, node, shape.value());
    } else if (packet == "aten.slice_backward") {
        made = unsliced(builder, node, shape.value());
    } else {
        const Result<PrimId> source = builder.valueOf(graph.inputs(node).front());
        if (!source)
            return source.error();
        if (auto view = builder.viewOf(node, source.value()))
            made = *view;
    }
    if (!made)
        return made.error();
    if (elements(builder.prim(made.value()).shape) != elements(shape.value()))
        return notSupported(graph, node, "a result of another size than its operands give");
    Prim copy;
    copy.dtype = copy.compute = builder.prim(made.value()).dtype;
    copy.rounded = true;
    copy.shape = shape.value();
    copy.args = {builder.reshape(made.value(), shape.value())};
    copy.arg_types = {DType::Unknown};
    copy.expression = "{0}";
    builder.setResult(node, 0, builder.add(std::move(copy)));
    return Unit{};
}

} // namespace gs::kernels
