// The command line of the window.
#pragma once

#include "analysis/settings.h"
#include "app/preferences.h"

#include <QSize>
#include <QStringList>

#include <optional>

namespace gs {

struct CommandLine {
    QStringList graphs; ///< absolute paths
    QStringList costs;
    Settings settings;
    std::optional<ThemeChoice> theme;
    QString grab_folder; ///< empty: open the window
    QSize size = {1440, 900};
    double scale = 1;
    bool help = false;
    bool version = false;
};

/// Exit codes of all programs: formats.md, "The command line".
enum ExitCode : int { kExitDone = 0, kExitUsage = 2, kExitUnreadable = 3, kExitPartMissing = 4 };

/// Reads the arguments after the program's name. The error is one sentence.
Result<CommandLine> parseCommandLine(const QStringList& arguments);
/// Needs the application object.
QString commandLineHelp();

} // namespace gs
