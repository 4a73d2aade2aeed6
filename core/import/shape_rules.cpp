#include "import/shape_rules.h"

#include <algorithm>
#include <unordered_map>

namespace gs {

namespace {

Value sameAsFirst(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    return tensor ? like(*tensor, tensor->shape) : call.value(0) ? *call.value(0) : Value{};
}

/// Rank of a dtype in PyTorch's promotion: bool < integers < floats < complex, wider above narrower.
int promotionRank(DType dtype) {
    const int64_t bytes = dtypeBytes(dtype);
    if (dtype == DType::Bool)
        return 0;
    if (dtype == DType::Complex32 || dtype == DType::Complex64 || dtype == DType::Complex128)
        return 300 + static_cast<int>(bytes);
    return (dtypeIsFloat(dtype) ? 200 : 100) + static_cast<int>(bytes);
}

/// Operators that answer a question about each element.
bool yieldsBool(std::string_view packet) {
    for (const char* name : {"aten.eq", "aten.ne", "aten.lt", "aten.le", "aten.gt", "aten.ge", "aten.isnan",
                             "aten.isinf", "aten.logical_and", "aten.logical_or", "aten.logical_not"}) {
        if (packet == name)
            return true;
    }
    return false;
}

Value pointwise(const ShapeCall& call) {
    const std::vector<TensorMeta> inputs = call.inputs();
    if (inputs.empty())
        return {};
    std::vector<Dim> shape;
    DType dtype = DType::Unknown;
    size_t rank_of_dtype = 0;
    const bool where = call.target().substr(0, 10) == "aten.where";
    for (size_t i = 0; i < inputs.size(); ++i) {
        const TensorMeta& input = inputs[i];
        if (input.shape.size() > shape.size())
            shape.insert(shape.begin(), input.shape.size() - shape.size(), Dim{1, kEmptyString});
        for (size_t d = 0; d < input.shape.size(); ++d) {
            Dim& out = shape[shape.size() - input.shape.size() + d];
            if (input.shape[d].value != 1)
                out = input.shape[d];
        }
        if (where && i == 0 && inputs.size() > 1)
            continue;
        const bool first = dtype == DType::Unknown;
        // a tensor without dimensions takes part in promotion only between kinds
        const bool scalar = input.shape.empty() && rank_of_dtype > 0;
        const bool higher = promotionRank(input.dtype) / 100 > promotionRank(dtype) / 100 ||
                            (!scalar && promotionRank(input.dtype) > promotionRank(dtype)) ||
                            (rank_of_dtype == 0 && !input.shape.empty() &&
                             promotionRank(input.dtype) / 100 == promotionRank(dtype) / 100);
        if (first || higher)
            dtype = input.dtype;
        rank_of_dtype = std::max(rank_of_dtype, input.shape.size());
    }
    const std::string_view target = call.target();
    const std::string_view packet = target.substr(0, target.rfind('.'));
    return tensorValue(yieldsBool(packet) ? DType::Bool : dtype, std::move(shape), inputs.front().device);
}

/// Like pointwise(), of integers it makes floats.
Value pointwiseFloat(const ShapeCall& call) {
    Value value = pointwise(call);
    if (value.kind == Value::Kind::Tensor && promotionRank(value.tensor.dtype) < 200)
        value.tensor.dtype = DType::Float32;
    return value;
}

Value cast(const ShapeCall& call) {
    Value value = sameAsFirst(call);
    if (value.kind == Value::Kind::Tensor)
        value.tensor.dtype = call.dtypeAt(1, value.tensor.dtype);
    return value;
}

Value scaledDim0(const TensorMeta& tensor, int64_t times, int64_t over) {
    std::vector<Dim> shape = tensor.shape;
    if (!shape.empty() && shape[0].value >= 0 && over > 0 && times > 0)
        shape[0] = {shape[0].value * times / over, kEmptyString};
    else if (!shape.empty())
        shape[0].value = kUnknownSize;
    return like(tensor, std::move(shape));
}

Value scaledCollective(const ShapeCall& call, bool gather) {
    const int64_t size = call.integer(static_cast<size_t>(std::max<int>(call.traits().group_size_arg, 0)), 0);
    const Arg* list = call.arg(0);
    if (list && list->kind == Arg::Kind::List) {
        std::vector<Value> items;
        for (const TensorMeta& tensor : call.tensors(0))
            items.push_back(gather ? scaledDim0(tensor, size, 1) : scaledDim0(tensor, 1, size));
        return items.empty() ? Value{} : listValue(std::move(items));
    }
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor || call.traits().group_size_arg < 0)
        return {};
    return gather ? scaledDim0(*tensor, size, 1) : scaledDim0(*tensor, 1, size);
}

Value gatherCollective(const ShapeCall& call) {
    return scaledCollective(call, true);
}
Value scatterCollective(const ShapeCall& call) {
    return scaledCollective(call, false);
}

Value allToAll(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor || tensor->shape.empty())
        return {};
    const std::vector<Dim> splits = call.dims(1);
    if (splits.empty())
        return like(*tensor, tensor->shape);
    std::vector<Dim> shape = tensor->shape;
    shape[0] = {0, kEmptyString};
    for (const Dim& split : splits)
        shape[0].value = split.value < 0 || shape[0].value < 0 ? kUnknownSize : shape[0].value + split.value;
    return like(*tensor, std::move(shape));
}

/// mm, bmm and their forms with a matrix added; the matrices are the last two tensors.
Value matrixProduct(const ShapeCall& call) {
    const std::vector<TensorMeta> inputs = call.inputs();
    const bool added = call.target().find("add") != std::string_view::npos ||
                       call.target().find("baddbmm") != std::string_view::npos;
    const size_t at = added ? 1 : 0;
    if (inputs.size() < at + 2 || inputs[at].shape.size() < 2 || inputs[at + 1].shape.size() < 2)
        return {};
    std::vector<Dim> shape = inputs[at].shape;
    shape.back() = inputs[at + 1].shape.back();
    return like(inputs[at], std::move(shape));
}

Value reduced(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    const std::vector<int64_t> dims = call.integers(1, "dim");
    const bool keep = call.flag(2, false, "keepdim");
    std::vector<Dim> shape;
    for (size_t i = 0; i < tensor->shape.size(); ++i) {
        const bool gone = dims.empty() || std::any_of(dims.begin(), dims.end(), [&](int64_t dim) {
                              return dimIndex(dim, tensor->shape.size()) == i;
                          });
        if (!gone)
            shape.push_back(tensor->shape[i]);
        else if (keep)
            shape.push_back({1, kEmptyString});
    }
    Value value = like(*tensor, std::move(shape));
    const bool sum = call.target().substr(0, 8) == "aten.sum";
    const DType own = sum && promotionRank(tensor->dtype) < 200 ? DType::Int64 : tensor->dtype;
    value.tensor.dtype = call.dtype("dtype", own);
    return value;
}

Value embedded(const ShapeCall& call) {
    const TensorMeta* weight = call.tensor(0);
    const TensorMeta* index = call.tensor(1);
    if (!weight || !index || weight->shape.size() != 2)
        return {};
    std::vector<Dim> shape = index->shape;
    shape.push_back(weight->shape[1]);
    return like(*weight, std::move(shape));
}

Value filled(const ShapeCall& call) {
    return tensorValue(call.dtype("dtype", DType::Float32), call.dims(0), kEmptyString);
}

Value filledLike(const ShapeCall& call) {
    Value value = sameAsFirst(call);
    if (value.kind == Value::Kind::Tensor)
        value.tensor.dtype = call.dtype("dtype", value.tensor.dtype);
    return value;
}

/// Attention yields the output (the queries' shape with the last size of the values), the row sums, and the
/// state of its random numbers at a place that depends on the backend.
Value attention(const ShapeCall& call) {
    const TensorMeta* query = call.tensor(0);
    const TensorMeta* value = call.tensor(2);
    if (!query || !value || query->shape.size() != 4 || value->shape.size() != 4)
        return {};
    std::vector<Dim> shape = query->shape;
    shape.back() = value->shape.back();
    const std::vector<Dim> sums(query->shape.begin(), query->shape.end() - 1);
    Value result =
        listValue({like(*query, std::move(shape)), tensorValue(DType::Float32, sums, query->device)});
    const bool efficient = call.target().find("efficient") != std::string_view::npos;
    const bool flash = call.target().find("flash") != std::string_view::npos;
    if (call.target().substr(0, 5) != "aten.")
        return result;
    const size_t state = efficient ? 2 : 6;
    result.items.resize(state);
    for (int i = 0; i < 2; ++i) {
        std::vector<Dim> dims;
        if (flash && i == 0)
            dims.push_back({2, kEmptyString});
        result.items.push_back(
            tensorValue(flash ? DType::UInt64 : DType::Int64, std::move(dims), query->device));
    }
    return result;
}

/// Gradients of query, key and value, which follow the gradient of the output among the arguments.
Value attentionBackward(const ShapeCall& call) {
    std::vector<Value> items;
    for (size_t i = 1; i <= 3; ++i) {
        const TensorMeta* tensor = call.tensor(i);
        if (!tensor)
            return {};
        items.push_back(like(*tensor, tensor->shape));
    }
    return listValue(std::move(items));
}

/// flex_attention_backward(query, key, value, …) yields the gradients of the first three.
Value flexBackward(const ShapeCall& call) {
    std::vector<Value> items;
    for (size_t i = 0; i < 3; ++i) {
        const TensorMeta* tensor = call.tensor(i);
        if (!tensor)
            return {};
        items.push_back(like(*tensor, tensor->shape));
    }
    return listValue(std::move(items));
}

Value indexed(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    const std::vector<TensorMeta> indices = call.tensors(1);
    if (!tensor || indices.size() != 1 || tensor->shape.empty() || indices[0].dtype == DType::Bool)
        return {};
    std::vector<Dim> shape = indices[0].shape;
    shape.insert(shape.end(), tensor->shape.begin() + 1, tensor->shape.end());
    return like(*tensor, std::move(shape));
}

Value likeIndex(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    const TensorMeta* index = call.tensor(2);
    return tensor && index ? like(*tensor, index->shape) : Value{};
}

/// _grouped_mm(a, b, offsets): groups along the rows of `a`, or along the inner size of both.
Value groupedProduct(const ShapeCall& call) {
    const TensorMeta* a = call.tensor(0);
    const TensorMeta* b = call.tensor(1);
    const std::vector<TensorMeta> inputs = call.inputs();
    if (!a || !b || a->shape.size() != 2)
        return {};
    std::vector<Dim> shape = {a->shape[0], b->shape.back()};
    if (b->shape.size() == 2 && inputs.size() > 2 && inputs[2].shape.size() == 1)
        shape.insert(shape.begin(), inputs[2].shape[0]);
    return like(*a, std::move(shape));
}

/// topk(input, k, dim) yields values and their positions; sort the same with all of them.
Value ordered(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor)
        return {};
    std::vector<Dim> shape = tensor->shape;
    const bool top = call.target().substr(0, 9) == "aten.topk";
    const size_t at = dimIndex(call.integer(2, -1, "dim"), shape.size());
    if (top && at < shape.size())
        shape[at] = {call.integer(1, kUnknownSize), kEmptyString};
    return listValue({like(*tensor, shape), tensorValue(DType::Int64, shape, tensor->device)});
}

/// The second argument gives the shape: nll_loss_backward(grad, self, …).
Value sameAsSecond(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(1);
    return tensor ? like(*tensor, tensor->shape) : Value{};
}

/// new_zeros(self, size) and slice_backward(grad, size, …).
Value sizedLikeFirst(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    Value value = tensor ? like(*tensor, call.dims(1)) : Value{};
    if (tensor)
        value.tensor.dtype = call.dtype("dtype", tensor->dtype);
    return value;
}

/// embedding_dense_backward(grad, indices, rows, …)
Value embeddedBackward(const ShapeCall& call) {
    const TensorMeta* grad = call.tensor(0);
    if (!grad || grad->shape.empty())
        return {};
    return like(*grad, {{call.integer(2, kUnknownSize), kEmptyString}, grad->shape.back()});
}

/// nll_loss_forward with a mean or a sum: the loss and the total weight, both without dimensions.
Value lossOfClasses(const ShapeCall& call) {
    const TensorMeta* tensor = call.tensor(0);
    if (!tensor || call.integer(3, 0) == 0)
        return {};
    return listValue({like(*tensor, {}), like(*tensor, {})});
}

/// Operators whose result has the shape and dtype of their first argument.
constexpr std::string_view kSameAsFirst[] = {
    "_c10d_functional.wait_tensor",
    "c10d_functional.wait_tensor",
    "aten.clone",
    "aten.detach",
    "aten.alias",
    "aten.contiguous",
    "aten._conj",
    "aten._softmax",
    "aten._log_softmax",
    "aten.slice_scatter",
    "aten.select_scatter",
    "aten.scatter_add",
    "aten.scatter",
    "aten.index_put",
    "aten.copy_",
    "aten.fill",
    "aten.silu",
    "aten.silu_backward",
    "aten.scatter_",
    "aten._softmax_backward_data",
    "aten._log_softmax_backward_data",
};

const std::unordered_map<std::string_view, ShapeRule>& ruleTable() {
    static const std::unordered_map<std::string_view, ShapeRule> kRules = {
        {"_c10d_functional.all_to_all_single", allToAll},
        {"aten.mm", matrixProduct},
        {"aten.bmm", matrixProduct},
        {"aten.addmm", matrixProduct},
        {"aten.baddbmm", matrixProduct},
        {"aten._grouped_mm", groupedProduct},
        {"aten.sum", reduced},
        {"aten.mean", reduced},
        {"aten.amax", reduced},
        {"aten.amin", reduced},
        {"aten.embedding", embedded},
        {"aten.full", filled},
        {"aten.zeros", filled},
        {"aten.ones", filled},
        {"aten.empty", filled},
        {"aten.full_like", filledLike},
        {"aten.zeros_like", filledLike},
        {"aten.ones_like", filledLike},
        {"aten.empty_like", filledLike},
        {"aten._to_copy", filledLike},
        {"aten.cumsum", filledLike},
        {"aten.nll_loss_backward", sameAsSecond},
        {"aten.nll_loss_forward", lossOfClasses},
        {"aten.new_zeros", sizedLikeFirst},
        {"aten.new_empty", sizedLikeFirst},
        {"aten.slice_backward", sizedLikeFirst},
        {"aten.embedding_dense_backward", embeddedBackward},
        {"aten.topk", ordered},
        {"aten.sort", ordered},
        {"aten.gather", likeIndex},
        {"aten.index", indexed},
        {"aten._scaled_dot_product_flash_attention", attention},
        {"aten._scaled_dot_product_cudnn_attention", attention},
        {"aten._scaled_dot_product_efficient_attention", attention},
        {"aten._scaled_dot_product_flash_attention_backward", attentionBackward},
        {"aten._scaled_dot_product_cudnn_attention_backward", attentionBackward},
        {"higher_order.flex_attention", attention},
        {"higher_order.flex_attention_backward", flexBackward},
        {"prims.convert_element_type", cast},
        {"prims.fma", pointwise},
        {"aten.where", pointwise},
        {"aten.div", pointwiseFloat},
    };
    return kRules;
}

} // namespace

ShapeRule findShapeRule(std::string_view packet, const OpTraits& traits) {
    if (const auto found = ruleTable().find(packet); found != ruleTable().end())
        return found->second;
    if (std::find(std::begin(kSameAsFirst), std::end(kSameAsFirst), packet) != std::end(kSameAsFirst))
        return sameAsFirst;
    if (const ShapeRule view = findViewRule(packet))
        return view;
    switch (traits.collective) {
    case CollectiveKind::AllGather:
    case CollectiveKind::AllGatherCoalesced:
        return gatherCollective;
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::ReduceScatterCoalesced:
        return scatterCollective;
    case CollectiveKind::AllReduce:
    case CollectiveKind::Broadcast:
        return sameAsFirst;
    default:
        return (traits.bits & kTraitPointwise) ? pointwise : nullptr;
    }
}

} // namespace gs
