// What operators compute, node by node in plain loops over doubles, each result rounded to its dtype: the
// opposite of the kernel generator in every respect, to check it against.
#pragma once

#include "graph/graph.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gs::test {

struct RefTensor {
    DType dtype = DType::Unknown;
    std::vector<int64_t> shape;
    std::vector<double> data; ///< row-major; of complex numbers both parts, one after the other

    int64_t numel() const;
};

/// The nearest value that the dtype has.
double roundedTo(DType dtype, double value);

class NodeReference {
public:
    explicit NodeReference(const Graph& graph) : graph_(graph) {}

    void set(NodeId node, size_t item, RefTensor tensor) { values_[{node, item}] = std::move(tensor); }
    /// Value of a node: set before, or computed with what it needs. Null for an operator that has no loop
    /// here; missing() names it.
    const RefTensor* value(NodeId node, size_t item = 0);
    const std::string& missing() const { return missing_; }

private:
    friend struct RefCall;
    bool compute(NodeId node);

    const Graph& graph_;
    std::map<std::pair<NodeId, size_t>, RefTensor> values_;
    std::string missing_;
};

} // namespace gs::test
