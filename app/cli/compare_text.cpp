#include "app/cli/compare_text.h"

#include "base/units.h"
#include "base/utf8.h"
#include "export/csv.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

/// All lines with columns of equal width; the first `left` columns are flush left, the others flush right.
std::string aligned(const std::vector<Cells>& lines, size_t left) {
    std::vector<size_t> columns;
    for (const Cells& cells : lines) {
        columns.resize(std::max(columns.size(), cells.size()), 0);
        for (size_t i = 0; i < cells.size(); ++i)
            columns[i] = std::max(columns[i], columnsOf(cells[i]));
    }
    std::string out;
    for (const Cells& cells : lines) {
        std::string line;
        for (size_t i = 0; i < cells.size(); ++i)
            line += (i == 0 ? "" : "  ") + (i >= left ? rightAligned : leftAligned)(cells[i], columns[i]);
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::string millis(double ms) {
    return fmt::format("{:.1f} ms", ms);
}

std::string sideText(const std::optional<GatherSide>& side) {
    if (!side)
        return "–";
    std::string text = fmt::format("{} → {}", side->cur, side->target);
    if (side->launches.size() > 1)
        text += fmt::format(" ×{}", side->launches.size());
    return text;
}

Json sideJson(const std::optional<GatherSide>& side) {
    if (!side)
        return nullptr;
    return {{"launches", side->launches.size()},
            {"cur", side->cur},
            {"target", side->target},
            {"launched_ns", side->launched_ns},
            {"bytes", side->bytes},
            {"verdict", std::string(verdictName(side->verdict))},
            {"reason", std::string(bindingReasonName(side->reason))},
            {"exposed_before_ns", side->exposed_before_ns},
            {"exposed_after_ns", side->exposed_after_ns}};
}

std::string signedTime(int64_t ns) {
    return (ns > 0 ? "+" : ns < 0 ? "−" : "") + formatTime(std::abs(ns));
}

} // namespace

std::string rowLabel(const CompareRow& row, const Settings& base) {
    const std::string changes = changesText(row.request.settings, base);
    return row.scheduler + (changes.empty() ? "" : " " + changes);
}

std::string compareTable(const std::vector<CompareRow>& rows, const Settings& base, int best) {
    std::vector<Cells> lines{{"", "scheduler", "settings", "hidden", "exposed", "(sum)", "step", "bound",
                              "gap", "peak", "displaced", "moved", "missing", "run"}};
    for (size_t i = 0; i < rows.size(); ++i) {
        const CompareRow& row = rows[i];
        Cells cells{static_cast<int>(i) == best ? "*" : "", row.scheduler,
                    changesText(row.request.settings, base)};
        if (row.error)
            cells[2] = "failed: " + row.error->message;
        else
            for (const std::string& cell :
                 {fmt::format("{}/{}", row.hidden, row.candidates), formatTime(row.exposed_union_ns),
                  formatTime(row.exposed_sum_ns), formatTime(row.step_ns), formatTime(row.lower_bound_ns),
                  formatPercent(row.gap(), true), formatBytes(row.peak_held_bytes),
                  formatCount(static_cast<int64_t>(row.nodes_displaced)),
                  formatCount(static_cast<int64_t>(row.launches_moved)),
                  formatCount(static_cast<int64_t>(row.missing_costs)), millis(row.run_ms)})
                cells.push_back(cell);
        lines.push_back(std::move(cells));
    }
    return aligned(lines, 3);
}

std::string compareCsv(const std::vector<CompareRow>& rows, const Settings& base, int best) {
    CsvTable table({"scheduler", "settings", "best", "hidden", "candidates", "exposed_union_ns",
                    "exposed_sum_ns", "step_ns", "lower_bound_ns", "gap", "peak_held_bytes", "nodes",
                    "nodes_displaced", "launches_moved", "missing_costs", "problems", "run_ms", "error"});
    for (size_t i = 0; i < rows.size(); ++i) {
        const CompareRow& row = rows[i];
        table.text(row.scheduler)
            .text(changesText(row.request.settings, base))
            .number(int64_t{static_cast<int>(i) == best});
        for (const size_t value : {row.hidden, row.candidates})
            table.number(static_cast<int64_t>(value));
        for (const int64_t value :
             {row.exposed_union_ns, row.exposed_sum_ns, row.step_ns, row.lower_bound_ns})
            table.number(value);
        table.number(row.gap()).number(row.peak_held_bytes);
        for (const size_t value :
             {row.nodes, row.nodes_displaced, row.launches_moved, row.missing_costs, row.problems})
            table.number(static_cast<int64_t>(value));
        table.number(row.run_ms).text(row.error ? row.error->message : std::string());
        table.endRow();
    }
    return table.str();
}

Json compareJson(const std::vector<CompareRow>& rows, const Settings& base, int best) {
    Json out = Json::array();
    for (size_t i = 0; i < rows.size(); ++i) {
        const CompareRow& row = rows[i];
        Json changes = Json::object();
        for (const Setting key : changedSettings(row.request.settings, base))
            changes[std::string(settingSpec(key).name)] = row.request.settings.text(key);
        out.push_back({{"scheduler", row.scheduler},
                       {"settings", changes},
                       {"best", static_cast<int>(i) == best},
                       {"hidden", row.hidden},
                       {"candidates", row.candidates},
                       {"exposed_union_ns", row.exposed_union_ns},
                       {"exposed_sum_ns", row.exposed_sum_ns},
                       {"step_ns", row.step_ns},
                       {"lower_bound_ns", row.lower_bound_ns},
                       {"peak_held_bytes", row.peak_held_bytes},
                       {"nodes", row.nodes},
                       {"nodes_displaced", row.nodes_displaced},
                       {"launches_moved", row.launches_moved},
                       {"missing_costs", row.missing_costs},
                       {"problems", row.problems},
                       {"run_ms", row.run_ms},
                       {"error", row.error ? Json(row.error->message) : Json(nullptr)}});
    }
    return out;
}

std::string gatherDiffText(const GatherDiff& diff, const std::string& label_a, const std::string& label_b,
                           size_t limit) {
    std::string out = fmt::format("A  {}\nB  {}\n{} of {} gathers differ\n", label_a, label_b, diff.changed,
                                  diff.rows.size());
    std::vector<Cells> lines{
        {"gather", "A place", "A verdict", "A exposed", "B place", "B verdict", "B exposed", "change"}};
    size_t left = 0;
    for (const GatherDiffRow& row : diff.rows) {
        if (row.differs == 0)
            continue;
        if (lines.size() > limit) {
            ++left;
            continue;
        }
        Cells cells{row.label};
        for (const auto* side : {&row.a, &row.b}) {
            cells.push_back(sideText(*side));
            cells.push_back(*side ? std::string(verdictName((*side)->verdict)) : "–");
            cells.push_back(*side ? formatTime((*side)->exposed_after_ns) : "–");
        }
        cells.push_back(signedTime(row.change_ns()));
        lines.push_back(std::move(cells));
    }
    if (lines.size() > 1)
        out += aligned(lines, 1);
    if (left > 0)
        out += fmt::format("… and {} more\n", left);
    out += fmt::format("exposed by gathers {} → {}, by others {} → {}\n", formatTime(diff.gathers_a_ns),
                       formatTime(diff.gathers_b_ns), formatTime(diff.others_a_ns),
                       formatTime(diff.others_b_ns));
    return out;
}

Json gatherDiffJson(const GatherDiff& diff) {
    Json rows = Json::array();
    for (const GatherDiffRow& row : diff.rows) {
        if (row.differs != 0)
            rows.push_back({{"gather", row.label},
                            {"launch", row.name},
                            {"a", sideJson(row.a)},
                            {"b", sideJson(row.b)},
                            {"change_ns", row.change_ns()}});
    }
    return {{"gathers", diff.rows.size()},
            {"changed", diff.changed},
            {"same_graph", diff.same_graph},
            {"exposed_by_gathers_ns", {diff.gathers_a_ns, diff.gathers_b_ns}},
            {"exposed_by_others_ns", {diff.others_a_ns, diff.others_b_ns}},
            {"rows", std::move(rows)}};
}

} // namespace gs
