#include "cost/readers/node_places.h"

#include "cost/readers/collective_names.h"
#include "cost/readers/op_signature.h"

namespace gs {

NodePlaces::Place NodePlaces::of(const Graph& graph, NodeId id) const {
    const std::lock_guard lock(mutex_);
    if (graph_ != &graph || hash_ != graph.structuralHash() || places_.size() != graph.size())
        fill(graph);
    return places_[id];
}

size_t NodePlaces::commonSteps(const Calls& counts) const {
    std::map<size_t, size_t> votes;
    size_t shared = 0;
    for (const auto& [key, nodes] : counts) {
        const auto found = calls_.find(key);
        if (found == calls_.end())
            continue;
        ++shared;
        if (found->second % nodes == 0)
            ++votes[found->second / nodes];
    }
    size_t steps = 0;
    size_t most = 0;
    for (const auto& [ratio, count] : votes) {
        if (count > most) {
            most = count;
            steps = ratio;
        }
    }
    return most * 2 >= shared ? steps : 0;
}

void NodePlaces::fill(const Graph& graph) const {
    places_.assign(graph.size(), {});
    Calls counts;
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
    const size_t steps = commonSteps(counts);
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (!counted(id))
            continue;
        places_[id].count = counts[keyOf(id)];
        places_[id].steps = steps;
    }
    graph_ = &graph;
    hash_ = graph.structuralHash();
}

} // namespace gs
