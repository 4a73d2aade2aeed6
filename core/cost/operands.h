// What a node reads, as the cost models see it.
#pragma once

#include "graph/graph.h"

namespace gs {

/// The value that reading node `id` yields. A wait of the scheduler level states no shape of its own: then
/// it is the value of the launch it waits for.
inline const Value& readValue(const Graph& graph, NodeId id) {
    const Value& own = graph.value(id);
    if (graph.node(id).kind != NodeKind::Wait || own.firstTensor())
        return own;
    for (NodeId input : graph.inputs(id)) {
        if (graph.node(input).kind == NodeKind::Launch && graph.value(input).firstTensor())
            return graph.value(input);
    }
    // An in-place collective: the result is in its input.
    return graph.inputs(id).empty() ? own : graph.value(graph.inputs(id).front());
}

} // namespace gs
