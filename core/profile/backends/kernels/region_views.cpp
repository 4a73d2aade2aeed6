// Views inside a region: index changes instead of copies. Semantics: aten/src/ATen/native/TensorShape.cpp.
#include "profile/backends/kernels/region_plan.h"

#include <algorithm>
#include <unordered_map>

namespace gs::kernels {

namespace {

/// Position of the dimension that an argument states; negative ones count from the end.
std::optional<size_t> dimOf(const Graph& graph, NodeId node, size_t index, size_t rank) {
    const Arg* arg = graph.arg(node, index);
    int64_t dim = arg && arg->isInt() ? arg->integer : 0;
    dim = dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
    if (dim < 0 || dim >= static_cast<int64_t>(rank))
        return std::nullopt;
    return static_cast<size_t>(dim);
}

struct ViewCall {
    PlanBuilder& builder;
    NodeId node;
    PrimId source;
    Shape shape; ///< of the result

    const Prim& from() const { return builder.prim(source); }
    Error no(const char* why) const { return notSupported(builder.graph(), node, why); }
    Prim prim(PrimKind kind) const {
        Prim view;
        view.kind = kind;
        view.dtype = from().dtype;
        view.shape = shape;
        view.args = {source};
        return view;
    }
};

Result<PrimId> sameElements(const ViewCall& call) {
    if (elements(call.shape) != elements(call.from().shape))
        return call.no("another number of elements");
    return call.builder.reshape(call.source, call.shape);
}

Result<PrimId> permuted(const ViewCall& call, std::vector<size_t> order) {
    Shape shape;
    for (size_t dim : order)
        shape.push_back(call.from().shape[dim]);
    if (shape != call.shape)
        return call.no("the shape does not follow from the order");
    Prim view = call.prim(PrimKind::Permute);
    view.order = std::move(order);
    return call.builder.add(std::move(view));
}

std::vector<size_t> identity(size_t rank) {
    std::vector<size_t> order(rank);
    for (size_t d = 0; d < rank; ++d)
        order[d] = d;
    return order;
}

Result<PrimId> swapLast(const ViewCall& call) {
    std::vector<size_t> order = identity(call.from().shape.size());
    if (order.size() >= 2)
        std::swap(order[order.size() - 1], order[order.size() - 2]);
    return permuted(call, std::move(order));
}

Result<PrimId> swapTwo(const ViewCall& call) {
    const size_t rank = call.from().shape.size();
    const auto a = dimOf(call.builder.graph(), call.node, 1, rank);
    const auto b = dimOf(call.builder.graph(), call.node, 2, rank);
    if (!a || !b)
        return call.no("dimensions out of range");
    std::vector<size_t> order = identity(rank);
    std::swap(order[*a], order[*b]);
    return permuted(call, std::move(order));
}

Result<PrimId> permutedByList(const ViewCall& call) {
    const Graph& graph = call.builder.graph();
    const Arg* list = graph.arg(call.node, 1);
    const size_t rank = call.from().shape.size();
    std::vector<size_t> order;
    if (list && list->kind == Arg::Kind::List) {
        for (const Arg& item : graph.children(*list)) {
            const int64_t dim = item.integer < 0 ? item.integer + static_cast<int64_t>(rank) : item.integer;
            if (dim < 0 || dim >= static_cast<int64_t>(rank))
                return call.no("dimensions out of range");
            order.push_back(static_cast<size_t>(dim));
        }
    }
    return order.size() == rank ? permuted(call, std::move(order)) : call.no("an order that is no list");
}

Result<PrimId> expanded(const ViewCall& call) {
    const Shape& from = call.from().shape;
    if (from.size() > call.shape.size())
        return call.no("fewer dimensions than its source");
    for (size_t d = 0; d < from.size(); ++d) {
        if (from[d] != 1 && from[d] != call.shape[call.shape.size() - from.size() + d])
            return call.no("sizes that do not expand");
    }
    return call.builder.add(call.prim(PrimKind::Expand));
}

Result<PrimId> sliced(const ViewCall& call) {
    const Graph& graph = call.builder.graph();
    const auto dim = dimOf(graph, call.node, 1, call.from().shape.size());
    if (!dim || call.shape.size() != call.from().shape.size())
        return call.no("dimensions out of range");
    const Arg* start = graph.arg(call.node, 2);
    const Arg* step = graph.arg(call.node, 4);
    const int64_t size = call.from().shape[*dim];
    Prim view = call.prim(PrimKind::Slice);
    view.dim = *dim;
    view.start = start && start->isInt() ? start->integer : 0;
    view.start = std::clamp<int64_t>(view.start < 0 ? view.start + size : view.start, 0, size);
    view.step = step && step->isInt() ? std::max<int64_t>(step->integer, 1) : 1;
    if (call.shape[*dim] < 1 || view.start + (call.shape[*dim] - 1) * view.step >= size)
        return call.no("a slice beyond its source");
    return call.builder.add(std::move(view));
}

Result<PrimId> selected(const ViewCall& call) {
    const Graph& graph = call.builder.graph();
    const auto dim = dimOf(graph, call.node, 1, call.from().shape.size());
    const Arg* index = graph.arg(call.node, 2);
    if (!dim || !index || !index->isInt())
        return call.no("dimensions out of range");
    const int64_t size = call.from().shape[*dim];
    Prim view = call.prim(PrimKind::Slice);
    view.dim = *dim;
    view.start = index->integer < 0 ? index->integer + size : index->integer;
    view.shape = call.from().shape;
    view.shape[*dim] = 1;
    if (view.start < 0 || view.start >= size)
        return call.no("an index beyond its source");
    const PrimId one = call.builder.add(std::move(view));
    return call.builder.reshape(one, call.shape);
}

template <PrimKind Kind>
Result<PrimId> complexView(const ViewCall& call) {
    Prim view = call.prim(Kind);
    const bool complex = call.from().dtype == DType::Complex64;
    if (Kind == PrimKind::FromParts ? call.from().dtype != DType::Float32 || call.from().shape.back() != 2
                                    : !complex)
        return Kind == PrimKind::Conj ? Result<PrimId>(call.source) : call.no("not complex64");
    view.dtype = Kind == PrimKind::Parts ? DType::Float32 : DType::Complex64;
    return call.builder.add(std::move(view));
}

using View = Result<PrimId> (*)(const ViewCall& call);

const std::unordered_map<std::string_view, View>& views() {
    static const std::unordered_map<std::string_view, View> kViews = {
        {"aten.view", sameElements},
        {"aten.reshape", sameElements},
        {"aten._unsafe_view", sameElements},
        {"aten._reshape_alias", sameElements},
        {"aten.view_as", sameElements},
        {"aten.reshape_as", sameElements},
        {"aten.flatten", sameElements},
        {"aten.unflatten", sameElements},
        {"aten.ravel", sameElements},
        {"aten.squeeze", sameElements},
        {"aten.unsqueeze", sameElements},
        {"aten.alias", sameElements},
        {"aten.detach", sameElements},
        {"aten.contiguous", sameElements},
        {"aten.lift_fresh", sameElements},
        {"aten.positive", sameElements},
        {"aten.resolve_conj", sameElements},
        {"aten.resolve_neg", sameElements},
        {"aten.t", swapLast},
        {"aten.mT", swapLast},
        {"aten.numpy_T", swapLast},
        {"aten.transpose", swapTwo},
        {"aten.swapaxes", swapTwo},
        {"aten.swapdims", swapTwo},
        {"aten.permute", permutedByList},
        {"aten.expand", expanded},
        {"aten.expand_as", expanded},
        {"aten.broadcast_to", expanded},
        {"aten.slice", sliced},
        {"aten.select", selected},
        {"aten.view_as_real", complexView<PrimKind::Parts>},
        {"aten.view_as_complex", complexView<PrimKind::FromParts>},
        {"aten._conj", complexView<PrimKind::Conj>},
    };
    return kViews;
}

} // namespace

std::optional<Result<PrimId>> PlanBuilder::viewOf(NodeId node, PrimId source) {
    const std::string_view target = graph_.targetText(node);
    auto found = views().find(target.substr(0, target.find('.', target.find('.') + 1)));
    if (found == views().end())
        return std::nullopt;
    Result<Shape> shape = sizesOf(tensorOf(graph_.value(node), 0));
    if (!shape)
        return Result<PrimId>(shape.error());
    // A view by dtype ("aten.view.dtype") shows other elements.
    if (tensorOf(graph_.value(node), 0)->dtype != prim(source).dtype && target.starts_with("aten.view."))
        return Result<PrimId>(notSupported(graph_, node, "a view as another type"));
    return found->second(ViewCall{*this, node, source, std::move(shape.value())});
}

} // namespace gs::kernels
