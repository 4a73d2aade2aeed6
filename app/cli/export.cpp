// `gatherscope-cli export --format NAME [--out FILE] GRAPH`
#include "app/cli/commands.h"
#include "app/cli/exit_codes.h"
#include "app/cli/options.h"
#include "export/exporter.h"

#include <fmt/format.h>

namespace gs {

int runExport(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Analyses a graph and writes one export of it (`list exports` names them).");
    addCommonOptions(parser);
    parser.addOption({"format", "Which export.", "NAME"});
    parser.addOption({"for",
                      "Which version of the target the file is for: torch-2.15, … (default: the newest).",
                      "TARGET"});
    parser.addOption({"out", "Where to; - is stdout, the default.", "FILE", "-"});
    parser.addPositionalArgument("FILE", "Graph file.");
    if (const int code = parseArguments(parser, arguments, 1); code >= 0)
        return code;
    Result<CommonOptions> options = readCommonOptions(parser);
    if (!options) {
        printError(options.error());
        return exitCodeFor(options.error());
    }
    if (!parser.isSet("format")) {
        printError({"usage", "--format is missing", {}, "`gatherscope-cli list exports` names them all"});
        return kExitUsage;
    }
    const Exporter* exporter = findExporter(parser.value("format").toStdString());
    if (!exporter) {
        printError({"usage",
                    "there is no export \"" + parser.value("format").toStdString() + "\"",
                    {},
                    "`gatherscope-cli list exports` names them all"});
        return kExitUsage;
    }
    options->request.graph_file = parser.positionalArguments().first().toStdString();
    Analyser analyser;
    const Result<AnalysisPtr> analysis = analyser.analyse(options->request, {});
    if (!analysis) {
        printError(analysis.error());
        return exitCodeFor(analysis.error());
    }
    printDiagnostics(analysis.value()->diagnostics, Severity::Warning);
    const ExportOptions target{parser.value("for").toStdString()};
    const Result<std::string> text = exporter->write(*analysis.value(), target);
    if (!text && text.error().code == "unknown-target") {
        printError(text.error());
        return kExitUsage;
    }
    if (!options->quiet) {
        for (const std::string& warning : exporter->warnings(*analysis.value(), target))
            fmt::print(stderr, "note: {}\n", warning);
    }
    const Status written = text ? writeOutput(parser.value("out"), text.value()) : Status(text.error());
    if (!written) {
        printError(written.error());
        return kExitUnreadable;
    }
    return analysis.value()->diagnostics.hasErrors() ? kExitUnreadable : kExitDone;
}

} // namespace gs
