// Just-in-time placement: deadlines and start times on the time axis instead of indices (passes.md §4, end).
#pragma once

#include "schedule/gather_moves.h"

namespace gs {

/// prefix[i] = compute before node i. Backwards per process group: finish_i = min(prefix[wait_i],
/// finish_(i+1) − need_(i+1)). Forwards: start_i = max(prefix[floor_i], finish_i − need_i, end of the
/// transfer before it); the launch goes to the last position in [floor, wait) whose prefix is ≤ start_i.
/// `budget_bytes` bounds the gathered bytes alive (launch to last use): each unplaced gather is booked at its
/// unhoisted place, so that the budget is a promise as far as the input order keeps it. < 0 = no budget.
/// O(nodes + gathers × log gathers), with a budget O(gathers²).
std::vector<Decision> placeJustInTime(const Graph& graph, const CollectiveTable& collectives,
                                      std::span<const double> cost_ns, const GatherCandidates& candidates,
                                      int64_t budget_bytes);

Schedule runJustInTime(const ScheduleInput& input);
Schedule runProgramOrder(const ScheduleInput& input);

} // namespace gs
