#include "app/cli/summary.h"

#include "base/units.h"

#include <fmt/format.h>

namespace gs {

namespace {

std::string graphLine(const Program& program) {
    const Graph& graph = *program.graph;
    size_t gathers = 0, launches = 0;
    for (const Collective& item : program.collectives->all()) {
        launches += item.launch != kNoNode ? 1 : 0;
        gathers += item.isGather() ? 1 : 0;
    }
    const size_t in_flight = program.collectives->inFlightCount();
    return fmt::format("{}: {} nodes, {} collectives{}, {} gathers ({} of weights), {}\n", graph.info().name,
                       formatCount(static_cast<int64_t>(graph.size())),
                       formatCount(static_cast<int64_t>(launches)),
                       in_flight > 0 ? fmt::format(" and {} in flight at entry", in_flight) : std::string(),
                       gathers, program.collectives->weightGatherCount(),
                       graph.info().level == GraphLevel::Fx ? "level fx" : "level scheduler");
}

std::string costLine(const CostTable& costs) {
    std::string line = fmt::format("{:20} {} distinct ops:", "costs", costs.entries().size());
    bool any = false;
    for (const Provenance provenance :
         {Provenance::User, Provenance::Measured, Provenance::Reused, Provenance::Imported,
          Provenance::Interpolated, Provenance::Extrapolated, Provenance::Analytical, Provenance::Missing}) {
        if (const size_t count = costs.count(provenance); count > 0) {
            line += fmt::format("{} {} {}", any ? "," : "", count, provenanceName(provenance));
            any = true;
        }
    }
    return line + (any ? "\n" : " none\n");
}

/// What was measured, if a profile is used.
std::string profileLines(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& item : diagnostics.all()) {
        const bool contention = item.code == "measured-contention";
        if (contention || item.code == "profile")
            text += fmt::format("{:20} {}{}\n", contention ? "contention" : "profile", item.message,
                                item.hint.empty() ? "" : fmt::format(" ({})", item.hint));
    }
    return text;
}

/// How the other ranks bound the schedule, if there are any.
std::string ranksLine(const Analysis& analysis) {
    const Schedule& schedule = *analysis.after.schedule;
    if (schedule.rank_mode.empty())
        return {};
    std::string text = fmt::format("{:20} {}", "ranks", schedule.rank_mode);
    if (schedule.rank_mode == rankModeName(RankMode::Abort))
        text += ": the schedule is the program's order, no gather is moved";
    else if (schedule.rank_holds > 0)
        text += fmt::format(": they hold {} launches back", schedule.rank_holds);
    return text + "\n";
}

std::string beforeAfter(const char* name, int64_t before, int64_t after, std::string (*format)(int64_t)) {
    std::string line = fmt::format("{:20} {} → {}", name, format(before), format(after));
    if (before > 0)
        line += " (" +
                formatPercent(static_cast<double>(after - before) / static_cast<double>(before), true) + ")";
    return line + "\n";
}

} // namespace

std::string summaryText(const Analysis& analysis) {
    const Summary summary = summarise(analysis);
    const Timeline& before = *analysis.before.timeline;
    const Timeline& after = *analysis.after.timeline;
    std::string text = graphLine(analysis.after);
    for (const PassReport& report : analysis.reports) {
        if (report.done + report.skipped > 0)
            text += fmt::format("{:20} {}\n", report.pass, report.summary);
    }
    text += costLine(*analysis.after.costs);
    text += profileLines(analysis.diagnostics);
    text += fmt::format("{:20} {} of {} gathers hidden, {} compute-limited, {} moved\n",
                        analysis.after.schedule->scheduler, summary.hidden, summary.gathers,
                        summary.compute_limited, summary.moved);
    text += ranksLine(analysis);
    text += beforeAfter("exposed", before.exposed_ns, after.exposed_ns, formatTime);
    text += beforeAfter("step", before.step_ns, after.step_ns, formatTime);
    text += fmt::format("{:20} {}\n", "lower bound", formatTime(analysis.lower_bound_ns));
    text += beforeAfter("peak gathered", before.peak_gathered_bytes, after.peak_gathered_bytes, formatBytes);
    return text;
}

} // namespace gs
