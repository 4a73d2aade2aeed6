// Measured against predicted, as text, CSV and JSON.
#include "export/measured_text.h"

#include "base/units.h"
#include "base/utf8.h"
#include "explain/names.h"
#include "export/csv.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

std::string_view kindText(CollectiveKind kind) {
    return kind == CollectiveKind::None ? std::string_view("all") : collectiveKindName(kind);
}

std::string labelOf(const Analysis& analysis, int32_t collective) {
    return collective < 0 ? std::string()
                          : gatherLabel(*analysis.after.graph,
                                        (*analysis.after.collectives)[static_cast<size_t>(collective)]);
}

std::string signedTime(int64_t ns) {
    return (ns < 0 ? "−" : "+") + formatTime(ns < 0 ? -ns : ns);
}

std::string_view groupName(const Graph& graph, GroupId group) {
    return group == kNoGroup ? std::string_view() : graph.text(graph.groups()[group].name);
}

} // namespace

std::string measuredText(const Analysis& analysis, const MeasuredRun& run) {
    // One in flight at entry is launched by no code of this graph, and so by no call of the trace.
    const size_t launched = analysis.after.collectives->size() - analysis.after.collectives->inFlightCount();
    std::string out = fmt::format("{} of {} matched, {} in the trace{}\n", run.matched,
                                  counted(launched, "collective"), counted(run.steps, "step"),
                                  run.single_rank ? "; durations include waiting for slower ranks (skew)"
                                                  : "; of the ranks the shortest counts");
    out += fmt::format("{:16} {:>6} {:>12} {:>12} {:>12} {:>12} {:>12}  {}\n", "kind", "count", "predicted",
                       "measured", "bias", "spread", "worst", "where");
    for (const MeasuredErrors& row : run.errors)
        out += fmt::format(
            "{:16} {:>6} {} {} {} {} {}  {}\n", kindText(row.kind), row.count,
            rightAligned(formatTime(row.predicted_ns), 12), rightAligned(formatTime(row.measured_ns), 12),
            rightAligned(signedTime(row.bias_ns), 12), rightAligned(formatTime(row.spread_ns), 12),
            rightAligned(signedTime(row.worst_ns), 12), labelOf(analysis, row.worst));
    const MeasuredErrors& all = run.errors.front();
    out += fmt::format("exposed: {} predicted, {} measured\n", formatTime(all.predicted_exposed_ns),
                       all.measured_exposed_ns < 0 ? std::string("unknown")
                                                   : formatTime(all.measured_exposed_ns));
    return out;
}

std::string measuredCsv(const Analysis& analysis, const MeasuredRun& run) {
    const Graph& graph = *analysis.after.graph;
    CsvTable table({"launch", "kind", "group", "parameters", "output_bytes", "predicted_start_ns",
                    "measured_start_ns", "predicted_ns", "measured_ns", "error_ns", "predicted_exposed_ns",
                    "measured_exposed_ns", "rank_skew_ns"});
    for (size_t i = 0; i < run.transfers.size(); ++i) {
        const Collective& item = (*analysis.after.collectives)[i];
        const Transfer& predicted = analysis.after.timeline->transfers[i];
        const MeasuredTransfer& measured = run.transfers[i];
        const bool found = measured.collective >= 0;
        const auto known = [&](int64_t value) { found&& value >= 0 ? table.number(value) : table.empty(); };
        table.text(item.launch == kNoNode ? graph.name(item.input) : graph.name(item.launch));
        table.text(collectiveKindName(item.kind)).text(groupName(graph, item.group));
        table.text(gatheredParameters(graph, item));
        item.output_bytes < 0 ? table.empty() : table.number(item.output_bytes);
        table.number(predicted.start_ns);
        found ? table.number(measured.start_ns) : table.empty();
        table.number(predicted.end_ns - predicted.start_ns);
        known(measured.ns);
        found ? table.number(measured.ns - (predicted.end_ns - predicted.start_ns)) : table.empty();
        table.number(predicted.exposed_ns);
        known(measured.exposed_ns);
        known(measured.skew_ns);
        table.endRow();
    }
    return table.str();
}

Json measuredObject(const Analysis& analysis, const MeasuredRun& run) {
    const Graph& graph = *analysis.after.graph;
    const auto known = [](int64_t value) { return value < 0 ? Json(nullptr) : Json(value); };
    Json errors = Json::array(), rows = Json::array();
    for (const MeasuredErrors& row : run.errors)
        errors.push_back({{"kind", kindText(row.kind)},
                          {"count", row.count},
                          {"predicted_ns", row.predicted_ns},
                          {"measured_ns", row.measured_ns},
                          {"bias_ns", row.bias_ns},
                          {"spread_ns", row.spread_ns},
                          {"worst_ns", row.worst_ns},
                          {"worst", labelOf(analysis, row.worst)},
                          {"predicted_exposed_ns", row.predicted_exposed_ns},
                          {"measured_exposed_ns", known(row.measured_exposed_ns)}});
    for (const MeasuredTransfer& item : run.transfers) {
        if (item.collective < 0)
            continue;
        const auto index = static_cast<size_t>(item.collective);
        const Collective& collective = (*analysis.after.collectives)[index];
        const Transfer& predicted = analysis.after.timeline->transfers[index];
        rows.push_back({{"launch", graph.name(collective.launch)},
                        {"kind", collectiveKindName(collective.kind)},
                        {"group", groupName(graph, collective.group)},
                        {"predicted",
                         {{"start_ns", predicted.start_ns},
                          {"ns", predicted.end_ns - predicted.start_ns},
                          {"exposed_ns", predicted.exposed_ns}}},
                        {"measured",
                         {{"start_ns", item.start_ns},
                          {"ns", item.ns},
                          {"exposed_ns", known(item.exposed_ns)},
                          {"rank_skew_ns", known(item.skew_ns)}}}});
    }
    return {{"steps", run.steps},
            {"matched", run.matched},
            {"unmatched_calls", run.unmatched},
            {"includes_skew", run.single_rank},
            {"errors", std::move(errors)},
            {"transfers", std::move(rows)}};
}

std::string measuredJson(const Analysis& analysis, const MeasuredRun& run) {
    Json out = {
        {"format", "gatherscope.measured"}, {"version", 1}, {"graph", analysis.after.graph->info().name}};
    out.update(measuredObject(analysis, run));
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace gs
