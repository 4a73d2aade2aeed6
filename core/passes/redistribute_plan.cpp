#include "passes/redistribute_plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

bool calls(const Graph& graph, NodeId id, std::string_view method, std::string_view function) {
    const std::string_view target = graph.targetText(id);
    if (graph.node(id).op == NodeOp::CallMethod)
        return target == method;
    // The printed code calls them torch__dynamo_variables_tensor_prim_redistribute_1.
    return graph.node(id).op == NodeOp::CallFunction && target.find(function) != std::string_view::npos;
}

/// A dimension that may be counted from the back; -1 if it is out of range.
int normalDim(int dim, size_t count) {
    const int size = static_cast<int>(count);
    const int normal = dim < 0 ? dim + size : dim;
    return normal >= 0 && normal < size ? normal : -1;
}

bool isShard(const DTensorPlacement& placement) {
    return placement.kind == DTensorPlacement::Kind::Shard;
}

/// Position of `rank` along each mesh dimension.
std::vector<int64_t> meshCoordinates(const std::vector<MeshDim>& mesh, int32_t rank) {
    std::vector<int64_t> at(mesh.size());
    int64_t rest = rank;
    for (size_t dim = mesh.size(); dim-- > 0;) {
        at[dim] = rest % mesh[dim].size;
        rest /= mesh[dim].size;
    }
    return at;
}

/// Rows of `extent` that the rank at `coordinate` of `world` holds: torch.chunk's rule.
int64_t shardRows(int64_t extent, int64_t world, int64_t coordinate) {
    const int64_t chunk = extent / world + (extent % world != 0 ? 1 : 0);
    return std::clamp<int64_t>(extent - coordinate * chunk, 0, chunk);
}

} // namespace

bool isRedistribute(const Graph& graph, NodeId id) {
    return calls(graph, id, "redistribute", "prim_redistribute");
}

bool isToLocal(const Graph& graph, NodeId id) {
    return calls(graph, id, "to_local", "prim_to_local");
}

std::vector<int32_t> meshGroupRanks(const std::vector<MeshDim>& mesh, size_t dim, int32_t rank) {
    int64_t stride = 1;
    for (size_t inner = dim + 1; inner < mesh.size(); ++inner)
        stride *= mesh[inner].size;
    const int64_t first = rank - meshCoordinates(mesh, rank)[dim] * stride;
    std::vector<int32_t> ranks;
    for (int64_t i = 0; i < mesh[dim].size; ++i)
        ranks.push_back(static_cast<int32_t>(first + i * stride));
    return ranks;
}

std::string MeshGroups::newName(const std::string& role) {
    const auto taken = [&](const std::string& name) {
        return graph_.findGroup(name) != kNoGroup ||
               std::any_of(names_.begin(), names_.end(),
                           [&](const auto& item) { return item.second == name; });
    };
    std::string name = "mesh_" + role;
    for (int number = 2; taken(name); ++number)
        name = fmt::format("mesh_{}_{}", role, number);
    return name;
}

void MeshGroups::assign(GatherStep& step, const std::vector<MeshDim>& mesh,
                        const std::vector<DTensorPlacement>& placements) {
    step.ranks = meshGroupRanks(mesh, step.mesh_dim, graph_.info().rank);
    std::vector<int64_t> sizes;
    for (const MeshDim& dim : mesh)
        sizes.push_back(dim.size);
    // By mesh and dimension, never by ranks: every rank has to choose the same name.
    std::string& name = names_[{sizes, step.mesh_dim}];
    if (name.empty()) {
        for (const ProcessGroup& group : graph_.groups()) {
            if (group.ranks == step.ranks)
                name = graph_.text(group.name);
        }
    }
    if (name.empty()) {
        const auto sharded = std::count_if(placements.begin(), placements.end(), isShard);
        const std::string& given = mesh[step.mesh_dim].name;
        name = newName(!given.empty() ? given
                       : sharded > 1  ? fmt::format("shard{}", step.mesh_dim)
                                      : "shard");
    }
    step.group = name;
}

RedistributePlanner::RedistributePlanner(const Graph& graph, GraphBuilder& builder, std::vector<MeshDim> mesh)
    : graph_(graph), math_(builder), stated_mesh_(std::move(mesh)), reader_(graph), groups_(graph) {}

RedistributePlan RedistributePlanner::plan(NodeId redistribute) {
    RedistributePlan plan;
    plan.redistribute = redistribute;
    Layout layout;
    plan.reason = findPair(plan);
    if (plan.reason.empty())
        plan.reason = findLayout(plan, layout);
    if (plan.reason.empty())
        plan.reason = findLocalShape(plan, layout);
    if (plan.reason.empty())
        plan.reason = planSteps(plan, layout);
    if (plan.reason.empty())
        plan.reason = findCast(plan, reader_.redistribute(redistribute));
    return plan;
}

std::string RedistributePlanner::findPair(RedistributePlan& plan) const {
    const Arg* input = graph_.arg(plan.redistribute, 0);
    if (!input || input->node() == kNoNode)
        return "it has no input tensor";
    plan.parameter = input->node();
    const NodeOp op = graph_.node(plan.parameter).op;
    if (op != NodeOp::Placeholder && op != NodeOp::GetAttr)
        return fmt::format("its input {} is no parameter", graph_.name(plan.parameter));
    for (NodeId user : graph_.users(plan.redistribute)) {
        if (!isToLocal(graph_, user))
            return fmt::format("{} uses the DTensor itself, not its local tensor", graph_.name(user));
        plan.to_locals.push_back(user);
    }
    return plan.to_locals.empty() ? "no to_local takes its result" : "";
}

std::string RedistributePlanner::findLayout(RedistributePlan& plan, Layout& layout) {
    const DTensorDesc& source = reader_.desc(plan.parameter);
    if (source.known()) {
        layout.from = source.placements;
        for (int64_t size : source.mesh)
            layout.mesh.push_back({{}, size});
    } else if (!stated_mesh_.empty()) {
        // The innermost dimension shards, as in FSDP and hybrid sharding.
        plan.assumed = true;
        layout.mesh = stated_mesh_;
        layout.from.assign(stated_mesh_.size(), parsePlacements("R").front());
        layout.from.back() = parsePlacements("S(0)").front();
    } else {
        plan.no_placements = true;
        return "the file states no placements; set a mesh to assume Shard(0) → Replicate";
    }
    const DTensorDesc& result = reader_.desc(plan.redistribute);
    const RedistributeArgs args = reader_.redistribute(plan.redistribute);
    if (result.known())
        layout.to = result.placements;
    else if (args.placements)
        layout.to = *args.placements;
    else
        layout.to.assign(layout.mesh.size(), parsePlacements("R").front());
    if (layout.to.size() != layout.from.size())
        return fmt::format("{} → {}: not one placement per dimension of the mesh",
                           placementsText(layout.from), placementsText(layout.to));
    return {};
}

std::string RedistributePlanner::findLocalShape(RedistributePlan& plan, const Layout& layout) {
    const Value& value = graph_.value(plan.parameter);
    if (value.kind != Value::Kind::Tensor)
        return fmt::format("the shape of {} is not known", graph_.name(plan.parameter));
    global_shape_.clear();
    for (const Dim& dim : value.tensor.shape)
        global_shape_.push_back(math_.plain(dim));
    const DTensorDesc& source = reader_.desc(plan.parameter);
    if (source.local_shape.size() == global_shape_.size()) {
        for (size_t i = 0; i < global_shape_.size(); ++i)
            plan.local_shape.push_back(math_.named(source.local_symbols[i], source.local_shape[i]));
        return {};
    }
    plan.local_shape = global_shape_;
    const std::vector<int64_t> at = meshCoordinates(layout.mesh, graph_.info().rank);
    for (size_t i = 0; i < layout.mesh.size(); ++i) {
        const int dim = isShard(layout.from[i]) ? normalDim(layout.from[i].dim, global_shape_.size()) : -1;
        if (dim < 0)
            continue;
        Dim& size = plan.local_shape[static_cast<size_t>(dim)];
        if (size.symbolic()) // full shards; only the last ranks can have less
            size = math_.ceilDivide(size, layout.mesh[i].size);
        else if (size.value >= 0)
            size.value = shardRows(size.value, layout.mesh[i].size, at[i]);
    }
    return {};
}

std::string RedistributePlanner::planSteps(RedistributePlan& plan, const Layout& layout) {
    const std::string change = fmt::format("{} → {}", placementsText(layout.from), placementsText(layout.to));
    std::vector<Dim> shape = plan.local_shape;
    for (size_t i = layout.mesh.size(); i-- > 0;) {
        if (layout.from[i] == layout.to[i])
            continue;
        const bool gathers =
            isShard(layout.from[i]) && layout.to[i].kind == DTensorPlacement::Kind::Replicate;
        if (!gathers)
            return fmt::format("{}: only Shard → Replicate is a gather", change);
        GatherStep step;
        if (std::string reason = planStep(layout, i, step); !reason.empty())
            return fmt::format("{}: {}", change, reason);
        Dim& size = shape[step.tensor_dim];
        step.have = size;
        size = step.extent;
        if (step.world == 1)
            continue;
        if (!step.have.symbolic() && !step.chunk.symbolic() && step.have.value > step.chunk.value)
            return fmt::format("{}: the local shard has {} rows, more than its share of {}", change,
                               step.have.value, step.chunk.value);
        groups_.assign(step, layout.mesh, layout.from);
        plan.steps.push_back(std::move(step));
    }
    return plan.steps.empty() ? fmt::format("{}: there is nothing to gather", change) : "";
}

std::string RedistributePlanner::planStep(const Layout& layout, size_t mesh_dim, GatherStep& step) {
    const int dim = normalDim(layout.from[mesh_dim].dim, global_shape_.size());
    if (dim < 0)
        return fmt::format("the tensor has no dimension {}", layout.from[mesh_dim].dim);
    step.mesh_dim = mesh_dim;
    step.world = layout.mesh[mesh_dim].size;
    step.tensor_dim = static_cast<size_t>(dim);
    step.extent = global_shape_[step.tensor_dim];
    if (!step.extent.symbolic() && step.extent.value < 0)
        return "the size of the sharded dimension is not known";
    const std::vector<int64_t> at = meshCoordinates(layout.mesh, graph_.info().rank);
    const auto same_dim = [&](size_t other) {
        return isShard(layout.from[other]) && normalDim(layout.from[other].dim, global_shape_.size()) == dim;
    };
    for (size_t inner = mesh_dim + 1; inner < layout.mesh.size(); ++inner) {
        if (same_dim(inner) && isShard(layout.to[inner]))
            return "an inner mesh dimension keeps the same dimension sharded";
    }
    // Outer dimensions of the mesh cut first, so this one gathers this rank's piece of theirs.
    int64_t parts = step.world;
    for (size_t outer = 0; outer < mesh_dim; ++outer) {
        if (!same_dim(outer))
            continue;
        if (step.extent.symbolic())
            return "a symbolic size is sharded by two mesh dimensions";
        parts *= layout.mesh[outer].size;
        step.extent.value = shardRows(step.extent.value, layout.mesh[outer].size, at[outer]);
    }
    step.chunk = math_.ceilDivide(step.extent, step.world);
    // Whether to slice must not depend on the rank, so it goes by the global size.
    step.slice = step.extent.symbolic() || global_shape_[step.tensor_dim].value % parts != 0;
    return {};
}

std::string RedistributePlanner::findCast(RedistributePlan& plan, const RedistributeArgs& args) const {
    const Value& local = graph_.value(plan.parameter);
    const Value& result = graph_.value(plan.to_locals.front());
    DType dtype = DType::Unknown;
    if (args.forward_dtype && !args.forward_dtype->empty()) {
        dtype = dtypeFromName(*args.forward_dtype);
        if (dtype == DType::Unknown)
            return fmt::format("forward_dtype {} is not known", *args.forward_dtype);
    } else if (!args.forward_dtype && result.kind == Value::Kind::Tensor) {
        dtype = result.tensor.dtype; // the file hides the arguments, but shows what came out
    }
    plan.forward_dtype = dtype == local.tensor.dtype ? DType::Unknown : dtype;
    return {};
}

} // namespace gs
