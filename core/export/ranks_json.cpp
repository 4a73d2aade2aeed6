#include "export/ranks_json.h"

#include "base/hash.h"

#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

Json sideJson(const RankComparison& comparison, const RankSide& side) {
    if (side.rank < 0)
        return nullptr;
    const RankProgram& program = comparison.ranks[static_cast<size_t>(side.rank)].program;
    Json json = {{"rank", program.label}};
    if (side.node == kNoNode) {
        json["node"] = nullptr;
        return json;
    }
    const RankGraph& in = program.graphs[side.graph];
    const Graph& graph = *in.graph;
    json["graph"] = in.label;
    json["node"] = graph.name(side.node);
    json["position"] = side.node;
    json["line"] = graph.node(side.node).source_line;
    json["source"] = graph.text(graph.node(side.node).source);
    json["target"] = graph.targetText(side.node);
    if (side.collective >= 0) {
        const RankCollective& item = comparison.ranks[static_cast<size_t>(side.rank)]
                                         .collectives[static_cast<size_t>(side.collective)];
        json["kind"] = collectiveKindName(item.kind);
        json["dtype"] = dtypeName(item.dtype);
        json["bytes"] = item.bytes < 0 ? Json(nullptr) : Json(item.bytes);
        json["number_on_group"] = item.index;
    }
    return json;
}

Json ranksJson(const RankComparison& comparison) {
    Json ranks = Json::array();
    for (const ComparedRank& rank : comparison.ranks) {
        Json graphs = Json::array();
        for (const RankGraph& of : rank.program.graphs)
            graphs.push_back({{"name", of.label},
                              {"nodes", of.graph->size()},
                              {"structural_hash", hexDigits(of.graph->structuralHash())}});
        ranks.push_back({{"label", rank.program.label},
                         {"rank", rank.program.rank < 0 ? Json(nullptr) : Json(rank.program.rank)},
                         {"file", rank.program.file},
                         {"graphs", std::move(graphs)},
                         {"collectives", rank.collectives.size()},
                         {"gathers", rank.gathers},
                         {"class", rank.skeleton_class}});
    }
    return ranks;
}

Json groupsJson(const RankComparison& comparison) {
    Json groups = Json::array();
    for (const RankGroup& group : comparison.groups) {
        Json names = Json::object();
        for (size_t r = 0; r < group.names.size(); ++r)
            names[comparison.ranks[r].program.label] =
                group.names[r].empty() ? Json(nullptr) : Json(group.names[r]);
        groups.push_back({{"name", group.name},
                          {"names", std::move(names)},
                          {"collectives", group.rows.size()},
                          {"differing", group.differing}});
    }
    return groups;
}

Json cyclesJson(const RankComparison& comparison) {
    Json cycles = Json::array();
    for (const WaitCycle& cycle : comparison.cycles) {
        Json steps = Json::array();
        for (const WaitStep& step : cycle.steps) {
            const ComparedRank& rank = comparison.ranks[static_cast<size_t>(step.rank)];
            const Graph& graph = *rank.program.graphs[step.collective.graph].graph;
            steps.push_back(
                {{"rank", rank.program.label},
                 {"blocked_at",
                  step.blocked_at == kNoNode ? Json(nullptr) : Json(graph.name(step.blocked_at))},
                 {"waits_for", sideJson(comparison, step.collective)},
                 {"missing_rank",
                  step.missing_rank < 0
                      ? Json(nullptr)
                      : Json(comparison.ranks[static_cast<size_t>(step.missing_rank)].program.label)}});
        }
        cycles.push_back({{"certain", cycle.certain}, {"ring", cycle.closed}, {"steps", std::move(steps)}});
    }
    return cycles;
}

} // namespace

std::string writeRanksJson(const RankComparison& comparison) {
    Json differences = Json::array(), harmless = Json::array(), classes = Json::array();
    for (const RankDifference& item : comparison.differences)
        differences.push_back(
            {{"severity", severityName(item.severity)},
             {"code", item.code},
             {"group",
              item.group < 0 ? Json(nullptr) : Json(comparison.groups[static_cast<size_t>(item.group)].name)},
             {"a", sideJson(comparison, item.a)},
             {"b", sideJson(comparison, item.b)},
             {"message", item.message},
             {"hint", item.hint}});
    for (const HarmlessDifference& item : comparison.harmless)
        harmless.push_back({{"code", item.code}, {"count", item.count}, {"message", item.message}});
    for (const RankClass& of : comparison.classes)
        classes.push_back(of.text);
    Json first = nullptr;
    if (!comparison.first_what.empty())
        first = {{"what", comparison.first_what},
                 {"a", sideJson(comparison, comparison.first_a)},
                 {"b", sideJson(comparison, comparison.first_b)}};
    const Json json = {{"format", "gatherscope.ranks"},         {"version", 1},
                       {"mode", rankModeName(comparison.mode)}, {"verdict", comparison.verdict},
                       {"ranks", ranksJson(comparison)},        {"classes", std::move(classes)},
                       {"groups", groupsJson(comparison)},      {"first_difference", std::move(first)},
                       {"differences", std::move(differences)}, {"dropped", comparison.dropped},
                       {"harmless", std::move(harmless)},       {"wait_cycles", cyclesJson(comparison)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace gs
