#include "explain/rank_compare.h"

#include "base/hash.h"
#include "base/units.h"
#include "explain/rank_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gs {

namespace ranks {

const std::string& rankLabel(const RankComparison& comparison, int32_t rank) {
    return comparison.ranks[static_cast<size_t>(rank)].program.label;
}

const std::string& classLabel(const RankComparison& comparison, int32_t rank) {
    const auto index = static_cast<size_t>(comparison.ranks[static_cast<size_t>(rank)].skeleton_class);
    return comparison.classes[index].text;
}

std::string groupText(const RankComparison& comparison, int32_t rank, uint32_t group) {
    const std::string& own = comparison.groups[group].names[static_cast<size_t>(rank)];
    const std::string& name = own.empty() ? comparison.groups[group].name : own;
    return name.empty() || name == "?" ? std::string("an unknown group") : fmt::format("group \"{}\"", name);
}

std::string placeText(const Graph& graph, NodeId node) {
    std::string text = fmt::format("node {}", formatCount(node));
    if (const uint32_t line = graph.node(node).source_line; line > 0)
        text += fmt::format(", line {}", formatCount(line));
    const std::string_view source = graph.text(graph.node(node).source);
    return source.empty() ? text : fmt::format("{}, {}", text, source);
}

std::string collectiveText(const RankComparison& comparison, int32_t rank, const RankCollective& item) {
    const Graph& graph = *comparison.ranks[static_cast<size_t>(rank)].program.graphs[item.graph].graph;
    const bool custom = item.kind == CollectiveKind::Other;
    std::string text(custom ? graph.targetText(item.node) : collectiveKindName(item.kind));
    if (item.dtype != DType::Unknown)
        text += fmt::format(" {}", dtypeAbbreviation(item.dtype));
    if (item.bytes >= 0)
        text += " " + formatBytes(item.bytes);
    if (!custom && item.detail != kEmptyString)
        text += fmt::format(" {}", graph.text(item.detail));
    return text;
}

RankSide sideOf(const RankComparison& comparison, int32_t rank, int32_t collective) {
    const ComparedRank& of = comparison.ranks[static_cast<size_t>(rank)];
    const RankCollective& item = of.collectives[static_cast<size_t>(collective)];
    const RankGraph& in = of.program.graphs[item.graph];
    const std::string where = of.program.graphs.size() > 1 ? fmt::format("{}, ", in.label) : std::string();
    return {rank, collective, item.graph, item.node,
            fmt::format("{} as \"{}\" (#{} on {}, {}{})", collectiveText(comparison, rank, item),
                        in.graph->name(item.node), item.index, groupText(comparison, rank, item.group), where,
                        placeText(*in.graph, item.node))};
}

RankSide sideOfNode(const RankComparison& comparison, int32_t rank, uint32_t graph, NodeId node) {
    RankSide side{rank, -1, graph, node, {}};
    const RankGraph& in = comparison.ranks[static_cast<size_t>(rank)].program.graphs[graph];
    if (node == kNoNode)
        side.text = "nothing";
    else
        side.text = fmt::format("\"{}\" = {} ({})", in.graph->name(node), in.graph->targetText(node),
                                placeText(*in.graph, node));
    return side;
}

namespace {

std::string classText(const RankComparison& comparison, const std::vector<int32_t>& members) {
    if (members.size() == 1)
        return rankLabel(comparison, members.front());
    std::vector<int32_t> numbers;
    for (const int32_t member : members)
        numbers.push_back(comparison.ranks[static_cast<size_t>(member)].program.rank);
    if (std::find(numbers.begin(), numbers.end(), -1) != numbers.end())
        return fmt::format("{} and {} more", rankLabel(comparison, members.front()), members.size() - 1);
    std::sort(numbers.begin(), numbers.end());
    std::string text;
    for (size_t i = 0; i < numbers.size();) {
        size_t end = i;
        while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1)
            ++end;
        text += text.empty() ? "" : ", ";
        text += end > i ? fmt::format("{}–{}", numbers[i], numbers[end]) : std::to_string(numbers[i]);
        i = end + 1;
    }
    return "ranks " + text;
}

/// Ranks with equal skeletons; the largest class first, of equal ones that with the first rank.
void makeClasses(RankComparison& comparison) {
    std::map<uint64_t, RankClass> by_hash;
    std::map<std::vector<uint64_t>, int32_t> by_graphs;
    for (size_t r = 0; r < comparison.ranks.size(); ++r) {
        ComparedRank& rank = comparison.ranks[r];
        Hash64 skeleton;
        for (const RankCollective& item : rank.collectives)
            skeleton.number(static_cast<int64_t>(item.hash));
        by_hash[skeleton.value()].ranks.push_back(static_cast<int32_t>(r));
        std::vector<uint64_t> graphs;
        for (const RankGraph& of : rank.program.graphs)
            graphs.push_back(of.graph->structuralHash());
        rank.graph_class =
            by_graphs.try_emplace(std::move(graphs), static_cast<int32_t>(by_graphs.size())).first->second;
    }
    for (auto& [hash, made] : by_hash)
        comparison.classes.push_back(std::move(made));
    std::sort(
        comparison.classes.begin(), comparison.classes.end(), [](const RankClass& a, const RankClass& b) {
            return a.ranks.size() != b.ranks.size() ? a.ranks.size() > b.ranks.size() : a.ranks < b.ranks;
        });
    for (size_t c = 0; c < comparison.classes.size(); ++c) {
        comparison.classes[c].text = classText(comparison, comparison.classes[c].ranks);
        for (const int32_t member : comparison.classes[c].ranks)
            comparison.ranks[static_cast<size_t>(member)].skeleton_class = static_cast<int32_t>(c);
    }
}

std::vector<size_t> gathersPerGroup(const RankComparison& comparison, const ComparedRank& rank) {
    std::vector<size_t> counts(comparison.groups.size(), 0);
    for (const RankCollective& item : rank.collectives)
        counts[item.group] +=
            item.kind == CollectiveKind::AllGather || item.kind == CollectiveKind::AllGatherCoalesced ? 1 : 0;
    return counts;
}

RankMode modeOf(const RankComparison& comparison) {
    if (comparison.classes.size() == 1) {
        const bool equal = std::all_of(comparison.ranks.begin(), comparison.ranks.end(),
                                       [](const ComparedRank& rank) { return rank.graph_class == 0; });
        return equal ? RankMode::Identical : RankMode::Slot;
    }
    const std::vector<size_t> first = gathersPerGroup(comparison, comparison.ranks.front());
    const bool equal =
        std::all_of(comparison.ranks.begin(), comparison.ranks.end(),
                    [&](const ComparedRank& rank) { return gathersPerGroup(comparison, rank) == first; });
    return equal ? RankMode::Pinned : RankMode::Abort;
}

/// Equal on each group, but the groups take turns differently: harmless alone, a deadlock with a sync
/// between.
void compareAcrossGroups(RankComparison& comparison) {
    const bool certain = !comparison.cycles.empty() && comparison.cycles.front().certain;
    const int32_t base = comparison.classes.front().ranks.front();
    const auto& x = comparison.ranks[static_cast<size_t>(base)].collectives;
    for (size_t c = 1; c < comparison.classes.size(); ++c) {
        const int32_t other = comparison.classes[c].ranks.front();
        const auto& y = comparison.ranks[static_cast<size_t>(other)].collectives;
        const bool same =
            std::all_of(comparison.groups.begin(), comparison.groups.end(), [&](const RankGroup& g) {
                return std::all_of(g.rows.begin(), g.rows.end(), [&](const RankRow& row) {
                    return row.cells[0] >= 0
                               ? row.cells[c] >= 0 && x[static_cast<size_t>(row.cells[0])].hash ==
                                                          y[static_cast<size_t>(row.cells[c])].hash
                               : row.cells[c] < 0;
                });
            });
        if (!same)
            continue;
        const auto at =
            std::mismatch(x.begin(), x.end(), y.begin(), y.end(),
                          [](const RankCollective& a, const RankCollective& b) { return a.hash == b.hash; });
        const auto index = static_cast<int32_t>(at.first - x.begin());
        RankDifference made;
        made.severity = certain ? Severity::Error : Severity::Warning;
        made.code = "rank-order-across";
        made.a = sideOf(comparison, base, index);
        made.b = sideOf(comparison, other, index);
        made.message = fmt::format("the order across groups differs: next {} has {}, {} has {}{}",
                                   comparison.classes.front().text, made.a.text, comparison.classes[c].text,
                                   made.b.text, certain ? "; waits between them close a ring" : "");
        made.hint =
            certain ? "issue both in one order on all ranks"
                    : "a deadlock as soon as a host sync lies between, or if the device cannot run both at "
                      "once: issue them in one order";
        comparison.differences.insert(comparison.differences.begin(), std::move(made));
    }
}

void sortDifferences(RankComparison& comparison) {
    std::stable_sort(
        comparison.differences.begin(), comparison.differences.end(),
        [](const RankDifference& a, const RankDifference& b) { return a.severity > b.severity; });
}

} // namespace

/// Timeouts are no difference: they happened to ranks that fit, too.
static bool artifactsDiffer(const RankComparison& comparison) {
    return std::any_of(comparison.differences.begin(), comparison.differences.end(),
                       [](const RankDifference& item) { return item.code != "watchdog-timeout"; });
}

std::string verdictText(const RankComparison& comparison) {
    const std::string who =
        comparison.classes.size() == 1
            ? fmt::format("{} {}", comparison.ranks.size(), "ranks")
            : fmt::format("{} and {}", comparison.classes[0].text, comparison.classes[1].text);
    const size_t collectives =
        comparison.ranks[static_cast<size_t>(comparison.classes.front().ranks.front())].collectives.size();
    std::string text;
    switch (comparison.mode) {
    case RankMode::Identical:
        text = fmt::format("{} ranks run the same program: {} in the same order.",
                           comparison.ranks.size() == 2 ? "Both"
                                                        : fmt::format("All {}", comparison.ranks.size()),
                           counted(collectives, "collective"));
        break;
    case RankMode::Slot:
        text = fmt::format("The graphs of {} differ, {} {} not: gathers may move between them.", who,
                           collectives == 1 ? "their collective"
                                            : fmt::format("their {} collectives", collectives),
                           collectives == 1 ? "does" : "do");
        break;
    case RankMode::Pinned:
        text = fmt::format("The collectives of {} differ: no gather may pass another collective.", who);
        break;
    case RankMode::Abort:
        text = fmt::format("{} do not issue the same number of gathers: nothing can be scheduled together.",
                           who);
        break;
    }
    if (!comparison.cycles.empty())
        text += comparison.cycles.front().certain ? " The job hangs." : " The job can deadlock.";
    else if (comparison.mode <= RankMode::Slot && artifactsDiffer(comparison))
        text += " What the compilers wrote down differs all the same.";
    return text;
}

} // namespace ranks

std::string_view rankModeName(RankMode mode) {
    static constexpr std::string_view kNames[] = {"identical", "slot", "pinned", "abort"};
    return kNames[static_cast<size_t>(mode)];
}

bool RankComparison::hasFindings() const {
    return mode == RankMode::Pinned || mode == RankMode::Abort || !differences.empty();
}

RankComparisonPtr compareRanks(std::vector<RankProgram> programs, std::string_view communicating) {
    auto made = std::make_shared<RankComparison>();
    for (RankProgram& program : programs) {
        ComparedRank rank;
        rank.program = std::move(program);
        made->ranks.push_back(std::move(rank));
    }
    ranks::collectSkeletons(*made, communicating);
    ranks::makeClasses(*made);
    made->mode = ranks::modeOf(*made);
    ranks::compareGroups(*made);
    ranks::findWaitCycles(*made);
    ranks::compareAcrossGroups(*made);
    ranks::compareArtifacts(*made);
    ranks::sortDifferences(*made);
    ranks::compareNodes(*made);
    made->verdict = ranks::verdictText(*made);
    return made;
}

} // namespace gs
