// Decides for one redistribute which gathers it becomes, or why it stays (passes.md §2).
#pragma once

#include "passes/placements.h"
#include "passes/rewrite.h"

#include <map>
#include <string>
#include <vector>

namespace gs {

/// One all-gather along one mesh dimension.
struct GatherStep {
    size_t mesh_dim = 0;
    int64_t world = 0;
    size_t tensor_dim = 0;
    Dim have;           ///< this rank's size along tensor_dim before the pad
    Dim chunk;          ///< the same on every rank after the pad: ceil(extent / world)
    Dim extent;         ///< size along tensor_dim afterwards
    bool slice = false; ///< some rank has world × chunk ≠ extent; all ranks slice then
    std::string group;  ///< process group
    std::vector<int32_t> ranks;
};

struct RedistributePlan {
    NodeId redistribute = kNoNode;
    NodeId parameter = kNoNode;
    std::vector<NodeId> to_locals;
    DType forward_dtype = DType::Unknown; ///< Unknown: no cast
    std::vector<Dim> local_shape;
    std::vector<GatherStep> steps; ///< in program order: innermost mesh dimension first
    bool assumed = false;          ///< placements are the user's mesh and the default, not the file's
    bool no_placements = false;    ///< neither the file nor the user states any
    std::string reason;            ///< why it stays; empty if it is lowered
};

/// Names of process groups for mesh dimensions. A group of the graph with the same ranks is used; otherwise
/// the name is made from the mesh: "mesh_" and the dimension's name, or "mesh_shard" (with a number where a
/// mesh has several sharded dimensions, or several meshes need one).
class MeshGroups {
public:
    explicit MeshGroups(const Graph& graph) : graph_(graph) {}
    /// Fills group and ranks of a step.
    void assign(GatherStep& step, const std::vector<MeshDim>& mesh,
                const std::vector<DTensorPlacement>& placements);

private:
    std::string newName(const std::string& role);

    const Graph& graph_;
    std::map<std::pair<std::vector<int64_t>, size_t>, std::string> names_; ///< (mesh sizes, dimension)
};

/// Ranks of the group along `dim` that `rank` is in; ranks are numbered row-major in the mesh.
std::vector<int32_t> meshGroupRanks(const std::vector<MeshDim>& mesh, size_t dim, int32_t rank);

class RedistributePlanner {
public:
    /// `mesh`: what the user states, for inputs without placements; may be empty.
    RedistributePlanner(const Graph& graph, GraphBuilder& builder, std::vector<MeshDim> mesh);
    RedistributePlan plan(NodeId redistribute);

private:
    struct Layout {
        std::vector<MeshDim> mesh;
        std::vector<DTensorPlacement> from, to;
    };

    std::string findPair(RedistributePlan& plan) const;
    std::string findLayout(RedistributePlan& plan, Layout& layout);
    std::string findCast(RedistributePlan& plan, const RedistributeArgs& args) const;
    std::string planSteps(RedistributePlan& plan, const Layout& layout);
    std::string planStep(const Layout& layout, size_t mesh_dim, GatherStep& step);
    std::string findLocalShape(RedistributePlan& plan, const Layout& layout);

    const Graph& graph_;
    DimMath math_;
    std::vector<MeshDim> stated_mesh_;
    DTensorReader reader_;
    MeshGroups groups_;
    std::vector<Dim> global_shape_; ///< of the parameter being planned
};

/// The node is a DTensor redistribute: `prim_redistribute` (torch ≤ 2.9) or a method call.
bool isRedistribute(const Graph& graph, NodeId id);
bool isToLocal(const Graph& graph, NodeId id);

} // namespace gs
