// Options that the subcommands share (formats.md, "The command line").
#pragma once

#include "analysis/analysis.h"

#include <QCommandLineParser>

namespace gs {

/// Adds --costs, --device, --scheduler, --set, --graph, --rank, --stage, --shapes, --rank-file, --json,
/// --quiet and -v.
void addCommonOptions(QCommandLineParser& parser);

struct CommonOptions {
    AnalysisRequest request; ///< without the graph file
    QString json;            ///< path or "-"; empty = none
    bool quiet = false;
    bool verbose = false;
};

/// Error (code "bad-setting", "unknown-setting", "usage") for a value that does not fit.
Result<CommonOptions> readCommonOptions(const QCommandLineParser& parser);

/// Exit code for an error of the core.
int exitCodeFor(const Error& error);
/// "gatherscope-cli: MESSAGE" and the hint on stderr.
void printError(const Error& error);
/// Text of several lines on stdout. Names in it come from files: nothing in them may steer the terminal or
/// fill it.
void printLines(const std::string& text);
/// The diagnostics on stderr, a line each.
void printDiagnostics(const Diagnostics& diagnostics, Severity from);
/// Writes `text` to a file (whole or not at all) or, for "-", to stdout.
Status writeOutput(const QString& path, const std::string& text);

} // namespace gs
