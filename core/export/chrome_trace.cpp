// The simulated schedules as a Chrome trace (JSON object form) for Perfetto: process 1 is the program's own
// order, process 2 the schedule; a thread for compute and one for each process group; arrows from each
// transfer to its waits; a counter of live gathered bytes. Format: "Trace Event Format" (Google, 2016).
#include "export/exporters.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

/// JSON string literal; bytes that are no UTF-8 become U+FFFD.
std::string jsonText(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Nanoseconds as the format's microseconds, exactly.
std::string micros(int64_t ns) {
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

class TraceWriter {
public:
    std::string finish(const std::string& name) {
        return "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"graph\":" + jsonText(name) +
               "},\"traceEvents\":[\n" + events_ + "\n]}\n";
    }

    void program(const Program& program, int pid, const std::string& name) {
        program_ = &program;
        pid_ = pid;
        metadata("process_name", 0, fmt::format("\"name\":{}", jsonText(name)));
        metadata("process_sort_index", 0, fmt::format("\"sort_index\":{}", pid));
        thread(0, "compute");
        const Graph& graph = *program.graph;
        for (size_t i = 0; i < program.timeline->streams.size(); ++i) {
            const GroupId group = program.timeline->streams[i].group;
            thread(i + 1, program.timeline->streams[i].in_flight ? std::string("in flight at entry")
                          : group == kNoGroup
                              ? std::string("collectives of unknown groups")
                              : fmt::format("group {} ({} ranks)", graph.text(graph.groups()[group].name),
                                            graph.groups()[group].size));
        }
        decisions_.assign(program.collectives->size(), nullptr);
        for (const Decision& decision : program.schedule->decisions)
            decisions_[static_cast<size_t>(decision.collective)] = &decision;
        computeSlices();
        for (const Transfer& transfer : program.timeline->transfers)
            transferSlice(transfer);
        for (const BytesPoint& point : program.timeline->live_bytes)
            add(fmt::format("\"ph\":\"C\",\"pid\":{},\"name\":\"live gathered bytes\",\"ts\":{},\"args\":{{"
                            "\"bytes\":{}}}",
                            pid_, micros(point.time_ns), point.bytes));
    }

private:
    void add(const std::string& fields) { events_ += (events_.empty() ? "{" : ",\n{") + fields + "}"; }

    void metadata(std::string_view what, size_t tid, const std::string& args) {
        add(fmt::format("\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{{}}}", pid_, tid, what,
                        args));
    }

    void thread(size_t tid, const std::string& name) {
        metadata("thread_name", tid, fmt::format("\"name\":{}", jsonText(name)));
        metadata("thread_sort_index", tid, fmt::format("\"sort_index\":{}", tid));
    }

    void slice(size_t tid, std::string_view name, std::string_view category, int64_t start, int64_t end,
               const std::string& args) {
        add(fmt::format("\"ph\":\"X\",\"pid\":{},\"tid\":{},\"name\":{},\"cat\":\"{}\",\"ts\":{},\"dur\":{},"
                        "\"args\":{{{}}}",
                        pid_, tid, jsonText(name), category, micros(start), micros(end - start), args));
    }

    void computeSlices() {
        const Graph& graph = *program_->graph;
        const Timeline& timeline = *program_->timeline;
        for (NodeId id : program_->schedule->order) {
            const Node& node = graph.node(id);
            const bool wait = node.kind == NodeKind::Wait;
            // Waits of no length are kept: the arrows of their transfers end there.
            if (!wait && timeline.end_ns[id] == timeline.start_ns[id])
                continue;
            slice(0, graph.name(id), wait ? "wait" : "compute", timeline.start_ns[id], timeline.end_ns[id],
                  fmt::format("\"op\":{},\"module\":{}", jsonText(graph.targetText(id)),
                              jsonText(graph.text(node.module))));
        }
    }

    void transferSlice(const Transfer& transfer) {
        const Graph& graph = *program_->graph;
        const auto index = static_cast<size_t>(transfer.collective);
        const Collective& item = (*program_->collectives)[index];
        const size_t tid = transfer.stream + 1;
        std::string args =
            fmt::format("\"bytes\":{},\"alone_us\":{},\"exposed_us\":{},\"queued_us\":{}", item.output_bytes,
                        micros(transfer.alone_ns), micros(transfer.exposed_ns),
                        micros(transfer.start_ns - transfer.launched_ns));
        if (!item.parameters.empty())
            args += ",\"parameters\":" + jsonText(gatheredParameters(graph, item));
        if (const Decision* decision = decisions_[index])
            args += fmt::format(",\"verdict\":{},\"reason\":{}", jsonText(verdictName(decision->verdict)),
                                jsonText(bindingReasonName(decision->reason)));
        slice(tid,
              item.inFlightAtEntry() ? "in flight at entry: " + parameterName(graph, item.input)
                                     : std::string(graph.name(item.launch)),
              collectiveKindName(item.kind), transfer.start_ns, transfer.end_ns, args);
        for (NodeId wait : item.waits)
            arrow(transfer, tid, wait);
    }

    /// An arrow ends inside of the wait's slice, which may begin before the transfer does.
    void arrow(const Transfer& transfer, size_t tid, NodeId wait) {
        const int64_t wait_start = program_->timeline->start_ns[wait];
        ++arrows_;
        add(fmt::format("\"ph\":\"s\",\"pid\":{},\"tid\":{},\"name\":\"wait\",\"cat\":\"transfer\",\"id\":{},"
                        "\"ts\":{}",
                        pid_, tid, arrows_, micros(transfer.start_ns)));
        add(fmt::format("\"ph\":\"f\",\"bp\":\"e\",\"pid\":{},\"tid\":0,\"name\":\"wait\",\"cat\":"
                        "\"transfer\",\"id\":{},\"ts\":{}",
                        pid_, arrows_, micros(std::max(wait_start, transfer.start_ns))));
    }

    const Program* program_ = nullptr;
    std::vector<const Decision*> decisions_; ///< by collective
    int pid_ = 0;
    int64_t arrows_ = 0;
    std::string events_;
};

Result<std::string> writeTrace(const Analysis& analysis, const ExportOptions&) {
    TraceWriter writer;
    writer.program(analysis.before, 1, "before: program order");
    writer.program(analysis.after, 2, "after: " + analysis.after.schedule->scheduler);
    return writer.finish(analysis.after.graph->info().name);
}

} // namespace

Exporter chromeTraceExporter() {
    return {"trace", "Simulated timelines (Chrome trace for Perfetto)", "trace.json", writeTrace};
}

} // namespace gs
