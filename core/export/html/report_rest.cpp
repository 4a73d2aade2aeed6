// What the numbers rest on: costs, settings, passes, diagnostics, versions and hashes.
#include "analysis/compare.h"
#include "base/hash.h"
#include "base/units.h"
#include "base/version.h"
#include "export/html/markup.h"
#include "export/html/report.h"
#include "export/html/svg.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>

namespace gs::html {

namespace {

constexpr size_t kTopCosts = 20;
constexpr size_t kListedCosts = 3000;
constexpr size_t kListedDiagnostics = 200;

std::string fileName(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

struct Look {
    std::string_view bar, pill;
};

/// Numbers that somebody measured look other than those that a model made.
Look lookOf(Provenance provenance) {
    switch (provenance) {
    case Provenance::Measured:
    case Provenance::Reused:
        return {"p-measured", "good"};
    case Provenance::Imported:
    case Provenance::Interpolated:
    case Provenance::Extrapolated:
        return {"p-imported", "plain"};
    case Provenance::User:
        return {"p-user", "plain"};
    case Provenance::Missing:
        return {"p-missing", "bad"};
    default:
        return {"p-modelled", "plain"};
    }
}

int64_t totalOf(const CostEntry& entry) {
    int64_t total = 0;
    const bool huge = __builtin_mul_overflow(entry.ns, static_cast<int64_t>(entry.nodes.size()), &total);
    return huge ? kHugeSize : total;
}

/// Time by where it is from, as one bar and in words.
std::string provenanceBar(const CostTable& costs) {
    constexpr size_t kKinds = static_cast<size_t>(Provenance::Missing) + 1;
    std::array<double, kKinds> times{};
    double all = 0;
    for (const CostEntry& entry : costs.entries()) {
        if (entry.provenance == Provenance::Missing)
            continue;
        times[static_cast<size_t>(entry.provenance)] += static_cast<double>(totalOf(entry));
        all += static_cast<double>(totalOf(entry));
    }
    Svg svg(1160, 14, "time by provenance of the costs");
    double x = 0;
    std::string words;
    for (size_t i = 0; i < kKinds; ++i) {
        const auto provenance = static_cast<Provenance>(i);
        const size_t count = costs.count(provenance);
        if (count == 0)
            continue;
        const double width = all > 0 ? times[i] / all * 1160 : 0;
        const std::string word =
            fmt::format("{} {}{}", formatCount(static_cast<int64_t>(count)), provenanceName(provenance),
                        provenance == Provenance::Missing || all <= 0
                            ? std::string()
                            : fmt::format(" ({} of the time)", formatPercent(times[i] / all)));
        svg.rect(lookOf(provenance).bar, x, 0, width, 14, word, 2);
        x += width;
        words += (words.empty() ? "" : " · ") + word;
    }
    return fmt::format("<p class=\"note\">{} distinct costs: {}.</p>\n{}",
                       formatCount(static_cast<int64_t>(costs.entries().size())), escape(words),
                       svg.element());
}

std::string costTable(const Graph& graph, const std::vector<const CostEntry*>& entries) {
    constexpr Column kColumns[] = {{"Kind"},
                                   {"What"},
                                   {"Each", true},
                                   {"Calls", true},
                                   {"All", true},
                                   {"Model", true, "what the model of the device says"},
                                   {"Spread", true, "between the quartiles of the samples"},
                                   {"From"},
                                   {"Source and how"}};
    Table table(kColumns);
    for (const CostEntry* entry : entries) {
        const bool missing = entry->provenance == Provenance::Missing;
        const std::string first =
            entry->nodes.empty() ? std::string() : std::string(graph.name(entry->nodes.front()));
        table.text(entry->kind);
        table.html(fmt::format("<span title=\"{}\">{}</span>", escape("first: " + cleanText(first, 100)),
                               escape(entry->label, 140)));
        table.text(missing ? std::string("?") : formatTime(entry->ns));
        table.text(formatCount(static_cast<int64_t>(entry->nodes.size())));
        table.text(missing ? std::string("?") : formatTime(totalOf(*entry)));
        table.text(entry->analytical_ns < 0 ? std::string() : formatTime(entry->analytical_ns));
        table.text(entry->spread_ns < 0 ? std::string() : formatTime(entry->spread_ns));
        table.html(pill(lookOf(entry->provenance).pill, provenanceName(entry->provenance)));
        std::string source = cleanText(fileName(entry->source), 80);
        if (!entry->note.empty())
            source += (source.empty() ? "" : ": ") + entry->note;
        table.text(source);
        table.endRow();
    }
    return "<div class=\"wide\">" + table.str() + "</div>";
}

std::string dictionary(const std::vector<std::pair<std::string, std::string>>& rows) {
    std::string out = "<dl>";
    for (const auto& [name, value] : rows)
        out += fmt::format("<dt>{}</dt><dd><code>{}</code></dd>", escape(name), escape(value, 400));
    return out + "</dl>\n";
}

} // namespace

std::string costSection(const Analysis& analysis) {
    const CostTable& costs = *analysis.after.costs;
    const Graph& graph = *analysis.after.graph;
    std::vector<const CostEntry*> known, missing;
    for (const CostEntry& entry : costs.entries())
        (entry.provenance == Provenance::Missing ? missing : known).push_back(&entry);
    std::stable_sort(known.begin(), known.end(),
                     [](const CostEntry* a, const CostEntry* b) { return totalOf(*a) > totalOf(*b); });
    std::string out = "<section>\n<h2>Costs and where they come from</h2>\n" + provenanceBar(costs);
    const size_t top = std::min(known.size(), kTopCosts);
    out += costTable(graph, {known.begin(), known.begin() + static_cast<std::ptrdiff_t>(top)});
    for (std::vector<const CostEntry*>* list : {&known, &missing}) {
        const size_t all = list->size();
        if (all == 0 || (list == &known && all == top))
            continue;
        list->resize(std::min(all, kListedCosts));
        const std::string summary =
            fmt::format("{} {} {}", all > kListedCosts ? "The first" : "All", list->size(),
                        list == &known ? "costs" : "missing costs, which count as 0");
        out += folded(summary, costTable(graph, *list));
    }
    return out + "</section>\n";
}

std::string settingSection(const Analysis& analysis) {
    const Settings& settings = analysis.request.settings;
    std::string changed, same;
    for (const SettingSpec& spec : settingSpecs()) {
        const bool differs = !settings.isDefault(spec.key);
        const std::string& value = settings.text(spec.key);
        const bool number = !value.empty() && value.find_first_not_of("0123456789.-+e") == std::string::npos;
        const std::string unit = spec.unit.empty() || !number ? "" : " " + std::string(spec.unit);
        std::string& list = differs ? changed : same;
        list += fmt::format(
            "<div{} title=\"{}\"><span>{}</span><code>{}</code></div>\n",
            differs ? fmt::format(" class=\"changed\"") : std::string(),
            escape(fmt::format("{}: {}. Default {}{}", spec.name, spec.meaning, spec.fallback, unit), 400),
            escape(spec.title), escape(value + unit, 80));
    }
    std::string out = "<section>\n<h2>Settings</h2>\n";
    out += changed.empty() ? "<p class=\"note\">All settings have their defaults.</p>\n"
                           : "<p class=\"note\">Marked settings differ from their defaults.</p>\n";
    out += "<div class=\"settings\">\n" + changed + same + "</div>\n";
    if (!analysis.request.edits.empty()) {
        out += "<h2 style=\"margin-top:16px\">Changes by hand</h2>\n<dl>";
        for (const Edit& edit : analysis.request.edits)
            out += fmt::format("<dt>{}</dt><dd></dd>", escape(editText(edit), 300));
        out += "</dl>\n";
    }
    return out + "</section>\n";
}

std::string passSection(const Analysis& analysis) {
    constexpr Column kColumns[] = {{"Pass"}, {"What it did"}, {"Done", true}, {"Left", true}};
    Table table(kColumns);
    for (const PassReport& report : analysis.reports) {
        table.text(report.pass).text(report.summary);
        table.text(formatCount(static_cast<int64_t>(report.done)));
        table.text(formatCount(static_cast<int64_t>(report.skipped))).endRow();
    }
    if (table.rows() == 0)
        return {};
    return "<section>\n<h2>Passes</h2>\n" + table.str() + "</section>\n";
}

std::string diagnosticSection(const Analysis& analysis) {
    constexpr Column kColumns[] = {{"Severity"}, {"Message"}, {"What to do"}, {"Where"}};
    const std::vector<Diagnostic>& all = analysis.diagnostics.all();
    if (all.empty())
        return "<section>\n<h2>Diagnostics</h2>\n<p class=\"note\">There are none.</p>\n</section>\n";
    std::vector<const Diagnostic*> list;
    for (const Diagnostic& item : all)
        list.push_back(&item);
    std::stable_sort(list.begin(), list.end(), [](const Diagnostic* a, const Diagnostic* b) {
        return static_cast<int>(a->severity) > static_cast<int>(b->severity);
    });
    Table table(kColumns);
    for (const Diagnostic* item : list) {
        if (table.rows() == kListedDiagnostics)
            break;
        table.html(pill(item->severity == Severity::Error     ? "bad"
                        : item->severity == Severity::Warning ? "warn"
                                                              : "plain",
                        severityName(item->severity)));
        table.html(fmt::format("{} <code>{}</code>", escape(item->message, 600), escape(item->code)));
        table.text(item->hint);
        std::string where = fileName(item->where.file);
        if (item->where.line > 0)
            where += fmt::format(":{}", item->where.line);
        table.code(where).endRow();
    }
    const size_t more = all.size() - table.rows() + analysis.diagnostics.dropped();
    std::string body = "<div class=\"wide\">" + table.str() + "</div>";
    if (more > 0)
        body += fmt::format("<p class=\"note\">{} more are not listed.</p>\n",
                            formatCount(static_cast<int64_t>(more)));
    const auto loud = std::count_if(all.begin(), all.end(),
                                    [](const Diagnostic& item) { return item.severity != Severity::Info; });
    return "<section>\n<h2>Diagnostics</h2>\n" +
           (loud > 0 || all.size() <= 8 ? body : folded(fmt::format("{} remarks", all.size()), body)) +
           "</section>\n";
}

std::string originSection(const Analysis& analysis) {
    const GraphInfo& info = analysis.after.graph->info();
    std::vector<std::pair<std::string, std::string>> rows = {
        {"program", fmt::format("{} {}", kProgramName, programVersion())},
        {"graph", fileName(info.source_file.empty() ? analysis.request.graph_file : info.source_file)}};
    if (!info.producer.empty())
        rows.emplace_back("made by", info.producer);
    if (!info.capture.empty())
        rows.emplace_back("captured as", info.capture);
    for (const std::string& file : analysis.request.cost_files)
        rows.emplace_back("costs", fileName(file));
    if (analysis.source.graph)
        rows.emplace_back("structural hash, as read", hexDigits(analysis.source.graph->structuralHash()));
    rows.emplace_back("structural hash, scheduled program",
                      hexDigits(analysis.after.graph->structuralHash()));
    rows.emplace_back("scheduler", fmt::format("{} ({})", analysis.after.schedule->scheduler,
                                               changesText(analysis.request.settings, Settings()).empty()
                                                   ? std::string("defaults")
                                                   : changesText(analysis.request.settings, Settings())));
    return "<section>\n<h2>Versions and hashes</h2>\n" + dictionary(rows) + "</section>\n";
}

} // namespace gs::html
