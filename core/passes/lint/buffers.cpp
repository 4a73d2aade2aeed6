#include "passes/lint/checks.h"

#include <fmt/format.h>

namespace gs {

namespace {

/// The memory a launch writes: its `out` buffer, the argument it changes in place, or its own result.
NodeId writtenBuffer(const Graph& graph, NodeId launch) {
    if (const Arg* buffer = graph.kwarg(launch, "out"); buffer && buffer->node() != kNoNode)
        return buffer->node();
    for (const uint8_t position : graph.target(launch).traits.mutated_args) {
        const Arg* written = graph.arg(launch, position);
        if (written && written->node() != kNoNode)
            return written->node();
    }
    return launch;
}

} // namespace

/// A launch that nothing waits for and a later wait for what no collective writes are most likely meant for
/// each other: a pass or a fused kernel put another buffer in between.
void lintBuffers(LintContext& context) {
    const Graph& graph = context.graph;
    std::vector<NodeId> unwaited;
    size_t next = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const NodeKind kind = graph.node(id).kind;
        const int32_t index = context.collectives.indexOf(id);
        if (kind == NodeKind::Launch && index >= 0 &&
            context.collectives[static_cast<size_t>(index)].waits.empty())
            unwaited.push_back(id);
        if (kind != NodeKind::Wait || index >= 0 || next == unwaited.size() || graph.inputs(id).empty())
            continue;
        const NodeId launch = unwaited[next++];
        context.report(Severity::Error, "wait-other-buffer", id,
                       fmt::format("{} waits for \"{}\", which no collective writes; nothing waits for "
                                   "\"{}\", which {} writes",
                                   context.quoted(id), graph.name(graph.inputs(id).front()),
                                   graph.name(writtenBuffer(graph, launch)), context.quoted(launch)),
                       "wait for the buffer of the launch, before its first use");
    }
}

} // namespace gs
