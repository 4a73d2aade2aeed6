// What a trace of a run says that can be held against a simulation.
#pragma once

#include "cost/readers/trace_link.h"

#include <string>
#include <utility>
#include <vector>

namespace gs {

struct RunTrace {
    std::string file;
    std::vector<CollectiveCall> collectives;          ///< by start; not empty
    std::vector<std::pair<int64_t, int64_t>> compute; ///< of the devices; disjoint, in order
    bool host_only = false;                           ///< nothing ran on a device
};

/// Reads a trace of any kind (Kineto, Chrome, nsys). Errors: those of the readers, "not-a-trace",
/// "no-collectives", "cancelled".
Result<RunTrace> readRunTrace(const std::string& path, const JobContext& job = {});
/// All of them, or the first error; "same-trace" where a file is named twice.
Result<std::vector<RunTrace>> readRunTraces(const std::vector<std::string>& paths,
                                            const JobContext& job = {});

} // namespace gs
