// Fused regions on the host: a chain as one oneDNN primitive with post-ops where it fits, otherwise pointwise
// members of one shape as one loop of ours.
#pragma once

#include "host_op.h"

#include <map>

namespace gs::host {

struct RegionMember {
    NodeId node = kNoNode;
    std::string name;
    BenchmarkInputs inputs;
};

/// What a region needs, before anything is allocated.
struct RegionPlan {
    std::vector<RegionMember> members;
    std::map<NodeId, TensorSpec> inputs; ///< from outside
    std::vector<NodeId> outputs;         ///< members that others read
    std::vector<int64_t> shape;

    int64_t bytes() const;
    const TensorSpec& result(const RegionMember& member) const { return member.inputs.outputs.front(); }
};

/// "not-supported" where a member is no pointwise operator, or the shapes differ.
Result<RegionPlan> planRegion(const Graph& graph, const FusedRegion& region);
/// The chain as one primitive; nothing if it is no chain, or oneDNN has no fast form of it.
std::optional<Body> dnnlRegion(const RegionPlan& plan, const std::map<NodeId, Tensor>& inputs,
                               const Tensor& out);
Result<std::unique_ptr<HostOp>> makeRegion(const RegionPlan& plan);

} // namespace gs::host
