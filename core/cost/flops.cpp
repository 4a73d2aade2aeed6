#include "cost/flops.h"

#include "cost/operands.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace gs {

namespace {

using Shape = std::vector<int64_t>;
using Count = std::optional<int64_t>;

int64_t product(std::initializer_list<int64_t> factors) {
    int64_t result = 1;
    for (int64_t factor : factors) {
        if (factor == 0)
            return 0;
        if (__builtin_mul_overflow(result, factor, &result))
            result = kHugeSize;
    }
    return result;
}

int64_t sum(int64_t a, int64_t b) {
    int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? kHugeSize : result;
}

int64_t productFrom(const Shape& shape, size_t first) {
    int64_t result = 1;
    for (size_t i = first; i < shape.size(); ++i)
        result = product({result, shape[i]});
    return result;
}

/// Sizes of a tensor with `rank` dimensions (0 = any); empty if it is none or a size is unknown.
Shape shapeOf(const TensorMeta* tensor, size_t rank = 0) {
    Shape shape;
    if (!tensor || (rank != 0 && tensor->shape.size() != rank))
        return shape;
    for (const Dim& dim : tensor->shape) {
        if (dim.value < 0)
            return {};
        shape.push_back(dim.value);
    }
    return shape;
}

const TensorMeta* tensorArg(const Graph& graph, NodeId id, size_t index) {
    const Arg* arg = graph.arg(id, index);
    if (!arg || arg->kind != Arg::Kind::Node)
        return nullptr;
    const Value& value = graph.value(arg->node());
    return value.kind == Value::Kind::Tensor ? &value.tensor : nullptr;
}

Shape shapeArg(const Graph& graph, NodeId id, size_t index, size_t rank = 0) {
    return shapeOf(tensorArg(graph, id, index), rank);
}

/// Scheduler nodes read buffers, whose shapes may be transposed or folded views of the operands, or lists of
/// fused results. The inner size then follows from the element counts: numel(a) = m·k and numel(b) = k·n.
Count matmulOfBuffers(const Graph& graph, NodeId id, size_t rank) {
    const Shape out = shapeOf(graph.value(id).firstTensor(), rank);
    if (out.empty() || product({out[rank - 2], out[rank - 1]}) == 0 || graph.inputs(id).empty())
        return std::nullopt;
    const auto counts = [&](NodeId node) {
        std::vector<int64_t> found;
        const auto collect = [&](const auto& self, const Value& value) -> void {
            if (value.kind == Value::Kind::Tensor)
                found.push_back(value.tensor.numel());
            for (const Value& item : value.items)
                self(self, item);
        };
        collect(collect, readValue(graph, node));
        return found;
    };
    // The operands come last, after the bias of an addmm; a product of one buffer with itself has one.
    const auto inputs = graph.inputs(id);
    const std::vector<int64_t> left = counts(inputs[inputs.size() < 2 ? 0 : inputs.size() - 2]);
    const std::vector<int64_t> right = counts(inputs.back());
    const int64_t batch = rank == 3 ? out[0] : 1;
    const int64_t rows = product({batch, out[rank - 2]}), columns = product({batch, out[rank - 1]});
    int64_t inner = 0;
    bool ambiguous = false;
    const auto match = [&](int64_t a, int64_t b) {
        if (a <= 0 || b <= 0 || a % rows != 0 || b % columns != 0 || a / rows != b / columns)
            return;
        ambiguous = ambiguous || (inner != 0 && inner != a / rows);
        inner = a / rows;
    };
    for (int64_t a : left) {
        for (int64_t b : right) {
            match(a, b);
            match(b, a); // buffers may be listed in either order
        }
    }
    if (ambiguous)
        return std::nullopt;
    return inner == 0 ? std::nullopt : Count(product({rows, out[rank - 1], 2, inner}));
}

Count matmul(const Graph& graph, NodeId id, size_t first) {
    if (graph.info().level == GraphLevel::Scheduler)
        return matmulOfBuffers(graph, id, 2);
    const Shape a = shapeArg(graph, id, first, 2);
    const Shape b = shapeArg(graph, id, first + 1, 2);
    if (a.empty() || b.empty() || a[1] != b[0])
        return std::nullopt;
    return product({a[0], b[1], 2, a[1]});
}

Count batchedMatmul(const Graph& graph, NodeId id, size_t first) {
    if (graph.info().level == GraphLevel::Scheduler)
        return matmulOfBuffers(graph, id, 3);
    const Shape a = shapeArg(graph, id, first, 3);
    const Shape b = shapeArg(graph, id, first + 1, 3);
    if (a.empty() || b.empty() || a[0] != b[0] || a[2] != b[1])
        return std::nullopt;
    return product({a[0], a[1], b[2], 2, a[2]});
}

Count convolutionCount(const Shape& x, const Shape& weight, const Shape& out, bool transposed) {
    if (x.size() < 3 || weight.size() < 3 || out.size() < 3)
        return std::nullopt;
    return product(
        {productFrom(transposed ? x : out, 2), productFrom(weight, 2), x[0], weight[0], weight[1], 2});
}

Count convolution(const Graph& graph, NodeId id, bool may_transpose) {
    const Arg* flag = may_transpose ? graph.arg(id, 6) : nullptr;
    const bool transposed = flag && flag->kind == Arg::Kind::Bool && flag->integer != 0;
    return convolutionCount(shapeArg(graph, id, 0), shapeArg(graph, id, 1),
                            shapeOf(graph.value(id).firstTensor()), transposed);
}

/// Both gradients are convolutions themselves: that of the input a transposed one, that of the weight one
/// over the batch, which swaps the first two dimensions.
Count convolutionBackward(const Graph& graph, NodeId id) {
    const auto swapped = [](Shape shape) {
        if (shape.size() >= 2)
            std::swap(shape[0], shape[1]);
        return shape;
    };
    const Shape grad = shapeArg(graph, id, 0), x = shapeArg(graph, id, 1), weight = shapeArg(graph, id, 2);
    const Arg* flag = graph.arg(id, 7);
    const bool transposed = flag && flag->kind == Arg::Kind::Bool && flag->integer != 0;
    const Arg* mask = graph.arg(id, 10);
    const Value& value = graph.value(id);
    const auto output = [&](size_t index) -> Shape {
        return index < value.items.size() ? shapeOf(value.items[index].firstTensor()) : Shape{};
    };
    const auto wanted = [&](size_t index) {
        return !mask || mask->kind != Arg::Kind::List || index >= mask->count ||
               graph.children(*mask)[index].integer != 0;
    };
    int64_t total = 0;
    if (wanted(0)) {
        const Count count = convolutionCount(grad, weight, output(0), !transposed);
        if (!count)
            return std::nullopt;
        total = *count;
    }
    if (wanted(1)) {
        const Count count = transposed
                                ? convolutionCount(swapped(grad), swapped(x), swapped(output(1)), false)
                                : convolutionCount(swapped(x), swapped(grad), swapped(output(1)), false);
        if (!count)
            return std::nullopt;
        total = sum(total, *count);
    }
    return total;
}

/// Order of the dimensions of query, key and value.
enum class Layout : uint8_t { HeadsFirst, SequenceFirst };

struct Attention {
    Layout layout = Layout::HeadsFirst;
    bool backward = false;      ///< the gradient comes before the query
    bool gradient_last = false; ///< flex_attention_backward: …, out, logsumexp, grad_out
    int offsets_arg = -1;       ///< offsets of query and key, longest query and key: ragged batches
};

/// Ragged batches are (tokens, heads, size), with a leading 1 in the efficient form; every sequence counts
/// as long as the longest.
bool raggedShapes(const Graph& graph, NodeId id, const Attention& op, Shape& query, Shape& key,
                  Shape& value) {
    const auto at = static_cast<size_t>(op.offsets_arg);
    const Shape offsets = shapeArg(graph, id, at, 1);
    const Arg* longest_query = graph.arg(id, at + 2);
    const Arg* longest_key = graph.arg(id, at + 3);
    if (offsets.empty() || offsets[0] < 1 || !longest_query || !longest_key || !longest_query->isInt() ||
        !longest_key->isInt() || longest_query->integer < 0 || longest_key->integer < 0)
        return false;
    const auto ragged = [&](Shape& shape, int64_t longest) {
        if (shape.size() < 3)
            return false;
        const Shape tail(shape.end() - 2, shape.end());
        shape = {offsets[0] - 1, tail[0], longest, tail[1]};
        return true;
    };
    return ragged(query, longest_query->integer) && ragged(key, longest_key->integer) &&
           ragged(value, longest_key->integer);
}

Count attention(const Graph& graph, NodeId id, const Attention& op) {
    const size_t first = op.backward && !op.gradient_last ? 1 : 0;
    Shape query = shapeArg(graph, id, first);
    Shape key = shapeArg(graph, id, first + 1);
    Shape value = shapeArg(graph, id, first + 2);
    const Arg* offsets = op.offsets_arg < 0 ? nullptr : graph.arg(id, static_cast<size_t>(op.offsets_arg));
    if (offsets && offsets->kind == Arg::Kind::Node) {
        if (!raggedShapes(graph, id, op, query, key, value))
            return std::nullopt;
    } else if (op.layout == Layout::SequenceFirst) {
        for (Shape* shape : {&query, &key, &value}) {
            if (shape->size() == 4)
                std::swap((*shape)[1], (*shape)[2]);
        }
    }
    if (query.size() != 4 || key.size() != 4 || value.size() != 4)
        return std::nullopt;
    const int64_t heads = query[1];
    // Grouped queries: several query heads share one head of keys and values.
    const bool fits = query[0] == key[0] && key[0] == value[0] && key[1] == value[1] && query[3] == key[3] &&
                      key[2] == value[2] && key[1] > 0 && heads % key[1] == 0;
    if (!fits)
        return std::nullopt;
    const int64_t scores = product({query[0], heads, query[2], key[2], 2});
    const int64_t by_query = product({scores, query[3]});
    const int64_t by_value = product({scores, value[3]});
    if (!op.backward)
        return sum(by_query, by_value);
    // Scores again, gradients of the scores and of the values, then of queries and keys.
    return sum(product({3, by_query}), product({2, by_value}));
}

using Formula = Count (*)(const Graph& graph, NodeId id);

template <size_t First>
Count matmulFormula(const Graph& graph, NodeId id) {
    return matmul(graph, id, First);
}
template <size_t First>
Count batchedFormula(const Graph& graph, NodeId id) {
    return batchedMatmul(graph, id, First);
}
template <bool MayTranspose>
Count convolutionFormula(const Graph& graph, NodeId id) {
    return convolution(graph, id, MayTranspose);
}
template <Layout Dims, bool Backward, int Offsets, bool GradientLast = false>
Count attentionFormula(const Graph& graph, NodeId id) {
    return attention(graph, id, {Dims, Backward, GradientLast, Offsets});
}

const std::unordered_map<std::string_view, Formula>& formulas() {
    constexpr auto kHeads = Layout::HeadsFirst;
    constexpr auto kSequence = Layout::SequenceFirst;
    static const std::unordered_map<std::string_view, Formula> kFormulas = {
        {"aten.mm", matmulFormula<0>},
        {"aten.addmm", matmulFormula<1>},
        {"aten._scaled_mm", matmulFormula<0>},
        {"aten.bmm", batchedFormula<0>},
        {"aten.baddbmm", batchedFormula<1>},
        {"aten.convolution", convolutionFormula<true>},
        {"aten._convolution", convolutionFormula<true>},
        {"aten.convolution_overrideable", convolutionFormula<true>},
        {"aten.cudnn_convolution", convolutionFormula<false>},
        {"aten._slow_conv2d_forward", convolutionFormula<false>},
        {"aten.convolution_backward", convolutionBackward},
        {"aten._scaled_dot_product_efficient_attention", attentionFormula<kHeads, false, -1>},
        {"aten._scaled_dot_product_flash_attention", attentionFormula<kHeads, false, -1>},
        {"aten._scaled_dot_product_flash_attention_for_cpu", attentionFormula<kHeads, false, -1>},
        {"aten._scaled_dot_product_cudnn_attention", attentionFormula<kHeads, false, -1>},
        {"aten._scaled_dot_product_efficient_attention_backward", attentionFormula<kHeads, true, -1>},
        {"aten._scaled_dot_product_flash_attention_backward", attentionFormula<kHeads, true, -1>},
        {"aten._scaled_dot_product_flash_attention_for_cpu_backward", attentionFormula<kHeads, true, -1>},
        {"aten._scaled_dot_product_cudnn_attention_backward", attentionFormula<kHeads, true, -1>},
        {"aten._flash_attention_forward", attentionFormula<kSequence, false, 3>},
        {"aten._efficient_attention_forward", attentionFormula<kSequence, false, 4>},
        {"aten._flash_attention_backward", attentionFormula<kSequence, true, 6>},
        {"aten._efficient_attention_backward", attentionFormula<kSequence, true, 6>},
        {"higher_order.flex_attention", attentionFormula<kHeads, false, -1>},
        {"higher_order.flex_attention_backward", attentionFormula<kHeads, true, -1, true>},
    };
    return kFormulas;
}

Formula formulaOf(std::string_view target) {
    auto found = formulas().find(target);
    if (found == formulas().end())
        found = formulas().find(target.substr(0, target.rfind('.')));
    return found == formulas().end() ? nullptr : found->second;
}

} // namespace

bool hasFlopFormula(std::string_view target) {
    return formulaOf(target) != nullptr;
}

std::optional<int64_t> flopsFromShapes(const Graph& graph, NodeId id) {
    if (graph.node(id).op != NodeOp::CallFunction)
        return std::nullopt;
    const Formula formula = formulaOf(graph.targetText(id));
    return formula ? formula(graph, id) : std::nullopt;
}

std::optional<int64_t> flopsOf(const Graph& graph, NodeId id) {
    const int64_t stated = graph.node(id).flops;
    return stated >= 0 ? std::optional(stated) : flopsFromShapes(graph, id);
}

} // namespace gs
