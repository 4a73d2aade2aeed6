#include "passes/lint/lint.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

/// First node that depends on a gradient input, if the graph also has a forward part: then it returns
/// something that depends on none. kNoNode for other graphs.
NodeId firstBackward(const Graph& graph) {
    std::vector<bool> depends(graph.size(), false);
    NodeId first = kNoNode;
    bool joint = false;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.node(id).op == NodeOp::Placeholder) {
            depends[id] = graph.name(id).starts_with("tangents_");
            continue;
        }
        bool all = true;
        for (const NodeId input : graph.inputs(id)) {
            depends[id] = depends[id] || depends[input];
            all = all && (depends[input] || graph.node(input).op == NodeOp::Placeholder);
        }
        if (graph.node(id).op == NodeOp::Output)
            joint = joint || !all;
        else if (depends[id])
            first = std::min(first, id);
    }
    return joint ? first : kNoNode;
}

} // namespace

LintContext::LintContext(const LintInput& input, Diagnostics& diagnostics)
    : graph(input.graph), collectives(input.collectives), settings(input.settings), device(input.device),
      out(diagnostics), first_backward_(firstBackward(input.graph)) {}

void LintContext::report(Severity severity, const char* code, NodeId node, std::string message,
                         std::string hint) {
    const uint32_t line = graph.node(node).source_line;
    out.add({severity, code, line > 0 ? SourcePos{graph.info().source_file, line, 0} : SourcePos(),
             std::string(graph.name(node)), std::move(message), std::move(hint)});
}

std::string LintContext::quoted(NodeId node) const {
    const std::string_view source = graph.text(graph.node(node).source);
    return source.empty() ? fmt::format("\"{}\"", graph.name(node))
                          : fmt::format("\"{}\" ({})", graph.name(node), source);
}

std::string LintContext::groupText(GroupId group) const {
    return group == kNoGroup ? std::string("an unknown group")
                             : fmt::format("group \"{}\"", graph.text(graph.groups()[group].name));
}

Phase LintContext::phaseOf(NodeId node) const {
    if (graph.node(node).phase != Phase::Unknown || first_backward_ == kNoNode)
        return graph.node(node).phase;
    return node >= first_backward_ ? Phase::Backward : Phase::Forward;
}

template <typename Visit>
void LintContext::forEachUser(const Collective& item, Visit visit) const {
    for (const NodeId wait : item.waits)
        visit(wait);
    for (const NodeId consumer : item.consumers)
        visit(consumer);
    if (item.launch == kNoNode)
        return;
    const auto after = [&](NodeId buffer) {
        for (const NodeId user : graph.users(buffer)) {
            if (user > item.launch)
                visit(user);
        }
    };
    if (const Arg* buffer = graph.kwarg(item.launch, "out"); buffer && buffer->node() != kNoNode)
        after(buffer->node());
    for (const uint8_t position : graph.target(item.launch).traits.mutated_args) {
        const Arg* written = graph.arg(item.launch, position);
        if (written && written->node() != kNoNode)
            after(written->node());
    }
}

NodeId LintContext::lastUse(const Collective& item) const {
    NodeId last = item.launch == kNoNode ? 0 : item.launch;
    forEachUser(item, [&](NodeId user) { last = std::max(last, user); });
    return last;
}

NodeId LintContext::firstConsumer(const Collective& item) const {
    NodeId first = kNoNode;
    forEachUser(item, [&](NodeId user) {
        const NodeKind kind = graph.node(user).kind;
        if (kind != NodeKind::Wait && kind != NodeKind::Free && kind != NodeKind::Barrier)
            first = std::min(first, user);
    });
    return first;
}

NodeId LintContext::sourceOf(NodeId node) const {
    while (!graph.inputs(node).empty() &&
           (graph.node(node).kind == NodeKind::View || graph.hasTrait(node, kTraitCast)))
        node = graph.inputs(node).front();
    return node;
}

void lint(const LintInput& input, Diagnostics& diagnostics) {
    LintContext context(input, diagnostics);
    for (const LintCheck& check : lintChecks())
        check.run(context);
}

} // namespace gs
