// `gatherscope-cli analyze FILE…`
#include "analysis/bundle_request.h"
#include "app/cli/commands.h"
#include "app/cli/exit_codes.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/summary.h"
#include "export/analysis_json.h"
#include "export/exporter.h"
#include "export/measured_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

/// Document 000's log lines, then the time of each stage.
void printVerbose(const Analysis& analysis) {
    fmt::print(stderr, "{}", findExporter("magi-log")->write(analysis).value());
    for (const StageTime& time : analysis.times)
        fmt::print(stderr, "stage {:10} {:8.1f} ms\n", time.stage, time.ms);
}

int analyzeFile(Analyser& analyser, const CommonOptions& options, const QString& file, bool show_progress) {
    AnalysisRequest request = options.request;
    request.graph_file = file.toStdString();
    StderrProgress progress;
    const Result<AnalysisPtr> result = analyser.analyse(request, {{}, show_progress ? &progress : nullptr});
    if (!result) {
        printError(result.error());
        return exitCodeFor(result.error());
    }
    const Analysis& analysis = *result.value();
    printDiagnostics(analysis.diagnostics, options.verbose ? Severity::Info : Severity::Warning);
    if (options.verbose)
        printVerbose(analysis);
    if (!options.quiet && options.json != "-")
        printLines(summaryText(analysis) +
                   (analysis.measured ? "\n" + measuredText(analysis, *analysis.measured) : std::string()));
    if (!options.json.isEmpty()) {
        if (const Status status = writeOutput(options.json, writeAnalysisJson(analysis)); !status) {
            printError(status.error());
            return kExitUnreadable;
        }
    }
    return analysis.diagnostics.hasErrors() ? kExitUnreadable : kExitDone;
}

} // namespace

int runAnalyze(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Analyses graphs: where each gather is launched, what is hidden, what is exposed.");
    addCommonOptions(parser);
    parser.addOption({"trace",
                      "A trace of a run with the schedule applied (Kineto, nsys), laid over the simulation; "
                      "several: ranks of one run.",
                      "FILE"});
    parser.addPositionalArgument("FILE", "Graph files.", "FILE…");
    if (const int code = parseArguments(parser, arguments, 1); code >= 0)
        return code;
    Result<CommonOptions> options = readCommonOptions(parser);
    if (!options) {
        printError(options.error());
        return exitCodeFor(options.error());
    }
    for (const QString& file : parser.values("trace"))
        options->request.trace_files.push_back(file.toStdString());
    const QStringList files = parser.positionalArguments();
    if (files.size() > 1 && !options->json.isEmpty() && options->json != "-") {
        printError({"usage", "--json FILE takes one graph at a time", {}, "use --json - for several"});
        return kExitUsage;
    }
    const auto bundle = std::find_if(files.begin(), files.end(),
                                     [](const QString& file) { return isBundle(file.toStdString()); });
    if (files.size() > 1 && bundle != files.end()) {
        printError(
            {"usage",
             fmt::format("{} is a bundle, which brings settings and costs of its own", bundle->toStdString()),
             {},
             "analyse bundles one at a time"});
        return kExitUsage;
    }
    Analyser analyser;
    int worst = kExitDone;
    for (const QString& file : files)
        worst = std::max(worst,
                         analyzeFile(analyser, options.value(), file, stderrIsTerminal() && !options->quiet));
    return worst;
}

} // namespace gs
