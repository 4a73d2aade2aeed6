#include "explain/rank_parts.h"

#include "base/hash.h"
#include "graph/op_patterns.h"

#include <algorithm>
#include <map>

namespace gs::ranks {

namespace {

/// A process group as one rank knows it, in order of first use.
struct LocalGroup {
    std::string name;
    std::string description;
    std::vector<int32_t> ranks;
    int32_t size = 0;
    int32_t canonical = -1;
};

struct LocalRank {
    std::vector<LocalGroup> groups;
    std::map<std::string, uint32_t> by_name;
};

uint32_t localGroup(LocalRank& local, const Graph& graph, GroupId group, std::string_view name) {
    const auto [it, is_new] =
        local.by_name.try_emplace(std::string(name), static_cast<uint32_t>(local.groups.size()));
    if (is_new) {
        LocalGroup made{std::string(name), {}, {}, 0, -1};
        if (group != kNoGroup) {
            const ProcessGroup& known = graph.groups()[group];
            made.description = graph.text(known.description);
            made.ranks = known.ranks;
            made.size = known.size;
        }
        local.groups.push_back(std::move(made));
    }
    return it->second;
}

/// What is sent: peers must agree on it. Split lists of an all_to_all differ by nature.
void readBytes(const Graph& graph, const Collective& item, RankCollective& out) {
    for (const NodeId input : graph.inputs(item.launch)) {
        const TensorMeta* tensor = graph.value(input).firstTensor();
        out.symbolic = out.symbolic || (tensor && tensor->symbolic());
    }
    out.dtype = item.dtype;
    if (item.kind != CollectiveKind::AllToAll && item.kind != CollectiveKind::Other)
        out.bytes = item.input_bytes;
    if (out.dtype == DType::Unknown && !graph.inputs(item.launch).empty()) {
        if (const TensorMeta* tensor = graph.value(graph.inputs(item.launch).front()).firstTensor())
            out.dtype = tensor->dtype;
    }
}

RankCollective readLaunch(const Graph& graph, const Collective& item) {
    RankCollective out;
    out.node = item.launch;
    out.kind = item.kind;
    readBytes(graph, item, out);
    const int8_t op = graph.target(item.launch).traits.reduce_op_arg;
    const Arg* reduce = op < 0 ? nullptr : graph.arg(item.launch, static_cast<size_t>(op));
    if (reduce && reduce->kind == Arg::Kind::String)
        out.detail = reduce->text;
    return out;
}

/// Group of an operator that is no collective: its `group_name`, else its last text argument.
std::string_view groupOfOperator(const Graph& graph, NodeId id) {
    for (const char* name : {"group_name", "group", "process_group"}) {
        if (const Arg* arg = graph.kwarg(id, name); arg && arg->kind == Arg::Kind::String)
            return graph.text(arg->text);
    }
    std::string_view name;
    for (const Arg& arg : graph.children(graph.node(id).args)) {
        if (arg.kind == Arg::Kind::String)
            name = graph.text(arg.text);
    }
    return name;
}

void readGraph(ComparedRank& rank, uint32_t index, LocalRank& local, const OpPatterns& communicating) {
    const Graph& graph = *rank.program.graphs[index].graph;
    const CollectiveTable table(graph);
    const std::vector<bool> communicates = matchTargets(graph, communicating);
    for (NodeId id = 0; id < graph.size(); ++id) {
        const bool launch = graph.node(id).kind == NodeKind::Launch;
        if (!launch && !(graph.isCall(id) && communicates[graph.node(id).target]))
            continue;
        RankCollective item;
        GroupId group = kNoGroup;
        std::string_view name;
        if (launch) {
            const Collective& known = table[static_cast<size_t>(table.indexOf(id))];
            item = readLaunch(graph, known);
            group = known.group;
            name = group == kNoGroup ? std::string_view() : graph.text(graph.groups()[group].name);
            rank.gathers += known.isGather() ? 1 : 0;
        } else {
            item.node = id;
            item.detail = graph.target(id).text;
            name = groupOfOperator(graph, id);
        }
        item.graph = index;
        item.group = localGroup(local, graph, group, name);
        rank.collectives.push_back(item);
    }
}

bool contains(const std::vector<int32_t>& ranks, int32_t rank) {
    return rank >= 0 && std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// A canonical group while ranks are matched to it.
struct Canonical {
    std::string description;
    std::vector<int32_t> ranks;
    int32_t size = 0;
};

class GroupMatcher {
public:
    explicit GroupMatcher(RankComparison& comparison) : comparison_(comparison) {}

    void add(int32_t rank, LocalRank& local) {
        std::vector<bool> claimed(canonical_.size(), false);
        for (LocalGroup& group : local.groups) {
            const auto found = by_name_.find(group.name);
            if (found == by_name_.end() || claimed[found->second])
                continue;
            group.canonical = static_cast<int32_t>(found->second);
            claimed[found->second] = true;
        }
        const size_t known = canonical_.size();
        for (LocalGroup& group : local.groups) {
            if (group.canonical < 0)
                group.canonical = counterpart(rank, group, claimed, known);
            take(rank, group, claimed);
        }
    }

private:
    /// A group of another rank's own that plays the same part: the same mesh dimension, else the first of the
    /// same size that this rank has no use for. A group that this rank is in itself is none.
    int32_t counterpart(int32_t rank, const LocalGroup& group, const std::vector<bool>& claimed,
                        size_t known) const {
        const int32_t number = comparison_.ranks[static_cast<size_t>(rank)].program.rank;
        int32_t first = -1;
        for (size_t i = 0; i < known; ++i) {
            const Canonical& other = canonical_[i];
            const bool sizes = other.size == 0 || group.size == 0 || other.size == group.size;
            // "0" is PyTorch's name of the group of all ranks
            if (claimed[i] || !sizes || contains(other.ranks, number) || comparison_.groups[i].name == "0" ||
                group.name == "0" || group.name.empty())
                continue;
            if (!group.description.empty() && group.description == other.description)
                return static_cast<int32_t>(i);
            first = first < 0 ? static_cast<int32_t>(i) : first;
        }
        return first;
    }

    void take(int32_t rank, LocalGroup& group, std::vector<bool>& claimed) {
        if (group.canonical < 0) {
            group.canonical = static_cast<int32_t>(canonical_.size());
            canonical_.push_back({group.description, group.ranks, group.size});
            RankGroup made;
            made.name = group.name;
            made.names.resize(comparison_.ranks.size());
            made.size = group.size;
            comparison_.groups.push_back(std::move(made));
            claimed.push_back(true);
        }
        const auto index = static_cast<size_t>(group.canonical);
        claimed[index] = true;
        by_name_.try_emplace(group.name, index);
        comparison_.groups[index].names[static_cast<size_t>(rank)] =
            group.name.empty() ? std::string("?") : group.name;
    }

    RankComparison& comparison_;
    std::vector<Canonical> canonical_;
    std::map<std::string, size_t> by_name_;
};

uint64_t hashOf(const Graph& graph, const RankCollective& item, bool shapes) {
    Hash64 hash;
    hash.number(static_cast<int64_t>(item.kind)).number(item.group).text(graph.text(item.detail));
    if (shapes)
        hash.number(static_cast<int64_t>(item.dtype)).number(item.symbolic ? kUnknownSize : item.bytes);
    return hash.value();
}

} // namespace

void collectSkeletons(RankComparison& comparison, std::string_view communicating) {
    const OpPatterns patterns = communicatingOps(communicating);
    std::vector<LocalRank> local(comparison.ranks.size());
    bool shapes = true;
    for (size_t rank = 0; rank < comparison.ranks.size(); ++rank) {
        ComparedRank& of = comparison.ranks[rank];
        for (uint32_t i = 0; i < of.program.graphs.size(); ++i) {
            readGraph(of, i, local[rank], patterns);
            shapes = shapes && of.program.graphs[i].graph->info().has_shapes;
        }
    }
    GroupMatcher matcher(comparison);
    for (size_t rank = 0; rank < comparison.ranks.size(); ++rank)
        matcher.add(static_cast<int32_t>(rank), local[rank]);
    for (size_t rank = 0; rank < comparison.ranks.size(); ++rank) {
        ComparedRank& of = comparison.ranks[rank];
        std::vector<uint32_t> next(comparison.groups.size(), 0);
        for (RankCollective& item : of.collectives) {
            item.group = static_cast<uint32_t>(local[rank].groups[item.group].canonical);
            item.index = next[item.group]++;
            item.hash = hashOf(*of.program.graphs[item.graph].graph, item, shapes);
        }
    }
}

} // namespace gs::ranks
