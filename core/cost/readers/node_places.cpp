#include "cost/readers/node_places.h"

#include "cost/readers/collective_names.h"
#include "cost/readers/op_signature.h"

#include <unordered_map>

namespace gs {

NodePlaces::Place NodePlaces::of(const Graph& graph, NodeId id) const {
    const std::lock_guard lock(mutex_);
    if (graph_ != &graph || hash_ != graph.structuralHash() || places_.size() != graph.size())
        fill(graph);
    return places_[id];
}

void NodePlaces::fill(const Graph& graph) const {
    places_.assign(graph.size(), {});
    std::unordered_map<std::string, size_t> counts;
    std::vector<std::string> keys(graph.targetCount());
    const auto keyOf = [&](NodeId id) -> const std::string& {
        std::string& key = keys[graph.node(id).target];
        if (key.empty())
            key = graph.node(id).kind == NodeKind::Launch
                      ? std::string(collectiveKindName(plainKind(graph.target(id).traits.collective)))
                      : opPacket(graph.targetText(id));
        return key;
    };
    const auto counted = [&](NodeId id) {
        return graph.node(id).kind == NodeKind::Compute || graph.node(id).kind == NodeKind::Launch;
    };
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (counted(id))
            places_[id].index = counts[keyOf(id)]++;
    }
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (counted(id))
            places_[id].count = counts[keyOf(id)];
    }
    graph_ = &graph;
    hash_ = graph.structuralHash();
}

} // namespace gs
