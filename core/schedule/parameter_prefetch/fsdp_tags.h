// What document 002 reads from FSDP tags: which launches gather parameters, the phase of every node, bytes.
#pragma once

#include "graph/collectives.h"

namespace gs {

/// Role of a node by its `comm_type`.
enum class FsdpRole : uint8_t {
    None,
    Gather, ///< fsdp_all_gather, fsdp_all_gather_backward
    Free    ///< fsdp_reshard_free, fsdp_reshard_free_backward
};

struct FsdpTags {
    std::vector<FsdpRole> role; ///< per node
    std::vector<bool> backward; ///< per node
    std::vector<int64_t> bytes; ///< per node: unsharded bytes of a gather; kUnknownSize elsewhere
    bool derived_gathers = false;
    bool derived_phases = false;
};

/// The graph's own tags. Where it has none they are derived: weight gathers (`all_gathers`: every
/// all-gather) and the bytes of their outputs; the phase from Node::phase, else from the names that autograd
/// gives to the inputs of a backward graph ("tangents_1").
FsdpTags readFsdpTags(const Graph& graph, const CollectiveTable& collectives, bool all_gathers);

} // namespace gs
