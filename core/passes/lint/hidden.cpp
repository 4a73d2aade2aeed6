#include "graph/op_patterns.h"
#include "passes/lint/checks.h"

#include <fmt/format.h>
#include <map>

namespace gs {

/// One finding per operator: schedulers see compute where ranks wait for each other, so that a collective may
/// be moved past another one.
void lintHidden(LintContext& context) {
    const Graph& graph = context.graph;
    const std::vector<bool> communicates =
        matchTargets(graph, communicatingOps(context.settings.text(Setting::CommunicatingOps)));
    struct Seen {
        NodeId first = kNoNode;
        size_t count = 0;
    };
    std::map<TargetId, Seen> by_target;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (!graph.isCall(id) || !communicates[graph.node(id).target])
            continue;
        Seen& seen = by_target[graph.node(id).target];
        seen.first = std::min(seen.first, id);
        ++seen.count;
    }
    for (const auto& [target, seen] : by_target)
        context.report(
            Severity::Warning, "hidden-communication", seen.first,
            fmt::format(
                "{} communicates but no pass knows it as a collective ({} {} in the graph, the first is {})",
                graph.text(graph.targetById(target).text), seen.count, seen.count == 1 ? "call" : "calls",
                context.quoted(seen.first)),
            fmt::format("see that no collective is moved across it; if it does not communicate: "
                        "communicating_ops=!{}",
                        graph.text(graph.targetById(target).text)));
}

} // namespace gs
