#include "support/random_graph.h"

#include "base/hash.h"
#include "graph/graph_builder.h"

namespace gs::test {

namespace {

class Maker {
public:
    Maker(uint32_t seed, const RandomGraphOptions& options) : random_(seed), options_(options) {}

    GraphPtr make() {
        const NodeId x = placeholder("x");
        int parameters = 0;
        std::vector<std::vector<NodeId>> shards(static_cast<size_t>(options_.layers));
        for (auto& layer : shards) {
            const int count = 1 + pick(3);
            for (int i = 0; i < count; ++i)
                layer.push_back(placeholder("p" + std::to_string(parameters++)));
        }
        NodeId activation = x;
        for (int layer = 0; layer < options_.layers; ++layer)
            activation = addLayer(layer, shards[static_cast<size_t>(layer)], activation);
        const NodeId out = builder_.addNode("output", NodeOp::Output, "output");
        results_.push_back(builder_.nodeArg(activation));
        builder_.setArgs(out, {builder_.listArg(results_)});
        return builder_.finish(nullptr);
    }

private:
    int pick(int below) { return static_cast<int>(random_() % static_cast<uint32_t>(below)); }
    bool chance(double share) { return random_() % 1000 < share * 1000; }

    NodeId placeholder(const std::string& name) {
        const NodeId id = builder_.addNode(name, NodeOp::Placeholder, name);
        builder_.setValue(id, tensor(1 + pick(64)));
        return id;
    }

    Value tensor(int rows) {
        Value value;
        value.kind = Value::Kind::Tensor;
        value.tensor.dtype = DType::BFloat16;
        value.tensor.shape = {{rows, kEmptyString}, {256, kEmptyString}};
        return value;
    }

    NodeId call(const std::string& stem, const std::string& target, std::vector<Arg> args, int rows = 8) {
        const NodeId id =
            builder_.addNode(stem + "_" + std::to_string(counter_++), NodeOp::CallFunction, target);
        builder_.setArgs(id, args);
        builder_.setValue(id, tensor(rows));
        return id;
    }

    NodeId prepare(NodeId shard) {
        if (!chance(options_.prep))
            return shard;
        NodeId id = call("cast", "aten._to_copy.default", {builder_.nodeArg(shard)});
        if (chance(0.3))
            id = call("pad", "aten.constant_pad_nd.default", {builder_.nodeArg(id)});
        return id;
    }

    NodeId addLayer(int layer, const std::vector<NodeId>& shards, NodeId activation) {
        std::vector<NodeId> weights =
            shards.size() > 1 && chance(options_.coalesced) ? gatherTogether(shards) : gatherEach(shards);
        std::vector<NodeId> done;
        for (const NodeId weight : weights) {
            activation =
                call("mm", "aten.mm.default", {builder_.nodeArg(activation), builder_.nodeArg(weight)}, 64);
            if (chance(0.5))
                activation = call("relu", "aten.relu.default", {builder_.nodeArg(activation)}, 64);
            done.push_back(activation);
        }
        if (chance(options_.in_place))
            activation =
                call("add_", "aten.add_.Tensor",
                     {builder_.nodeArg(activation),
                      builder_.nodeArg(done[static_cast<size_t>(pick(static_cast<int>(done.size())))])},
                     64);
        if (chance(options_.reduce_scatter)) {
            const NodeId rs =
                call("reduce_scatter", "_c10d_functional.reduce_scatter_tensor.default",
                     {builder_.nodeArg(activation), string("sum"), builder_.intArg(8), group(layer)});
            const NodeId wait = call("wait", "_c10d_functional.wait_tensor.default", {builder_.nodeArg(rs)});
            results_.push_back(builder_.nodeArg(wait));
        }
        return activation;
    }

    Arg string(const std::string& text) { return builder_.textArg(Arg::Kind::String, text); }
    Arg group(int index) { return string(std::to_string(index % options_.groups)); }

    std::vector<NodeId> gatherEach(const std::vector<NodeId>& shards) {
        std::vector<NodeId> waits;
        for (const NodeId shard : shards) {
            const NodeId launch =
                call("all_gather", "_c10d_functional.all_gather_into_tensor.default",
                     {builder_.nodeArg(prepare(shard)), builder_.intArg(8), group(pick(9))}, 512);
            waits.push_back(
                call("wait", "_c10d_functional.wait_tensor.default", {builder_.nodeArg(launch)}, 512));
        }
        return waits;
    }

    std::vector<NodeId> gatherTogether(const std::vector<NodeId>& shards) {
        std::vector<Arg> items;
        for (const NodeId shard : shards)
            items.push_back(builder_.nodeArg(prepare(shard)));
        const NodeId launch = call("all_gather", "_c10d_functional.all_gather_into_tensor_coalesced.default",
                                   {builder_.listArg(items), builder_.intArg(8), group(pick(9))}, 512);
        std::vector<NodeId> waits;
        for (size_t i = 0; i < shards.size(); ++i) {
            const NodeId item =
                call("getitem", "operator.getitem",
                     {builder_.nodeArg(launch), builder_.intArg(static_cast<int64_t>(i))}, 512);
            waits.push_back(
                call("wait", "_c10d_functional.wait_tensor.default", {builder_.nodeArg(item)}, 512));
        }
        return waits;
    }

    std::mt19937 random_;
    RandomGraphOptions options_;
    GraphBuilder builder_;
    std::vector<Arg> results_;
    int counter_ = 0;
};

class FunctionModel : public CostModel {
public:
    explicit FunctionModel(std::function<std::optional<int64_t>(const Graph&, NodeId)> cost)
        : cost_(std::move(cost)) {}
    std::string name() const override { return "test"; }
    std::string source() const override { return "test"; }
    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable&,
                                         NodeId id) const override {
        const auto ns = cost_(graph, id);
        return ns ? std::optional(CostEstimate{*ns, Provenance::Imported, ""}) : std::nullopt;
    }

private:
    std::function<std::optional<int64_t>(const Graph&, NodeId)> cost_;
};

} // namespace

GraphPtr randomGraph(uint32_t seed, const RandomGraphOptions& options) {
    return Maker(seed, options).make();
}

CostTablePtr makeCosts(const Graph& graph, const CollectiveTable& collectives,
                       std::function<std::optional<int64_t>(const Graph&, NodeId)> cost) {
    CostChain chain;
    chain.models.push_back(std::make_shared<FunctionModel>(std::move(cost)));
    return priceGraph(graph, collectives, chain);
}

CostTablePtr randomCosts(const Graph& graph, const CollectiveTable& collectives, uint32_t seed) {
    return makeCosts(graph, collectives, [seed](const Graph& g, NodeId id) -> std::optional<int64_t> {
        const uint64_t draw = Hash64().number(seed).text(g.name(id)).value() >> 8;
        if (g.node(id).kind == NodeKind::Launch)
            return 5000 + static_cast<int64_t>(draw % 4'000'000);
        return draw % 5 == 0 ? 0 : 1000 + static_cast<int64_t>(draw % 3'000'000);
    });
}

} // namespace gs::test
