#include "analysis/analysis_notes.h"

#include <fmt/format.h>
#include <string_view>
#include <unordered_set>

namespace gs {

namespace {

const char* whyNoCandidate(BindingReason reason) {
    switch (reason) {
    case BindingReason::NoWait:
        return "nothing waits for it";
    case BindingReason::NoConsumer:
        return "no real computation uses what it gathers";
    case BindingReason::NotWeightGather:
        return "it does not gather a single parameter (gathers=all would include it)";
    default:
        return "the scheduler left it alone";
    }
}

} // namespace

Diagnostic diagnosticOf(const Error& error) {
    // A diagnostic has its place beside it; an error's message begins with it.
    std::string message = error.message;
    if (const size_t end = message.find(": ", error.where.file.size());
        !error.where.file.empty() && message.starts_with(error.where.file) && end != std::string::npos)
        message.erase(0, end + 2);
    return {Severity::Error, error.code, error.where, {}, std::move(message), error.hint};
}

void reportMissing(const Program& program, const CostTable& costs, Diagnostics& diagnostics) {
    size_t in_flight = 0;
    NodeId example = kNoNode;
    for (const CostEntry& entry : costs.entries()) {
        const int32_t index = program.collectives->indexOf(entry.nodes.front());
        if (entry.provenance != Provenance::Missing || index < 0 ||
            !(*program.collectives)[static_cast<size_t>(index)].inFlightAtEntry())
            continue;
        ++in_flight;
        example = entry.nodes.front();
    }
    if (const size_t missing = costs.count(Provenance::Missing) - in_flight; missing > 0)
        diagnostics.add({Severity::Info,
                         "missing-costs",
                         {},
                         {},
                         fmt::format("{} distinct ops have no cost and count as 0", missing),
                         "cost_sources=file,analytical fills them from the device's model"});
    if (in_flight > 0)
        diagnostics.add(
            {Severity::Info,
             "missing-in-flight-costs",
             {},
             std::string(program.graph->name(example)),
             fmt::format("{} distinct collectives in flight at entry have no duration and count as 0",
                         in_flight),
             fmt::format(
                 "set it with in_flight_ns={}=NS, or in a cost file by the name of the wait or the input",
                 program.graph->name(example))});
}

void reportUnknownKeys(const AnalysisRequest& request, const CostTable& before, const CostTable& after,
                       Diagnostics& diagnostics) {
    if (request.cost_overrides.empty() && request.cost_pins.empty())
        return;
    std::unordered_set<std::string_view> known;
    for (const CostTable* costs : {&before, &after}) {
        for (const CostEntry& entry : costs->entries())
            known.insert(entry.key);
    }
    const auto report = [&](const std::string& key, std::string_view what) {
        if (known.count(key) == 0)
            diagnostics.add({Severity::Warning,
                             "unknown-cost-key",
                             {},
                             {},
                             fmt::format("no op has the key \"{}\" of a cost that is {}", key, what),
                             "the export costs-csv lists the keys"});
    };
    for (const auto& [key, ns] : request.cost_overrides)
        report(key, "edited by hand");
    for (const auto& [key, source] : request.cost_pins)
        report(key, "pinned to a source");
}

void explainOthers(const Program& program, Diagnostics& diagnostics) {
    const Graph& graph = *program.graph;
    for (const Decision& decision : program.schedule->decisions) {
        if (decision.verdict != Verdict::NotCandidate)
            continue;
        diagnostics.add({Severity::Info,
                         std::string(bindingReasonName(decision.reason)),
                         {},
                         std::string(graph.name(decision.launch)),
                         fmt::format("\"{}\" stays where it is: {}", graph.name(decision.launch),
                                     whyNoCandidate(decision.reason)),
                         ""});
    }
}

Summary summarise(const Analysis& analysis) {
    Summary summary;
    for (const Decision& decision : analysis.after.schedule->decisions) {
        summary.hidden += decision.verdict == Verdict::Hidden ? 1 : 0;
        summary.compute_limited += decision.verdict == Verdict::ComputeLimited ? 1 : 0;
    }
    summary.gathers = analysis.after.schedule->candidates;
    summary.moved = analysis.after.schedule->moved;
    summary.missing_costs = analysis.after.costs->count(Provenance::Missing);
    return summary;
}

} // namespace gs
