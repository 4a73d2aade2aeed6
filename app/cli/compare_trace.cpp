#include "app/cli/compare_trace.h"

#include "app/cli/exit_codes.h"
#include "export/measured_text.h"

#include <fmt/format.h>

namespace gs {

int compareTrace(const QString& file, const QStringList& traces, const QString& csv,
                 const CommonOptions& options) {
    AnalysisRequest request = options.request;
    request.graph_file = file.toStdString();
    Analyser analyser;
    const Result<AnalysisPtr> analysis = analyser.analyse(request, {});
    if (!analysis) {
        printError(analysis.error());
        return exitCodeFor(analysis.error());
    }
    printDiagnostics(analysis.value()->diagnostics, options.verbose ? Severity::Info : Severity::Warning);
    std::vector<std::string> paths;
    for (const QString& trace : traces)
        paths.push_back(trace.toStdString());
    const Result<MeasuredRun> run = measureRun(*analysis.value(), paths);
    if (!run) {
        printError(run.error());
        return exitCodeFor(run.error());
    }
    printDiagnostics(run->diagnostics, options.verbose ? Severity::Info : Severity::Warning);
    if (!options.quiet && options.json != "-" && csv != "-")
        printLines(measuredText(*analysis.value(), run.value()));
    for (const auto& [path, text] : {std::pair(csv, &measuredCsv), std::pair(options.json, &measuredJson)}) {
        if (path.isEmpty())
            continue;
        if (const Status status = writeOutput(path, text(*analysis.value(), run.value())); !status) {
            printError(status.error());
            return kExitUnreadable;
        }
    }
    return kExitDone;
}

} // namespace gs
