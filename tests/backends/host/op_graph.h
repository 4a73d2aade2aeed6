// Graphs of one call, to prepare and compare.
#pragma once

#include "graph/graph_builder.h"
#include "support/cost_graph.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace gs::test {

inline Value stridedValue(DType dtype, const std::vector<int64_t>& shape,
                          const std::vector<int64_t>& stride = {}) {
    Value value = tensorValue(dtype, shape);
    int64_t dense = 1;
    std::vector<Dim> strides(shape.size());
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d].value = stride.empty() ? dense : stride[d];
        dense *= shape[d];
    }
    value.tensor.stride = strides;
    value.tensor.has_stride = true;
    return value;
}

class OpGraph {
public:
    GraphBuilder b;

    Arg input(DType dtype, const std::vector<int64_t>& shape, const std::vector<int64_t>& stride = {}) {
        const std::string name = "x" + std::to_string(b.size());
        const NodeId id = b.addNode(name, NodeOp::Placeholder, name);
        b.setValue(id, stridedValue(dtype, shape, stride));
        return b.nodeArg(id);
    }
    NodeId call(const std::string& target, std::initializer_list<Arg> args, const Value& value,
                std::initializer_list<Arg> kwargs = {}) {
        const NodeId id = b.addNode("call" + std::to_string(b.size()), NodeOp::CallFunction, target);
        b.setArgs(id, args);
        if (kwargs.size() > 0)
            b.setKwargs(id, std::vector<Arg>(kwargs));
        b.setValue(id, value);
        return id;
    }
    Arg i(int64_t value) { return b.intArg(value); }
    Arg f(double value) { return b.floatArg(value); }
    Arg text(const std::string& value) { return b.textArg(Arg::Kind::String, value); }
    Arg ints(const std::vector<int64_t>& values) {
        std::vector<Arg> items;
        for (const int64_t value : values)
            items.push_back(b.intArg(value));
        return b.listArg(items);
    }
    GraphPtr finish() {
        const NodeId last = static_cast<NodeId>(b.size() - 1);
        const NodeId output = b.addNode("output", NodeOp::Output, "output");
        b.setArgs(output, {b.nodeArg(last)});
        return b.finish(nullptr);
    }
};

} // namespace gs::test
