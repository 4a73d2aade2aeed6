#include "cost/readers/trace_report.h"

#include "base/units.h"
#include "cost/readers/measured_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gs {

namespace {

std::string countsText(const std::map<std::string, size_t>& counts) {
    std::string text;
    for (const auto& [name, count] : counts)
        text += fmt::format("{}{} × {}", text.empty() ? "" : ", ", formatCount(static_cast<int64_t>(count)),
                            name);
    return text;
}

std::string number(size_t value) {
    return formatCount(static_cast<int64_t>(value));
}

class TraceReport {
public:
    TraceReport(const TraceEvents& events, const TraceSummary& summary, const std::string& path,
                Diagnostics& diagnostics)
        : events_(events), summary_(summary), path_(path), diagnostics_(diagnostics) {}

    void write() {
        whereItStops();
        whatIsInIt();
        whatIsMissing();
        whatIsOdd();
    }

private:
    void add(Severity severity, const char* code, std::string message, std::string hint,
             SourcePos where = {}) {
        if (where.file.empty())
            where.file = path_;
        diagnostics_.add({severity, code, std::move(where), {}, std::move(message), std::move(hint)});
    }

    void whereItStops() {
        if (events_.stopped.empty())
            return;
        add(Severity::Warning, "cut-trace",
            fmt::format(
                "the trace cannot be read beyond line {}, column {} (byte {}): {}; the {} events before it "
                "are used",
                events_.stopped_at.line, events_.stopped_at.column,
                formatCount(static_cast<int64_t>(events_.stopped_byte)), events_.stopped,
                number(events_.events)),
            "copy the file again, or record it again", events_.stopped_at);
    }

    void whatIsInIt() {
        std::string text =
            fmt::format("{} events, {} kernels, {} of them communication", number(summary_.events),
                        number(summary_.kernels), number(summary_.comm_kernels));
        if (summary_.rank >= 0)
            text = fmt::format("rank {}: ", summary_.rank) + text;
        if (!summary_.comm_names.empty())
            text += " (" + countsText(summary_.comm_names) + ")";
        if (!summary_.comm_kinds.empty())
            text += "; collectives: " + countsText(summary_.comm_kinds);
        if (!summary_.comm_streams.empty())
            text += fmt::format("; communication on {}", fmt::join(summary_.comm_streams, " and "));
        if (!summary_.compute_streams.empty())
            text += fmt::format("; compute on {}", fmt::join(summary_.compute_streams, " and "));
        if (summary_.comm_ns > 0)
            text += fmt::format("; {} of communication, {} of it beside compute",
                                formatTime(summary_.comm_ns), formatTime(summary_.overlap_ns));
        add(Severity::Info, "trace-summary", std::move(text), {});
    }

    void whatIsMissing() {
        if (summary_.kernels == 0 && !summary_.host_only)
            add(Severity::Warning, "no-kernels",
                summary_.annotated_only > 0 ? "the trace has no kernels, only annotations of the device"
                                            : "the trace has no kernels",
                "record it with ProfilerActivity.CUDA; replays of CUDA graphs have kernels, but no "
                "operators");
        if (summary_.host_only)
            add(Severity::Info, "no-kernels", "nothing ran on a device: the times are those of the host", {});
        if (summary_.annotated_only > 0)
            add(Severity::Info, "annotations-only",
                fmt::format(
                    "{} collectives are known from an annotation only: no kernel, no sizes and no group of "
                    "them is in the trace",
                    number(summary_.annotated_only)),
                "their times include what else lies in the annotation");
        if (!summary_.comm_kinds.count("all_gather") && (summary_.kernels > 0 || summary_.annotated_only > 0))
            add(Severity::Info, "no-gathers", "there is no all-gather in the trace",
                "gathers of the graph get no time from it");
        if (!summary_.launched_only.empty())
            add(Severity::Info, "kernels-outside",
                fmt::format("collectives are launched whose kernels are not in the trace: {}",
                            countsText(summary_.launched_only)),
                "record whole steps, and let the device finish before the profiler stops");
        if (const auto unknown = summary_.comm_kinds.find("unknown"); unknown != summary_.comm_kinds.end())
            add(Severity::Info, "unknown-collectives",
                fmt::format(
                    "{} collectives are of a kind that nothing in the trace tells; a kernel's name does not",
                    number(unknown->second)),
                "record operators too (ProfilerActivity.CPU) with PyTorch 2.2 or newer");
        if (summary_.has_ops && !summary_.has_shapes)
            add(Severity::Warning, "no-shapes", "operators have no input sizes",
                "record with record_shapes=True; without sizes they can only be matched by order");
    }

    void whatIsOdd() {
        if (summary_.early_kernels > 0)
            add(Severity::Info, "kernels-before-launch",
                fmt::format(
                    "{} of {} kernels begin before the call that launched them, up to {}: the profiler's "
                    "clocks differ",
                    number(summary_.early_kernels), number(summary_.kernels),
                    formatTime(summary_.earliest_ns)),
                "durations are right; do not read launch latencies from this trace");
        if (summary_.without_launch > 0)
            add(Severity::Info, "kernels-without-launch",
                fmt::format("the launch of {} of {} kernels is not in the trace",
                            number(summary_.without_launch), number(summary_.kernels)),
                "a trace that was sampled or cut has these");
        if (summary_.group_conflicts > 0)
            add(Severity::Warning, "group-metadata",
                fmt::format(
                    "{} collectives state a group size that contradicts their sizes or list of ranks; the "
                    "sizes count",
                    number(summary_.group_conflicts)),
                {});
        if (events_.malformed > 0)
            add(Severity::Warning, "bad-events",
                fmt::format("{} events have no usable time and are ignored", number(events_.malformed)), {});
    }

    const TraceEvents& events_;
    const TraceSummary& summary_;
    const std::string& path_;
    Diagnostics& diagnostics_;
};

} // namespace

void reportTrace(const TraceEvents& events, const TraceSummary& summary, const std::string& path,
                 Diagnostics& diagnostics) {
    TraceReport(events, summary, path, diagnostics).write();
}

Result<CostModelPtr> costsOfTrace(TraceEvents& events, const std::string& path, Diagnostics& diagnostics,
                                  const JobContext& job) {
    Result<LinkedTrace> linked = linkTrace(events, job);
    if (!linked)
        return linked.error();
    reportTrace(events, linked->summary, path, diagnostics);
    MeasuredCosts costs = measuredCosts(events, linked.value(), path, job);
    if (job.cancelled())
        return Error{"cancelled", "cancelled", {}, ""};
    if (costs.typed.empty() && costs.untyped.empty() && costs.ordered_ops.empty() &&
        costs.collectives.empty() && costs.ordered_collectives.empty())
        diagnostics.add({Severity::Warning,
                         "no-costs",
                         {path, 0, 0},
                         {},
                         "nothing in the trace is an operator or a collective with a time",
                         "record it with ProfilerActivity.CPU and ProfilerActivity.CUDA"});
    return makeMeasuredModel(std::move(costs));
}

} // namespace gs
