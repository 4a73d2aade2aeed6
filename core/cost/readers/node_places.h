// The how-many-eth of its kind a node is: for files that list calls in order and nothing else.
#pragma once

#include "graph/graph.h"

#include <mutex>

namespace gs {

/// Compute nodes are counted by operator, launches by kind of collective. The places of the last graph that
/// was asked for are kept. May be used from several threads.
class NodePlaces {
public:
    struct Place {
        size_t index = 0; ///< from 0
        size_t count = 0; ///< nodes of its kind
    };
    Place of(const Graph& graph, NodeId id) const;

private:
    void fill(const Graph& graph) const;

    mutable std::mutex mutex_;
    mutable const Graph* graph_ = nullptr; ///< compared with the hash too: an address may be used again
    mutable uint64_t hash_ = 0;
    mutable std::vector<Place> places_;
};

} // namespace gs
