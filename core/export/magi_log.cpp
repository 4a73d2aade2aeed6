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

/// Greatest total first, as the document's summary. Missing costs are no rows: they would read as 0.
void addCostRows(const Analysis& analysis, std::string& text) {
    const CostTable& costs = *analysis.after.costs;
    struct Row {
        const CostEntry* entry;
        double total_us;
    };
    std::vector<Row> rows;
    std::map<std::pair<std::string, std::string>, size_t> labels;
    for (const CostEntry& entry : costs.entries()) {
        if (entry.provenance == Provenance::Missing)
            continue;
        ++labels[{entry.kind, estlineField(entry.label)}];
        rows.push_back(
            {&entry, static_cast<double>(entry.ns) / 1e3 * static_cast<double>(entry.nodes.size())});
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.total_us > b.total_us; });
    for (const Row& row : rows) {
        const CostEntry& entry = *row.entry;
        const bool compute = entry.kind == "compute";
        std::string label = estlineField(entry.label);
        // Rows that look alike would be of no use: then the key tells them apart.
        if (labels[{entry.kind, label}] > 1)
            label += fmt::format(" {{{}}}", estlineField(entry.key));
        text += fmt::format("ESTLINE|{}|{}|{:.3f}|{}|{:.3f}|{}\n", compute ? "compute" : "collective", label,
                            static_cast<double>(entry.ns) / 1e3, entry.nodes.size(), row.total_us,
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
