#include "explain/rank_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gs::ranks {

namespace {

bool isWait(std::string_view target) {
    return target.find("wait_tensor") != std::string_view::npos;
}

std::vector<std::string> collectivesOf(const RankArtifact& artifact) {
    std::vector<std::string> out;
    std::copy_if(artifact.targets.begin(), artifact.targets.end(), std::back_inserter(out),
                 [](const std::string& target) { return !isWait(target); });
    return out;
}

const RankArtifact* find(const RankProgram& program, const std::string& compile_id) {
    for (const RankArtifact& artifact : program.schedules) {
        if (artifact.compile_id == compile_id)
            return &artifact;
    }
    return nullptr;
}

/// Collectives of the graphs of one compile id, in order.
std::vector<const RankCollective*> inGraphs(const ComparedRank& rank, const std::string& compile_id) {
    std::vector<const RankCollective*> out;
    for (const RankCollective& item : rank.collectives) {
        if (rank.program.graphs[item.graph].compile_id == compile_id)
            out.push_back(&item);
    }
    return out;
}

void push(RankComparison& comparison, Severity severity, const char* code, RankSide a, RankSide b,
          std::string message, std::string hint) {
    comparison.differences.push_back(
        {severity, code, -1, std::move(a), std::move(b), std::move(message), std::move(hint)});
}

/// A schedule and the graph it was made from should name the same collectives.
void compareWithGraph(RankComparison& comparison, int32_t rank) {
    const ComparedRank& of = comparison.ranks[static_cast<size_t>(rank)];
    for (const RankArtifact& artifact : of.program.schedules) {
        const size_t listed = collectivesOf(artifact).size();
        const size_t launched = inGraphs(of, artifact.compile_id).size();
        const bool known =
            std::any_of(of.program.graphs.begin(), of.program.graphs.end(),
                        [&](const RankGraph& g) { return g.compile_id == artifact.compile_id; });
        if (!known || listed == launched)
            continue;
        push(comparison, Severity::Warning, "schedule-differs", {rank, -1, 0, kNoNode, {}}, {},
             fmt::format("{}: the schedule that the compiler wrote down for graph {} (line {}) lists {} "
                         "collectives, the graph itself launches {}",
                         of.program.label, artifact.compile_id, artifact.line, listed, launched),
             "the graphs are what is compared below; the schedule may be of another compilation");
    }
}

void compareSchedules(RankComparison& comparison, int32_t a, int32_t b) {
    const ComparedRank& rank_a = comparison.ranks[static_cast<size_t>(a)];
    const ComparedRank& rank_b = comparison.ranks[static_cast<size_t>(b)];
    for (const RankArtifact& artifact : rank_a.program.schedules) {
        const RankArtifact* other = find(rank_b.program, artifact.compile_id);
        if (!other)
            continue;
        const std::vector<std::string> x = collectivesOf(artifact), y = collectivesOf(*other);
        const auto [at_x, at_y] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
        if (at_x == x.end() && at_y == y.end())
            continue;
        const auto number = static_cast<size_t>(at_x - x.begin());
        // The group is only in the graph.
        const bool longer_a = at_x != x.end();
        const int32_t owner = longer_a ? a : b;
        const auto items = inGraphs(comparison.ranks[static_cast<size_t>(owner)], artifact.compile_id);
        const std::string group = number < items.size()
                                      ? " on " + groupText(comparison, owner, items[number]->group)
                                      : std::string();
        const auto text = [&](bool there, const std::string& target) {
            return there ? fmt::format("issues {}", target) : std::string("issues nothing more");
        };
        push(
            comparison, Severity::Error, "rank-schedule", {a, -1, 0, kNoNode, {}}, {b, -1, 0, kNoNode, {}},
            fmt::format(
                "by the schedules that the compilers wrote down for graph {}, collective {}{} differs: {} {} "
                "(line {}), {} {} (line {})",
                artifact.compile_id, number + 1, group, rank_a.program.label,
                text(longer_a, longer_a ? *at_x : std::string()), artifact.line, rank_b.program.label,
                text(at_y != y.end(), at_y != y.end() ? *at_y : std::string()), other->line),
            "the ranks were compiled differently: the job hangs at this collective");
    }
}

void compareExecution(RankComparison& comparison, int32_t a, int32_t b) {
    const RankProgram& x = comparison.ranks[static_cast<size_t>(a)].program;
    const RankProgram& y = comparison.ranks[static_cast<size_t>(b)].program;
    if (x.execution_order.empty() || y.execution_order.empty() || x.execution_order == y.execution_order)
        return;
    push(comparison, Severity::Error, "rank-execution-order", {a, -1, 0, kNoNode, {}},
         {b, -1, 0, kNoNode, {}},
         fmt::format("the compiled graphs ran in another order: {}: {}; {}: {}", x.label,
                     fmt::join(x.execution_order, ", "), y.label, fmt::join(y.execution_order, ", ")),
         "collectives of different graphs then meet each other: make all ranks take the same branches");
}

/// Where a collective that hung lies in the graphs of its rank.
void placeTimeouts(RankComparison& comparison, int32_t rank) {
    const RankProgram& program = comparison.ranks[static_cast<size_t>(rank)].program;
    for (const WatchdogTimeout& timeout : program.timeouts) {
        uint32_t in = 0; // the first graph that has such a collective
        WatchdogMatch match;
        for (uint32_t i = 0; i < program.graphs.size() && match.launches.empty(); ++i) {
            const Graph& graph = *program.graphs[i].graph;
            match = matchTimeout(timeout, graph, CollectiveTable(graph));
            in = match.launches.empty() ? in : i;
        }
        const NodeId one = match.launches.size() == 1 ? match.launches.front() : match.by_number;
        push(comparison, Severity::Warning, "watchdog-timeout",
             one == kNoNode ? RankSide{rank, -1, in, kNoNode, {}} : sideOfNode(comparison, rank, in, one), {},
             timeoutText(timeout, *program.graphs[in].graph, match),
             "one of its ranks did not issue it, or issued another one in its place");
    }
}

} // namespace

void compareArtifacts(RankComparison& comparison) {
    const int32_t base = comparison.classes.front().ranks.front();
    for (size_t r = 0; r < comparison.ranks.size(); ++r)
        compareWithGraph(comparison, static_cast<int32_t>(r));
    for (size_t r = 0; r < comparison.ranks.size(); ++r)
        placeTimeouts(comparison, static_cast<int32_t>(r));
    for (size_t r = 0; r < comparison.ranks.size(); ++r) {
        if (static_cast<int32_t>(r) == base)
            continue;
        compareExecution(comparison, base, static_cast<int32_t>(r));
        compareSchedules(comparison, base, static_cast<int32_t>(r));
    }
}

} // namespace gs::ranks
