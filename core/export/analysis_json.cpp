#include "export/analysis_json.h"

#include "base/hash.h"
#include "explain/in_flight.h"
#include "export/exporters.h"
#include "export/measured_text.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

Json graphJson(const Program& program) {
    const Graph& graph = *program.graph;
    std::map<std::string, size_t> kinds;
    std::map<std::string, std::pair<size_t, int64_t>> per_group; // gathers, bytes
    size_t waits = 0;
    for (const Collective& item : program.collectives->all()) {
        waits += item.waits.size();
        ++kinds[std::string(collectiveKindName(item.kind))];
        if (item.isGather() && item.group != kNoGroup) {
            auto& [gathers, bytes] = per_group[std::string(graph.text(graph.groups()[item.group].name))];
            ++gathers;
            if (item.output_bytes > 0 && __builtin_add_overflow(bytes, item.output_bytes, &bytes))
                bytes = kHugeSize;
        }
    }
    size_t placeholders = 0;
    for (NodeId id = 0; id < graph.size(); ++id)
        placeholders += graph.node(id).kind == NodeKind::Placeholder ? 1 : 0;
    Json groups = Json::object();
    for (const ProcessGroup& group : graph.groups()) {
        const std::string name(graph.text(group.name));
        groups[name] = {
            {"size", group.size}, {"gathers", per_group[name].first}, {"bytes", per_group[name].second}};
    }
    Json collectives = Json::object();
    for (const auto& [kind, count] : kinds)
        collectives[kind] = count;
    return {{"name", graph.info().name},
            {"source", graph.info().source_file},
            {"nodes", graph.size()},
            {"placeholders", placeholders},
            {"collectives", collectives},
            {"waits", waits},
            {"weight_gathers", program.collectives->weightGatherCount()},
            {"groups", groups},
            {"structural_hash", hexDigits(graph.structuralHash())}};
}

/// Numbers as numbers, flags as flags, the rest as text.
Json settingsJson(const Settings& settings) {
    Json out = Json::object();
    for (const SettingSpec& spec : settingSpecs()) {
        const std::string name(spec.name);
        switch (spec.type) {
        case SettingType::Number:
            out[name] = settings.number(spec.key);
            break;
        case SettingType::Integer:
            out[name] = settings.integer(spec.key);
            break;
        case SettingType::Flag:
            out[name] = settings.flag(spec.key);
            break;
        default:
            out[name] = settings.text(spec.key);
        }
    }
    return out;
}

Json costsJson(const CostTable& costs) {
    Json out = {{"distinct", costs.entries().size()}};
    for (const Provenance provenance :
         {Provenance::Measured, Provenance::Reused, Provenance::Imported, Provenance::Interpolated,
          Provenance::Analytical, Provenance::Missing, Provenance::Extrapolated, Provenance::User})
        out[std::string(provenanceName(provenance))] = costs.count(provenance);
    return out;
}

/// Whole nanoseconds as integers; a fraction only where the algorithm has one.
Json nanoseconds(double ns) {
    return std::abs(ns) < 9e15 && ns == std::floor(ns) ? Json(static_cast<int64_t>(ns)) : Json(ns);
}

Json decisionJson(const Analysis& analysis, const Decision& decision,
                  const std::map<std::string, int64_t>& exposed) {
    const Graph& graph = *analysis.after.graph;
    const Collective& gather = (*analysis.after.collectives)[static_cast<size_t>(decision.collective)];
    const auto before = exposed.find(std::string(graph.name(decision.launch)));
    const auto node = [&](NodeId id) {
        return id == kNoNode ? Json(nullptr) : Json(std::string(graph.name(id)));
    };
    Json json = {{"launch", std::string(graph.name(decision.launch))},
                 {"parameter", gatheredParameters(graph, gather)},
                 {"group", gather.group == kNoGroup
                               ? Json(nullptr)
                               : Json(std::string(graph.text(graph.groups()[gather.group].name)))},
                 {"bytes", gather.output_bytes},
                 {"cur", decision.cur},
                 {"target", decision.target},
                 {"floor", decision.floor},
                 {"floor_node", node(decision.floor_node)},
                 {"first_consumer", decision.first_consumer},
                 {"comm_ns", nanoseconds(decision.comm_ns)},
                 {"need_ns", nanoseconds(decision.need_ns)},
                 {"carry_in_ns", nanoseconds(decision.carry_in_ns)},
                 {"window_ns", nanoseconds(decision.window_ns)},
                 {"verdict", std::string(verdictName(decision.verdict))},
                 {"reason", std::string(bindingReasonName(decision.reason))},
                 {"exposed_before_ns", before == exposed.end() ? Json(nullptr) : Json(before->second)},
                 {"exposed_after_ns",
                  analysis.after.timeline->transfers[static_cast<size_t>(decision.collective)].exposed_ns}};
    if (decision.reason == BindingReason::Ranks)
        json["held"] = {{"rank", decision.hold.rank.empty() ? Json(nullptr) : Json(decision.hold.rank)},
                        {"at_floor", decision.hold.at_floor},
                        {"behind", node(decision.hold.behind)},
                        {"slot", decision.hold.slot}};
    return json;
}

/// Exposure in the input order by launch name (a bucket's launch has none).
std::map<std::string, int64_t> exposedBefore(const Analysis& analysis) {
    std::map<std::string, int64_t> exposed;
    for (const Transfer& transfer : analysis.before.timeline->transfers) {
        const NodeId launch = (*analysis.before.collectives)[static_cast<size_t>(transfer.collective)].launch;
        if (launch != kNoNode)
            exposed[std::string(analysis.before.graph->name(launch))] = transfer.exposed_ns;
    }
    return exposed;
}

/// Collectives that were launched before the graph (document 004).
Json inFlightJson(const Analysis& analysis) {
    const Graph& graph = *analysis.after.graph;
    Json out = Json::array();
    for (const InFlightFacts& facts : inFlightFacts(analysis)) {
        const Collective& item = (*analysis.after.collectives)[static_cast<size_t>(facts.index)];
        const Transfer& transfer = analysis.after.timeline->transfers[static_cast<size_t>(facts.index)];
        Json waits = Json::array();
        for (const NodeId wait : item.waits)
            waits.push_back(std::string(graph.name(wait)));
        const bool missing = !facts.cost || facts.cost->provenance == Provenance::Missing;
        out.push_back(
            {{"input", std::string(graph.name(facts.input))},
             {"parameter", parameterName(graph, facts.input)},
             {"waits", std::move(waits)},
             {"first_use",
              facts.first_use == kNoNode ? Json(nullptr) : Json(std::string(graph.name(facts.first_use)))},
             {"bytes", item.output_bytes},
             {"duration_ns", missing ? Json(nullptr) : Json(facts.time.duration_ns)},
             {"elapsed_ns", facts.time.elapsed_ns},
             {"remaining_ns", facts.time.remaining()},
             {"provenance",
              std::string(provenanceName(missing ? Provenance::Missing : facts.cost->provenance))},
             {"wait_before", facts.wait_before ? Json(*facts.wait_before) : Json(nullptr)},
             {"wait_after", facts.wait_after},
             {"end_ns", transfer.end_ns},
             {"exposed_before_ns",
              facts.exposed_before_ns < 0 ? Json(nullptr) : Json(facts.exposed_before_ns)},
             {"exposed_after_ns", transfer.exposed_ns}});
    }
    return out;
}

Json scheduleJson(const Analysis& analysis) {
    const Schedule& schedule = *analysis.after.schedule;
    Json order = Json::array();
    for (const NodeId id : schedule.order)
        order.push_back(std::string(analysis.after.graph->name(id)));
    const auto exposed = exposedBefore(analysis);
    Json decisions = Json::array();
    for (const Decision& decision : schedule.decisions) {
        if (decision.verdict != Verdict::NotCandidate)
            decisions.push_back(decisionJson(analysis, decision, exposed));
    }
    Json json = {{"scheduler", schedule.scheduler},
                 {"moved", schedule.moved},
                 {"candidates", schedule.candidates},
                 {"order", std::move(order)},
                 {"decisions", std::move(decisions)}};
    if (!schedule.rank_mode.empty()) {
        json["rank_mode"] = schedule.rank_mode;
        json["rank_holds"] = schedule.rank_holds;
    }
    return json;
}

Json timelineJson(const Timeline& timeline) {
    return {{"step_ns", timeline.step_ns}, {"compute_ns", timeline.compute_ns},
            {"comm_ns", timeline.comm_ns}, {"exposed_ns", timeline.exposed_ns},
            {"idle_ns", timeline.idle_ns}, {"peak_gathered_bytes", timeline.peak_gathered_bytes}};
}

Json diagnosticsJson(const Diagnostics& diagnostics) {
    Json out = Json::array();
    for (const Diagnostic& item : diagnostics.all()) {
        out.push_back(
            {{"severity", severityName(item.severity)},
             {"code", item.code},
             {"where", {{"file", item.where.file}, {"line", item.where.line}, {"column", item.where.column}}},
             {"node", item.node},
             {"message", item.message},
             {"hint", item.hint}});
    }
    return out;
}

} // namespace

std::string writeAnalysisJson(const Analysis& analysis) {
    Json out = {{"format", "gatherscope.analysis"},
                {"version", kAnalysisJsonVersion},
                {"graph", graphJson(analysis.after)},
                {"settings", settingsJson(analysis.request.settings)},
                {"edits", editTexts(analysis.request.edits)},
                {"costs", costsJson(*analysis.after.costs)},
                {"schedule", scheduleJson(analysis)},
                {"simulation",
                 {{"before", timelineJson(*analysis.before.timeline)},
                  {"after", timelineJson(*analysis.after.timeline)},
                  {"lower_bound_ns", analysis.lower_bound_ns}}},
                {"diagnostics", diagnosticsJson(analysis.diagnostics)}};
    if (analysis.after.collectives->inFlightCount() > 0)
        out["in_flight_at_entry"] = inFlightJson(analysis);
    if (analysis.measured)
        out["measured"] = measuredObject(analysis, *analysis.measured);
    // Names come from files and may hold broken UTF-8; it is replaced, never an exception.
    return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Exporter analysisExporter() {
    return {"analysis", "Analysis JSON", "json", [](const Analysis& analysis, const ExportOptions&) {
                return Result<std::string>(writeAnalysisJson(analysis));
            }};
}

} // namespace gs
