// Hand-made snapshots for the timeline: a stack of transformer-like layers whose gathers stand right before
// their waits, and the same with each launch moved up.
#pragma once

#include "analysis/analysis.h"
#include "cost/cost_model.h"
#include "graph/graph_builder.h"

#include <algorithm>
#include <string>

namespace gs::test {

struct TimelineShape {
    int layers = 32;
    int groups = 1;          ///< layers take turns
    bool gathers = true;     ///< false: no collectives at all
    bool scatters = false;   ///< a reduce-scatter at the end of each layer
    int pointwise = 0;       ///< small kernels added per layer
    int64_t unit_ns = 1'000; ///< costs are multiples of this
};

/// Costs by node name: "mm…" and the others by the tables below.
class FixtureCosts : public CostModel {
public:
    explicit FixtureCosts(int64_t unit_ns) : unit_ns_(unit_ns) {}
    std::string name() const override { return "file"; }
    std::string source() const override { return "fixture.json"; }
    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                         NodeId id) const override {
        const int32_t collective = collectives.indexOf(id);
        int64_t units = 12;
        if (collective >= 0)
            units = std::max<int64_t>(4, collectives[static_cast<size_t>(collective)].output_bytes / 100'000);
        else if (graph.name(id).starts_with("mm"))
            units = 1946;
        else if (graph.hasTrait(id, kTraitAttention) || graph.name(id).starts_with("_scaled"))
            units = 2237;
        else if (graph.name(id).starts_with("norm"))
            units = 240;
        return CostEstimate{units * unit_ns_, Provenance::Imported, "H100 roofline"};
    }

private:
    int64_t unit_ns_;
};

namespace detail {

inline Value tensor(std::vector<int64_t> sizes) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = DType::BFloat16;
    for (const int64_t size : sizes)
        value.tensor.shape.push_back({size, kEmptyString});
    return value;
}

/// Adds one layer; `x` is the activation.
class LayerStack {
public:
    LayerStack(GraphBuilder& builder, const TimelineShape& shape) : b_(builder), shape_(shape) {}

    void addParameters() {
        x_ = b_.addNode("tokens", NodeOp::Placeholder, "tokens");
        for (int layer = 0; layer < shape_.layers; ++layer) {
            for (const auto& [name, rows] : kParameters) {
                const std::string fqn = "layers." + std::to_string(layer) + "." + name + ".weight";
                const NodeId id =
                    b_.addNode("p" + std::to_string(parameters_.size()), NodeOp::Placeholder, fqn);
                b_.meta(id).fqn = b_.intern(fqn);
                b_.setValue(id, tensor({rows / 64, 4096}));
                parameters_.push_back(id);
            }
        }
    }

    void addLayer(int layer) {
        const size_t first = static_cast<size_t>(layer) * std::size(kParameters);
        const std::string group = std::to_string(layer % shape_.groups);
        for (size_t i = 0; i < std::size(kParameters); ++i) {
            const NodeId weight = shape_.gathers
                                      ? gather(parameters_[first + i], kParameters[i].second, group)
                                      : parameters_[first + i];
            const char* op = i == 0 || i == 3 ? "norm" : "mm";
            call(op, i == 0 || i == 3 ? "aten.mul.Tensor" : "aten.mm.default", weight);
            if (i == 1)
                call("_scaled_dot_product_flash_attention",
                     "aten._scaled_dot_product_flash_attention.default", weight);
        }
        for (int i = 0; i < shape_.pointwise; ++i)
            call("add", "aten.add.Tensor", x_);
        if (shape_.scatters)
            scatter(group);
    }

    NodeId activation() const { return x_; }

private:
    static constexpr std::pair<const char*, int64_t> kParameters[] = {
        {"attention_norm", 64},     {"attention.wqkv", 6144},   {"attention.wo", 4096},    {"ffn_norm", 64},
        {"feed_forward.w1", 14336}, {"feed_forward.w3", 14336}, {"feed_forward.w2", 14336}};

    std::string unique(const std::string& name) { return name + "_" + std::to_string(++count_); }

    NodeId call(const char* name, const char* target, NodeId weight) {
        const NodeId id = b_.addNode(unique(name), NodeOp::CallFunction, target);
        b_.setArgs(id, {b_.nodeArg(x_), b_.nodeArg(weight)});
        b_.setValue(id, tensor({8192, 4096}));
        return x_ = id;
    }

    NodeId gather(NodeId parameter, int64_t rows, const std::string& group) {
        const NodeId launch = b_.addNode(unique("all_gather"), NodeOp::CallFunction,
                                         "_c10d_functional.all_gather_into_tensor.default");
        b_.setArgs(launch, {b_.nodeArg(parameter), b_.intArg(64), b_.textArg(Arg::Kind::String, group)});
        b_.setValue(launch, tensor({rows, 4096}));
        return wait(launch, rows);
    }

    NodeId wait(NodeId launch, int64_t rows) {
        const NodeId id =
            b_.addNode(unique("wait_tensor"), NodeOp::CallFunction, "_c10d_functional.wait_tensor.default");
        b_.setArgs(id, {b_.nodeArg(launch)});
        b_.setValue(id, tensor({rows, 4096}));
        return id;
    }

    void scatter(const std::string& group) {
        const NodeId launch = b_.addNode(unique("reduce_scatter"), NodeOp::CallFunction,
                                         "_c10d_functional.reduce_scatter_tensor.default");
        b_.setArgs(launch, {b_.nodeArg(x_), b_.textArg(Arg::Kind::String, "sum"), b_.intArg(64),
                            b_.textArg(Arg::Kind::String, group)});
        b_.setValue(launch, tensor({12'000, 4096}));
        scatters_.push_back(wait(launch, 128));
    }

    GraphBuilder& b_;
    const TimelineShape& shape_;
    std::vector<NodeId> parameters_;
    std::vector<NodeId> scatters_;
    NodeId x_ = kNoNode;
    int count_ = 0;
};

/// Each launch moves up over the `compute` nodes before it that take time.
inline Order hoisted(const Graph& graph, int compute) {
    Order order;
    for (NodeId id = 0; id < graph.size(); ++id) {
        size_t at = order.size();
        if (graph.node(id).kind == NodeKind::Launch &&
            graph.node(graph.inputs(id).front()).op == NodeOp::Placeholder) {
            int passed = 0;
            while (at > graph.placeholdersEnd() && passed < compute &&
                   graph.node(order[at - 1]).kind != NodeKind::Launch) {
                --at;
                passed += graph.node(order[at]).kind == NodeKind::Compute ? 1 : 0;
            }
        }
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), id);
    }
    return order;
}

inline Program makeProgram(GraphPtr graph, int64_t unit_ns, Order order) {
    Program program;
    program.graph = graph;
    program.collectives = std::make_shared<CollectiveTable>(*graph);
    CostChain chain;
    chain.models.push_back(std::make_shared<FixtureCosts>(unit_ns));
    program.costs = priceGraph(*graph, *program.collectives, chain);
    auto schedule = std::make_shared<Schedule>();
    schedule->scheduler = "fixture";
    schedule->order = std::move(order);
    program.schedule = schedule;
    program.timeline =
        simulate(*graph, *program.collectives, *program.costs, program.schedule->order, SimulationSettings{});
    return program;
}

} // namespace detail

/// A snapshot of such a stack, before and after.
inline AnalysisPtr makeAnalysis(const TimelineShape& shape = {}) {
    GraphBuilder builder;
    for (int i = 0; i < shape.groups && shape.gathers; ++i) {
        std::vector<int32_t> ranks(64);
        for (int32_t rank = 0; rank < 64; ++rank)
            ranks[static_cast<size_t>(rank)] = rank;
        builder.addGroup(std::to_string(i), ranks,
                         i == 0 ? "mesh_fsdp" : "mesh_a_rather_long_group_name_" + std::to_string(i));
    }
    detail::LayerStack stack(builder, shape);
    stack.addParameters();
    for (int layer = 0; layer < shape.layers; ++layer)
        stack.addLayer(layer);
    const NodeId output = builder.addNode("output", NodeOp::Output, "output");
    builder.setArgs(output, {builder.nodeArg(stack.activation())});
    const GraphPtr graph = builder.finish(nullptr);
    auto analysis = std::make_shared<Analysis>();
    analysis->request.graph_file = "fixture";
    analysis->before = detail::makeProgram(graph, shape.unit_ns, identityOrder(*graph));
    analysis->after = detail::makeProgram(graph, shape.unit_ns, detail::hoisted(*graph, 2));
    analysis->lower_bound_ns = analysis->after.timeline->compute_ns;
    return analysis;
}

/// Name of the launch of the `index`-th gather of the program after scheduling.
inline std::string launchName(const Analysis& analysis, size_t index) {
    const NodeId launch = (*analysis.after.collectives)[index].launch;
    return std::string(analysis.after.graph->name(launch));
}

} // namespace gs::test
