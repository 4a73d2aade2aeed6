#include "schedule/overlap_scheduler_upstream/upstream_collectives.h"

#include "schedule/overlap_scheduler_upstream/guessed_size.h"

#include <fmt/format.h>
#include <unordered_map>

namespace gs {

namespace {

constexpr int64_t kMostBytes = kHugeSize / 4; // sums stay below 64 bits

/// The launch that a wait waits for, directly or through an unpack; kNoNode for anything else.
NodeId launchOf(const Graph& graph, NodeId wait) {
    const auto waitable = [&](NodeId id) {
        const CollectiveKind kind = graph.target(id).traits.collective;
        return graph.node(id).kind == NodeKind::Launch && kind != CollectiveKind::None &&
               kind != CollectiveKind::Broadcast && kind != CollectiveKind::Other;
    };
    auto inputs = graph.inputs(wait);
    // Inductor's wait kernels read the shard's kernel too.
    if (graph.info().level != GraphLevel::Scheduler)
        inputs = inputs.first(std::min<size_t>(inputs.size(), 1));
    for (const NodeId input : inputs) {
        if (waitable(input))
            return input;
        if (graph.node(input).kind == NodeKind::Unpack && !graph.inputs(input).empty() &&
            waitable(graph.inputs(input).front()))
            return graph.inputs(input).front();
    }
    return kNoNode;
}

int64_t tensorBytes(const Graph& graph, const TensorMeta& tensor) {
    int64_t bytes = 0;
    const bool overflow =
        __builtin_mul_overflow(guessedElements(graph, tensor), dtypeBytes(tensor.dtype), &bytes);
    return overflow ? kMostBytes : std::min(bytes, kMostBytes);
}

/// Bytes of the tensors among the arguments, once for each time they are named.
void addArgumentBytes(const Graph& graph, const Arg& arg, int64_t& sum, bool& found) {
    if (arg.kind == Arg::Kind::Node) {
        const Value& value = graph.value(arg.node());
        if (value.kind == Value::Kind::Tensor) {
            sum = std::min(sum + tensorBytes(graph, value.tensor), kMostBytes);
            found = true;
        }
        return;
    }
    const auto children = graph.children(arg);
    if (arg.kind == Arg::Kind::List) {
        for (const Arg& child : children)
            addArgumentBytes(graph, child, sum, found);
    } else if (arg.kind == Arg::Kind::Dict) { // the buffer given as `out` is the output
        for (size_t i = 0; i + 1 < children.size(); i += 2) {
            if (graph.text(children[i].text) != "out")
                addArgumentBytes(graph, children[i + 1], sum, found);
        }
    }
}

/// What must be in memory at once; an all-reduce works in place.
int64_t footprint(const Graph& graph, NodeId start) {
    int64_t sum = 0;
    bool found = false;
    if (graph.info().level == GraphLevel::Scheduler) {
        for (const NodeId input : graph.inputs(start)) {
            sum = std::min(sum + std::max<int64_t>(graph.value(input).bytes(), 0), kMostBytes);
            found = true;
        }
    } else {
        addArgumentBytes(graph, graph.node(start).args, sum, found);
        addArgumentBytes(graph, graph.node(start).kwargs, sum, found);
    }
    const Value& value = graph.value(start);
    if (!found || (value.kind != Value::Kind::Tensor && value.kind != Value::Kind::List))
        return 0;
    if (value.kind == Value::Kind::Tensor)
        sum += tensorBytes(graph, value.tensor);
    for (const Value& item : value.items) {
        if (item.kind == Value::Kind::Tensor)
            sum = std::min(sum + tensorBytes(graph, item.tensor), kMostBytes);
    }
    return graph.target(start).traits.collective == CollectiveKind::AllReduce ? sum / 2 : sum;
}

/// Numbers distinct texts from 0 on.
class Numbers {
public:
    uint32_t of(const std::string& text) {
        return ids_.try_emplace(text, static_cast<uint32_t>(ids_.size())).first->second;
    }
    uint32_t count() const { return static_cast<uint32_t>(ids_.size()); }

private:
    std::unordered_map<std::string, uint32_t> ids_;
};

/// Group, reduction and dtype.
std::string familyOf(const Graph& graph, NodeId launch) {
    const OpTraits& traits = graph.target(launch).traits;
    const TensorMeta* tensor = graph.value(launch).firstTensor();
    const Arg* op =
        traits.reduce_op_arg < 0 ? nullptr : graph.arg(launch, static_cast<size_t>(traits.reduce_op_arg));
    return fmt::format("{}\n{}\n{}", groupNameOf(graph, launch),
                       op && op->kind == Arg::Kind::String ? graph.text(op->text) : std::string_view(),
                       dtypeName(tensor ? tensor->dtype : DType::Unknown));
}

} // namespace

StringId groupNameOf(const Graph& graph, NodeId launch) {
    const int8_t index = graph.target(launch).traits.group_arg;
    const Arg* arg = index < 0 ? nullptr : graph.arg(launch, static_cast<size_t>(index));
    if (!arg)
        arg = graph.kwarg(launch, "group_name");
    return arg && arg->kind == Arg::Kind::String ? arg->text : kEmptyString;
}

std::string bucketKeyOf(const Graph& graph, NodeId launch) {
    const CollectiveKind kind = graph.target(launch).traits.collective;
    if (kind != CollectiveKind::AllGather && kind != CollectiveKind::ReduceScatter &&
        kind != CollectiveKind::AllReduce)
        return {};
    return fmt::format("{}\n{}", collectiveKindName(kind), familyOf(graph, launch));
}

UpstreamCollectives findUpstreamCollectives(const Graph& graph, std::span<const double> cost_ms,
                                            std::span<const double> latency_ms) {
    UpstreamCollectives out;
    out.started_by.assign(graph.size(), -1);
    out.waited_by.assign(graph.size(), -1);
    Numbers groups, buckets, families;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const NodeId start = graph.node(id).kind == NodeKind::Wait ? launchOf(graph, id) : kNoNode;
        if (start == kNoNode)
            continue;
        if (out.started_by[start] < 0) {
            UpstreamCollective item;
            item.start = start;
            item.wait = id;
            item.size_bytes = footprint(graph, start);
            item.estimated_ms = item.exposed_ms = cost_ms[start];
            item.latency_ms = latency_ms[start];
            out.started_by[start] = static_cast<int32_t>(out.items.size());
            out.items.push_back(std::move(item));
            out.group.push_back(groups.of(std::to_string(groupNameOf(graph, start))));
            const std::string key = bucketKeyOf(graph, start);
            out.bucket.push_back(buckets.of(key));
            // Without the kind: a reduce-scatter and an all-reduce of one group and dtype look alike here.
            out.family.push_back(key.empty() ? -1
                                             : static_cast<int32_t>(families.of(familyOf(graph, start))));
        }
        out.waited_by[id] = out.started_by[start];
        out.items[static_cast<size_t>(out.started_by[start])].waits.push_back(id);
    }
    out.groups = groups.count();
    out.buckets = buckets.count();
    out.families = static_cast<int32_t>(families.count());
    return out;
}

} // namespace gs
