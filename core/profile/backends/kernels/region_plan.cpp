#include "profile/backends/kernels/region_plan.h"

#include <algorithm>

namespace gs::kernels {

namespace {

/// A view or an unpack of its first input.
bool looksAt(const Graph& graph, NodeId node) {
    const NodeKind kind = graph.node(node).kind;
    const bool looks = kind == NodeKind::View || kind == NodeKind::Unpack ||
                       graph.targetText(node).starts_with("aten._unsafe_view");
    return looks && !graph.inputs(node).empty();
}

} // namespace

const TensorMeta* tensorOf(const Value& value, size_t item) {
    if (value.kind == Value::Kind::Tensor)
        return item == 0 ? &value.tensor : nullptr;
    if (value.kind != Value::Kind::List || item >= value.items.size() ||
        value.items[item].kind != Value::Kind::Tensor)
        return nullptr;
    return &value.items[item].tensor;
}

Result<Shape> sizesOf(const TensorMeta* tensor) {
    Shape shape;
    if (!tensor)
        return Error{"unknown-shape", "the result has no shape", {}, {}};
    for (const Dim& dim : tensor->shape) {
        if (dim.value < 0)
            return Error{"unknown-shape", "a size has no number", {}, {}};
        shape.push_back(dim.value);
    }
    return shape;
}

Error notSupported(const Graph& graph, NodeId node, const std::string& why) {
    return {"not-supported",
            std::string(graph.name(node)) + " (" + std::string(graph.targetText(node)) + "): " + why,
            {},
            {}};
}

PlanBuilder::PlanBuilder(const Graph& graph, const FusedRegion& region)
    : graph_(graph), region_(region), members_(region.nodes.begin(), region.nodes.end()) {}

PrimId PlanBuilder::add(Prim prim) {
    plan_.prims.push_back(std::move(prim));
    return static_cast<PrimId>(plan_.prims.size() - 1);
}

PrimId PlanBuilder::reshape(PrimId of, const Shape& shape) {
    if (prim(of).shape == shape)
        return of;
    Prim view;
    view.kind = PrimKind::Reshape;
    view.dtype = prim(of).dtype;
    view.shape = shape;
    view.args = {of};
    return add(std::move(view));
}

/// A node whose value is computed here: a member, or a view or unpack of one.
bool PlanBuilder::isInside(NodeId node) const {
    while (!members_.contains(node)) {
        if (!looksAt(graph_, node) || node < region_.nodes.front())
            return false;
        node = graph_.inputs(node).front();
    }
    return true;
}

Result<PrimId> PlanBuilder::addInput(NodeId node, size_t item) {
    if (auto found = inputs_.find({node, item}); found != inputs_.end())
        return found->second;
    const TensorMeta* tensor = tensorOf(graph_.value(node), item);
    Result<Shape> shape = sizesOf(tensor);
    if (!shape)
        return shape.error();
    if (dtypeBytes(tensor->dtype) == 0 || elements(shape.value()) == 0)
        return notSupported(graph_, node, "an operand is empty or of a type without a size");
    Prim input;
    input.kind = PrimKind::Input;
    input.dtype = tensor->dtype;
    input.shape = shape.value();
    input.strides.assign(input.shape.size(), 1);
    for (size_t d = input.shape.size(); d-- > 1;)
        input.strides[d - 1] = input.strides[d] * input.shape[d];
    const bool stated = tensor->has_stride && tensor->stride.size() == input.shape.size() &&
                        std::ranges::all_of(tensor->stride, [](const Dim& dim) { return dim.value >= 0; });
    for (size_t d = 0; stated && d < input.shape.size(); ++d)
        input.strides[d] = tensor->stride[d].value;
    const PrimId id = add(std::move(input));
    plan_.inputs.push_back({node, item, id});
    inputs_[{node, item}] = id;
    return id;
}

/// The results of a split by position: pieces along its dimension.
Result<PrimId> PlanBuilder::selectedItem(NodeId getitem, NodeId source, size_t item) {
    if (members_.contains(source))
        return valueOf(source, item);
    const Result<PrimId> whole = valueOf(graph_.inputs(source).front());
    const Result<Shape> shape = sizesOf(tensorOf(graph_.value(source), item));
    if (!whole || !shape)
        return whole ? Result<PrimId>(shape.error()) : whole;
    // The pieces before this one give where it starts; the dimension is the one whose size differs.
    const Shape& from = prim(whole.value()).shape;
    const Arg* arg = graph_.arg(source, graph_.targetText(source).starts_with("aten.unbind") ? 1 : 2);
    int64_t dim = arg && arg->isInt() ? arg->integer : 0;
    dim = dim < 0 ? dim + static_cast<int64_t>(from.size()) : dim;
    if (shape->size() != from.size() || dim < 0 || dim >= static_cast<int64_t>(from.size()))
        return notSupported(graph_, getitem, "a piece of another rank");
    int64_t start = 0;
    for (size_t i = 0; i < item; ++i) {
        const Result<Shape> before = sizesOf(tensorOf(graph_.value(source), i));
        if (!before)
            return before.error();
        start += before.value()[static_cast<size_t>(dim)];
    }
    Prim slice;
    slice.kind = PrimKind::Slice;
    slice.dtype = prim(whole.value()).dtype;
    slice.shape = shape.value();
    slice.args = {whole.value()};
    slice.dim = static_cast<size_t>(dim);
    slice.start = start;
    return add(std::move(slice));
}

Result<PrimId> PlanBuilder::valueOf(NodeId node, size_t item) {
    if (auto found = results_.find({node, item}); found != results_.end())
        return found->second;
    if (members_.contains(node))
        return notSupported(graph_, node, "this result is not computed");
    if (!isInside(node))
        return addInput(node, item);
    // Up to what is known, then down again: chains of views may be longer than a stack is deep.
    std::vector<NodeId> views{node};
    for (NodeId at = node; graph_.node(at).kind != NodeKind::Unpack;) {
        at = graph_.inputs(at).front();
        if (members_.contains(at) || results_.contains({at, 0}))
            break;
        views.push_back(at);
    }
    Result<PrimId> made = Error{};
    for (; !views.empty(); views.pop_back()) {
        const NodeId at = views.back();
        const NodeId source = graph_.inputs(at).front();
        if (graph_.node(at).kind == NodeKind::Unpack) {
            const Arg* position = graph_.arg(at, 1);
            if (!position || position->kind != Arg::Kind::Int || position->integer < 0)
                return notSupported(graph_, at, "an unpack without a position");
            made = selectedItem(at, source, static_cast<size_t>(position->integer));
        } else {
            const Result<PrimId> from = valueOf(source);
            if (!from)
                return from;
            auto view = viewOf(at, from.value());
            if (!view)
                return notSupported(graph_, at, "a view that is not known here");
            made = *view;
        }
        if (!made)
            return made;
        results_[{at, at == node ? item : 0}] = made.value();
    }
    return made;
}

/// True if someone outside reads `node`, itself or through views.
bool PlanBuilder::isReadOutside(NodeId node) const {
    std::vector<NodeId> open{node}; // a list, since chains of views may be longer than a stack is deep
    std::set<NodeId> seen;
    while (!open.empty()) {
        const NodeId read = open.back();
        open.pop_back();
        for (const NodeId user : graph_.users(read)) {
            if (members_.contains(user))
                continue;
            const bool looks = looksAt(graph_, user) && graph_.inputs(user).front() == read;
            if (!looks && !isInside(user))
                return true;
            if (seen.insert(user).second)
                open.push_back(user);
        }
    }
    return false;
}

/// Every result that someone outside reads, through views of it or directly; what nobody reads is computed
/// all the same. An unrounded result is one that no operator states.
void PlanBuilder::collectOutputs() {
    std::set<PrimId> taken;
    const auto take = [&](NodeId node, size_t item, PrimId id) {
        if (taken.insert(id).second)
            plan_.outputs.push_back({node, item, id});
    };
    std::set<PrimId> used;
    for (const Prim& item : plan_.prims)
        used.insert(item.args.begin(), item.args.end());
    for (const auto& [key, id] : results_) {
        if (members_.contains(key.first) &&
            (isReadOutside(key.first) || !used.contains(id) || graph_.hasTrait(key.first, kTraitMutable)))
            take(key.first, key.second, id);
    }
}

Result<RegionPlan> PlanBuilder::build() {
    for (NodeId node : region_.nodes) {
        if (Status status = addOperator(*this, node); !status)
            return status.error();
    }
    collectOutputs();
    if (plan_.outputs.empty())
        return Error{"not-supported", "the region yields nothing", {}, {}};
    return std::move(plan_);
}

Result<RegionPlan> planRegion(const Graph& graph, const FusedRegion& region) {
    return PlanBuilder(graph, region).build();
}

} // namespace gs::kernels
