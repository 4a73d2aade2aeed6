// The stage that makes a schedule fit those of the other ranks (profiling.md, "Agree"). Whatever scheduler
// made it: the finished order is held back, never the scheduler told.
#pragma once

#include "analysis/analysis.h"
#include "schedule/scheduler.h"

namespace gs {

/// How the other ranks bind the schedule: as the setting rank_mode says, else as their comparison does;
/// nothing if neither does.
std::optional<RankMode> rankModeOf(const AnalysisRequest& request, const RankComparison* ranks);

/// What the mode rules out before anything is decided: pinned, all buckets (merged gathers pass what lies
/// between them); abort, every change of the order. Says what it took out.
void restrictToMode(RankMode mode, AnalysisRequest& request, Diagnostics& diagnostics);

struct BoundSchedule {
    SchedulePtr schedule;
    Diagnostics diagnostics;
    std::string slots_fail; ///< mode slot: why the ranks have no slots in common; else empty
};

/// A rank's graph through all stages up to its schedule, with the settings of this request.
using ScheduleGraph = std::function<Result<Program>(const GraphPtr&)>;

/// `own.after` is complete but for its timeline. Mode slot schedules every graph of the other ranks that
/// differs from `own.source` and holds gathers back to the latest slot of all; the decisions of those have
/// the reason Ranks. Errors are those of `schedule_graph`.
Result<BoundSchedule> bindSchedule(RankMode mode, const Analysis& own, const ScheduleInput& input,
                                   const ScheduleGraph& schedule_graph);

} // namespace gs
