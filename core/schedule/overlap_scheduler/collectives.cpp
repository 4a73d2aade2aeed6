#include "schedule/overlap_scheduler/collectives.h"

#include <algorithm>

namespace gs {

namespace {

constexpr std::string_view kManyWaits = "several waits for one collective";
constexpr std::string_view kNoTensor = "an input of a collective is no single tensor of known size";
constexpr std::string_view kNothingWaitedFor = "a wait names no node";

/// A wait behind an unpack of a coalesced launch belongs to that launch: the reference takes the unpack for
/// the collective and fails at the size of its input, a list. Inductor's wait kernels read the shard's kernel
/// too.
NodeId startOf(const Graph& graph, NodeId wait) {
    const auto inputs = graph.inputs(wait);
    NodeId start = inputs.front();
    if (graph.info().level == GraphLevel::Scheduler) {
        for (const NodeId input : inputs) {
            const NodeKind kind = graph.node(input).kind;
            if (kind == NodeKind::Launch || kind == NodeKind::Unpack)
                start = input;
        }
    }
    if (graph.node(start).kind != NodeKind::Unpack || graph.inputs(start).empty())
        return start;
    const NodeId launch = graph.inputs(start).front();
    return graph.node(launch).kind == NodeKind::Launch ? launch : start;
}

/// Bytes of all inputs; lists count with all their tensors, sizes that nobody knows as 0.
int64_t inputBytes(const Graph& graph, NodeId start, std::vector<ReferenceFailure>& failures) {
    int64_t sum = 0;
    for (const NodeId input : graph.inputs(start)) {
        const Value& value = graph.value(input);
        if (value.kind == Value::Kind::None)
            continue;
        const int64_t bytes = value.bytes();
        if (value.kind != Value::Kind::Tensor || bytes < 0)
            noteFailure(failures, start, kNoTensor);
        if (bytes > 0 && __builtin_add_overflow(sum, bytes, &sum))
            sum = kHugeSize;
    }
    return sum;
}

} // namespace

void noteFailure(std::vector<ReferenceFailure>& failures, NodeId node, std::string_view what) {
    const auto same = [&](const ReferenceFailure& failure) { return failure.what == what; };
    if (std::none_of(failures.begin(), failures.end(), same))
        failures.push_back({node, what});
}

OverlapCollectives findOverlapCollectives(const Graph& graph, std::span<const double> cost_ms) {
    OverlapCollectives out;
    out.started_by.assign(graph.size(), -1);
    out.waited_by.assign(graph.size(), -1);
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.node(id).kind != NodeKind::Wait)
            continue;
        if (graph.inputs(id).empty()) {
            noteFailure(out.failures, id, kNothingWaitedFor);
            continue;
        }
        const NodeId start = startOf(graph, id);
        if (out.started_by[start] < 0) {
            OverlapCollective item;
            item.start = start;
            item.estimated_ms = item.exposed_ms = cost_ms[start];
            item.size_bytes = inputBytes(graph, start, out.failures);
            if (graph.node(graph.inputs(id).front()).kind == NodeKind::Unpack &&
                start != graph.inputs(id).front())
                noteFailure(out.failures, start, kNoTensor);
            out.started_by[start] = static_cast<int32_t>(out.items.size());
            out.items.push_back(std::move(item));
        }
        out.waited_by[id] = out.started_by[start];
        OverlapCollective& item = out.items[static_cast<size_t>(out.started_by[start])];
        item.wait = id;
        item.waits.push_back(id);
    }
    // A wait that is itself waited for runs as a start and ends nothing, so it does not count.
    for (OverlapCollective& item : out.items) {
        std::erase_if(item.waits, [&](NodeId wait) { return out.started_by[wait] >= 0; });
        if (item.waits.size() > 1)
            noteFailure(out.failures, item.start, kManyWaits);
        else
            item.waits = {item.wait};
    }
    return out;
}

} // namespace gs
