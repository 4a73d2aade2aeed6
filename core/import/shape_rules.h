// One rule per kind of operator: what it yields from what it gets.
#pragma once

#include "graph/graph_builder.h"

namespace gs {

/// Arguments of one call, as its rule sees them.
class ShapeCall {
public:
    ShapeCall(GraphBuilder& builder, NodeId id) : builder_(builder), graph_(builder.graph()), id_(id) {}

    std::string_view target() const { return graph_.targetText(id_); }
    const OpTraits& traits() const { return graph_.target(id_).traits; }
    /// Positional argument, else the keyword argument of this name; null if neither is there.
    const Arg* arg(size_t index, std::string_view keyword = {}) const;
    /// Value of a node argument; null for other arguments and for nodes without a value.
    const Value* value(size_t index) const;
    /// The tensor that a node argument yields; null as above.
    const TensorMeta* tensor(size_t index) const;
    /// Tensors of a list argument; empty if one of them is not known.
    std::vector<TensorMeta> tensors(size_t index) const;
    int64_t integer(size_t index, int64_t fallback, std::string_view keyword = {}) const;
    bool flag(size_t index, bool fallback, std::string_view keyword = {}) const;
    /// Sizes of a list argument; nodes count as unknown symbols unless they are numbers.
    std::vector<Dim> dims(size_t index) const;
    std::vector<int64_t> integers(size_t index, std::string_view keyword = {}) const;
    DType dtype(std::string_view keyword, DType fallback) const;
    DType dtypeAt(size_t index, DType fallback) const;
    /// Tensors among all inputs, in order; empty if an input node has no value at all.
    std::vector<TensorMeta> inputs() const;
    Dim dimOf(const Arg& arg) const;

private:
    const Arg* kwarg(std::string_view keyword) const;

    GraphBuilder& builder_;
    const Graph& graph_;
    NodeId id_;
};

inline Value tensorValue(DType dtype, std::vector<Dim> shape, StringId device) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = dtype;
    value.tensor.shape = std::move(shape);
    value.tensor.device = device;
    return value;
}

inline Value like(const TensorMeta& tensor, std::vector<Dim> shape) {
    return tensorValue(tensor.dtype, std::move(shape), tensor.device);
}

inline Value listValue(std::vector<Value> items) {
    Value value;
    value.kind = Value::Kind::List;
    value.items = std::move(items);
    return value;
}

/// Position of a dimension that may be counted from the end; `rank` if it is out of range.
inline size_t dimIndex(int64_t dim, size_t rank) {
    const auto signed_rank = static_cast<int64_t>(rank);
    const int64_t index = dim < 0 ? dim + signed_rank : dim;
    return index >= 0 && index < signed_rank ? static_cast<size_t>(index) : rank;
}

/// Yields None where the inputs do not tell.
using ShapeRule = Value (*)(const ShapeCall& call);

/// The rule of an operator ("aten.mm"), or null.
ShapeRule findShapeRule(std::string_view packet, const OpTraits& traits);
/// The same for views and concatenations only.
ShapeRule findViewRule(std::string_view packet);

} // namespace gs
