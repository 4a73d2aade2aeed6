// Document 000's log lines: the INFO summary, one DEBUG placement line per gather, and the ESTLINE table.
#include "cost/readers/log_model.h"
#include "export/exporters.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace gs {

namespace {

void addPlacements(const Analysis& analysis, std::string& text) {
    const Graph& graph = *analysis.after.graph;
    for (const Decision& decision : analysis.after.schedule->decisions) {
        if (decision.verdict == Verdict::NotCandidate)
            continue;
        const int64_t consumer = decision.first_consumer == kNoNode ? -1 : int64_t{decision.first_consumer};
        text += fmt::format(
            "DEBUG FSDP overlap placement: launch {}({}) cur={} -> target={} fc={} lower={} | comm={:.1f}us "
            "acc_upstream={:.1f}us need={:.1f}us {}\n",
            estlineField(graph.name(decision.launch)), estlineField(graph.targetText(decision.launch)),
            decision.cur, decision.target, consumer, decision.floor, decision.comm_ns / 1e3,
            decision.window_ns / 1e3, decision.need_ns / 1e3,
            decision.verdict == Verdict::Hidden ? "hidden" : "COMPUTE-LIMITED");
    }
}

/// The document knows measured and analytical costs; whatever was once measured counts as measured.
std::string_view measuredWord(Provenance provenance) {
    switch (provenance) {
    case Provenance::Measured:
    case Provenance::Reused:
    case Provenance::Imported:
    case Provenance::User:
    case Provenance::Interpolated:
        return "measured";
    default:
        return "analytical";
    }
}

/// A row per op: entries of one key that cost different times (parts of fused regions) are one row with their
/// mean.
struct CostRow {
    const CostEntry* entry; ///< the first one
    size_t calls = 0;
    double total_us = 0;
};

/// Greatest total first, as the document's summary. Missing costs are no rows: they would read as 0.
std::vector<CostRow> costRows(const CostTable& costs) {
    std::vector<CostRow> rows;
    std::map<std::pair<std::string, std::string>, size_t> row_of_key;
    for (const CostEntry& entry : costs.entries()) {
        if (entry.provenance == Provenance::Missing)
            continue;
        const auto [found, added] = row_of_key.try_emplace({entry.kind, entry.key}, rows.size());
        if (added)
            rows.push_back({&entry});
        CostRow& row = rows[found->second];
        row.calls += entry.nodes.size();
        row.total_us += static_cast<double>(entry.ns) / 1e3 * static_cast<double>(entry.nodes.size());
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const CostRow& a, const CostRow& b) { return a.total_us > b.total_us; });
    return rows;
}

void addCostRows(const Analysis& analysis, std::string& text) {
    const std::vector<CostRow> rows = costRows(*analysis.after.costs);
    std::map<std::pair<std::string, std::string>, size_t> labels;
    for (const CostRow& row : rows)
        ++labels[{row.entry->kind, estlineField(row.entry->label)}];
    for (const CostRow& row : rows) {
        const CostEntry& entry = *row.entry;
        const bool compute = entry.kind == "compute";
        std::string label = estlineField(entry.label);
        // Rows that look alike would be of no use: then the key tells them apart.
        if (labels[{entry.kind, label}] > 1)
            label += fmt::format(" {{{}}}", estlineField(entry.key));
        text += fmt::format("ESTLINE|{}|{}|{:.3f}|{}|{:.3f}|{}\n", compute ? "compute" : "collective", label,
                            row.total_us / static_cast<double>(row.calls), row.calls, row.total_us,
                            measuredWord(entry.provenance));
    }
}

Result<std::string> writeLog(const Analysis& analysis, const ExportOptions&) {
    std::string text;
    addPlacements(analysis, text);
    for (const std::string& line : analysis.after.schedule->log_info)
        text += "INFO FSDP overlap reorder: " + line + "\n";
    addCostRows(analysis, text);
    return text;
}

} // namespace

Exporter magiLogExporter() {
    return {"magi-log", "Placement lines and cost table of document 000 (log)", "log", writeLog};
}

} // namespace gs
