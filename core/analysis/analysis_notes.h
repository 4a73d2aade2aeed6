// What an analysis says of its program beside the decisions.
#pragma once

#include "analysis/analysis.h"

namespace gs {

/// An error of a part that the rest can do without, as a diagnostic.
Diagnostic diagnosticOf(const Error& error);

/// Ops that no source has a cost for ("missing-costs", "missing-in-flight-costs").
void reportMissing(const Program& program, const CostTable& costs, Diagnostics& diagnostics);

/// Costs edited by hand and pins whose keys no op has ("unknown-cost-key").
void reportUnknownKeys(const AnalysisRequest& request, const CostTable& before, const CostTable& after,
                       Diagnostics& diagnostics);

/// Gathers that no scheduler may move are no decisions, but nobody should have to wonder about them.
void explainOthers(const Program& program, Diagnostics& diagnostics);

} // namespace gs
