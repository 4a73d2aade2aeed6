// One source of costs. The chain asks its models in order; the first answer wins.
#pragma once

#include "base/diagnostics.h"
#include "cost/cost_table.h"
#include "cost/in_flight.h"

#include <map>
#include <optional>

namespace gs {

struct Profile;

struct CostEstimate {
    int64_t ns = 0;
    Provenance provenance = Provenance::Analytical;
    std::string note;
    int64_t samples = 0;       ///< measurements behind it; 0 = not known
    int64_t spread_ns = -1;    ///< distance between the quartiles of the samples; -1 = not known
    int64_t rank_skew_ns = -1; ///< greatest minus least median of the ranks; -1 = not known
    std::string source = {}; ///< whose number it is where that is not the model; empty = the model's source()
};

/// Costs are cut here (28 hours), so that 90,000 of them add up without overflow.
inline constexpr int64_t kMaxCostNs = 100'000'000'000'000;

class CostModel;
using CostModelPtr = std::shared_ptr<const CostModel>;

/// A cost source. Implementations are pure and may be asked from several threads.
class CostModel {
public:
    virtual ~CostModel() = default;
    virtual std::string name() const = 0;   ///< "file", "analytical", …
    virtual std::string source() const = 0; ///< file name, device name, …
    /// Time of one node, or nothing if this source does not know it. Only asked for compute nodes and
    /// launches, and for waits and inputs of collectives in flight at entry.
    virtual std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                                 NodeId id) const = 0;
    /// True if estimate() looks only at what the StructuralKey and the group of a node say, so that equal
    /// nodes need one question.
    virtual bool structural() const { return false; }
    /// What to ask in this one's place for nodes of this graph, in order, e.g. a model of its fused regions
    /// and then `self`, which is this. Empty = only this. The models may refer to `graph`.
    virtual std::vector<CostModelPtr> boundTo(const CostModelPtr& self, const Graph& graph,
                                              const CollectiveTable& collectives) const {
        static_cast<void>(self);
        static_cast<void>(graph);
        static_cast<void>(collectives);
        return {};
    }
    /// Reports what does not fit `graph`, e.g. names that it lacks. Made for the graph after all passes:
    /// names of nodes that a pass replaced (Graph::origins) count as known.
    virtual void check(const Graph& graph, Diagnostics& diagnostics) const {
        static_cast<void>(graph);
        static_cast<void>(diagnostics);
    }
};

/// StructuralKey of a compute node or launch: target, shapes and strides (symbols by hint), dtypes, scalar
/// arguments that change the work; for collectives kind, bytes, dtype, group size and topology. Never names.
/// Empty for nodes that cost nothing by definition (see isStructuralZero). The input of a collective in
/// flight at entry has the key "in_flight bf16[4096,2048;2048,1]".
///
///     aten.mm.default(bf16[8192,4096;4096,1], bf16[4096,6144;1,4096]) -> bf16[8192,6144;6144,1]
///     all_gather bf16 in=1835008 out=117440512 ranks=64 stride=1 blocks=8
///
/// Sizes before the semicolon, strides behind it, "?" = unknown. `stride` is the distance between the ranks
/// of a group and `blocks` the number of blocks of 8 ranks they lie in: equal on every rank of a mesh.
std::string structuralKey(const Graph& graph, const CollectiveTable& collectives, NodeId id);

/// Short text of a compute node or launch for people: "mm bf16[8192, 4096] × [4096, 6144]",
/// "all_gather bf16 112.0 MiB × 64 ranks".
std::string costLabel(const Graph& graph, const CollectiveTable& collectives, NodeId id);

/// Placeholders, attributes, views, unpacks, waits, frees, barriers and the output cost 0 by definition.
bool isStructuralZero(NodeKind kind);

struct CostChain {
    std::vector<CostModelPtr> models;         ///< in order
    std::map<std::string, int64_t> overrides; ///< StructuralKey → ns, edited by the user; wins over all
    std::map<std::string, int64_t> node_overrides; ///< node name → ns
    InFlightTimes in_flight;         ///< durations of collectives in flight at entry, set by the user
    InFlightTimes in_flight_elapsed; ///< how long they have run already
    double comm_scale = 1;           ///< what-if: every transfer takes so many times what the chain says
    CostModelPtr analytical;         ///< fills CostEntry::analytical_ns; may be null
    std::map<std::string, std::string> pins; ///< StructuralKey → name of the model that is asked first
    std::vector<CostModelPtr> others;        ///< not in the order: asked only for keys pinned to them
    std::shared_ptr<const Profile> profile;  ///< behind the source "measured"; may be null
};

/// Prices every node, in time linear in the graph. A compute node or launch that no model knows is Missing
/// and counts as 0 ns. Negative numbers of a model count as not known; overrides and estimates are cut at
/// kMaxCostNs. Order: node override, key override, the models of the key's pin, the models in turn. For a
/// collective in flight at entry: its name in in_flight, node override, key override, in_flight's number for
/// all, the models by its waits' names and its input's.
CostTablePtr priceGraph(const Graph& graph, const CollectiveTable& collectives, const CostChain& chain);

} // namespace gs
