// The schedule as `gatherscope.schedule` version 1: what the bridge applies in torch.
#include "base/hash.h"
#include "base/version.h"
#include "export/exporters.h"
#include "export/warnings.h"
#include "graph/graph_builder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kScheduleVersion = 1;

/// The program with its nodes in the schedule's order: its hash is what a correctly applied schedule has.
GraphPtr reordered(const Graph& graph, const Order& order) {
    GraphBuilder builder(graph);
    std::vector<NodeId> map(graph.size(), kNoNode);
    for (NodeId id : order)
        map[id] = builder.copyNode(graph, id, map);
    return builder.finish(nullptr);
}

Json movesJson(const Analysis& analysis) {
    const Graph& graph = *analysis.after.graph;
    Json moves = Json::array();
    for (const Decision& decision : analysis.after.schedule->decisions) {
        if (!decision.moved())
            continue;
        Json group = Json::array();
        for (NodeId id : decision.moved_group)
            group.push_back(std::string(graph.name(id)));
        moves.push_back({{"launch", std::string(graph.name(decision.launch))},
                         {"group", group},
                         {"from", decision.cur},
                         {"to", decision.target},
                         {"verdict", std::string(verdictName(decision.verdict))},
                         {"reason", std::string(bindingReasonName(decision.reason))}});
    }
    return moves;
}

Json settingsJson(const Settings& settings) {
    Json out = Json::object();
    for (const SettingSpec& spec : settingSpecs())
        out[std::string(spec.name)] = settings.text(spec.key);
    return out;
}

Result<std::string> writeSchedule(const Analysis& analysis, const ExportOptions&) {
    const Graph& graph = *analysis.after.graph;
    const Schedule& schedule = *analysis.after.schedule;
    if (const auto broken = findBrokenEdge(graph, schedule.order))
        return Error{
            "invalid-order",
            fmt::format("the order of {} breaks an edge of the graph and is not written", schedule.scheduler),
            {},
            "this is a fault of the program; please report it with the graph"};
    Json order = Json::array();
    for (NodeId id : schedule.order)
        order.push_back(std::string(graph.name(id)));
    const GraphInfo& info = graph.info();
    const uint64_t read = analysis.source.graph ? analysis.source.graph->structuralHash() : 0;
    const Json json = {
        {"format", "gatherscope.schedule"},
        {"version", kScheduleVersion},
        {"graph", {{"name", info.name}, {"world_size", info.world_size}, {"rank", info.rank}}},
        // As read from the file; after lowering and bucketing (positions in `moves` count there); with the
        // nodes in `order`.
        {"structural_hash",
         {{"source", hexDigits(read)},
          {"before", hexDigits(graph.structuralHash())},
          {"after", hexDigits(reordered(graph, schedule.order)->structuralHash())}}},
        {"scheduler", schedule.scheduler},
        {"moves", movesJson(analysis)},
        {"order", order},
        {"settings", settingsJson(analysis.request.settings)},
        {"edits", editTexts(analysis.request.edits)},
        {"versions", {{"gatherscope", std::string(programVersion())}, {"producer", info.producer}}},
    };
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

Exporter scheduleExporter() {
    return {"schedule", "Schedule for the bridge (JSON)", "json", writeSchedule,
            [](const Analysis& analysis, const ExportOptions&) { return scheduleWarnings(analysis); }};
}

} // namespace gs
