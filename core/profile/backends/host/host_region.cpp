#include "host_region.h"

#include "pointwise.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace gs::host {

int64_t RegionPlan::bytes() const {
    int64_t total = 0;
    for (const auto& [node, spec] : inputs)
        total += spec.storageBytes();
    for (const RegionMember& member : members) {
        if (std::find(outputs.begin(), outputs.end(), member.node) != outputs.end())
            total += result(member).storageBytes();
    }
    return total;
}

Result<RegionPlan> planRegion(const Graph& graph, const FusedRegion& region) {
    RegionPlan plan;
    if (region.nodes.empty())
        return notSupported("the region has no members");
    std::set<NodeId> members(region.nodes.begin(), region.nodes.end());
    for (const NodeId node : region.nodes) {
        const OpCall call(graph, node, {});
        if (!isPointwise(call.name) || call.in_place)
            return notSupported(fmt::format("{} is not part of one loop here", graph.targetText(node)));
        Result<BenchmarkInputs> inputs = BenchmarkInputRegistry::global().make(graph, node);
        if (!inputs)
            return inputs.error();
        if (inputs->outputs.size() != 1 ||
            (!plan.members.empty() && inputs->outputs.front().shape != plan.shape))
            return notSupported("the members of the region have several shapes");
        plan.shape = inputs->outputs.front().shape;
        for (size_t i = 0; i < inputs->nodes.size(); ++i) {
            if (!members.contains(inputs->nodes[i]))
                plan.inputs.emplace(inputs->nodes[i], inputs->tensors[i]);
        }
        plan.members.push_back({node, call.name, std::move(inputs).value()});
    }
    plan.outputs = regionOperands(graph, region).outputs;
    // A view of a member that another member reads is not what that member wrote.
    for (const auto& [node, spec] : plan.inputs) {
        for (NodeId source = node;
             graph.node(source).kind == NodeKind::View && !graph.inputs(source).empty();) {
            source = graph.inputs(source).front();
            if (members.contains(source))
                return notSupported("a member reads another through a view");
        }
    }
    return plan;
}

Result<std::unique_ptr<HostOp>> makeRegion(const RegionPlan& plan) {
    auto op = std::make_unique<HostOp>();
    TileProgram program(plan.shape);
    std::map<NodeId, int32_t> registers;
    std::map<NodeId, Tensor> tensors;
    for (const auto& [node, spec] : plan.inputs) {
        op->inputs.push_back(makeTensor(spec));
        registers[node] = program.load(op->inputs.back());
        tensors[node] = op->inputs.back();
    }
    for (const RegionMember& member : plan.members) {
        const TensorSpec& result = plan.result(member);
        const int32_t value = emitPointwise(program, member.name, member.inputs, result.dtype,
                                            [&](uint32_t i) { return registers[member.inputs.nodes[i]]; });
        if (value < 0 || !isComputable(result.dtype))
            return notSupported(fmt::format("this form of \"{}\" is not known", member.name));
        registers[member.node] = value;
        if (std::find(plan.outputs.begin(), plan.outputs.end(), member.node) != plan.outputs.end()) {
            TensorSpec spec = result;
            spec.fill = InputFill::Zeros;
            op->outputs.push_back(makeTensor(spec));
            if (!program.store(value, op->outputs.back()))
                return notSupported(fmt::format("the result of \"{}\" does not fit the region", member.name));
        }
    }
    std::optional<Body> chain;
    if (op->outputs.size() == 1)
        chain = dnnlRegion(plan, tensors, op->outputs.front());
    op->body = chain ? *std::move(chain) : program.finish();
    return op;
}

} // namespace gs::host
