// A simulated step as a profiler would have recorded it, with known differences.
#pragma once

#include "analysis/analysis.h"

#include <fmt/format.h>

#include <functional>
#include <string>

namespace gs::test {

/// How a run differs from its simulation.
struct Perturbation {
    std::function<int64_t(const Collective&, int64_t)> duration = [](const Collective&, int64_t ns) {
        return ns;
    };
    int64_t clock_ns = 1'700'000'000'000'000; ///< of the trace, at the first step's begin
    int steps = 1;
    int32_t left_out = -1; ///< collective that the trace lacks
    bool named_groups = true;
    int rank = 0;
};

inline std::string micros(int64_t ns) {
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

inline std::string_view profilerName(CollectiveKind kind) {
    return kind == CollectiveKind::ReduceScatter ? "_reduce_scatter_base"
           : kind == CollectiveKind::AllReduce   ? "allreduce"
                                                 : "_allgather_base";
}

/// The simulated step as a profiler would have recorded it.
inline std::string kinetoOf(const Analysis& analysis, const Perturbation& change) {
    const Program& program = analysis.after;
    std::string events;
    const auto add = [&](const std::string& event) { events += (events.empty() ? "\n" : ",\n") + event; };
    int64_t correlation = 1;
    for (int step = 0; step < change.steps; ++step) {
        const int64_t begin = change.clock_ns + step * (program.timeline->step_ns + 1'000'000);
        for (NodeId id = 0; id < program.graph->size(); ++id) {
            const int64_t start = program.timeline->start_ns[id], end = program.timeline->end_ns[id];
            if (end > start && program.graph->node(id).kind == NodeKind::Compute)
                add(fmt::format(
                    "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":{},"
                    "\"dur\":{},\"args\":{{\"device\":0,\"stream\":7,\"correlation\":{}}}}}",
                    micros(begin + start), micros(end - start), correlation++));
        }
        for (const Transfer& transfer : program.timeline->transfers) {
            const Collective& item = (*program.collectives)[static_cast<size_t>(transfer.collective)];
            if (transfer.collective == change.left_out)
                continue;
            const int64_t width = dtypeBytes(item.dtype);
            const int64_t bytes = width == 2 || width == 4 ? width : 1;
            add(fmt::format(
                "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_Generic\",\"pid\":0,\"tid\":20,"
                "\"ts\":{},"
                "\"dur\":{},\"args\":{{\"device\":0,\"stream\":20,\"correlation\":{},\"Collective "
                "name\":\"{}\","
                "\"In msg nelems\":{},\"Out msg nelems\":{},\"Group size\":{},\"dtype\":\"{}\"{}}}}}",
                micros(begin + transfer.start_ns),
                micros(change.duration(item, transfer.end_ns - transfer.start_ns)), correlation++,
                profilerName(item.kind), item.input_bytes / bytes, item.output_bytes / bytes, item.group_size,
                bytes == 2   ? "BFloat16"
                : bytes == 4 ? "Float"
                             : "Byte",
                change.named_groups
                    ? fmt::format(",\"Process Group Name\":\"{}\"",
                                  program.graph->text(program.graph->groups()[item.group].name))
                    : std::string()));
        }
    }
    return fmt::format("{{\"distributedInfo\":{{\"rank\":{},\"world_size\":8}},\"traceEvents\":[{}\n]}}\n",
                       change.rank, events);
}

} // namespace gs::test
