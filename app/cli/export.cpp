// `gatherscope-cli export --format NAME [--out FILE] GRAPH`
#include "app/cli/commands.h"
#include "app/cli/exit_codes.h"
#include "app/cli/options.h"
#include "export/exporter.h"

#include <QProcess>
#include <fmt/format.h>
#include <optional>

namespace gs {

namespace {

/// What Graphviz makes of a DOT text; nothing if it is missing, fails or takes too long.
std::optional<std::string> rendered(const std::string& dot, const QString& kind) {
    constexpr int kMostMs = 60'000;
    QProcess process;
    process.start("dot", {"-T" + kind});
    process.write(QByteArray::fromStdString(dot));
    process.closeWriteChannel();
    const bool ended = process.waitForFinished(kMostMs);
    if (ended && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0)
        return process.readAllStandardOutput().toStdString();
    const std::string why =
        !ended && process.error() == QProcess::FailedToStart ? "Graphviz's dot is not installed"
        : !ended                                             ? "dot took longer than a minute"
                 : "dot failed: " + process.readAllStandardError().left(200).trimmed().toStdString();
    process.kill();
    process.waitForFinished(1000);
    fmt::print(stderr, "warning: the picture is written as DOT instead: {}\n", why);
    return std::nullopt;
}

/// Makes the file, says what is to be known about it and writes it.
int writeExport(const Exporter& exporter, const Analysis& analysis, const QCommandLineParser& parser,
                bool quiet) {
    const ExportOptions target{parser.value("for").toStdString()};
    const Result<std::string> text = exporter.write(analysis, target);
    if (!text && text.error().code == "unknown-target") {
        printError(text.error());
        return kExitUsage;
    }
    if (!quiet) {
        for (const std::string& warning : exporter.warnings(analysis, target))
            fmt::print(stderr, "note: {}\n", warning);
    }
    QString out = parser.value("out");
    std::optional<std::string> picture;
    if (parser.isSet("render") && text) {
        picture = rendered(text.value(), parser.value("render"));
        if (!picture && out != "-") // a picture that could not be made is no reason to end without anything
            out += ".dot";
    }
    const Status written = text ? writeOutput(out, picture ? *picture : text.value()) : Status(text.error());
    if (!written) {
        printError(written.error());
        return kExitUnreadable;
    }
    return kExitDone;
}

} // namespace

int runExport(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Analyses a graph and writes one export of it (`list exports` names them).");
    addCommonOptions(parser);
    parser.addOption({"format", "Which export.", "NAME"});
    parser.addOption({"for",
                      "Which version of the target the file is for: torch-2.15, … (default: the newest).",
                      "TARGET"});
    parser.addOption({"render", "Of --format dot: let Graphviz make svg, pdf or png of it.", "KIND"});
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
    if (parser.isSet("render") && (parser.value("format") != "dot" ||
                                   !QStringList({"svg", "pdf", "png"}).contains(parser.value("render")))) {
        printError({"usage", "--render makes svg, pdf or png of --format dot", {}, ""});
        return kExitUsage;
    }
    if (parser.positionalArguments().size() > 1) {
        printError({"usage", "export takes one file", {}, ""});
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
    if (analysis.value()->ranks_error) { // what would be written does not keep to the other ranks
        printError({analysis.value()->ranks_error->code,
                    "nothing is written: the other ranks could not be read",
                    {},
                    "leave out --rank-file to export for this rank alone"});
        return kExitUnreadable;
    }
    if (const int code = writeExport(*exporter, *analysis.value(), parser, options->quiet); code != kExitDone)
        return code;
    return analysis.value()->diagnostics.hasErrors() ? kExitUnreadable : kExitDone;
}

} // namespace gs
