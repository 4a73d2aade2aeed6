// A trace of a real run laid over the simulation, collective by collective: was the prediction right?
#pragma once

#include "analysis/analysis.h"

namespace gs {

/// One collective of the scheduled program as it ran. Times on the simulation's axis: the trace is shifted so
/// that the first matched transfer begins where the simulation has it.
struct MeasuredTransfer {
    int32_t collective = -1; ///< index in after.collectives; -1 = not in the trace
    int64_t start_ns = 0;    ///< in the step that is shown
    int64_t ns = 0;          ///< median of the steps; of several ranks the shortest
    int64_t exposed_ns =
        -1;               ///< part without any compute on the device, in the step that is shown; -1 = unknown
    int64_t skew_ns = -1; ///< longest minus shortest rank: waiting for each other; -1 = one rank only
};

/// Errors (measured − predicted) of the transfers of one kind.
struct MeasuredErrors {
    CollectiveKind kind = CollectiveKind::None; ///< None: all together
    size_t count = 0;
    int64_t predicted_ns = 0, measured_ns = 0; ///< sums
    int64_t bias_ns = 0;                       ///< mean error of a duration
    int64_t spread_ns = 0;                     ///< between the quartiles of the errors
    int64_t worst_ns = 0;                      ///< the error farthest from 0
    int32_t worst = -1;                        ///< its collective
    int64_t predicted_exposed_ns = 0;
    int64_t measured_exposed_ns = -1; ///< -1 = unknown
};

struct MeasuredRun {
    std::vector<std::string> files;
    std::vector<MeasuredTransfer> transfers;          ///< by collective
    std::vector<std::pair<int64_t, int64_t>> compute; ///< compute of the device in the step shown, disjoint
    std::vector<MeasuredErrors> errors;               ///< all together, then by kind
    size_t matched = 0;
    size_t steps = 0;        ///< how often the sequence of collectives was found in the first file
    size_t calls = 0;        ///< collectives of that trace
    size_t unmatched = 0;    ///< of those, not part of any step found
    int64_t step_ns = 0;     ///< from the first to the last matched transfer of the step shown
    bool single_rank = true; ///< durations include waiting for slower ranks
    Diagnostics diagnostics;
};

/// Matches the collectives of a trace (Kineto, Chrome, nsys) with those of the scheduled program: per process
/// group in the order of the schedule, by kind and bytes. A trace of several steps is matched step by step,
/// one with gaps as well as it can be. Further files are other ranks of the same run. Errors: those of the
/// readers, "not-a-trace", "no-collectives", "other-program" (nothing fits), "cancelled".
Result<MeasuredRun> measureRun(const Analysis& analysis, const std::vector<std::string>& traces,
                               const JobContext& job = {});

} // namespace gs
