#include "analysis/compare_gathers.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace gs {

namespace {

/// One gather of one side with the names that it is matched by.
struct Item {
    bool of_b = false;
    int32_t collective = -1;
    std::vector<std::string> names;      ///< launches of the unbucketed program
    std::vector<std::string> parameters; ///< "parameter#occurrence"
};

/// Names of the gathers of the unbucketed program that became this launch; its own if no pass merged it. A
/// bucket's own name says nothing: it may be that of a gather that is in another bucket now.
std::vector<std::string> originalLaunches(const Analysis& analysis, NodeId launch) {
    std::vector<std::string> names;
    const Graph& graph = *analysis.after.graph;
    const Graph& original = *analysis.before.graph;
    for (const StringId origin : graph.origins(launch)) {
        const auto id = original.find(graph.text(origin));
        if (id && original.node(*id).kind == NodeKind::Launch)
            names.emplace_back(graph.text(origin));
    }
    if (names.empty())
        names.emplace_back(graph.name(launch));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<Item> gathersOf(const Analysis& analysis, bool of_b) {
    std::vector<Item> items;
    std::map<std::string, int> occurrences;
    const CollectiveTable& collectives = *analysis.after.collectives;
    for (size_t i = 0; i < collectives.size(); ++i) {
        const Collective& gather = collectives[i];
        if (!gather.isGather() || gather.launch == kNoNode)
            continue;
        Item item{of_b, static_cast<int32_t>(i), originalLaunches(analysis, gather.launch), {}};
        for (const NodeId parameter : gather.parameters) {
            const std::string name = parameterName(*analysis.after.graph, parameter);
            item.parameters.push_back(fmt::format("{}#{}", name, occurrences[name]++));
        }
        items.push_back(std::move(item));
    }
    return items;
}

/// Sets of items that share a name.
class Sets {
public:
    explicit Sets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), size_t{0}); }
    size_t find(size_t i) {
        while (parent_[i] != i)
            i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    /// The smaller index stays the root, so that roots are in program order.
    void join(size_t a, size_t b) {
        a = find(a);
        b = find(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<size_t> parent_;
};

void joinByName(Sets& sets, const std::vector<Item>& items) {
    std::map<std::string, size_t> first;
    for (size_t i = 0; i < items.size(); ++i) {
        for (const std::string& name : items[i].names)
            sets.join(i, first.try_emplace(name, i).first->second);
    }
}

void joinByParameter(Sets& sets, const std::vector<Item>& items) {
    std::vector<bool> has_a(items.size()), has_b(items.size());
    for (size_t i = 0; i < items.size(); ++i)
        (items[i].of_b ? has_b : has_a)[sets.find(i)] = true;
    std::map<std::string, size_t> alone_a;
    std::vector<size_t> alone_b;
    for (size_t i = 0; i < items.size(); ++i) {
        const size_t root = sets.find(i);
        if (has_a[root] && has_b[root])
            continue;
        if (items[i].of_b)
            alone_b.push_back(i);
        else
            for (const std::string& parameter : items[i].parameters)
                alone_a.emplace(parameter, i);
    }
    for (const size_t i : alone_b) {
        for (const std::string& parameter : items[i].parameters) {
            if (const auto found = alone_a.find(parameter); found != alone_a.end())
                sets.join(i, found->second);
        }
    }
}

/// What one side needs to be looked up quickly.
struct Lookup {
    explicit Lookup(const Analysis& analysis)
        : analysis(analysis), position(positionsOf(analysis.after.schedule->order)) {}

    int64_t exposedBefore(const std::string& launch) const {
        const auto id = analysis.before.graph->find(launch);
        const int32_t index = id ? analysis.before.collectives->indexOf(*id) : -1;
        return index < 0 ? 0 : analysis.before.timeline->transfers[static_cast<size_t>(index)].exposed_ns;
    }

    const Analysis& analysis;
    std::vector<uint32_t> position;
};

void addToSide(std::optional<GatherSide>& slot, const Lookup& at, const Item& item) {
    const Collective& gather = (*at.analysis.after.collectives)[static_cast<size_t>(item.collective)];
    const Transfer& transfer = at.analysis.after.timeline->transfers[static_cast<size_t>(item.collective)];
    const Decision* decision = at.analysis.decisionFor(gather.launch);
    const Verdict verdict = decision ? decision->verdict : Verdict::NotCandidate;
    const bool first = !slot;
    if (first)
        slot.emplace();
    GatherSide& side = *slot;
    side.launches.push_back(gather.launch);
    if (first) {
        side.cur = gather.launch;
        side.target = at.position[gather.launch];
        side.launched_ns = transfer.launched_ns;
    }
    if (first || verdict > side.verdict) { // in the order of the enumeration the last is the worst
        side.verdict = verdict;
        side.reason = decision ? decision->reason : BindingReason::None;
    }
    if (gather.output_bytes > 0 && __builtin_add_overflow(side.bytes, gather.output_bytes, &side.bytes))
        side.bytes = kHugeSize;
    side.exposed_after_ns += transfer.exposed_ns;
    for (const std::string& name : item.names)
        side.exposed_before_ns += at.exposedBefore(name);
}

uint8_t differences(const GatherDiffRow& row, bool same_graph) {
    using enum GatherDifference;
    unsigned bits = 0;
    const auto set = [&](bool differs, GatherDifference what) {
        bits |= differs ? static_cast<unsigned>(what) : 0U;
    };
    if (!row.a || !row.b) {
        set(true, OneSided);
    } else {
        set(row.a->launches.size() != row.b->launches.size(), Buckets);
        set(same_graph && row.a->target != row.b->target, Place);
        set(row.a->verdict != row.b->verdict, Verdict);
        set(row.a->exposed_after_ns != row.b->exposed_after_ns, Exposure);
    }
    return static_cast<uint8_t>(bits);
}

/// By the side with the fewest launches: a bucket names all its parameters.
std::string labelOf(const GatherDiffRow& row, const Analysis& a, const Analysis& b) {
    const bool use_b = !row.a || (row.b && row.b->launches.size() < row.a->launches.size());
    const GatherSide& side = use_b ? *row.b : *row.a;
    const Program& program = (use_b ? b : a).after;
    const auto index = program.collectives->indexOf(side.launches.front());
    const Collective& gather = (*program.collectives)[static_cast<size_t>(index)];
    std::string label = gather.parameters.empty() ? std::string(program.graph->name(gather.launch))
                                                  : gatheredParameters(*program.graph, gather);
    if (side.launches.size() > 1)
        label += fmt::format(" and {} more", side.launches.size() - 1);
    return label;
}

void addTotals(const Analysis& analysis, int64_t& gathers_ns, int64_t& others_ns) {
    for (const Transfer& transfer : analysis.after.timeline->transfers) {
        const Collective& item = (*analysis.after.collectives)[static_cast<size_t>(transfer.collective)];
        (item.isGather() && item.launch != kNoNode ? gathers_ns : others_ns) += transfer.exposed_ns;
    }
}

} // namespace

int64_t GatherDiffRow::change_ns() const {
    return (b ? b->exposed_after_ns : 0) - (a ? a->exposed_after_ns : 0);
}

GatherDiff compareGathers(const Analysis& a, const Analysis& b) {
    GatherDiff diff;
    diff.same_graph = a.after.graph->size() == b.after.graph->size() &&
                      a.after.graph->structuralHash() == b.after.graph->structuralHash();
    std::vector<Item> items = gathersOf(a, false);
    const std::vector<Item> of_b = gathersOf(b, true);
    items.insert(items.end(), of_b.begin(), of_b.end());
    Sets sets(items.size());
    joinByName(sets, items);
    joinByParameter(sets, items);

    const Lookup at_a(a), at_b(b);
    std::map<size_t, GatherDiffRow> rows; // by root: program order
    for (size_t i = 0; i < items.size(); ++i) {
        GatherDiffRow& row = rows[sets.find(i)];
        if (row.name.empty())
            row.name = items[i].names.front();
        addToSide(items[i].of_b ? row.b : row.a, items[i].of_b ? at_b : at_a, items[i]);
    }
    for (auto& [root, row] : rows) {
        row.label = labelOf(row, a, b);
        row.differs = differences(row, diff.same_graph);
        diff.changed += row.differs != 0 ? 1 : 0;
        diff.rows.push_back(std::move(row));
    }
    std::stable_sort(diff.rows.begin(), diff.rows.end(), [](const GatherDiffRow& x, const GatherDiffRow& y) {
        return std::abs(x.change_ns()) > std::abs(y.change_ns());
    });
    addTotals(a, diff.gathers_a_ns, diff.others_a_ns);
    addTotals(b, diff.gathers_b_ns, diff.others_b_ns);
    return diff;
}

} // namespace gs
