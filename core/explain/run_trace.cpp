#include "explain/run_trace.h"

#include "cost/cost_file.h"
#include "cost/readers/collective_names.h"
#include "cost/readers/kineto.h"
#include "cost/readers/nsys.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace gs {

namespace {

Result<TraceEvents> readEvents(const std::string& path, const JobContext& job) {
    const Result<std::string> head = fileHead(path);
    if (!head)
        return head.error();
    if (head->starts_with("SQLite format 3"))
        return readNsys(path, job);
    auto bytes = openBytes(path);
    if (!bytes)
        return bytes.error();
    return readKineto(path, *bytes.value(), job);
}

std::vector<std::pair<int64_t, int64_t>> computeSpans(const TraceEvents& events) {
    std::vector<std::pair<int64_t, int64_t>> all, out;
    for (const DeviceWork& work : events.work) {
        if (work.kind == DeviceWorkKind::Kernel && work.comm == 0 &&
            !classifyKernel(events.texts.view(work.name)).communication && work.end > work.start)
            all.emplace_back(work.start, work.end);
    }
    std::sort(all.begin(), all.end());
    for (const auto& [start, end] : all) {
        if (out.empty() || start > out.back().second)
            out.emplace_back(start, end);
        else
            out.back().second = std::max(out.back().second, end);
    }
    return out;
}

} // namespace

Result<RunTrace> readRunTrace(const std::string& path, const JobContext& job) {
    Result<TraceEvents> events = readEvents(path, job);
    if (!events)
        return events.error();
    Result<LinkedTrace> linked = linkTrace(events.value(), job);
    if (!linked)
        return linked.error();
    if (linked->collectives.empty())
        return Error{"no-collectives",
                     fmt::format("{}: the trace has no collectives", path),
                     {path, 0, 0},
                     "record the device's activities of a distributed run"};
    return RunTrace{path, std::move(linked->collectives), computeSpans(events.value()),
                    linked->summary.host_only};
}

Result<std::vector<RunTrace>> readRunTraces(const std::vector<std::string>& paths, const JobContext& job) {
    std::vector<RunTrace> traces;
    std::set<std::filesystem::path> files;
    for (const std::string& path : paths) {
        std::error_code unknown;
        if (!files.insert(std::filesystem::weakly_canonical(path, unknown)).second)
            return Error{"same-trace",
                         fmt::format("{}: this trace is given twice", path),
                         {path, 0, 0},
                         "traces of several ranks are several files"};
        Result<RunTrace> trace = readRunTrace(path, job);
        if (!trace)
            return trace.error();
        traces.push_back(std::move(trace).value());
    }
    return traces;
}

} // namespace gs
