#include "app/cli/compare_ranks.h"

#include "analysis/rank_files.h"
#include "app/cli/exit_codes.h"
#include "base/units.h"
#include "base/utf8.h"
#include "export/ranks_json.h"

#include <fmt/format.h>
#include <set>

namespace gs {

namespace {

constexpr size_t kRowsShown = 12; ///< differing rows of a group
constexpr size_t kDifferencesShown = 20;
constexpr size_t kClassesShown = 4;
constexpr size_t kCellWidth = 44;

std::string padded(std::string text) {
    while (columnsOf(text) > kCellWidth - 2) // a gap to the next one
        text = headOf(text, text.size() - 1);
    return leftAligned(text, kCellWidth);
}

std::string cellText(const RankComparison& comparison, size_t of_class, int32_t index) {
    if (index < 0)
        return "—";
    const ComparedRank& rank =
        comparison.ranks[static_cast<size_t>(comparison.classes[of_class].ranks.front())];
    const RankCollective& item = rank.collectives[static_cast<size_t>(index)];
    const Graph& graph = *rank.program.graphs[item.graph].graph;
    std::string text(item.kind == CollectiveKind::Other ? graph.targetText(item.node)
                                                        : collectiveKindName(item.kind));
    if (item.dtype != DType::Unknown)
        text += fmt::format(" {}", dtypeAbbreviation(item.dtype));
    if (item.bytes >= 0)
        text += " " + formatBytes(item.bytes);
    return fmt::format("{} {}", text, graph.name(item.node));
}

void addGroup(std::string& out, const RankComparison& comparison, const RankGroup& group) {
    if (group.differing == 0) {
        out += fmt::format("  {:14} {:>17}, equal\n", group.name, counted(group.rows.size(), "collective"));
        return;
    }
    out += fmt::format("  {:14} {:>17}, {} differ{}\n", group.name, counted(group.rows.size(), "collective"),
                       group.differing, group.differing == 1 ? "s" : "");
    const size_t classes = std::min(comparison.classes.size(), kClassesShown);
    out += fmt::format("        {:>4}  ", "#");
    for (size_t c = 0; c < classes; ++c)
        out += padded(comparison.classes[c].text);
    out += '\n';
    size_t shown = 0, equal = 0;
    for (size_t i = 0; i < group.rows.size() && shown < kRowsShown; ++i) {
        const RankRow& row = group.rows[i];
        if (row.equal) {
            ++equal;
            continue;
        }
        if (equal > 0)
            out += fmt::format("        {:>4}  {} equal\n", "", equal);
        equal = 0;
        out += fmt::format("      {} {:4}  ", shown == 0 ? "▶" : " ", i);
        for (size_t c = 0; c < classes; ++c)
            out += padded(cellText(comparison, c, row.cells[c]));
        out += '\n';
        ++shown;
    }
    if (shown < group.differing)
        out += fmt::format("        {:>4}  … {} more differ\n", "", group.differing - shown);
}

void addCycle(std::string& out, const RankComparison& comparison, const WaitCycle& cycle) {
    out += fmt::format(
        "{}\n", cycle.closed    ? cycle.certain ? "Deadlock, ranks wait for each other:"
                                                : "Possible deadlock, if the device cannot run both at once:"
                : cycle.certain ? "Hang, a rank waits for one that has nothing left to issue:"
                                : "Possible hang:");
    for (const WaitStep& step : cycle.steps) {
        const ComparedRank& rank = comparison.ranks[static_cast<size_t>(step.rank)];
        const Graph& graph = *rank.program.graphs[step.collective.graph].graph;
        out += fmt::format("  {} {} for {}\n", rank.program.label,
                           step.blocked_at == kNoNode
                               ? std::string("at its end waits")
                               : fmt::format("waits at \"{}\"", graph.name(step.blocked_at)),
                           step.collective.text);
        if (step.missing_rank >= 0)
            out += fmt::format("    {} has not issued it\n",
                               comparison.ranks[static_cast<size_t>(step.missing_rank)].program.label);
    }
}

void addComparison(std::string& out, const RankComparison& comparison) {
    out += fmt::format("{}: {}\n\n", rankModeName(comparison.mode), comparison.verdict);
    for (const ComparedRank& rank : comparison.ranks) {
        size_t nodes = 0;
        for (const RankGraph& of : rank.program.graphs)
            nodes += of.graph->size();
        out += fmt::format("  {:14} {}, {}, {}, {}  {}\n", rank.program.label,
                           counted(rank.program.graphs.size(), "graph"), counted(nodes, "node"),
                           counted(rank.collectives.size(), "collective"), counted(rank.gathers, "gather"),
                           rank.program.file);
    }
    out += "\nGroups\n";
    for (const RankGroup& group : comparison.groups)
        addGroup(out, comparison, group);
    if (!comparison.cycles.empty())
        out += '\n';
    for (const WaitCycle& cycle : comparison.cycles)
        addCycle(out, comparison, cycle);
    if (!comparison.differences.empty())
        out += "\nDifferences\n";
    for (size_t i = 0; i < comparison.differences.size() && i < kDifferencesShown; ++i) {
        const RankDifference& item = comparison.differences[i];
        out += fmt::format("  {} {}: {}\n      {}\n", severityName(item.severity), item.code, item.message,
                           item.hint);
    }
    const size_t more = comparison.differences.size() -
                        std::min(comparison.differences.size(), kDifferencesShown) + comparison.dropped;
    if (more > 0)
        out += fmt::format("  … and {} more\n", more);
    if (!comparison.first_what.empty())
        out += fmt::format("\nFirst node that differs ({})\n  {}: {}\n  {}: {}\n", comparison.first_what,
                           comparison.ranks[static_cast<size_t>(comparison.first_a.rank)].program.label,
                           comparison.first_a.text,
                           comparison.ranks[static_cast<size_t>(comparison.first_b.rank)].program.label,
                           comparison.first_b.text);
    if (!comparison.harmless.empty())
        out += fmt::format("\n{}\n", comparison.mode <= RankMode::Slot
                                         ? "Differences without harm"
                                         : "Other differences, without harm by themselves");
    for (const HarmlessDifference& item : comparison.harmless)
        out += fmt::format("  {:14} {}\n", item.code, item.message);
}

} // namespace

bool namesSeveralRanks(const QStringList& files) {
    if (files.size() != 1)
        return files.size() > 1;
    Diagnostics ignored;
    const Result<GraphList> list = listGraphs(files.first().toStdString(), ignored);
    if (!list)
        return false;
    std::set<int32_t> ranks;
    for (const GraphEntry& entry : list->graphs)
        ranks.insert(entry.rank);
    return ranks.size() > 1;
}

int compareRanks(const QStringList& files, const CommonOptions& options) {
    std::vector<std::string> paths;
    for (const QString& file : files)
        paths.push_back(file.toStdString());
    Diagnostics diagnostics;
    Result<std::vector<RankProgram>> programs = readRanks(paths, diagnostics, {});
    if (!programs) {
        printError(programs.error());
        return exitCodeFor(programs.error());
    }
    printDiagnostics(diagnostics, options.verbose ? Severity::Info : Severity::Error);
    if (programs->size() < 2) {
        printError({"usage",
                    "only one rank was found; two are needed for a comparison",
                    {},
                    "name a file of each rank, or a log that holds several"});
        return kExitUsage;
    }
    const RankComparisonPtr comparison =
        compareRanks(std::move(programs).value(), options.request.settings.text(Setting::CommunicatingOps));
    if (!options.quiet && options.json != "-") {
        std::string text;
        addComparison(text, *comparison);
        printLines(text);
    }
    if (!options.json.isEmpty()) {
        if (const Status status = writeOutput(options.json, writeRanksJson(*comparison)); !status) {
            printError(status.error());
            return kExitUnreadable;
        }
    }
    if (diagnostics.hasErrors())
        return kExitUnreadable;
    return comparison->hasFindings() ? kExitFindings : kExitDone;
}

} // namespace gs
