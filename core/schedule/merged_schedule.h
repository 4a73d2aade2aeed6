// A schedule's decisions carried over to the graph in which its buckets are merged.
#pragma once

#include "passes/merge_buckets.h"
#include "schedule/scheduler.h"

namespace gs {

/// `before`: the schedule of the graph without buckets; `input`: the merged program. A merged gather is
/// hidden if all its members are; its window is what it takes less what is exposed of them, its reason that
/// of its first exposed member. Places are those of the merged program and order. Diagnostics: those of
/// `before` and of the merge.
Schedule mergedSchedule(const Graph& graph_before, const Schedule& before, const MergedBuckets& merged,
                        const ScheduleInput& input);

} // namespace gs
