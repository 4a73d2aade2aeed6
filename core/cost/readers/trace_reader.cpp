// Kineto and Chrome traces as a cost source.
#include "base/units.h"
#include "cost/readers/cost_reader.h"
#include "cost/readers/kineto.h"
#include "cost/readers/measured_model.h"
#include "cost/readers/trace_report.h"

namespace gs {

namespace {

int sniff(std::string_view head) {
    const size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first == std::string_view::npos || (head[first] != '{' && head[first] != '['))
        return 0;
    const auto has = [&](std::string_view text) { return head.find(text) != std::string_view::npos; };
    if (has("\"Stream\": 0x") || has("gatherscope.") || has("chakra\"") || has("\"workload_graph\""))
        return 0;
    if (has("\"traceEvents\""))
        return 95;
    if (head[first] == '[' && has("\"ph\""))
        return 90;
    // Long device properties may come first.
    return head[first] == '{' && (has("\"deviceProperties\"") || has("\"distributedInfo\"")) ? 80 : 0;
}

Result<CostModelPtr> read(const std::string& path, Diagnostics& diagnostics, const JobContext& job) {
    auto bytes = openBytes(path);
    if (!bytes)
        return bytes.error();
    Result<TraceEvents> events = readKineto(path, *bytes.value(), job);
    if (!events)
        return events.error();
    return costsOfTrace(events.value(), path, diagnostics, job);
}

} // namespace

CostReader kinetoReader() {
    return {"kineto", "Kineto or Chrome trace (JSON)", sniff, read};
}

} // namespace gs
