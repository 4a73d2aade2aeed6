// The subcommands of gatherscope-cli, one file each; main_cli.cpp lists them.
#pragma once

#include <QCommandLineParser>
#include <QStringList>

namespace gs {

/// `arguments` begin with the subcommand's name. Each returns the exit code.
int runAnalyze(const QStringList& arguments);
int runCompare(const QStringList& arguments);
int runExport(const QStringList& arguments);
int runLint(const QStringList& arguments);
int runList(const QStringList& arguments);
int runProfile(const QStringList& arguments);

/// Parses, handles --help; returns an exit code if the program is done (help, usage error), else -1. Reports
/// fewer than `minimum_files` positional arguments.
int parseArguments(QCommandLineParser& parser, const QStringList& arguments, int minimum_files);

bool stderrIsTerminal();

} // namespace gs
