#include "analysis/trace_stage.h"

#include "analysis/analysis_notes.h"
#include "explain/measured_run.h"

namespace gs {

MeasuredResult measuredOf(const Analysis& analysis, const TracesResult& traces) {
    if (!traces)
        return traces.error();
    Result<MeasuredRun> run = measureRun(analysis, traces.value());
    if (!run)
        return run.error();
    return MeasuredRunPtr(std::make_shared<const MeasuredRun>(std::move(run).value()));
}

void showMeasured(Analysis& analysis, const MeasuredResult& measured) {
    if (measured) {
        analysis.measured = measured.value();
        analysis.diagnostics.append(analysis.measured->diagnostics);
        return;
    }
    const Error& error = measured.error();
    analysis.measured_error = error;
    analysis.diagnostics.add(diagnosticOf(error));
}

} // namespace gs
