// Document 002's pass against every golden of the reference: matches, constraints, all runs, both passes.
#include "graph/graph_builder.h"
#include "import/importer.h"
#include "schedule/parameter_prefetch/parameter_prefetch.h"
#include "schedule/parameter_prefetch/program_list.h"
#include "support/golden_count.h"
#include "support/test_data.h"

#include <QTest>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

using Json = nlohmann::json;
using namespace gs;

namespace {

Json names(const Graph& graph, const std::vector<NodeId>& nodes) {
    Json out = Json::array();
    for (const NodeId id : nodes)
        out.push_back(std::string(graph.name(id)));
    return out;
}

/// Runs of consecutive node indices, as goldens store orders.
Json runsOf(const Order& order) {
    Json runs = Json::array();
    for (size_t i = 0; i < order.size();) {
        size_t end = i + 1;
        while (end < order.size() && order[end] == order[end - 1] + 1)
            ++end;
        runs.push_back(order[i]);
        runs.push_back(end - i);
        i = end;
    }
    return runs;
}

Json countsOf(const PrefetchResult& result) {
    return {{"forward", result.forward}, {"backward", result.backward}, {"sunk", result.sunk}};
}

struct Loaded {
    GraphPtr graph;
    std::shared_ptr<CollectiveTable> collectives;
    FsdpTags tags;
};

std::optional<Loaded> load(const std::string& name) {
    const auto path = test::corpusPath("graphs/" + name + ".json");
    if (!path)
        return std::nullopt;
    Diagnostics diagnostics;
    auto imported = importGraph(*path, -1, -1, diagnostics, {});
    if (!imported)
        return std::nullopt;
    Loaded loaded{imported->graph, std::make_shared<CollectiveTable>(*imported->graph), {}};
    loaded.tags = readFsdpTags(*loaded.graph, *loaded.collectives, false);
    return loaded;
}

std::string compareFinds(const Json& golden, const Loaded& item) {
    const Graph& graph = *item.graph;
    const Order order = identityOrder(graph);
    const std::vector<PrefetchMatch> matches = collectMatches(graph, item.tags, order);
    Json found = Json::array();
    for (const PrefetchMatch& match : matches)
        found.push_back({std::string(graph.name(match.launch)), names(graph, match.realization),
                         std::string(graph.name(match.first_user)),
                         names(graph, launchChain(graph, match.launch))});
    if (found != golden.at("matches"))
        return "matches\n" + found.dump() + "\n" + golden.at("matches").dump();
    Json constraints = Json::object();
    const auto all = launchConstraints(graph, item.tags, order);
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (!all[id].empty())
            constraints[std::string(graph.name(id))] = names(graph, all[id]);
    }
    return constraints == golden.at("constraints")
               ? std::string()
               : "constraints\n" + constraints.dump() + "\n" + golden.at("constraints").dump();
}

std::string compareRun(const Json& run, const Loaded& item) {
    const Graph& graph = *item.graph;
    PrefetchOptions options;
    options.forward_depth = run.at("forward_depth");
    options.backward_depth = run.at("backward_depth");
    options.budget_bytes =
        static_cast<int64_t>(run.at("max_in_flight_gb").get<double>() * 1024 * 1024 * 1024);
    const PrefetchResult first = prefetchParameters(graph, item.tags, options, identityOrder(graph)).value();
    if (countsOf(first) !=
        Json({{"forward", run.at("forward")}, {"backward", run.at("backward")}, {"sunk", run.at("sunk")}}))
        return "counts " + countsOf(first).dump();
    if (runsOf(first.order) != run.at("order_runs"))
        return "order";
    Json anchors = Json::object();
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (first.anchor[id] != kNoNode)
            anchors[std::string(graph.name(id))] = std::string(graph.name(first.anchor[id]));
    }
    if (anchors != run.at("anchors"))
        return "anchors " + anchors.dump();
    const PrefetchResult again =
        prefetchParameters(graph, item.tags, options, first.order, first.anchor).value();
    if (countsOf(again) != run.at("again"))
        return "again: counts " + countsOf(again).dump();
    const Json again_runs =
        run.at("again_order_runs") == "same" ? run.at("order_runs") : run.at("again_order_runs");
    if (runsOf(again.order) != again_runs)
        return "again: order";
    return findBrokenEdge(graph, first.order) ? "an edge is broken" : std::string();
}

} // namespace

class TestParameterPrefetchGolden : public QObject {
    Q_OBJECT

private slots:
    void programListKeepsOrder() {
        std::mt19937 random(7);
        Order expected(300);
        for (NodeId i = 0; i < expected.size(); ++i)
            expected[i] = i;
        ProgramList list(expected);
        for (int step = 0; step < 5000; ++step) {
            // Mostly to one place, so that labels run out there.
            const NodeId id = static_cast<NodeId>(random() % 300);
            const NodeId place = step % 3 == 0 ? static_cast<NodeId>(random() % 300) : 150;
            list.moveBefore(id, place);
            if (id != place) {
                expected.erase(std::find(expected.begin(), expected.end(), id));
                expected.insert(std::find(expected.begin(), expected.end(), place), id);
            }
        }
        QVERIFY(list.order() == expected);
        for (size_t i = 1; i < expected.size(); ++i)
            QVERIFY(list.before(expected[i - 1], expected[i]));
    }

    void golden() {
        size_t graphs = 0, matches = 0, not_run = 0;
        test::GoldenCount count;
        for (const std::string& name : test::corpusGraphs()) {
            if (name.rfind("tagged_", 0) != 0)
                continue;
            const auto path = test::corpusPath("golden/param_gather/" + name + ".json");
            const auto item = load(name);
            if (!path || !item) {
                ++not_run;
                continue;
            }
            const Json golden = Json::parse(test::readAll(*path));
            QVERIFY(!item->tags.derived_gathers && !item->tags.derived_phases);
            const std::string finds = compareFinds(golden, *item);
            QVERIFY2(finds.empty(), (name + ": " + finds).c_str());
            matches += golden.at("matches").size();
            for (const Json& run : golden.at("runs")) {
                const std::string text = compareRun(run, *item);
                QVERIFY2(text.empty(), (name + " depth " + run.at("forward_depth").dump() + "/" +
                                        run.at("backward_depth").dump() + " budget " +
                                        run.at("max_in_flight_gb").dump() + ": " + text)
                                           .c_str());
                ++count.compared;
            }
            ++graphs;
        }
        qInfo("%zu graphs, %zu matches, %zu runs of two passes each equal; %zu graphs not run", graphs,
              matches, count.compared, not_run);
        test::reportGoldens("param_gather", "corpus", count);
        QVERIFY(graphs > 0 || not_run > 0 || test::corpusGraphs().empty());
    }

    void badDepth() {
        GraphBuilder builder;
        builder.addNode("x", NodeOp::Placeholder, "x");
        const GraphPtr graph = builder.finish(nullptr);
        const CollectiveTable collectives(*graph);
        PrefetchOptions options;
        options.backward_depth = -1;
        const auto result = prefetchParameters(*graph, readFsdpTags(*graph, collectives, false), options,
                                               identityOrder(*graph));
        QVERIFY(!result);
        QCOMPARE(result.error().code, std::string("bad-depth"));
        QVERIFY(result.error().message.find("backward_depth") != std::string::npos);
        Settings settings;
        for (const char* bad : {"-1", "1.5", "true", "", "two"}) {
            QVERIFY2(!settings.set("forward_depth", bad), bad);
            QVERIFY2(!settings.set("backward_depth", bad), bad);
        }
        QVERIFY(settings.set("forward_depth", "3").ok());
    }
};

QTEST_GUILESS_MAIN(TestParameterPrefetchGolden)
#include "tst_parameter_prefetch_golden.moc"
