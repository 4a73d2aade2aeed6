// The stage that lays traces of a run over the simulation.
#pragma once

#include "analysis/analysis.h"
#include "explain/run_trace.h"

namespace gs {

/// Errors are results, too: they are kept like what could be read, until the files change.
using TracesResult = Result<std::vector<RunTrace>>;
using MeasuredResult = Result<MeasuredRunPtr>;

MeasuredResult measuredOf(const Analysis& analysis, const TracesResult& traces);
/// Puts it into the analysis, or why there is none.
void showMeasured(Analysis& analysis, const MeasuredResult& measured);

} // namespace gs
