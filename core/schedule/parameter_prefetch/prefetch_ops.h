// How document 002's pass reads operators; the readings are those that golden/param_gather fixes.
#pragma once

#include "schedule/parameter_prefetch/fsdp_tags.h"

namespace gs {

/// A call of `packet` ("aten.mm") or of one of its overloads.
bool isOp(const Graph& graph, NodeId id, std::string_view packet);
/// What collectives are not moved across: the output and calls that write an argument, but not the frees of
/// FSDP parameters, which guard their own parameter only.
bool isPrefetchBarrier(const Graph& graph, const FsdpTags& tags, NodeId id);
/// Attention ops divide a phase into intervals.
bool isPrefetchAttention(const Graph& graph, NodeId id);
/// Matrix products and attention: what a launch may be anchored at.
bool isPrefetchHeavy(const Graph& graph, NodeId id);

} // namespace gs
