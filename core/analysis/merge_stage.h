// The stage behind scheduling: merges the buckets that the scheduler decided, so that graph, collectives,
// costs and schedule of a program belong together again.
#pragma once

#include "analysis/analysis.h"
#include "cost/cost_model.h"

namespace gs {

/// `program`: as scheduled, with schedule->buckets. The graph is merged, its collectives are found and priced
/// anew through `chain` (merged launches that no file knows: see members_model.h), the decisions carried
/// over, the request's edits applied. Where no valid program has the buckets, the old one comes back without
/// them. `report`: what was merged. The timeline is left empty.
Program mergeBuckets(const Program& program, const AnalysisRequest& request, const CostChain& chain,
                     const JobContext& job, PassReport& report);

} // namespace gs
