#include "base/units.h"
#include "passes/lint/checks.h"

#include <fmt/format.h>

namespace gs {

/// Launches without a wait are the business of the checks of waits; here are those that are waited for in
/// vain. Dead-code elimination keeps collectives, so that they survive every pass.
void lintDead(LintContext& context) {
    const Graph& graph = context.graph;
    if (graph.output() == kNoNode) // nobody says what the graph returns
        return;
    for (const Collective& item : context.collectives.all()) {
        if (item.inFlightAtEntry() || item.waits.empty() || context.firstConsumer(item) != kNoNode)
            continue;
        const bool in_place = graph.hasTrait(item.launch, kTraitMutable) && !item.isGather();
        if (in_place) // the caller may look at what it wrote
            continue;
        const std::string parameters = gatheredParameters(graph, item);
        const std::string bytes =
            item.output_bytes >= 0 ? fmt::format(", {}", formatBytes(item.output_bytes)) : std::string();
        context.report(Severity::Warning, item.isGather() ? "dead-gather" : "dead-collective", item.launch,
                       fmt::format("nothing uses the result of {}{}{}: dead communication on {}",
                                   context.quoted(item.launch),
                                   parameters.empty() ? "" : fmt::format(" of {}", parameters), bytes,
                                   context.groupText(item.group)),
                       "remove the launch and its wait on all ranks alike");
    }
}

} // namespace gs
