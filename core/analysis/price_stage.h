// The stage that prices both programs, and what a profile says of transfers beside compute.
#pragma once

#include "analysis/analysis.h"
#include "cost/cost_model.h"

namespace gs {

struct PricedPrograms {
    CostTablePtr before;
    CostTablePtr after; ///< the same table where both programs share a graph
    CostChain chain;    ///< for what is merged later
    Diagnostics diagnostics;
    Diagnostics of_sources; ///< of those: what the sources themselves said
};

/// `before` and `after` have graphs and collectives. Errors: those of makeCostChain.
Result<PricedPrograms> pricePrograms(const AnalysisRequest& request, const Program& before,
                                     const Program& after, const JobContext& job);

/// Sets contention and compute slow-down to what was measured, where the settings ask for that. True if so.
/// Nothing gets faster by company: a factor below 1 is noise, a warning ("contention-below-one"), and counts
/// as 1; one above what can be set is a warning, too ("contention-above-most").
bool takeMeasuredContention(const Profile& profile, Settings& settings, Diagnostics& diagnostics);

} // namespace gs
