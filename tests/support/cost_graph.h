// A graph of matrix products and gathers that the inputs of tests/data/cost are about.
#pragma once

#include "graph/graph_builder.h"

#include <string>
#include <vector>

namespace gs::test {

inline Value tensorValue(DType dtype, const std::vector<int64_t>& shape) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = dtype;
    for (int64_t size : shape)
        value.tensor.shape.push_back({size, kEmptyString});
    return value;
}

/// mm0 and mm1 = [8, 4] × [4, 2], relu = relu(mm0), g0 and g1 = gathers of 1024 and 2048 elements over 8
/// ranks (group "0"), w0 and w1 their waits, all bf16.
class CostGraph {
public:
    GraphBuilder b;
    NodeId left = input("left", {8, 4});
    NodeId right = input("right", {4, 2});

    NodeId input(const std::string& name, const std::vector<int64_t>& shape) {
        const NodeId id = b.addNode(name, NodeOp::Placeholder, name);
        b.setValue(id, tensorValue(DType::BFloat16, shape));
        return id;
    }
    NodeId call(const std::string& name, const std::string& target, std::initializer_list<NodeId> inputs,
                const std::vector<int64_t>& shape) {
        const NodeId id = b.addNode(name, NodeOp::CallFunction, target);
        std::vector<Arg> args;
        for (NodeId item : inputs)
            args.push_back(b.nodeArg(item));
        b.setArgs(id, args);
        b.setValue(id, tensorValue(DType::BFloat16, shape));
        return id;
    }
    NodeId gather(const std::string& name, int64_t elements, const std::string& group = "0") {
        const NodeId shard = input("p_" + name, {elements});
        const NodeId id =
            b.addNode(name, NodeOp::CallFunction, "_c10d_functional.all_gather_into_tensor.default");
        b.setArgs(id, {b.nodeArg(shard), b.intArg(8), b.textArg(Arg::Kind::String, group)});
        b.setValue(id, tensorValue(DType::BFloat16, {elements * 8}));
        return call("w_" + name, "_c10d_functional.wait_tensor.default", {id}, {elements * 8});
    }
    GraphPtr finish(std::initializer_list<NodeId> results) {
        const NodeId output = b.addNode("output", NodeOp::Output, "output");
        std::vector<Arg> args;
        for (NodeId item : results)
            args.push_back(b.nodeArg(item));
        b.setArgs(output, args);
        return b.finish(nullptr);
    }

    static GraphPtr make() {
        CostGraph g;
        const NodeId mm0 = g.call("mm0", "aten.mm.default", {g.left, g.right}, {8, 2});
        const NodeId relu = g.call("relu", "aten.relu.default", {mm0}, {8, 2});
        const NodeId w0 = g.gather("g0", 1024);
        const NodeId w1 = g.gather("g1", 2048);
        const NodeId mm1 = g.call("mm1", "aten.mm.default", {g.left, g.right}, {8, 2});
        return g.finish({relu, w0, w1, mm1});
    }
};

} // namespace gs::test
