#include "export/csv.h"
#include "export/exporters.h"

#include <algorithm>

namespace gs {

namespace {

std::string_view nodeName(const Graph& graph, NodeId id) {
    return id == kNoNode ? std::string_view() : graph.name(id);
}

std::string_view groupName(const Graph& graph, GroupId group) {
    return group == kNoGroup ? std::string_view() : graph.text(graph.groups()[group].name);
}

void bytes(CsvTable& table, int64_t value) {
    value < 0 ? table.empty() : table.number(value);
}

/// Exposure of the gathers in the program's own order, by launch; -1 for a bucket, which is no launch there.
int64_t exposedBefore(const Analysis& analysis, std::string_view launch) {
    const std::optional<NodeId> id = analysis.before.graph->find(launch);
    const int32_t index = id ? analysis.before.collectives->indexOf(*id) : -1;
    if (index < 0 || (*analysis.before.collectives)[static_cast<size_t>(index)].launch != *id)
        return -1;
    return analysis.before.timeline->transfers[static_cast<size_t>(index)].exposed_ns;
}

Result<std::string> writeGathers(const Analysis& analysis, const ExportOptions&) {
    const Graph& graph = *analysis.after.graph;
    CsvTable table({"launch",          "parameters",   "group",      "group_size",
                    "input_bytes",     "output_bytes", "dtype",      "phase",
                    "module",          "cur",          "target",     "moved_by",
                    "group_nodes",     "floor",        "floor_node", "first_consumer",
                    "comm_ns",         "need_ns",      "window_ns",  "carry_in_ns",
                    "carry_from",      "claimed_by",   "verdict",    "reason",
                    "launched_ns",     "start_ns",     "end_ns",     "exposed_before_ns",
                    "exposed_after_ns"});
    for (const Decision& decision : analysis.after.schedule->decisions) {
        const auto index = static_cast<size_t>(decision.collective);
        const Collective& gather = (*analysis.after.collectives)[index];
        const Transfer& transfer = analysis.after.timeline->transfers[index];
        const Node& launch = graph.node(decision.launch);
        table.text(graph.name(decision.launch)).text(gatheredParameters(graph, gather));
        table.text(groupName(graph, gather.group)).number(int64_t{gather.group_size});
        bytes(table, gather.input_bytes);
        bytes(table, gather.output_bytes);
        table.text(dtypeName(gather.dtype));
        table.text(launch.phase == Phase::Forward    ? "forward"
                   : launch.phase == Phase::Backward ? "backward"
                                                     : "");
        table.text(graph.text(launch.module));
        table.number(int64_t{decision.cur}).number(int64_t{decision.target});
        table.number(int64_t{decision.target} - int64_t{decision.cur});
        table.number(static_cast<int64_t>(decision.moved_group.size())).number(int64_t{decision.floor});
        table.text(nodeName(graph, decision.floor_node)).text(nodeName(graph, decision.first_consumer));
        table.number(decision.comm_ns).number(decision.need_ns).number(decision.window_ns);
        table.number(decision.carry_in_ns).text(nodeName(graph, decision.carry_from));
        table.text(nodeName(graph, decision.claimed_by));
        table.text(verdictName(decision.verdict)).text(bindingReasonName(decision.reason));
        table.number(transfer.launched_ns).number(transfer.start_ns).number(transfer.end_ns);
        bytes(table, exposedBefore(analysis, graph.name(decision.launch)));
        table.number(transfer.exposed_ns);
        table.endRow();
    }
    return table.str();
}

Result<std::string> writeCosts(const Analysis& analysis, const ExportOptions&) {
    CsvTable table({"kind", "label", "per_call_ns", "calls", "total_ns", "provenance", "source", "note",
                    "analytical_ns", "samples", "spread_ns", "rank_skew_ns", "first_node", "key"});
    for (const CostEntry& entry : analysis.after.costs->entries()) {
        const auto calls = static_cast<int64_t>(entry.nodes.size());
        const bool missing = entry.provenance == Provenance::Missing;
        int64_t total = entry.ns * calls; // of one entry all calls cost the same
        table.text(entry.kind).text(entry.label);
        missing ? table.empty() : table.number(entry.ns);
        table.number(calls);
        missing ? table.empty() : table.number(total);
        table.text(provenanceName(entry.provenance)).text(entry.source).text(entry.note);
        bytes(table, entry.analytical_ns);
        entry.samples > 0 ? table.number(entry.samples) : table.empty();
        bytes(table, entry.spread_ns);
        bytes(table, entry.rank_skew_ns);
        table.text(entry.nodes.empty() ? std::string_view()
                                       : analysis.after.graph->name(entry.nodes.front()));
        table.text(entry.key);
        table.endRow();
    }
    return table.str();
}

void transferRows(CsvTable& table, const Program& program, std::string_view which) {
    const Graph& graph = *program.graph;
    for (const Transfer& transfer : program.timeline->transfers) {
        const Collective& item = (*program.collectives)[static_cast<size_t>(transfer.collective)];
        table.text(which).text(nodeName(graph, item.launch)).text(collectiveKindName(item.kind));
        table.text(groupName(graph, item.group));
        table.text(item.waits.empty() ? std::string_view() : graph.name(item.waits.front()));
        bytes(table, item.input_bytes);
        bytes(table, item.output_bytes);
        table.number(transfer.launched_ns).number(transfer.start_ns).number(transfer.end_ns);
        table.number(transfer.end_ns - transfer.start_ns).number(transfer.alone_ns);
        table.number(transfer.start_ns - transfer.launched_ns).number(transfer.exposed_ns);
        table.text(nodeName(graph, item.input));
        table.endRow();
    }
}

Result<std::string> writeTransfers(const Analysis& analysis, const ExportOptions&) {
    CsvTable table({"schedule", "launch", "kind", "group", "first_wait", "input_bytes", "output_bytes",
                    "launched_ns", "start_ns", "end_ns", "duration_ns", "alone_ns", "queued_ns", "exposed_ns",
                    "in_flight_input"});
    transferRows(table, analysis.before, "before");
    transferRows(table, analysis.after, "after");
    return table.str();
}

} // namespace

Exporter gatherTableExporter() {
    return {"gathers-csv", "Table of gathers (CSV)", "csv", writeGathers};
}

Exporter costTableExporter() {
    return {"costs-csv", "Table of costs (CSV)", "csv", writeCosts};
}

Exporter transferTableExporter() {
    return {"transfers-csv", "Table of transfers (CSV)", "csv", writeTransfers};
}

} // namespace gs
