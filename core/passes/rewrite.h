// What passes that rewrite nodes share: names, symbolic sizes, strides.
#pragma once

#include "graph/graph_builder.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace gs {

/// Names for new nodes in fx's manner: "wait_tensor", "wait_tensor_1", …, none of which the input graph has.
/// The names depend on the graph's names only, so that ranks with equal graphs get equal names.
class NodeNamer {
public:
    explicit NodeNamer(const Graph& graph) : graph_(graph) {}
    std::string next(std::string_view base);

private:
    const Graph& graph_;
    std::unordered_map<std::string, int> used_;
};

/// Arithmetic on sizes: plain numbers stay numbers, symbolic ones get an expression and a hint.
class DimMath {
public:
    explicit DimMath(GraphBuilder& builder) : builder_(builder) {}
    /// A number written as an expression ("256", hint 256) becomes a plain number.
    Dim plain(const Dim& dim) const;
    /// A size by its expression ("" = a plain number) and value or hint.
    Dim named(std::string_view expression, int64_t value) const;
    Dim product(const Dim& a, const Dim& b);
    Dim difference(const Dim& a, const Dim& b);
    /// ceil(a / b)
    Dim ceilDivide(const Dim& a, int64_t b);
    Arg arg(const Dim& dim);

private:
    std::string text(const Dim& dim) const;
    Dim symbol(const std::string& expression, int64_t hint);
    GraphBuilder& builder_;
};

/// Strides of a dense tensor whose dimensions are nested as those of `like` are; row-major if that is not
/// known.
std::vector<Dim> denseStrides(const std::vector<Dim>& shape, const TensorMeta* like, DimMath& math);

Value tensorValue(TensorMeta tensor);

} // namespace gs
