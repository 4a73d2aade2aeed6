// Short names for people: parameters, layers and places in the program.
#pragma once

#include "graph/collectives.h"

namespace gs {

/// "layers.8.feed_forward.w1.weight" → "layers.8.ffn.w1": drops a final ".weight" and the wrappers of FSDP,
/// checkpointing and compilation, shortens well-known segments. Other names stay as they are.
std::string shortParameter(std::string_view fqn);

/// Number of the repeated layer in a module path ("layers.8.feed_forward", "L['m'].blocks.8.w1"); -1 if none.
int layerOf(std::string_view module_path);

/// What a gather gathers, in few characters: "layers.8.ffn.w1", "layers.8.ffn.w1 +2" for a bucket of three,
/// the launch's name if it gathers no parameter.
std::string gatherLabel(const Graph& graph, const Collective& collective);

/// Layer of the (first) gathered parameter, else of the launch's module; -1 if none.
int gatherLayer(const Graph& graph, const Collective& collective);

/// Where a node is, in words: "layer 8's attention", "layer 8's ffn.w1 (mm_42)", "mm_42".
std::string placeName(const Graph& graph, NodeId id);

} // namespace gs
