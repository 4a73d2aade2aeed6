// Pictures of everything, for people who look: the window, every view, dialog and state, light and dark.
#pragma once

#include "app/command_line.h"

namespace gs {

/// Writes NAME-WHAT-light.png and -dark.png per graph to the folder and their paths to stdout. Pictures of
/// equal inputs are equal: run times are left out, and nothing is drawn before every view has settled.
/// Letters in the previews of SVG files are the exception: Qt places them by what it has drawn before, a
/// little (less than one sees) otherwise in a second round. Returns the program's exit code; what could not
/// be opened is named on stderr.
int runGrab(const CommandLine& line);

} // namespace gs
