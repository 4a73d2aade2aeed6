#include "analysis/trace_stage.h"

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
    // A diagnostic has its place beside it; an error's message begins with it.
    std::string message = error.message;
    if (const size_t end = message.find(": ", error.where.file.size());
        !error.where.file.empty() && message.starts_with(error.where.file) && end != std::string::npos)
        message.erase(0, end + 2);
    analysis.diagnostics.add({Severity::Error, error.code, error.where, {}, std::move(message), error.hint});
}

} // namespace gs
