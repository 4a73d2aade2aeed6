#include "support/sample_analysis.h"

#include "cost/cost_model.h"
#include "graph/graph_builder.h"
#include "schedule/scheduler.h"

#include <stdexcept>

namespace gs::test {

namespace {

constexpr int64_t kDim = 4096;
constexpr int64_t kHidden = 14336;
constexpr int64_t kTokens = 8192;
constexpr int64_t kRanks = 8;

class Sample {
public:
    explicit Sample(int layers) : layers_(layers) {
        b_.info().name = "sample_transformer";
        b_.info().model = "llama";
        b_.info().world_size = kRanks;
        b_.addGroup("0", {0, 1, 2, 3, 4, 5, 6, 7}, "fsdp");
    }

    GraphPtr build() {
        for (int layer = 0; layer < layers_; ++layer) {
            for (const char* name : {"attention_norm", "attention.wqkv", "attention.wo", "ffn_norm",
                                     "feed_forward.w1", "feed_forward.w3", "feed_forward.w2"})
                addParameter("layers." + std::to_string(layer) + "." + name + ".weight", name);
        }
        x_ = tensor(b_.addNode("tokens", NodeOp::Placeholder, "tokens"), {kTokens, kDim});
        addOddGathers();
        for (int layer = 0; layer < layers_; ++layer)
            addLayer(layer);
        const NodeId out = b_.addNode("output", NodeOp::Output, "output");
        b_.setArgs(out, {b_.nodeArg(x_)});
        return b_.finish(nullptr);
    }

private:
    NodeId tensor(NodeId id, std::vector<int64_t> shape) {
        Value value;
        value.kind = Value::Kind::Tensor;
        value.tensor.dtype = DType::BFloat16;
        for (int64_t size : shape)
            value.tensor.shape.push_back({size, kEmptyString});
        b_.setValue(id, value);
        return id;
    }

    void addParameter(const std::string& fqn, const std::string& role) {
        std::vector<int64_t> shape = role == "attention.wqkv"    ? std::vector<int64_t>{6144, kDim}
                                     : role == "attention.wo"    ? std::vector<int64_t>{kDim, kDim}
                                     : role == "feed_forward.w2" ? std::vector<int64_t>{kDim, kHidden}
                                     : role.find("norm") != std::string::npos
                                         ? std::vector<int64_t>{kDim}
                                         : std::vector<int64_t>{kHidden, kDim};
        shape[0] /= kRanks;
        const NodeId id = b_.addNode("arg" + std::to_string(b_.size()) + "_1", NodeOp::Placeholder, "arg");
        tensor(id, shape);
        b_.meta(id).fqn = b_.intern(fqn);
        parameters_[fqn] = {id, shape};
    }

    NodeId call(const std::string& name, const std::string& target, std::vector<Arg> args,
                std::vector<int64_t> shape, const std::string& module) {
        const NodeId id = b_.addNode(unique(name), NodeOp::CallFunction, target, {"sample.json", line_, 1});
        b_.node(id).source_line = line_++;
        b_.setArgs(id, args);
        if (!module.empty()) {
            b_.node(id).module = b_.intern(module);
            b_.node(id).source =
                b_.intern("model.py:" + std::to_string(100 + line_ % 50) + " return self.op(x)");
        }
        return tensor(id, std::move(shape));
    }

    std::string unique(const std::string& name) {
        const int count = used_[name]++;
        return count == 0 ? name : name + "_" + std::to_string(count);
    }

    NodeId gather(const std::string& fqn, const std::string& module) {
        auto [shard, shape] = parameters_.at(fqn);
        const NodeId cast = call("_to_copy", "aten._to_copy.default", {b_.nodeArg(shard)}, shape, module);
        shape[0] *= kRanks;
        const NodeId launch =
            call("all_gather_into_tensor", "_c10d_functional.all_gather_into_tensor.default",
                 {b_.nodeArg(cast), b_.intArg(kRanks), b_.textArg(Arg::Kind::String, "0")}, shape, module);
        return call("wait_tensor", "_c10d_functional.wait_tensor.default", {b_.nodeArg(launch)}, shape,
                    module);
    }

    NodeId norm(int layer, const std::string& name) {
        const std::string module = "layers." + std::to_string(layer) + "." + name;
        const NodeId weight = gather(module + ".weight", module);
        return call("mul", "aten.mul.Tensor", {b_.nodeArg(x_), b_.nodeArg(weight)}, {kTokens, kDim}, module);
    }

    NodeId linear(NodeId input, int layer, const std::string& name, int64_t out) {
        const std::string module = "layers." + std::to_string(layer) + "." + name;
        const NodeId weight = gather(module + ".weight", module);
        const NodeId t = call("t", "aten.t.default", {b_.nodeArg(weight)}, {kDim, out}, module);
        return call("mm", "aten.mm.default", {b_.nodeArg(input), b_.nodeArg(t)}, {kTokens, out}, module);
    }

    void addLayer(int layer) {
        const std::string module = "layers." + std::to_string(layer);
        const NodeId qkv = linear(norm(layer, "attention_norm"), layer, "attention.wqkv", 6144);
        const NodeId attention =
            call("_scaled_dot_product_flash_attention", "aten._scaled_dot_product_flash_attention.default",
                 {b_.nodeArg(qkv), b_.nodeArg(qkv), b_.nodeArg(qkv)}, {kTokens, kDim}, module + ".attention");
        const NodeId o = linear(attention, layer, "attention.wo", kDim);
        x_ = call("add", "aten.add.Tensor", {b_.nodeArg(x_), b_.nodeArg(o)}, {kTokens, kDim}, module);
        const NodeId h = norm(layer, "ffn_norm");
        const NodeId w1 = linear(h, layer, "feed_forward.w1", kHidden);
        const NodeId w3 = linear(h, layer, "feed_forward.w3", kHidden);
        const NodeId gate = call("mul", "aten.mul.Tensor", {b_.nodeArg(w1), b_.nodeArg(w3)},
                                 {kTokens, kHidden}, module + ".feed_forward");
        const NodeId w2 = linear(gate, layer, "feed_forward.w2", kDim);
        x_ = call("add", "aten.add.Tensor", {b_.nodeArg(x_), b_.nodeArg(w2)}, {kTokens, kDim}, module);
    }

    /// What is no candidate, and what has no cost.
    void addOddGathers() {
        const std::string gather_op = "_c10d_functional.all_gather_into_tensor.default";
        const Arg ranks = b_.intArg(kRanks);
        const Arg group = b_.textArg(Arg::Kind::String, "0");
        x_ = call("mystery", "sample.mystery.default", {b_.nodeArg(x_)}, {kTokens, kDim}, "");
        const NodeId mask = parameters_.rbegin()->second.first;
        const NodeId sum =
            call("odd_add", "aten.add.Tensor", {b_.nodeArg(x_), b_.nodeArg(mask)}, {kTokens, kDim}, "");
        const NodeId activation = call("activation_gather", gather_op, {b_.nodeArg(sum), ranks, group},
                                       {kTokens * kRanks, kDim}, "");
        const NodeId wait = call("activation_wait", "_c10d_functional.wait_tensor.default",
                                 {b_.nodeArg(activation)}, {kTokens * kRanks, kDim}, "");
        const NodeId first = parameters_.begin()->second.first;
        const std::vector<int64_t> full = {kDim};
        call("unwaited_gather", gather_op, {b_.nodeArg(first), ranks, group}, full, "");
        const NodeId unused = call("unused_gather", gather_op, {b_.nodeArg(first), ranks, group}, full, "");
        call("unused_wait", "_c10d_functional.wait_tensor.default", {b_.nodeArg(unused)}, full, "");
        const NodeId grad =
            call("grad_reduce_scatter", "_c10d_functional.reduce_scatter_tensor.default",
                 {b_.nodeArg(wait), b_.textArg(Arg::Kind::String, "sum"), ranks, group}, {kTokens, kDim}, "");
        const NodeId grad_wait = call("grad_wait", "_c10d_functional.wait_tensor.default", {b_.nodeArg(grad)},
                                      {kTokens, kDim}, "");
        x_ = call("odd_sum", "aten.add.Tensor", {b_.nodeArg(x_), b_.nodeArg(grad_wait)}, {kTokens, kDim}, "");
    }

    int layers_;
    GraphBuilder b_;
    NodeId x_ = kNoNode;
    uint32_t line_ = 12;
    std::map<std::string, int> used_;
    std::map<std::string, std::pair<NodeId, std::vector<int64_t>>> parameters_;
};

/// Plain numbers in the size of an H100's, with provenances as a mixed table has them.
class SampleCosts : public CostModel {
public:
    std::string name() const override { return "sample"; }
    std::string source() const override { return "H100 file"; }
    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                         NodeId id) const override {
        const std::string_view target = graph.targetText(id);
        const int64_t bytes = graph.value(id).bytes();
        if (graph.node(id).kind == NodeKind::Launch) {
            const auto& item = collectives[static_cast<size_t>(collectives.indexOf(id))];
            const int64_t moved = std::max(item.output_bytes, item.input_bytes);
            return CostEstimate{3300 + moved / 100, Provenance::Imported, "ring over 8 ranks"};
        }
        if (target == "aten._scaled_dot_product_flash_attention.default")
            return CostEstimate{2216000, Provenance::Measured, "median of 10, spread 1.2 %"};
        if (target == "aten.mm.default")
            return CostEstimate{561000 + bytes / 170, Provenance::Analytical,
                                "compute bound at 989 TFLOP/s × 0.5"};
        if (target == "sample.mystery.default")
            return std::nullopt;
        return CostEstimate{2000 + bytes / 3000, Provenance::Reused, "memory bound"};
    }
};

Program program(const GraphPtr& graph, const CostChain& chain, const std::string& scheduler,
                const Settings& settings) {
    Program p;
    p.graph = graph;
    p.collectives = std::make_shared<const CollectiveTable>(*graph);
    p.costs = priceGraph(*graph, *p.collectives, chain);
    const SchedulerInfo* info = findScheduler(scheduler);
    if (!info)
        throw std::runtime_error("no scheduler " + scheduler);
    p.schedule =
        std::make_shared<const Schedule>(info->run({*graph, *p.collectives, *p.costs, settings, {}}));
    return p;
}

void simulateProgram(Program& p, const Settings& settings) {
    SimulationSettings simulation;
    simulation.contention = settings.number(Setting::Contention);
    p.timeline = simulate(*p.graph, *p.collectives, *p.costs, p.schedule->order, simulation);
}

} // namespace

AnalysisPtr sampleAnalysis(const SampleOptions& options) {
    auto analysis = std::make_shared<Analysis>();
    analysis->request.graph_file = "sample.json";
    analysis->request.settings = analysis->asked = options.settings;
    analysis->request.cost_overrides = options.cost_overrides;
    const GraphPtr graph = Sample(options.layers).build();
    analysis->source.graph = graph;
    CostChain chain;
    chain.models.push_back(std::make_shared<const SampleCosts>());
    chain.overrides = options.cost_overrides;
    analysis->before = program(graph, chain, "program-order", options.settings);
    analysis->after = program(graph, chain, options.scheduler, options.settings);
    if (options.edit_schedule) {
        auto schedule = std::make_shared<Schedule>(*analysis->after.schedule);
        options.edit_schedule(*schedule, analysis->after);
        analysis->after.schedule = schedule;
    }
    simulateProgram(analysis->before, options.settings);
    simulateProgram(analysis->after, options.settings);
    if (options.edit_timeline) {
        auto timeline = std::make_shared<Timeline>(*analysis->after.timeline);
        options.edit_timeline(*timeline, analysis->after);
        analysis->after.timeline = timeline;
    }
    analysis->lower_bound_ns = analysis->after.timeline->compute_ns;
    if (options.edit)
        options.edit(*analysis);
    return analysis;
}

NodeId launchOf(const Analysis& analysis, std::string_view parameter) {
    for (const Collective& item : analysis.after.collectives->all()) {
        for (NodeId id : item.parameters) {
            if (parameterName(*analysis.after.graph, id) == parameter)
                return item.launch;
        }
    }
    return kNoNode;
}

} // namespace gs::test
