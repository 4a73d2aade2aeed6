#include "profile/work_list.h"

#include "cost/operands.h"
#include "cost/readers/collective_names.h"
#include "profile/benchmark_inputs.h"
#include "profile/contention_choice.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace gs {

namespace {

int32_t steps(CollectiveKind kind, int32_t ranks) {
    return plainKind(kind) == CollectiveKind::AllReduce ? 2 * (ranks - 1) : ranks - 1;
}

/// Bytes through the slowest link, as a share of the collective's bytes.
double share(CollectiveKind kind, int32_t ranks) {
    return kind == CollectiveKind::Broadcast ? 1.0 : double(steps(kind, ranks)) / ranks;
}

bool isGather(CollectiveKind kind) {
    return plainKind(kind) == CollectiveKind::AllGather;
}

/// `total` split among `ranks`, in whole elements, at least one.
int64_t partOf(int64_t total, int64_t ranks, DType dtype) {
    const int64_t element = std::max<int64_t>(1, dtypeBytes(dtype));
    return std::max<int64_t>(1, total / element / ranks) * element;
}

/// Input bytes of each member of a coalesced launch.
std::vector<int64_t> memberBytes(const Graph& graph, NodeId launch) {
    const auto position = static_cast<size_t>(std::max<int8_t>(0, graph.target(launch).traits.input_arg));
    std::vector<int64_t> bytes;
    if (const Arg* list = graph.arg(launch, position); list && list->kind == Arg::Kind::List) {
        for (const Arg& item : graph.children(*list)) {
            if (item.node() != kNoNode)
                bytes.push_back(readValue(graph, item.node()).bytes());
        }
    }
    return bytes;
}

/// Ranks from 0 to world − 1, each once. Graphs state what they like; a launcher would hang on others.
bool areRanksOf(const std::vector<int32_t>& sorted, int32_t world) {
    return !sorted.empty() && sorted.front() >= 0 && sorted.back() < world &&
           std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

/// The ranks of the world that stand for the graph's group, and how they differ from it.
std::vector<int32_t> timedRanks(const Graph& graph, const Collective& item, int32_t world,
                                std::string& placement) {
    const std::vector<int32_t>& own = graph.groups()[item.group].ranks;
    const int32_t count = std::min(world, item.group_size);
    const bool stated = int32_t(own.size()) == item.group_size;
    std::vector<int32_t> ranks = own;
    std::sort(ranks.begin(), ranks.end());
    if (stated && areRanksOf(ranks, world))
        return ranks;
    ranks.resize(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i)
        ranks[static_cast<size_t>(i)] = i;
    if (stated && count == item.group_size && count > 1)
        placement =
            fmt::format("the group has ranks {}, …, {}; timed on ranks 0 to {}", own[0], own[1], count - 1);
    return ranks;
}

/// Sizes for the ranks at hand: the result (input of a reduce-scatter) stays as big as in the graph.
void fillSizes(const Graph& graph, const Collective& item, CollectiveSpec& spec) {
    const auto ranks = static_cast<int64_t>(spec.ranks.size());
    spec.kind = item.kind == CollectiveKind::AllGatherCoalesced ? item.kind : plainKind(item.kind);
    spec.dtype = item.dtype;
    if (isGather(spec.kind)) {
        if (spec.kind == CollectiveKind::AllGatherCoalesced) {
            for (const int64_t bytes : memberBytes(graph, item.launch))
                spec.member_bytes.push_back(
                    partOf(std::max<int64_t>(bytes, 1) * item.group_size, ranks, item.dtype));
            for (const int64_t bytes : spec.member_bytes)
                spec.input_bytes += bytes;
        }
        if (spec.member_bytes.empty())
            spec.input_bytes = partOf(item.output_bytes, ranks, item.dtype);
        spec.output_bytes = spec.input_bytes * ranks;
    } else if (spec.kind == CollectiveKind::ReduceScatter) {
        spec.output_bytes = partOf(item.input_bytes, ranks, item.dtype);
        spec.input_bytes = spec.output_bytes * ranks;
    } else if (spec.kind == CollectiveKind::AllToAll) {
        spec.input_bytes = spec.output_bytes = partOf(item.input_bytes, ranks, item.dtype) * ranks;
    } else {
        spec.input_bytes = spec.output_bytes = partOf(item.input_bytes, 1, item.dtype);
    }
}

constexpr const char* kAlone = "a collective is never timed on one rank alone: start two or more";

std::string whyNotCollective(const Collective& item, int32_t world) {
    switch (plainKind(item.kind)) {
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllReduce:
    case CollectiveKind::AllToAll:
    case CollectiveKind::Broadcast:
        break;
    default:
        return "no backend knows how to run this collective";
    }
    if (item.group_size <= 0 || item.group == kNoGroup)
        return "the size of its group is not known";
    if (item.input_bytes < 0 || item.output_bytes < 0 || item.dtype == DType::Unknown)
        return "its size is not known";
    if (item.group_size > 1 && world < 2)
        return kAlone;
    return {};
}

class WorkCollector {
public:
    WorkCollector(int32_t world, const CostModel& analytical, const WorkOptions& options)
        : world_(world), analytical_(analytical), options_(options) {}

    void add(const MeasuredProgram& program) {
        graph_ = program.graph;
        collectives_ = program.collectives.get();
        const std::map<std::string, WorkItem> earlier = items_; // calls are the first program's
        earlier_ = &earlier;
        if (options_.compute)
            addCompute();
        for (const Collective& item : collectives_->all()) {
            if (options_.collectives && !item.inFlightAtEntry())
                addCollective(item);
        }
    }

    std::vector<WorkItem> finish() {
        addProbes();
        chooseContention(items_);
        std::vector<WorkItem> out;
        for (auto& [key, item] : items_) {
            if (options_.reuse.count(key) == 0)
                out.push_back(std::move(item));
        }
        sortWork(out);
        return out;
    }

private:
    /// The item of a key with one call more, or a new one.
    WorkItem& count(const std::string& key, int64_t calls, bool& made) {
        const auto [at, added] = items_.try_emplace(key);
        made = added;
        if (added || earlier_->count(key) == 0)
            at->second.calls += calls;
        return at->second;
    }

    void fill(WorkItem& item, WorkKind work, const std::string& key, NodeId node) {
        item.work = work;
        item.key = key;
        item.graph = graph_;
        item.node = node;
        if (const auto model = analytical_.estimate(*graph_, *collectives_, node)) {
            item.model_ns = model->ns;
            item.model_note = model->note;
        }
    }

    void addCompute() {
        std::vector<bool> fused(graph_->size(), false);
        for (const FusedRegion& region : findFusedRegions(*graph_)) {
            addRegion(region);
            for (const NodeId node : region.nodes)
                fused[node] = true;
        }
        for (NodeId node = 0; node < graph_->size(); ++node) {
            if (graph_->node(node).kind != NodeKind::Compute)
                continue;
            bool made = false;
            const std::string key = structuralKey(*graph_, *collectives_, node);
            WorkItem& item = count(key, fused[node] ? 0 : 1, made);
            if (!made)
                continue;
            fill(item, WorkKind::Compute, key, node);
            item.kind = "compute";
            item.label = costLabel(*graph_, *collectives_, node);
            item.communicates =
                BenchmarkInputRegistry::global().hasInternalCollective(graph_->targetText(node));
            if (item.communicates && world_ < 2)
                item.cannot = kAlone;
            if (item.model_ns == 0) // starts no kernel: nothing to measure
                items_.erase(key);
        }
    }

    void addRegion(const FusedRegion& region) {
        bool made = false;
        const std::string key = fusedRegionKey(*graph_, region);
        WorkItem& item = count(key, 1, made);
        if (!made)
            return;
        item.work = WorkKind::Fused;
        item.key = key;
        item.kind = "fused";
        item.graph = graph_;
        item.node = region.nodes.front();
        item.region = region;
        item.label = fmt::format("fused {} ops, {}", region.nodes.size(),
                                 costLabel(*graph_, *collectives_, region.nodes.back()));
        for (const NodeId node : region.nodes)
            item.members.push_back(structuralKey(*graph_, *collectives_, node));
    }

    void addCollective(const Collective& collective) {
        bool made = false;
        const std::string key = structuralKey(*graph_, *collectives_, collective.launch);
        WorkItem& item = count(key, 1, made);
        if (!made)
            return;
        fill(item, WorkKind::Collective, key, collective.launch);
        item.communicates = true;
        item.kind = std::string(collectiveKindName(collective.kind));
        item.label = costLabel(*graph_, *collectives_, collective.launch);
        item.cannot = whyNotCollective(collective, world_);
        item.group_ranks = collective.group_size;
        if (!item.cannot.empty())
            return;
        item.spec.ranks = timedRanks(*graph_, collective, world_, item.placement);
        fillSizes(*graph_, collective, item.spec);
    }

    void addProbes() {
        std::map<std::string, WorkItem> probes;
        for (const auto& [key, item] : items_) {
            if (!item.scaled() || !item.cannot.empty() || options_.reuse.count(key) > 0)
                continue;
            const auto [at, added] = probes.try_emplace(latencyProbeKey(item.spec.kind));
            if (!added)
                continue;
            WorkItem& probe = at->second;
            probe.work = WorkKind::Collective;
            probe.key = at->first;
            probe.kind = item.kind;
            probe.label = fmt::format("{} of one element", item.kind);
            probe.latency_probe = true;
            probe.communicates = true;
            probe.group_ranks = static_cast<int32_t>(item.spec.ranks.size());
            probe.spec.kind = plainKind(item.spec.kind);
            probe.spec.dtype = item.spec.dtype;
            probe.spec.ranks = item.spec.ranks;
            const int64_t one = std::max<int64_t>(1, dtypeBytes(item.spec.dtype));
            const int64_t all = one * probe.group_ranks;
            const bool gather = isGather(probe.spec.kind);
            const bool scatter = probe.spec.kind == CollectiveKind::ReduceScatter;
            const bool exchange = probe.spec.kind == CollectiveKind::AllToAll;
            probe.spec.input_bytes = scatter || exchange ? all : one;
            probe.spec.output_bytes = gather || exchange ? all : one;
        }
        items_.merge(probes);
    }

    int32_t world_;
    const CostModel& analytical_;
    const WorkOptions& options_;
    GraphPtr graph_;
    const CollectiveTable* collectives_ = nullptr;
    const std::map<std::string, WorkItem>* earlier_ = nullptr;
    std::map<std::string, WorkItem> items_;
};

} // namespace

std::vector<WorkItem> makeWorkList(const std::vector<MeasuredProgram>& programs, int32_t world,
                                   const CostModel& analytical, const WorkOptions& options) {
    WorkCollector collector(world, analytical, options);
    for (size_t i = 0; i < programs.size(); ++i) {
        if (i == 0 || programs[i].graph != programs[0].graph)
            collector.add(programs[i]);
    }
    return collector.finish();
}

void sortWork(std::vector<WorkItem>& items) {
    std::sort(items.begin(), items.end(), [](const WorkItem& a, const WorkItem& b) {
        return std::tuple(a.work, !a.latency_probe, std::string_view(a.key)) <
               std::tuple(b.work, !b.latency_probe, std::string_view(b.key));
    });
}

int64_t scaleCollective(CollectiveKind kind, int64_t timed_ns, int64_t step_ns, int32_t timed,
                        int32_t group) {
    const int64_t step = std::min(step_ns, stepTime(kind, timed_ns, timed));
    const double transfer = double(timed_ns) - double(step) * steps(kind, timed);
    return std::llround(transfer * share(kind, group) / share(kind, timed) +
                        double(step) * steps(kind, group));
}

int64_t stepTime(CollectiveKind kind, int64_t probe_ns, int32_t timed) {
    return probe_ns / std::max(1, steps(kind, timed));
}

std::string latencyProbeKey(CollectiveKind kind) {
    return fmt::format("latency {}", collectiveKindName(plainKind(kind)));
}

} // namespace gs
