// Our own scheduler: moves launches and waits of all collectives on the simulated time axis (passes.md §10).
#pragma once

#include "schedule/scheduler.h"

namespace gs {

/// Scheduler "two-sided". Candidates are the orders of the other schedulers and those of a list scheduler on
/// the simulator's clock under several policies (list_scheduler.h), on graphs of up to 12 gathers also of the
/// exact search; the one with the shortest simulated step inside the budget wins, the lower peak where two
/// are equal. Local search improves it (local_search.h, at most `search_steps` simulations), then gathers
/// move as late as they can without lengthening the step (tighten.h). So it is never worse in simulation than
/// any other scheduler's order that fits the budget. The budget
/// (`gather_budget_mib`) limits Timeline::peak_held_bytes; if no order keeps it, the one with the lowest peak
/// is returned and a diagnostic says so.
///
/// Computation keeps program order except where something else is ready while a transfer is awaited, where a
/// computation would make the step longer if it ran later, where a dry stream can be fed sooner, or where the
/// budget has no room for a gradient. Launches of one group may change their order. All of it depends on
/// graph, costs and settings alone: equal on every rank. Stopped by the job it returns the best so far.
Schedule runTwoSided(const ScheduleInput& input);

} // namespace gs
