// A fused region taken apart into primitive tensors: what is read, computed per element, reduced and looked
// at through views. Step one of the generator; kernel_split and kernel_writer are the others.
#pragma once

#include "base/result.h"
#include "cost/fused_regions.h"
#include "profile/backends/kernels/index_digits.h"
#include "profile/backends/kernels/op_programs.h"

#include <map>
#include <optional>
#include <set>

namespace gs::kernels {

using PrimId = uint32_t;
inline constexpr PrimId kNoPrim = ~PrimId{0};

enum class PrimKind : uint8_t {
    Input,     ///< a tensor from outside, or a temporary of an earlier kernel
    Map,       ///< an expression of the elements of args, which are broadcast to the shape
    Reduce,    ///< over the dimensions in `mask` of args[0]; kept as size 1
    Reshape,   ///< same elements in the same order
    Permute,   ///< dimension d is dimension order[d] of args[0]
    Expand,    ///< args[0] broadcast
    Slice,     ///< along `dim` from `start` in steps of `step`
    Pad,       ///< along `dim` with `start` elements in front of args[0]; `expression` is the filling
    Concat,    ///< args along `dim`
    Gather,    ///< args[0] at the index args[1] along `dim`; both have one rank
    Take,      ///< args[0] with `dim` replaced by the shape of args[1], which holds its indices
    Parts,     ///< a complex tensor as real with a last dimension of 2
    FromParts, ///< the opposite
    Conj
};

struct Prim {
    PrimKind kind = PrimKind::Map;
    DType dtype = DType::Unknown;
    /// A result of an operator is rounded to its dtype, an intermediate of a step is not.
    bool rounded = false;
    Shape shape;
    std::vector<PrimId> args;
    std::vector<DType> arg_types;   ///< Map: type an argument is converted to; Unknown = as it is
    DType compute = DType::Unknown; ///< Map: type of the expression's constants and result before `dtype`
    std::string expression;         ///< Map: with {0}, {1}, … for the arguments and {iN} for indices
    StepKind reduce = StepKind::Sum;
    std::vector<bool> mask; ///< Reduce
    std::vector<size_t> order;
    size_t dim = 0;
    int64_t start = 0;
    int64_t step = 1;
    Shape strides; ///< Input
};

/// A tensor that the caller must provide or that is written.
struct PlanTensor {
    NodeId node = kNoNode;
    size_t item = 0; ///< of a node that yields several
    PrimId prim = kNoPrim;
};

struct RegionPlan {
    std::vector<Prim> prims; ///< arguments before users
    std::vector<PlanTensor> inputs;
    std::vector<PlanTensor> outputs; ///< read by others than members, or by nobody
};

/// Errors: "not-supported" names the operator or argument; "unknown-shape".
Result<RegionPlan> planRegion(const Graph& graph, const FusedRegion& region);

/// Adds primitives; shapes and types of what it adds follow from the arguments.
class PlanBuilder {
public:
    PlanBuilder(const Graph& graph, const FusedRegion& region);
    Result<RegionPlan> build();

    const Graph& graph() const { return graph_; }
    const Prim& prim(PrimId id) const { return plan_.prims[id]; }
    PrimId add(Prim prim);
    PrimId reshape(PrimId of, const Shape& shape);
    /// Value `item` of a node: computed here, a view of what is, or an input.
    Result<PrimId> valueOf(NodeId node, size_t item = 0);
    /// What a view makes of its source; nothing if the operator is no view known here.
    std::optional<Result<PrimId>> viewOf(NodeId node, PrimId source);
    void setResult(NodeId node, size_t item, PrimId prim) { results_[{node, item}] = prim; }

private:
    bool isInside(NodeId node) const;
    bool isReadOutside(NodeId node) const;
    Result<PrimId> addInput(NodeId node, size_t item);
    Result<PrimId> selectedItem(NodeId getitem, NodeId source, size_t item);
    void collectOutputs();

    const Graph& graph_;
    const FusedRegion& region_;
    std::set<NodeId> members_;
    std::map<std::pair<NodeId, size_t>, PrimId> results_; ///< of members, by value item
    std::map<std::pair<NodeId, size_t>, PrimId> inputs_;
    RegionPlan plan_;
};

/// Adds the results of a member to the builder by the table of operators.
Status addOperator(PlanBuilder& builder, NodeId node);
/// The same for operators that only move elements: members that are views, cat, padding, gradients of slices.
Status addMovement(PlanBuilder& builder, NodeId node);
/// Types that the kernels compute with.
bool isKernelType(DType dtype);
/// Tensor `item` of a value; null if it is none.
const TensorMeta* tensorOf(const Value& value, size_t item);
Result<Shape> sizesOf(const TensorMeta* tensor);
Error notSupported(const Graph& graph, NodeId node, const std::string& why);

} // namespace gs::kernels
