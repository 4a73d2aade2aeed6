// Exit codes of the command line (formats.md). Scripts rely on them.
#pragma once

namespace gs {

enum ExitCode : int {
    kExitDone = 0,
    kExitFindings = 1,    ///< lint, compare: something was found
    kExitUsage = 2,       ///< unknown option, setting, scheduler, …
    kExitUnreadable = 3,  ///< an input could not be read, or only in part (what could be read is still shown)
    kExitPartMissing = 4, ///< this build lacks a part
    kExitProfilingAborted = 5
};

} // namespace gs
