#include "support/layered_graph.h"

#include "graph/graph_builder.h"

#include <fmt/format.h>

namespace gs::test {

namespace {

constexpr int kWeightsPerLayer = 4;
constexpr int kOpsPerWeight = 45; ///< pointwise ops behind each matrix multiply
constexpr int64_t kHidden = 4096;
constexpr int64_t kRanks = 64;

class LayerMaker {
public:
    explicit LayerMaker(bool redistributes) : redistributes_(redistributes) {}

    GraphPtr make(size_t nodes) {
        const size_t per_layer = kWeightsPerLayer * (kOpsPerWeight + 5);
        const size_t layers = std::max<size_t>(1, nodes / per_layer);
        NodeId x = add("x", NodeOp::Placeholder, "x", {}, tensor(2048, kHidden));
        std::vector<NodeId> shards;
        for (size_t i = 0; i < layers * kWeightsPerLayer; ++i) {
            const std::string name = fmt::format("p{}", i);
            const NodeId shard = add(name, NodeOp::Placeholder, name, {}, tensor(shardRows(), kHidden));
            if (redistributes_) {
                builder_.setValue(shard, tensor(kHidden, kHidden));
                builder_.meta(shard).desc_json = builder_.intern(fmt::format(
                    R"json({{"dtensor":{{"placements":"(Shard(dim=0),)","mesh":"({},)","local_shape":[{},{}],"local_dtype":"bfloat16"}}}})json",
                    kRanks, shardRows(), kHidden));
            }
            shards.push_back(shard);
        }
        for (size_t layer = 0; layer < layers; ++layer) {
            module_ = fmt::format("layers.{}", layer);
            for (size_t i = 0; i < kWeightsPerLayer; ++i)
                x = addBlock(x, shards[layer * kWeightsPerLayer + i], i == 1);
        }
        const NodeId out = builder_.addNode("output", NodeOp::Output, "output");
        builder_.setArgs(out, {builder_.listArg({builder_.nodeArg(x)})});
        return builder_.finish(nullptr);
    }

private:
    static int64_t shardRows() { return kHidden / kRanks; }

    static Value tensor(int64_t rows, int64_t columns) {
        Value value;
        value.kind = Value::Kind::Tensor;
        value.tensor.dtype = DType::BFloat16;
        value.tensor.shape = {{rows, kEmptyString}, {columns, kEmptyString}};
        value.tensor.stride = {{columns, kEmptyString}, {1, kEmptyString}};
        value.tensor.has_stride = true;
        return value;
    }

    NodeId add(const std::string& name, NodeOp op, const std::string& target, std::vector<Arg> args,
               const Value& value) {
        const NodeId id = builder_.addNode(name, op, target);
        builder_.setArgs(id, args);
        builder_.setValue(id, value);
        builder_.node(id).module = builder_.intern(module_);
        return id;
    }

    NodeId call(const std::string& target, std::vector<Arg> args, const Value& value) {
        return add(fmt::format("n{}", counter_++), NodeOp::CallFunction, target, std::move(args), value);
    }

    NodeId weight(NodeId shard) {
        if (redistributes_) {
            const NodeId full = add(fmt::format("n{}", counter_++), NodeOp::CallMethod, "redistribute",
                                    {builder_.nodeArg(shard)}, tensor(kHidden, kHidden));
            const Arg replicate = builder_.textArg(Arg::Kind::Repr, "R");
            builder_.setKwargs(full, std::vector<Arg>{builder_.textArg(Arg::Kind::String, "placements"),
                                                      builder_.listArg({replicate})});
            return add(fmt::format("n{}", counter_++), NodeOp::CallMethod, "to_local",
                       {builder_.nodeArg(full)}, tensor(kHidden, kHidden));
        }
        const NodeId cast =
            call("aten._to_copy.default", {builder_.nodeArg(shard)}, tensor(shardRows(), kHidden));
        const NodeId launch =
            call("_c10d_functional.all_gather_into_tensor.default",
                 {builder_.nodeArg(cast), builder_.intArg(kRanks), builder_.textArg(Arg::Kind::String, "0")},
                 tensor(kHidden, kHidden));
        return call("_c10d_functional.wait_tensor.default", {builder_.nodeArg(launch)},
                    tensor(kHidden, kHidden));
    }

    NodeId addBlock(NodeId x, NodeId shard, bool attention) {
        const NodeId w = weight(shard);
        const NodeId t = call("aten.t.default", {builder_.nodeArg(w)}, tensor(kHidden, kHidden));
        x = call("aten.mm.default", {builder_.nodeArg(x), builder_.nodeArg(t)}, tensor(2048, kHidden));
        for (int i = 0; i < kOpsPerWeight; ++i) {
            const bool is_attention = attention && i == 0;
            x = call(is_attention ? "aten._scaled_dot_product_flash_attention.default" : "aten.mul.Tensor",
                     {builder_.nodeArg(x), builder_.nodeArg(x)}, tensor(2048, kHidden));
        }
        return x;
    }

    bool redistributes_;
    GraphBuilder builder_;
    std::string module_;
    size_t counter_ = 0;
};

std::string argJson(const Graph& graph, const Arg& arg) {
    switch (arg.kind) {
    case Arg::Kind::Node:
        return fmt::format(R"({{"n":"{}"}})", graph.name(arg.node()));
    case Arg::Kind::Int:
        return fmt::format("{}", arg.integer);
    case Arg::Kind::String:
        return fmt::format("\"{}\"", graph.text(arg.text));
    case Arg::Kind::List: {
        std::string text;
        for (const Arg& child : graph.children(arg))
            text += (text.empty() ? "" : ",") + argJson(graph, child);
        return "[" + text + "]";
    }
    default:
        return "null";
    }
}

} // namespace

GraphPtr layeredGraph(size_t nodes) {
    return LayerMaker(false).make(nodes);
}

GraphPtr layeredRedistributes(size_t nodes) {
    return LayerMaker(true).make(nodes);
}

std::string graphJson(const Graph& graph) {
    std::string text =
        R"({"format":"gatherscope.graph","version":1,"name":"layers","source":{},"groups":{},"nodes":[)";
    for (NodeId id = 0; id < graph.size(); ++id) {
        std::string value = "null";
        if (const TensorMeta* tensor = graph.value(id).firstTensor())
            value = fmt::format(R"({{"dtype":"{}","shape":[{},{}],"stride":[{},1],"device":"cuda:0"}})",
                                dtypeName(tensor->dtype), tensor->shape[0].value, tensor->shape[1].value,
                                tensor->shape[1].value);
        text += fmt::format(
            R"({}{{"name":"{}","op":"{}","target":"{}","args":{},"kwargs":{{}},"val":{},"phase":null,"module":"{}","meta":{{}}}})",
            id == 0 ? "\n" : ",\n", graph.name(id), nodeOpName(graph.node(id).op), graph.targetText(id),
            argJson(graph, graph.node(id).args), value, graph.text(graph.node(id).module));
    }
    return text + "]}\n";
}

} // namespace gs::test
