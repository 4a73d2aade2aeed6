// `gatherscope-cli lint FILE…`
#include "passes/lint/lint.h"
#include "analysis/rank_files.h"
#include "app/cli/commands.h"
#include "app/cli/exit_codes.h"
#include "app/cli/options.h"
#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

/// Findings of one graph, or of what lies between the graphs of a file.
struct Linted {
    std::string file;
    std::string graph;
    Diagnostics findings;
};

bool isFinding(const Diagnostic& item, bool strict) {
    return strict || item.severity >= Severity::Warning;
}

size_t countFindings(const std::vector<Linted>& linted, bool strict) {
    size_t count = 0;
    for (const Linted& of : linted) {
        count += of.findings.dropped();
        for (const Diagnostic& item : of.findings.all())
            count += isFinding(item, strict) ? 1 : 0;
    }
    return count;
}

void print(const Linted& linted, bool quiet) {
    for (const Diagnostic& item : linted.findings.all()) {
        if (quiet && item.severity == Severity::Info)
            continue;
        std::string place = linted.file;
        if (item.where.line > 0)
            place += fmt::format(":{}", item.where.line);
        fmt::print("{}: {}: {}: {} [{}]\n", place, severityName(item.severity), linted.graph, item.message,
                   item.code);
        if (!item.hint.empty())
            fmt::print("    {}\n", item.hint);
    }
    if (linted.findings.dropped() > 0)
        fmt::print("    … and {} more of the same kinds\n", linted.findings.dropped());
}

std::string asJson(const std::vector<Linted>& linted, bool strict) {
    Json graphs = Json::array();
    std::map<std::string, size_t> counts;
    for (const Linted& of : linted) {
        Json findings = Json::array();
        for (const Diagnostic& item : of.findings.all()) {
            ++counts[item.code];
            findings.push_back({{"severity", severityName(item.severity)},
                                {"code", item.code},
                                {"node", item.node},
                                {"line", item.where.line},
                                {"message", item.message},
                                {"hint", item.hint}});
        }
        graphs.push_back({{"file", of.file},
                          {"graph", of.graph},
                          {"dropped", of.findings.dropped()},
                          {"findings", std::move(findings)}});
    }
    const Json json = {{"format", "gatherscope.lint"},
                       {"version", 1},
                       {"findings", countFindings(linted, strict)},
                       {"counts", counts},
                       {"graphs", std::move(graphs)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// One graph through the analysis, so that lint sees what the window sees.
Result<AnalysisPtr> lintGraph(Analyser& analyser, const AnalysisRequest& request, Linted& out) {
    Result<AnalysisPtr> analysis = analyser.analyse(request, {});
    if (!analysis)
        return analysis.error();
    const Analysis& made = *analysis.value();
    out.graph = made.before.graph->info().name;
    lint({*made.before.graph, *made.before.collectives, request.settings,
          findDevicePreset(request.settings.text(Setting::Device))},
         out.findings);
    return analysis;
}

/// All graphs of a file that run, or the one that was asked for.
Status lintFile(const CommonOptions& options, const std::string& file, std::vector<Linted>& linted,
                Diagnostics& reading) {
    AnalysisRequest request = options.request;
    request.graph_file = file;
    Analyser analyser;
    std::vector<LintGraph> graphs;
    std::vector<int> indices{request.graph_index};
    const Result<ImportedGraph> input = importGraph(
        file, {request.graph_index, request.rank, request.stage, request.shapes_file}, reading, {});
    if (!input)
        return input.error();
    if (request.graph_index < 0 && request.stage.empty()) {
        indices.clear();
        for (const size_t index : graphsThatRun(input->entries)) {
            const int32_t rank = input->entries[index].rank;
            if (request.rank < 0 || rank < 0 || rank == request.rank)
                indices.push_back(static_cast<int>(index));
        }
    }
    for (const int index : indices) {
        request.graph_index = index;
        Linted one{file, {}, {}};
        const Result<AnalysisPtr> analysis = lintGraph(analyser, request, one);
        if (!analysis)
            return analysis.error();
        if (analysis.value()->ranks_error)
            return *analysis.value()->ranks_error;
        if (input->entries.size() > 1 && index >= 0)
            one.graph = input->entries[static_cast<size_t>(index)].name;
        const Program& before = analysis.value()->before;
        graphs.push_back({one.graph, before.graph, before.collectives});
        linted.push_back(std::move(one));
    }
    Linted between{file, "between graphs", {}};
    lintAcross(graphs, between.findings);
    if (!between.findings.all().empty())
        linted.push_back(std::move(between));
    return Unit{};
}

} // namespace

int runLint(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Looks for faults and waste in graphs: collectives that nobody waits for or "
        "uses, that are sent twice, too wide or too small, ….");
    addCommonOptions(parser);
    parser.addOption({"strict", "Infos count as findings, too."});
    parser.addPositionalArgument("FILE", "Graph files.", "FILE…");
    if (const int code = parseArguments(parser, arguments, 1); code >= 0)
        return code;
    const Result<CommonOptions> options = readCommonOptions(parser);
    if (!options) {
        printError(options.error());
        return exitCodeFor(options.error());
    }
    std::vector<Linted> linted;
    Diagnostics reading;
    int worst = kExitDone;
    for (const QString& file : parser.positionalArguments()) {
        if (const Status status = lintFile(options.value(), file.toStdString(), linted, reading); !status) {
            printError(status.error());
            worst = std::max(worst, exitCodeFor(status.error()));
        }
    }
    printDiagnostics(reading, options->verbose ? Severity::Info : Severity::Error);
    const bool strict = parser.isSet("strict");
    const size_t findings = countFindings(linted, strict);
    if (options->json != "-") {
        for (const Linted& of : linted)
            print(of, options->quiet);
        fmt::print("{} {} in {} {}\n", findings, findings == 1 ? "finding" : "findings", linted.size(),
                   linted.size() == 1 ? "graph" : "graphs");
    }
    if (!options->json.isEmpty()) {
        if (const Status status = writeOutput(options->json, asJson(linted, strict)); !status) {
            printError(status.error());
            return kExitUnreadable;
        }
    }
    if (worst == kExitDone && reading.hasErrors())
        worst = kExitUnreadable;
    return worst != kExitDone ? worst : findings > 0 ? kExitFindings : kExitDone;
}

} // namespace gs
