#include "export/bundle.h"

#include "analysis/bundle_request.h"
#include "base/hash.h"
#include "base/version.h"
#include "cost/cost_sources.h"
#include "export/analysis_json.h"
#include "export/bundle_ranks.h"
#include "export/exporters.h"
#include "export/graph_json.h"
#include "export/warnings.h"
#include "import/bundle_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// True if a file or a profile gave costs: opened again, the bundle stands for them.
bool isMeasured(const CostTable& costs) {
    return costs.count(Provenance::Measured) + costs.count(Provenance::Reused) +
               costs.count(Provenance::Imported) + costs.count(Provenance::Interpolated) +
               costs.count(Provenance::Extrapolated) >
           0;
}

Json requestJson(const Analysis& analysis) {
    const AnalysisRequest& request = analysis.request;
    // What other ranks and a scheduler's limits made of the settings comes of them again; what a profile said
    // of contention is gone with the store.
    Settings asked = withoutStore(analysis.asked);
    if (asked.flag(Setting::MeasuredContention)) {
        for (const Setting key : {Setting::Contention, Setting::ComputeSlowdown})
            static_cast<void>(asked.set(key, request.settings.text(key)));
    }
    Json settings = Json::object();
    for (const SettingSpec& spec : settingSpecs())
        settings[std::string(spec.name)] = asked.text(spec.key);
    Json overrides = Json::object();
    for (const auto& [key, ns] : request.cost_overrides)
        overrides[key] = ns;
    return {{"graph_file", analysis.source.graph->info().source_file},
            {"settings", std::move(settings)},
            {"edits", editTexts(request.edits)},
            {"cost_overrides", std::move(overrides)},
            {"cost_pins", request.cost_pins},
            {"cost_files", request.cost_files},
            {"measured", isMeasured(*analysis.before.costs) || isMeasured(*analysis.after.costs)}};
}

std::string orderHash(const Program& program) {
    Hash64 hash;
    for (const NodeId id : program.schedule->order)
        hash.text(program.graph->name(id));
    return hexDigits(hash.value());
}

std::string costLines(const Graph& graph, const CostTable& costs) {
    std::string out;
    for (const CostEntry& entry : costs.entries()) {
        Json item = {{"key", entry.key},
                     {"kind", entry.kind},
                     {"label", entry.label},
                     {"ns", entry.provenance == Provenance::Missing ? Json(nullptr) : Json(entry.ns)},
                     {"provenance", provenanceName(entry.provenance)},
                     {"source", entry.source},
                     {"note", entry.note}};
        for (const auto& [name, value] :
             {std::pair("analytical_ns", entry.analytical_ns), std::pair("spread_ns", entry.spread_ns),
              std::pair("rank_skew_ns", entry.rank_skew_ns)}) {
            if (value >= 0)
                item[name] = value;
        }
        if (entry.samples > 0)
            item["samples"] = entry.samples;
        Json nodes = Json::array();
        for (const NodeId id : entry.nodes)
            nodes.push_back(graph.name(id));
        item["nodes"] = std::move(nodes);
        out += (out.empty() ? "\n" : ",\n") + dump(item);
    }
    return "[" + out + "]";
}

/// The tables before comm_scale multiplied the transfers: opening the bundle multiplies them again.
std::string costsJson(const Analysis& analysis) {
    CostTablePtr before = analysis.before.costs, after = analysis.after.costs;
    if (analysis.request.settings.number(Setting::CommScale) != 1) {
        Diagnostics ignored;
        Result<CostChain> chain = makeCostChain(analysis.request.cost_files, analysis.request.settings,
                                                ignored, {}, analysis.request.cost_pins);
        if (chain) {
            chain->comm_scale = 1;
            chain->overrides = analysis.request.cost_overrides;
            before = after = priceGraph(*analysis.after.graph, *analysis.after.collectives, chain.value());
            if (analysis.before.graph != analysis.after.graph)
                before = priceGraph(*analysis.before.graph, *analysis.before.collectives, chain.value());
        }
    }
    std::string out = "{\"after\":" + costLines(*analysis.after.graph, *after);
    if (before != after)
        out += ",\n\"before\":" + costLines(*analysis.before.graph, *before);
    return out + "}";
}

std::string diagnosticLines(const Diagnostics& diagnostics) {
    std::string out;
    for (const Diagnostic& item : diagnostics.all())
        out += (out.empty() ? "\n" : ",\n") +
               dump({{"severity", severityName(item.severity)},
                     {"code", item.code},
                     {"where",
                      {{"file", item.where.file}, {"line", item.where.line}, {"column", item.where.column}}},
                     {"node", item.node},
                     {"message", item.message},
                     {"hint", item.hint}});
    return "[" + out + "]";
}

std::vector<std::string> leftOut(const Analysis& analysis, const ExportOptions&) {
    std::vector<std::string> out;
    if (!analysis.request.trace_files.empty())
        out.push_back("the trace laid over the simulation is not in the bundle");
    return out;
}

} // namespace

/// A hash of each part, so that a change by hand shows.
Json partHashes(const std::vector<std::pair<std::string_view, std::string>>& members) {
    simdjson::dom::parser parser;
    Json out = Json::object();
    for (const auto& [name, text] : members) {
        simdjson::dom::element value;
        if (parser.parse(text).get(value) == simdjson::SUCCESS)
            out[std::string(name)] = bundlePartHash(value);
    }
    return out;
}

std::string writeBundle(const Analysis& analysed) {
    Analysis analysis = analysed; // as it is when the bundle is opened
    analysis.request.settings = withoutStore(std::move(analysis.request.settings));
    const Json versions = {{"gatherscope", programVersion()},
                           {"producer", analysis.source.graph->info().producer}};
    std::vector<std::pair<std::string_view, std::string>> members{
        {"versions", dump(versions)},
        {"request", dump(requestJson(analysis))},
        {"input_diagnostics", diagnosticLines(analysis.input_diagnostics)},
        {"cost_diagnostics", diagnosticLines(analysis.cost_diagnostics)},
        {"costs", costsJson(analysed)},
        {"ranks", bundleRanks(analysed)},
        {"graph", writeGraphJson(*analysis.source.graph, true)},
        {"analysis", writeAnalysisJson(analysis)}};
    const Json hashes = {{"source", hexDigits(analysis.source.graph->structuralHash())},
                         {"before", hexDigits(analysis.before.graph->structuralHash())},
                         {"after", hexDigits(analysis.after.graph->structuralHash())},
                         {"order", orderHash(analysis.after)},
                         {"parts", partHashes(members)}};
    members.insert(members.begin() + 1, {"hashes", dump(hashes)});
    std::string out = fmt::format("{{\"format\":\"gatherscope.bundle\",\"version\":{},\n", kBundleVersion);
    for (auto& [name, text] : members) {
        while (text.ends_with('\n'))
            text.pop_back();
        out += fmt::format("{}\"{}\":{}", name == "versions" ? "" : ",\n", name, text);
    }
    return out + "\n}\n";
}

Exporter bundleExporter() {
    return {"bundle", "Bundle: graph, costs, settings and decisions (one JSON)", "bundle.json",
            [](const Analysis& analysis, const ExportOptions&) {
                return Result<std::string>(writeBundle(analysis));
            },
            leftOut};
}

} // namespace gs
