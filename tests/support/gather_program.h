// Programs of weights that are cast, gathered, waited for and used.
#pragma once

#include "graph/graph_builder.h"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace gs::test {

inline constexpr int64_t kMib = 1024 * 1024;
inline constexpr const char* kGather = "_c10d_functional.all_gather_into_tensor.default";
inline constexpr const char* kWait = "_c10d_functional.wait_tensor.default";

inline Value tensorOf(DType dtype, int64_t rows) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = dtype;
    value.tensor.shape = {{rows, kEmptyString}};
    return value;
}

struct Program {
    GraphBuilder b;
    NodeId x = b.addNode("x", NodeOp::Placeholder, "x");
    int gathers = 0;

    NodeId call(const std::string& name, const std::string& target, std::vector<NodeId> inputs,
                std::vector<Arg> more = {}) {
        const NodeId id = b.addNode(name, NodeOp::CallFunction, target);
        std::vector<Arg> args;
        for (NodeId input : inputs)
            args.push_back(b.nodeArg(input));
        args.insert(args.end(), more.begin(), more.end());
        b.setArgs(id, args);
        return id;
    }
    NodeId parameter(int64_t bytes, DType dtype = DType::BFloat16) {
        const NodeId id =
            b.addNode(fmt::format("p{}", b.size()), NodeOp::Placeholder, fmt::format("p{}", b.size()));
        b.setValue(id, tensorOf(dtype, bytes / dtypeBytes(dtype)));
        return id;
    }
    /// cast → gather of `world` ranks; returns the launch, named g0, g1, ….
    NodeId gather(NodeId shard, const std::string& group = "0", bool cast = true) {
        if (b.value(shard).kind != Value::Kind::Tensor)
            b.setValue(shard, tensorOf(DType::BFloat16, 64));
        const Value value = b.value(shard);
        if (cast) {
            shard = call(fmt::format("cast{}", gathers), "aten._to_copy.default", {shard});
            b.setValue(shard, value);
        }
        const NodeId launch = call(fmt::format("g{}", gathers++), kGather, {shard},
                                   {b.intArg(8), b.textArg(Arg::Kind::String, group)});
        b.setValue(launch, tensorOf(value.tensor.dtype, value.tensor.shape[0].value * 8));
        return launch;
    }
    NodeId use(NodeId launch) {
        const std::string name(b.text(b.node(launch).name));
        const NodeId wait = call("w_" + name, kWait, {launch});
        return x = call("mm_" + name, "aten.mm.default", {x, wait});
    }
    NodeId attention() {
        const std::string target = "aten._scaled_dot_product_flash_attention.default";
        return x = call(fmt::format("attention{}", b.size()), target, {x});
    }
    GraphPtr finish() {
        const NodeId output = b.addNode("output", NodeOp::Output, "output");
        b.setArgs(output, {b.nodeArg(x)});
        return b.finish(nullptr);
    }
};

/// "g0+g1 g2" : members by name per coalesced launch in program order; plain gathers stand alone.
inline std::string bucketsOf(const Graph& graph) {
    std::string text;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.node(id).kind != NodeKind::Launch)
            continue;
        std::string members;
        for (StringId origin : graph.origins(id))
            members += (members.empty() ? "" : "+") + std::string(graph.text(origin));
        text += (text.empty() ? "" : " ") + (members.empty() ? std::string(graph.name(id)) : members);
    }
    return text;
}

} // namespace gs::test
