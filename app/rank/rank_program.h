// gatherscope-rank as a library, so that tests can build it with a backend that fails.
#pragma once

#include "profile/backend.h"

#include <string>

namespace gs {

/// What a build brings.
struct RankBuild {
    std::string version;
    const std::vector<BackendInfo>* backends = nullptr;
};

/// Exit codes as of the command line: 0 done, 2 usage, 5 measuring ended early (the result line says why).
int rankMain(int argc, char** argv, const RankBuild& build);

/// Backends and devices as JSON, for the launcher: {"v":1,"version":…,"backends":[{"name","meaning","built",
/// "why_not","error","devices":[{"name","driver","clocks","versions","memory_bytes","free_bytes"}]}]}.
std::string probeJson(const RankBuild& build);

} // namespace gs
