// PyTorch 2.15's overlap scheduler against every golden of the reference: both orders, collectives, memory,
// buckets and the merged graph, exactly.
#include "import/importer.h"
#include "passes/merge_buckets.h"
#include "schedule/overlap_scheduler_upstream/overlap_upstream.h"
#include "schedule/scheduler.h"
#include "support/golden_count.h"
#include "support/golden_json.h"
#include "support/random_graph.h"
#include "support/test_data.h"

#include <QTest>
#include <map>
#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;
using namespace gs;

namespace {

/// What was compared, per kind.
std::map<std::string, size_t> counts;

struct Costs {
    std::vector<double> cost_ms, latency_ms;
};

/// The goldens' estimator: the table's numbers, and a latency that depends on where the group's ranks are.
Costs costsOf(const Graph& graph, const std::string& table, const Json& nodes) {
    Costs costs{std::vector<double>(graph.size(), 0), std::vector<double>(graph.size(), 0)};
    for (const auto& [name, ns] : nodes.items())
        costs.cost_ms[graph.find(name).value()] = static_cast<double>(ns.get<int64_t>()) / 1e6;
    const double scale = table == "commheavy" ? 4 : table == "commlight" ? 0.25 : 1;
    const CollectiveTable collectives(graph);
    for (const Collective& item : collectives.all()) {
        if (item.launch == kNoNode || item.group == kNoGroup)
            continue;
        const std::vector<int32_t>& ranks = graph.groups()[item.group].ranks;
        const bool one_block = std::all_of(ranks.begin(), ranks.end(),
                                           [&](int32_t rank) { return rank / 8 == ranks.front() / 8; });
        costs.latency_ms[item.launch] = (one_block ? 5000 : 12000) * scale / 1e6;
    }
    return costs;
}

std::optional<double> limit(const Json& run, const char* key, std::optional<double> fallback) {
    if (!run.contains(key))
        return fallback;
    return run.at(key).is_null() ? std::nullopt : std::optional<double>(run.at(key).get<double>());
}

UpstreamParameters parametersOf(const Json& run) {
    UpstreamParameters parameters;
    parameters.collective_bucketing = run.at("collective_bucketing");
    parameters.max_memory_increase_gb =
        limit(run, "max_memory_increase_gb", parameters.max_memory_increase_gb);
    parameters.max_memory_increase_ratio =
        limit(run, "max_memory_increase_ratio", parameters.max_memory_increase_ratio);
    parameters.max_in_flight_gb = run.value("max_in_flight_gb", parameters.max_in_flight_gb);
    parameters.max_compute_pre_fetch = run.value("max_compute_pre_fetch", parameters.max_compute_pre_fetch);
    return parameters;
}

Order orderOf(const Json& runs) {
    Order order;
    for (size_t i = 0; i + 1 < runs.size(); i += 2) {
        const auto first = runs[i].get<NodeId>();
        for (NodeId id = first; id < first + runs[i + 1].get<NodeId>(); ++id)
            order.push_back(id);
    }
    return order;
}

std::string compareOrder(const Graph& graph, const Order& want, const Order& got) {
    if (want.size() != got.size())
        return std::to_string(want.size()) + " vs " + std::to_string(got.size());
    for (size_t i = 0; i < want.size(); ++i) {
        if (want[i] != got[i])
            return "at " + std::to_string(i) + ": " + std::string(graph.name(want[i])) + " vs " +
                   std::string(graph.name(got[i]));
    }
    return {};
}

std::string compareCollectives(const Graph& graph, const Json& want, const UpstreamResult& got) {
    if (want.size() != got.collectives.size())
        return std::to_string(want.size()) + " vs " + std::to_string(got.collectives.size());
    for (size_t i = 0; i < want.size(); ++i) {
        const UpstreamCollective& ours = got.collectives[i];
        Json hiding = Json::array();
        for (const NodeId node : ours.hiding_nodes)
            hiding.push_back(std::string(graph.name(node)));
        const Json row = {std::string(graph.name(ours.start)),
                          std::string(graph.name(ours.wait)),
                          ours.size_bytes,
                          ours.estimated_ms,
                          ours.exposed_ms,
                          hiding};
        if (want[i] != row)
            return want[i].dump() + " vs " + row.dump();
    }
    counts["collectives"] += want.size();
    return {};
}

std::string compareMemory(const Json& want, const UpstreamResult& got) {
    const Json row = {got.original_peak_bytes,
                      got.rescheduled_peak_bytes < 0 ? Json() : Json(got.rescheduled_peak_bytes)};
    return want == row ? std::string() : want.dump() + " vs " + row.dump();
}

Json inputNames(const Graph& graph, NodeId id) {
    Json names = Json::array();
    for (const NodeId input : graph.inputs(id))
        names.push_back(std::string(graph.name(input)));
    return names;
}

/// The merged graph in its final order: a bare name is an unchanged node.
std::string compareNodes(const Graph& before, const MergedBuckets& got, const Json& want) {
    const Graph& graph = *got.graph;
    if (want.size() != got.order.size())
        return std::to_string(want.size()) + " vs " + std::to_string(got.order.size());
    for (size_t i = 0; i < want.size(); ++i) {
        const NodeId id = got.order[i];
        const std::string name(graph.name(id));
        const Json& node = want[i];
        const auto old = before.find(name);
        ++counts["merged nodes"];
        if ((node.is_string() ? node : node[0]) != name)
            return "at " + std::to_string(i) + ": " + name + " vs " + node.dump();
        const Json inputs = inputNames(graph, id);
        if (node.is_string() ? !old || inputNames(before, *old) != inputs
                             : node[1] != std::string(graph.targetText(id)) || node[2] != inputs ||
                                   (graph.node(id).op != NodeOp::Output &&
                                    node[3] != test::valueJson(graph, graph.value(id))))
            return name + " " + inputs.dump() + " vs " + node.dump();
    }
    return {};
}

std::string compareBuckets(const Graph& graph, const Json& want, const UpstreamResult& got) {
    Json buckets = Json::array();
    for (const auto& bucket : got.buckets.members) {
        Json names = Json::array();
        for (const NodeId member : bucket)
            names.push_back(std::string(graph.name(member)));
        buckets.push_back(names);
    }
    counts["buckets"] += buckets.size();
    return buckets == want ? std::string() : want.dump() + " vs " + buckets.dump();
}

std::string prefixed(const char* what, const std::string& text) {
    return text.empty() ? text : std::string(what) + " " + text;
}

/// Where the reference raises an exception, ours must give a valid program and say so.
std::string checkGoesOn(const Graph& graph, const UpstreamResult& got) {
    const MergedBuckets merged = mergeScheduledBuckets(graph, got.order, got.buckets);
    ++counts["error rows answered"];
    if (!merged.graph || findBrokenEdge(*merged.graph, merged.order))
        return "no valid merged program";
    const auto& said = merged.report.diagnostics.all();
    return std::any_of(said.begin(), said.end(),
                       [](const Diagnostic& item) { return item.code == "reference-fails"; })
               ? std::string()
               : "nothing says that the reference fails";
}

std::string compareRun(const Graph& graph, const Costs& costs, const Json& run) {
    const UpstreamResult got =
        scheduleOverlapUpstream(graph, costs.cost_ms, costs.latency_ms, parametersOf(run));
    if (!got.failures.empty())
        return "claims that the reference fails: " + std::string(got.failures.front().what);
    if (run.contains("error"))
        return checkGoesOn(graph, got);
    ++counts["runs equal"];
    std::string text =
        prefixed("scheduled", compareOrder(graph, orderOf(run.at("scheduled_order_runs")), got.scheduled));
    if (text.empty())
        text = prefixed("collective", compareCollectives(graph, run.at("collectives"), got));
    if (text.empty())
        text = prefixed("memory", compareMemory(run.at("memory"), got));
    if (text.empty() && run.contains("final_order_runs"))
        text = prefixed("final", compareOrder(graph, orderOf(run.at("final_order_runs")), got.order));
    if (text.empty() && run.contains("buckets")) {
        text = prefixed("buckets", compareBuckets(graph, run.at("buckets"), got));
        if (!text.empty())
            return text;
        const MergedBuckets merged = mergeScheduledBuckets(graph, got.order, got.buckets);
        if (!merged.graph || findBrokenEdge(*merged.graph, merged.order) ||
            findBrokenEdge(*merged.graph, identityOrder(*merged.graph)))
            return "the merged program is not valid";
        ++counts["merged graphs"];
        if (run.contains("nodes"))
            text = prefixed("nodes", compareNodes(graph, merged, run.at("nodes")));
    }
    return text;
}

std::string label(const Json& run) {
    return run.at("costs").get<std::string>() + (run.at("collective_bucketing").get<bool>() ? " bucketing"
                                                 : run.contains("max_in_flight_gb")         ? " small limits"
                                                 : run.contains("max_memory_increase_gb")   ? ""
                                                                                            : " memory");
}

} // namespace

class TestOverlapUpstreamGolden : public QObject {
    Q_OBJECT

private slots:
    void corpus() {
        size_t graphs = 0;
        std::string failures;
        std::map<std::string, size_t> not_run;
        for (const std::string& name : test::corpusGraphs()) {
            if (!hasGolden(name))
                continue;
            ++graphs;
            Diagnostics diagnostics;
            const auto imported =
                importGraph(*test::corpusPath("graphs/" + name + ".json"), -1, -1, diagnostics, {});
            QVERIFY2(imported.ok(), name.c_str());
            const Graph& graph = *imported->graph;
            const Json golden =
                Json::parse(test::readAll(*test::corpusPath("golden/overlap215/" + name + ".json")));
            std::map<std::string, Costs> tables;
            for (const Json& run : golden.at("runs")) {
                const std::string table = run.at("costs");
                if (!tables.count(table)) {
                    const auto file = test::corpusPath("costs/" + name + "." + table + ".json");
                    if (file)
                        tables[table] = costsOf(graph, table, Json::parse(test::readAll(*file)).at("nodes"));
                }
                if (!tables.count(table)) {
                    ++not_run["costs/" + name + "." + table + ".json"];
                    ++counts["runs not run"];
                    continue;
                }
                const std::string text = compareRun(graph, tables[table], run);
                if (!text.empty())
                    failures += name + " " + label(run) + ": " + text.substr(0, 600) + "\n";
            }
        }
        test::reportGoldens("overlap215", "corpus",
                            {counts["runs equal"], counts["error rows answered"], not_run});
        std::string table;
        for (const auto& [kind, count] : counts)
            table += ", " + std::to_string(count) + " " + kind;
        qInfo("%zu graphs%s", graphs, table.c_str());
        QVERIFY2(failures.empty(), failures.c_str());
        QVERIFY(counts["runs equal"] + counts["runs not run"] > 0);
    }

    /// Other families have no golden, but mutations, frees and kernels: every graph must get valid programs.
    void everyGraph() {
        std::map<std::string, size_t> said;
        size_t graphs = 0, buckets = 0;
        for (const std::string& name : test::corpusGraphs()) {
            Diagnostics diagnostics;
            auto imported =
                importGraph(*test::corpusPath("graphs/" + name + ".json"), -1, -1, diagnostics, {});
            QVERIFY2(imported.ok(), name.c_str());
            const Graph& graph = *imported->graph;
            const CollectiveTable collectives(graph);
            const CostTablePtr costs =
                test::makeCosts(graph, collectives, [](const Graph&, NodeId) { return 20'000; });
            ++graphs;
            for (const char* scheduler : {"overlap-scheduler-upstream", "overlap-scheduler"}) {
                Settings settings;
                QVERIFY(settings.set("collective_bucketing", "true").ok());
                const Schedule schedule =
                    findScheduler(scheduler)->run({graph, collectives, *costs, settings, {}});
                QVERIFY2(!findBrokenEdge(graph, schedule.order), name.c_str());
                const MergedBuckets merged = mergeScheduledBuckets(graph, schedule.order, schedule.buckets);
                QVERIFY2(merged.graph && !findBrokenEdge(*merged.graph, merged.order), name.c_str());
                buckets += schedule.buckets.members.size();
                for (const Diagnostics* all : {&schedule.diagnostics, &merged.report.diagnostics}) {
                    for (const Diagnostic& item : all->all())
                        ++said[item.code];
                }
            }
        }
        std::string table;
        for (const auto& [code, count] : said)
            table += ", " + std::to_string(count) + " " + code;
        qInfo("%zu graphs with both schedulers valid, %zu buckets%s", graphs, buckets, table.c_str());
        QVERIFY(!said.count("order-dropped"));
    }

private:
    static bool hasGolden(const std::string& name) {
        // Families without a golden of this scheduler: not ATen-level, inputs of other passes, or too large.
        for (const char* prefix : {"dynamo_", "prim29_", "snodes_", "tagged_", "llama3_70b", "llama3_405b"}) {
            if (name.starts_with(prefix))
                return false;
        }
        return test::corpusPath("golden/overlap215/" + name + ".json").has_value();
    }
};

QTEST_GUILESS_MAIN(TestOverlapUpstreamGolden)
#include "tst_overlap_upstream_golden.moc"
