// What the ranks of one job compile: the same collectives, with other compute between them.
#pragma once

#include "graph/graph_builder.h"

#include <fmt/format.h>
#include <random>

namespace gs::test {

/// `graph` with noise in front of some nodes: pads of a shard, further steps of the compute; now and then a
/// shard that needs an activation, so that its gather cannot be launched early on this rank.
inline GraphPtr rankVariant(const Graph& graph, uint32_t seed, double noise = 0.2, double tied = 0.05) {
    std::mt19937 random(seed);
    const auto chance = [&](double share) { return random() % 1000 < share * 1000; };
    GraphBuilder b(graph);
    std::vector<NodeId> map(graph.size(), kNoNode);
    NodeId activation = kNoNode;
    const auto call = [&](const char* target, std::initializer_list<Arg> args, NodeId like) {
        const NodeId id = b.addNode(fmt::format("noise{}", b.size()), NodeOp::CallFunction, target);
        b.setArgs(id, args);
        b.setValue(id, graph.value(like));
        return id;
    };
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.node(id).kind == NodeKind::Launch && activation != kNoNode && chance(tied)) {
            const NodeId shard = graph.inputs(id).front();
            map[shard] = call("aten.add.Tensor", {b.nodeArg(map[shard]), b.nodeArg(activation)}, shard);
        }
        map[id] = b.copyNode(graph, id, map);
        if (graph.node(id).kind != NodeKind::Compute || !graph.isCall(id))
            continue;
        if (chance(noise))
            map[id] = call("aten.relu.default", {b.nodeArg(map[id])}, id);
        if (graph.targetText(id) == "aten.mm.default")
            activation = map[id];
    }
    return b.finish(nullptr);
}

} // namespace gs::test
