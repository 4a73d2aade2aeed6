// From the events of a trace to a cost source, with what a person should know of the trace.
#pragma once

#include "base/diagnostics.h"
#include "cost/cost_model.h"
#include "cost/readers/trace_link.h"

namespace gs {

/// Links the events, takes their times and reports: what is in the trace ("trace-summary"), where a cut file
/// stops ("cut-trace"), and what is odd or missing: "kernels-before-launch", "annotations-only",
/// "group-metadata", "no-shapes", "no-kernels", "no-gathers", "unknown-collectives",
/// "kernels-outside", "kernels-without-launch", "bad-events",
/// "no-costs" (nothing in it has a time). Error: "cancelled".
Result<CostModelPtr> costsOfTrace(TraceEvents& events, const std::string& path, Diagnostics& diagnostics,
                                  const JobContext& job);

/// The reports alone.
void reportTrace(const TraceEvents& events, const TraceSummary& summary, const std::string& path,
                 Diagnostics& diagnostics);

} // namespace gs
