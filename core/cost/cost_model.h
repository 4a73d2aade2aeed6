// One source of costs. The chain asks its models in order; the first answer wins.
#pragma once

#include "cost/cost_table.h"

#include <map>
#include <optional>

namespace gs {

struct CostEstimate {
    int64_t ns = 0;
    Provenance provenance = Provenance::Analytical;
    std::string note;
};

/// A cost source. Implementations are pure and may be asked from several threads.
class CostModel {
public:
    virtual ~CostModel() = default;
    virtual std::string name() const = 0;   ///< "file", "analytical", …
    virtual std::string source() const = 0; ///< file name, device name, …
    /// Time of one node, or nothing if this source does not know it. Only asked for compute nodes and
    /// launches.
    virtual std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                                 NodeId id) const = 0;
};
using CostModelPtr = std::shared_ptr<const CostModel>;

/// StructuralKey of a compute node or launch: target, shapes and strides (symbols by hint), dtypes, scalar
/// arguments that change the work; for collectives kind, bytes, dtype and group size. Never names.
std::string structuralKey(const Graph& graph, const CollectiveTable& collectives, NodeId id);

struct CostChain {
    std::vector<CostModelPtr> models;         ///< in order
    std::map<std::string, int64_t> overrides; ///< StructuralKey → ns, edited by the user; wins over all
    std::map<std::string, int64_t> node_overrides; ///< node name → ns
    CostModelPtr analytical;                       ///< fills CostEntry::analytical_ns; may be null
};

/// Prices every node. A compute node or launch that no model knows is Missing and counts as 0 ns.
CostTablePtr priceGraph(const Graph& graph, const CollectiveTable& collectives, const CostChain& chain);

} // namespace gs
