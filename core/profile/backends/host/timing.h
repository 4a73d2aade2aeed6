// The clock, and a collective that runs while the processors compute.
#pragma once

#include "host_collectives.h"

namespace gs::host {

/// Steady clock.
int64_t nowNs();
/// 0 without samples.
int64_t medianNs(std::vector<int64_t> samples);

/// Launches the collective and computes until it is done; the compute's time is the median of its runs. MPI
/// moves data only while it is called: by a thread of its own where MPI allows that (it takes a processor's
/// time from the compute, as such a transfer does), otherwise between the runs of the compute, so that a
/// transfer waits for them.
Result<TogetherTimes> runTogether(CollectiveOp& collective, PreparedOp& compute, bool progress_thread);

} // namespace gs::host
