// Document 000's placement of weight gathers: one back-to-front sweep over compute.
#pragma once

#include "schedule/sweep_steps.h"

namespace gs {

/// The sweep itself. A single compute pointer moves backwards and is never reset, so that no two gathers
/// claim the same compute: they share one serial stream. With `carry` and `move_prep_chain` off this is
/// exactly document 000's pass; both are later corrections by its authors. Returns one decision per
/// candidate, targets clamped so that launches keep their order. `record`, if given, gets steps, walked nodes
/// and compute of the sweep. O(nodes + candidates).
std::vector<Decision> sweepLatestSafeLaunch(const Graph& graph, std::span<const double> cost_ns,
                                            const GatherCandidates& candidates,
                                            const GatherMoveSettings& settings, SweepSteps* record = nullptr);

Schedule runLatestSafeLaunch(const ScheduleInput& input);

} // namespace gs
