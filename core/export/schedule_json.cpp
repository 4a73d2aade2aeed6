// The schedule as `gatherscope.schedule` version 1: what the bridge applies in torch.
//
// `order`: every node of the graph after the passes, by name; `positions`: where each was in the graph that
// was read, -1 for nodes that passes made; `rewritten`: the calls of those, and of nodes whose arguments
// passes changed. A node that was read and is not in `order` is gone.
#include "base/hash.h"
#include "base/version.h"
#include "export/exporters.h"
#include "export/warnings.h"
#include "graph/graph_builder.h"

#include <cmath>
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

Json dictJson(const Graph& graph, const Arg& dict);

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

/// An argument as `gatherscope.graph` writes it.
Json argJson(const Graph& graph, const Arg& arg) {
    const std::string text(graph.text(arg.text));
    const auto children = [&] {
        Json items = Json::array();
        for (const Arg& child : graph.children(arg))
            items.push_back(argJson(graph, child));
        return items;
    };
    switch (arg.kind) {
    case Arg::Kind::None:
        return nullptr;
    case Arg::Kind::Node:
        return {{"n", std::string(graph.name(arg.node()))}};
    case Arg::Kind::Int:
        return arg.integer;
    case Arg::Kind::Bool:
        return arg.integer != 0;
    case Arg::Kind::Float:
        if (!std::isfinite(arg.real))
            return {{"float", std::isnan(arg.real) ? "nan" : arg.real > 0 ? "inf" : "-inf"}};
        return arg.real;
    case Arg::Kind::String:
        return text;
    case Arg::Kind::DType:
        return {{"dtype", text}};
    case Arg::Kind::Device:
        return {{"device", text}};
    case Arg::Kind::Layout:
        return {{"layout", text}};
    case Arg::Kind::MemoryFormat:
        return {{"memory_format", text}};
    case Arg::Kind::Symbol:
        return {{"sym", text}, {"hint", arg.integer == kUnknownSize ? Json(nullptr) : Json(arg.integer)}};
    case Arg::Kind::Slice:
        return {{"slice", children()}};
    case Arg::Kind::List:
        return children();
    case Arg::Kind::Dict:
        return {{"dict", dictJson(graph, arg)}};
    case Arg::Kind::Repr:
        break;
    }
    return {{"repr", text}};
}

Json dictJson(const Graph& graph, const Arg& dict) {
    Json items = Json::object();
    const auto children = graph.children(dict);
    for (size_t i = 0; i + 1 < children.size(); i += 2)
        items[std::string(graph.text(children[i].text))] = argJson(graph, children[i + 1]);
    return items;
}

Json callJson(const Graph& graph, NodeId id) {
    return {{"name", std::string(graph.name(id))},
            {"op", std::string(nodeOpName(graph.node(id).op))},
            {"target", std::string(graph.targetText(id))},
            {"args", argJson(graph, graph.node(id).args)},
            {"kwargs", dictJson(graph, graph.node(id).kwargs)}};
}

/// Where the nodes of `order` are in the graph that was read, and the calls of those that passes made (−1) or
/// gave other arguments. Names alone would not do: another process may name its nodes differently.
void addProgram(Json& json, const Graph* source, const Graph& graph, const Order& order) {
    Json positions = Json::array(), rewritten = Json::array();
    const bool same = source && source->structuralHash() == graph.structuralHash();
    for (NodeId id : order) {
        std::optional<NodeId> from = source ? source->find(graph.name(id)) : std::nullopt;
        if (from && source->targetText(*from) != graph.targetText(id))
            from.reset();
        positions.push_back(from ? static_cast<int64_t>(*from) : -1);
        if (!from || (!same && callJson(*source, *from) != callJson(graph, id)))
            rewritten.push_back(callJson(graph, id));
    }
    json["positions"] = positions;
    json["rewritten"] = rewritten;
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
    Json json = {
        {"format", "gatherscope.schedule"},
        {"version", kScheduleVersion},
        {"level", info.level == GraphLevel::Scheduler ? "scheduler" : "fx"},
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
    if (!schedule.rank_mode.empty())
        json["rank_mode"] = schedule.rank_mode; // how the other ranks of the job bound it
    addProgram(json, analysis.source.graph.get(), graph, schedule.order);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

Exporter scheduleExporter() {
    return {"schedule", "Schedule for the bridge (JSON)", "json", writeSchedule,
            [](const Analysis& analysis, const ExportOptions&) { return scheduleWarnings(analysis); }};
}

} // namespace gs
