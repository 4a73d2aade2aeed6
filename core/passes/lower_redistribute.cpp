#include "passes/lower_redistribute.h"

#include "graph/collectives.h"
#include "passes/redistribute_plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr const char* kPassName = "lower-redistribute";

/// Name of a parameter from its place in the module tree, where Dynamo mangled the name of the placeholder:
/// "L['m'].layers.0.parametrizations.weight" is "layers.0.weight".
std::string weightName(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    if (graph.meta(id).fqn != kEmptyString || graph.meta(id).desc_json == kEmptyString ||
        node.module == kEmptyString)
        return parameterName(graph, id);
    std::string path(graph.text(node.module));
    if (path.rfind("L['", 0) == 0) {
        const size_t dot = path.find("'].");
        path.erase(0, dot == std::string::npos ? 0 : dot + 3);
    }
    constexpr std::string_view kWrapper = "parametrizations.";
    for (size_t at = path.find(kWrapper); at != std::string::npos; at = path.find(kWrapper))
        path.erase(at, kWrapper.size());
    return path;
}

/// Emits the chains of one graph's plans into the builder.
class ChainEmitter {
public:
    ChainEmitter(const Graph& graph, GraphBuilder& builder)
        : graph_(graph), builder_(builder), math_(builder), namer_(graph) {}

    /// Returns the node that stands for the redistributed local tensor.
    NodeId emit(const RedistributePlan& plan, const std::vector<NodeId>& map) {
        plan_ = &plan;
        const TensorMeta& global = graph_.value(plan.parameter).tensor;
        TensorMeta local = global;
        local.shape = plan.local_shape;
        if (global.has_stride)
            local.stride = denseStrides(local.shape, &global, math_);
        NodeId at =
            add("to_local", NodeOp::CallMethod, "to_local", {builder_.nodeArg(map[plan.parameter])}, local);
        builder_.setTraits(at, kTraitView); // takes the shard out of its wrapper: no kernel, same storage
        if (plan.forward_dtype != DType::Unknown) {
            local.dtype = plan.forward_dtype;
            at = call("_to_copy", "aten._to_copy.default", {builder_.nodeArg(at)}, local);
            builder_.setKwargs(at, {{builder_.textArg(Arg::Kind::String, "dtype"),
                                     builder_.textArg(Arg::Kind::DType, dtypeName(local.dtype))}});
        }
        for (const GatherStep& step : plan.steps)
            at = emitStep(step, at, local);
        return at;
    }

private:
    NodeId emitStep(const GatherStep& step, NodeId at, TensorMeta& tensor) {
        const size_t dim = step.tensor_dim;
        std::vector<Arg> widths(2 * (tensor.shape.size() - dim), builder_.intArg(0)); // last dimension first
        widths.back() = math_.arg(math_.difference(step.chunk, step.have));
        tensor.shape[dim] = step.chunk;
        tensor.has_stride = true;
        tensor.stride = denseStrides(tensor.shape, nullptr, math_);
        at = call("constant_pad_nd", "aten.constant_pad_nd.default",
                  {builder_.nodeArg(at), builder_.listArg(widths), builder_.floatArg(0.0)}, tensor);

        const Dim world{step.world, kEmptyString};
        const TensorMeta shard = tensor;
        tensor.shape[0] = math_.product(world, tensor.shape[0]);
        tensor.stride = denseStrides(tensor.shape, nullptr, math_);
        builder_.addGroup(step.group, step.ranks, {});
        at = call("all_gather_into_tensor", "_c10d_functional.all_gather_into_tensor.default",
                  {builder_.nodeArg(at), builder_.intArg(step.world),
                   builder_.textArg(Arg::Kind::String, step.group)},
                  tensor);
        builder_.meta(at).param_name = builder_.intern(weightName(graph_, plan_->parameter));
        at = call("wait_tensor", "_c10d_functional.wait_tensor.default", {builder_.nodeArg(at)}, tensor);
        if (dim != 0)
            at = emitReassembly(step, at, shard, tensor);
        if (step.slice) {
            tensor.shape[dim] = step.extent;
            at = call("slice", "aten.slice.Tensor",
                      {builder_.nodeArg(at), builder_.intArg(static_cast<int64_t>(dim)), builder_.intArg(0),
                       math_.arg(step.extent)},
                      tensor);
        }
        return at;
    }

    /// The gather stacked the shards along dimension 0; they belong side by side along `tensor_dim`.
    NodeId emitReassembly(const GatherStep& step, NodeId at, const TensorMeta& shard, TensorMeta& tensor) {
        Value pieces;
        pieces.kind = Value::Kind::List;
        pieces.items.assign(static_cast<size_t>(step.world), tensorValue(shard));
        // By sizes: split() makes one piece of an empty dimension, not one for each rank.
        const std::vector<Arg> sizes(pieces.items.size(), math_.arg(shard.shape[0]));
        const NodeId split = call("split_with_sizes", "aten.split_with_sizes.default",
                                  {builder_.nodeArg(at), builder_.listArg(sizes)}, shard);
        builder_.setValue(split, pieces);
        std::vector<Arg> parts;
        for (int64_t i = 0; i < step.world; ++i)
            parts.push_back(builder_.nodeArg(
                call("getitem", "operator.getitem", {builder_.nodeArg(split), builder_.intArg(i)}, shard)));
        tensor = shard;
        tensor.shape[step.tensor_dim] =
            math_.product({step.world, kEmptyString}, tensor.shape[step.tensor_dim]);
        tensor.stride = denseStrides(tensor.shape, nullptr, math_);
        return call("cat", "aten.cat.default",
                    {builder_.listArg(parts), builder_.intArg(static_cast<int64_t>(step.tensor_dim))},
                    tensor);
    }

    NodeId call(std::string_view name, std::string_view target, std::initializer_list<Arg> args,
                const TensorMeta& tensor) {
        return add(name, NodeOp::CallFunction, target, args, tensor);
    }

    NodeId add(std::string_view name, NodeOp op, std::string_view target, std::initializer_list<Arg> args,
               const TensorMeta& tensor) {
        const NodeId id = builder_.addNode(namer_.next(name), op, target);
        builder_.setArgs(id, args);
        builder_.setValue(id, tensorValue(tensor));
        const Node& from = graph_.node(plan_->redistribute);
        Node& node = builder_.node(id);
        node.module = from.module;
        node.source = from.source;
        node.source_line = from.source_line;
        node.phase = from.phase;
        node.moved_by_pass = true;
        builder_.addOrigin(id, from.name);
        for (NodeId to_local : plan_->to_locals)
            builder_.addOrigin(id, graph_.node(to_local).name);
        return id;
    }

    const Graph& graph_;
    GraphBuilder& builder_;
    DimMath math_;
    NodeNamer namer_;
    const RedistributePlan* plan_ = nullptr;
};

std::string describe(const Graph& graph, const RedistributePlan& plan) {
    std::string text = weightName(graph, plan.parameter) + ":";
    for (const GatherStep& step : plan.steps)
        text += fmt::format(" gathered along dimension {} by {} ranks of {}", step.tensor_dim, step.world,
                            step.group);
    const GatherStep& first = plan.steps.front();
    if (!first.have.symbolic() && !first.chunk.symbolic() && first.have.value < first.chunk.value)
        text += fmt::format(", this rank's {} rows padded to {}", first.have.value, first.chunk.value);
    if (plan.forward_dtype != DType::Unknown)
        text += fmt::format(", as {}", dtypeName(plan.forward_dtype));
    if (plan.assumed)
        text += "; placements assumed from the mesh setting";
    return text;
}

class Lowering {
public:
    Lowering(const GraphPtr& graph, const LoweringOptions& options) : graph_(graph), options_(options) {}

    PassResult run() {
        report_.pass = kPassName;
        std::vector<NodeId> candidates;
        for (NodeId id = 0; id < graph_->size(); ++id) {
            if (graph_->isCall(id) && isRedistribute(*graph_, id))
                candidates.push_back(id);
        }
        if (candidates.empty()) {
            report_.summary = "The graph has no redistributes to lower.";
            return {graph_, std::move(report_)};
        }
        GraphBuilder builder(*graph_);
        RedistributePlanner planner(*graph_, builder, options_.mesh);
        for (NodeId id : candidates)
            plans_.push_back(planner.plan(id));
        describeAll();
        return {report_.done == 0 ? graph_ : rebuild(builder), std::move(report_)};
    }

private:
    GraphPtr rebuild(GraphBuilder& builder) {
        std::vector<NodeId> map(graph_->size(), kNoNode);
        std::vector<bool> erased(graph_->size(), false);
        ChainEmitter emitter(*graph_, builder);
        auto plan = plans_.begin();
        for (NodeId id = 0; id < graph_->size(); ++id) {
            const bool planned = plan != plans_.end() && plan->redistribute == id;
            if (planned && plan->reason.empty()) {
                const NodeId local = emitter.emit(*plan, map);
                for (NodeId to_local : plan->to_locals) {
                    map[to_local] = local;
                    erased[to_local] = true;
                }
            } else if (!erased[id]) {
                map[id] = builder.copyNode(*graph_, id, map);
                if (graph_->node(id).op == NodeOp::Placeholder && graph_->meta(id).desc_json != kEmptyString)
                    builder.meta(map[id]).fqn = builder.intern(weightName(*graph_, id));
            }
            plan += planned ? 1 : 0;
        }
        return builder.finish(&report_.diagnostics);
    }

    void describeAll() {
        size_t assumed = 0, unknown = 0;
        for (const RedistributePlan& plan : plans_) {
            const bool done = plan.reason.empty();
            (done ? report_.done : report_.skipped) += 1;
            assumed += plan.assumed ? 1 : 0;
            unknown += plan.no_placements ? 1 : 0;
            report_.lines.push_back({std::string(graph_->name(plan.redistribute)), done,
                                     done ? describe(*graph_, plan) : plan.reason});
        }
        report_.summary = fmt::format("Lowered {} of {} redistributes to gathers; {} stayed as they were.",
                                      report_.done, plans_.size(), report_.skipped);
        if (assumed > 0)
            report_.diagnostics.add(
                {Severity::Info,
                 "assumed-placements",
                 {},
                 {},
                 fmt::format("the placements of {} parameters are not in the file: Shard(0) → Replicate "
                             "on the mesh of the settings was assumed",
                             assumed),
                 "a graph captured with metadata states them"});
        if (unknown > 0)
            report_.diagnostics.add(
                {Severity::Warning,
                 "no-placements",
                 {},
                 {},
                 fmt::format("{} redistributes were not lowered: the file states no placements", unknown),
                 "set a mesh, e.g. 8 or dp=2,shard=4, to assume Shard(0) → Replicate"});
    }

    const GraphPtr& graph_;
    const LoweringOptions& options_;
    std::vector<RedistributePlan> plans_;
    PassReport report_;
};

} // namespace

PassResult lowerRedistributes(const GraphPtr& graph, const LoweringOptions& options) {
    return Lowering(graph, options).run();
}

PassResult lowerRedistributes(const GraphPtr& graph, const Settings& settings) {
    PassReport report;
    report.pass = kPassName;
    if (!settings.flag(Setting::Lowering)) {
        report.summary = "Lowering of redistributes is switched off.";
        return {graph, std::move(report)};
    }
    Result<std::vector<MeshDim>> mesh = parseMesh(settings.text(Setting::Mesh));
    if (!mesh) {
        const Error& error = mesh.error();
        report.summary = "Nothing was lowered: " + error.message + ".";
        report.diagnostics.add({Severity::Error, error.code, {}, {}, error.message, error.hint});
        return {graph, std::move(report)};
    }
    return lowerRedistributes(graph, LoweringOptions{std::move(mesh.value())});
}

} // namespace gs
