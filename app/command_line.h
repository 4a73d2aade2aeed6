// The command line of the window.
#pragma once

#include "analysis/analysis.h"
#include "app/cli/exit_codes.h"
#include "app/preferences.h"

#include <QSize>
#include <QStringList>

#include <optional>

namespace gs {

struct CommandLine {
    QStringList graphs; ///< absolute paths
    QStringList costs;
    QStringList traces; ///< laid over the simulation
    Settings settings;
    int graph_index = -1; ///< as in AnalysisRequest
    int rank = -1;
    std::string stage;
    std::optional<ThemeChoice> theme;
    QString grab_folder; ///< empty: open the window
    QSize size = {1440, 900};
    double scale = 1;
    bool help = false;
    bool version = false;
};

/// Reads the arguments after the program's name. The error is one sentence.
Result<CommandLine> parseCommandLine(const QStringList& arguments);
/// What to open for one of the graphs.
AnalysisRequest requestOf(const CommandLine& line, const QString& graph);
/// Needs the application object.
QString commandLineHelp();

} // namespace gs
