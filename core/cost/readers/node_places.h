// The how-many-eth of its kind a node is: for files that list calls in order and nothing else.
#pragma once

#include "graph/graph.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace gs {

/// Compute nodes are counted by operator ("aten.mm"), launches by kind of collective ("all_gather"). What was
/// found for the last graph is kept. May be used from several threads.
class NodePlaces {
public:
    using Calls = std::map<std::string, size_t>; ///< operator or kind → calls in a file

    explicit NodePlaces(Calls calls) : calls_(std::move(calls)) {}

    struct Place {
        size_t index = 0; ///< from 0
        size_t count = 0; ///< nodes of its kind
        /// Runs of the graph that the file holds: calls per node, as most operators and kinds that both know
        /// have it. 0 if they do not agree, so that it is another graph's file.
        size_t steps = 0;
    };
    Place of(const Graph& graph, NodeId id) const;

private:
    void fill(const Graph& graph) const;
    size_t commonSteps(const Calls& counts) const;

    Calls calls_;
    mutable std::mutex mutex_;
    mutable const Graph* graph_ = nullptr; ///< compared with the hash too: an address may be used again
    mutable uint64_t hash_ = 0;
    mutable std::vector<Place> places_;
};

} // namespace gs
