// Collectives in flight when the graph starts (document 004): their costs, their part in the simulated step,
// and that no pass or scheduler loses their waits.
#include "analysis/analysis.h"
#include "cost/cost_sources.h"
#include "export/exporter.h"
#include "graph/graph_builder.h"
#include "passes/pass.h"
#include "schedule/scheduler.h"
#include "support/edge_graphs.h"
#include "support/random_graph.h"
#include "support/test_data.h"

#include <QTest>
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace gs;

namespace {

Value tensor(int64_t rows) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = DType::BFloat16;
    value.tensor.shape = {{rows, kEmptyString}, {8, kEmptyString}};
    return value;
}

/// Inputs p, q; compute a, b, c of which b reads what p's wait gives and c what q's gives.
GraphPtr twoInputs() {
    GraphBuilder b;
    for (const char* name : {"p", "q"})
        b.setValue(b.addNode(name, NodeOp::Placeholder, name), tensor(16));
    const auto add = [&](const char* name, const char* target, std::vector<const char*> inputs) {
        const NodeId id = b.addNode(name, NodeOp::CallFunction, target);
        std::vector<Arg> args;
        for (const char* input : inputs)
            args.push_back(b.nodeArg(input, id));
        b.setArgs(id, args);
        b.setValue(id, tensor(16));
    };
    add("a", "aten.relu.default", {});
    add("w", "_c10d_functional.wait_tensor.default", {"p"});
    add("b", "aten.relu.default", {"w"});
    add("v", "_c10d_functional.wait_tensor.default", {"q"});
    add("c", "aten.relu.default", {"v"});
    return b.finish(nullptr);
}

/// Says what a map says, by node name.
class NamedCosts : public CostModel {
public:
    std::map<std::string, int64_t> ns;
    std::string name() const override { return "file"; }
    std::string source() const override { return "named"; }
    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable&,
                                         NodeId id) const override {
        const auto found = ns.find(std::string(graph.name(id)));
        if (found == ns.end())
            return std::nullopt;
        return CostEstimate{found->second, Provenance::Imported, {}};
    }
};

struct Priced {
    GraphPtr graph = twoInputs();
    CollectiveTable collectives{*graph};
    CostChain chain;
    CostTablePtr costs;

    explicit Priced(std::map<std::string, int64_t> named, const std::string& in_flight = "none",
                    const std::string& elapsed = "none") {
        auto model = std::make_shared<NamedCosts>();
        model->ns = std::move(named);
        chain.models.push_back(model);
        chain.in_flight = parseInFlightTimes("in_flight_ns", in_flight).value();
        chain.in_flight_elapsed = parseInFlightTimes("in_flight_elapsed_ns", elapsed).value();
        costs = priceGraph(*graph, collectives, chain);
    }
    const CostEntry& entry(const char* input) const { return *costs->entry(*graph->find(input)); }
    InFlightTime time(const char* input) const {
        return costs->inFlight(static_cast<size_t>(collectives.indexOf(*graph->find(input))));
    }
    TimelinePtr simulated(const SimulationSettings& settings = {}) const {
        return simulate(*graph, collectives, *costs, identityOrder(*graph), settings);
    }
    int64_t bound() const { return stepLowerBound(*graph, collectives, *costs, {}); }
};

const std::map<std::string, int64_t> kCompute = {{"a", 600}, {"b", 300}, {"c", 100}};

std::map<std::string, int64_t> with(const std::map<std::string, int64_t>& more) {
    std::map<std::string, int64_t> all = kCompute;
    all.insert(more.begin(), more.end());
    return all;
}

std::vector<std::string> waitsForInputs(const Graph& graph) {
    std::vector<std::string> names;
    const CollectiveTable collectives(graph);
    for (const Collective& item : collectives.all()) {
        for (const NodeId wait : item.waits) {
            if (item.inFlightAtEntry())
                names.emplace_back(graph.name(wait));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace

class TestInFlight : public QObject {
    Q_OBJECT
private slots:
    void settingsAreParsed() {
        QCOMPARE(parseInFlightTimes("s", "none")->all_ns, -1);
        QCOMPARE(parseInFlightTimes("s", " 1500 ")->all_ns, 1500);
        const InFlightTimes named = parseInFlightTimes("s", "w=5, layers.0.weight=70").value();
        QCOMPARE(named.by_name.at("w"), 5);
        QCOMPARE(named.by_name.at("layers.0.weight"), 70);
        for (const char* bad :
             {"-1", "many", "1.5", "w=", "=3", "w=3,", "w=3,v", "w=3,w=4", "w=x", "100000000000001"}) {
            const auto faulty = parseInFlightTimes("in_flight_ns", bad);
            QVERIFY2(!faulty.ok(), bad);
            QCOMPARE(faulty.error().code, std::string("bad-setting"));
            QVERIFY(faulty.error().message.starts_with("in_flight_ns: "));
            QVERIFY(!faulty.error().hint.empty());
        }
    }

    void durationsComeFromCostsOrTheUser() {
        const Priced missing(kCompute);
        QCOMPARE(missing.entry("p").provenance, Provenance::Missing);
        QCOMPARE(missing.costs->count(Provenance::Missing), size_t{1}); // equal inputs, one entry
        QCOMPARE(missing.time("p").remaining(), 0);

        const Priced by_wait(with({{"w", 900}, {"q", 50}}));
        QCOMPARE(by_wait.entry("p").ns, 900);
        QCOMPARE(by_wait.entry("p").provenance, Provenance::Imported);
        QCOMPARE(by_wait.entry("p").kind, std::string("in_flight"));
        QCOMPARE(by_wait.time("q").duration_ns, 50);
        for (const char* name : {"p", "w", "q", "v"}) // no stream runs them
            QCOMPARE(by_wait.costs->ns(*by_wait.graph->find(name)), 0);

        const Priced user(with({{"w", 900}, {"q", 50}}), "p=700", "v=20");
        QCOMPARE(user.entry("p").provenance, Provenance::User);
        QCOMPARE(user.time("p").remaining(), 700);
        QCOMPARE(user.time("q").remaining(), 30);

        const Priced all(with({{"w", 900}}), "200", "300");
        QCOMPARE(all.time("p").duration_ns, 200);
        QCOMPARE(all.time("q").remaining(), 0); // done when the graph starts
    }

    void aKeyOverrideCountsForAllEqualInputs() {
        Priced p(with({{"w", 900}}));
        const std::string key = p.entry("p").key;
        QCOMPARE(key, std::string("in_flight bf16[16,8]"));
        p.chain.overrides[key] = 40;
        p.costs = priceGraph(*p.graph, p.collectives, p.chain);
        QCOMPARE(p.time("p").duration_ns, 40);
        QCOMPARE(p.time("q").duration_ns, 40);
        QCOMPARE(p.entry("p").provenance, Provenance::User);
    }

    void analyticalCostsDoNotGuess() {
        const GraphPtr graph = twoInputs();
        const CollectiveTable collectives(*graph);
        Diagnostics diagnostics;
        const CostChain chain = makeCostChain({}, {}, diagnostics).value();
        const CostTablePtr costs = priceGraph(*graph, collectives, chain);
        QCOMPARE(costs->entry(*graph->find("p"))->provenance, Provenance::Missing);
        QCOMPARE(costs->count(Provenance::Missing), size_t{1});
    }

    /// p takes 1000, q 1050: b's wait stalls 400, then b covers what is left of q. Both run at once.
    void simulatedByHand() {
        const Priced p(kCompute, "p=1000,q=1050");
        const TimelinePtr t = p.simulated();
        QCOMPARE(t->streams.size(), size_t{2});
        QVERIFY(t->streams[0].in_flight && t->streams[1].in_flight);
        QCOMPARE(t->exposed_ns, 400);
        QCOMPARE(t->step_ns, 600 + 400 + 300 + 100);
        for (const Transfer& transfer : t->transfers) {
            QCOMPARE(transfer.launched_ns, 0);
            QCOMPARE(transfer.start_ns, 0);
        }
        QCOMPARE(t->transfers[0].end_ns, 1000);
        QCOMPARE(t->transfers[1].end_ns, 1050);
        QCOMPARE(p.bound(), 1400); // what is left of p, then b and c, which no order can run before
        QCOMPARE(Priced(kCompute, "p=1000", "p=900").simulated()->exposed_ns, 0);
    }

    void contentionSlowsThemToo() {
        SimulationSettings settings;
        settings.contention = 2;
        const TimelinePtr t = Priced(kCompute, "p=1000").simulated(settings);
        QCOMPARE(t->exposed_ns, 700); // 600 of compute hide 300 of it
    }

    void nothingLeftMeansNothingChanges() {
        const TimelinePtr t = Priced(kCompute).simulated();
        QCOMPARE(t->step_ns, 1000);
        QCOMPARE(t->exposed_ns, 0);
        QCOMPARE(t->streams.size(), size_t{1});
    }

    void overlapSchedulerDefersTheirWaits() {
        // a is independent of p: the wait that stands in front of it goes behind.
        GraphBuilder b;
        b.setValue(b.addNode("p", NodeOp::Placeholder, "p"), tensor(16));
        const NodeId w = b.addNode("w", NodeOp::CallFunction, "_c10d_functional.wait_tensor.default");
        b.setArgs(w, {b.nodeArg(0)});
        const NodeId a = b.addNode("a", NodeOp::CallFunction, "aten.mm.default");
        const NodeId c = b.addNode("c", NodeOp::CallFunction, "aten.mm.default");
        b.setArgs(c, {b.nodeArg(a), b.nodeArg(w)});
        b.setArgs(b.addNode("output", NodeOp::Output, "output"), {b.nodeArg(c)});
        const GraphPtr graph = b.finish(nullptr);
        const CollectiveTable collectives(*graph);
        CostChain chain;
        auto model = std::make_shared<NamedCosts>();
        model->ns = {{"a", 1'000'000}, {"c", 1'000'000}};
        chain.models.push_back(model);
        chain.in_flight = parseInFlightTimes("in_flight_ns", "p=500000").value();
        const CostTablePtr costs = priceGraph(*graph, collectives, chain);
        const Schedule schedule =
            findScheduler("overlap-scheduler")->run({*graph, collectives, *costs, {}, {}});
        const auto position = positionsOf(schedule.order);
        QVERIFY(position[a] < position[w] && position[w] < position[c]);
        QCOMPARE(simulate(*graph, collectives, *costs, schedule.order, {})->exposed_ns, 0);
        QCOMPARE(simulate(*graph, collectives, *costs, identityOrder(*graph), {})->exposed_ns, 500'000);
    }

    void noSchedulerOrPassLosesAWait() {
        std::vector<GraphPtr> graphs = test::edgeGraphs();
        if (const auto path = test::corpusPath("graphs/partial_wait_on_input.json")) {
            Diagnostics diagnostics;
            graphs.push_back(importGraph(*path, -1, -1, diagnostics, {})->graph);
        }
        size_t waits = 0;
        for (const GraphPtr& graph : graphs) {
            const CollectiveTable collectives(*graph);
            const CostTablePtr costs =
                test::makeCosts(*graph, collectives, [](const Graph&, NodeId) { return 20'000; });
            const std::vector<std::string> want = waitsForInputs(*graph);
            waits += want.size();
            for (const SchedulerInfo& info : schedulers()) {
                const Schedule schedule = info.run({*graph, collectives, *costs, {}, {}});
                QVERIFY2(!findBrokenEdge(*graph, schedule.order), graph->info().name.c_str());
            }
            QCOMPARE(waitsForInputs(*bucketFsdp(graph, {}).graph), want);
            QCOMPARE(waitsForInputs(*bucketCoalesced(graph, {}).graph), want);
            QCOMPARE(waitsForInputs(*lowerRedistributes(graph, {}).graph), want);
        }
        qInfo("%zu waits for graph inputs in %zu graphs kept by every scheduler and pass", waits,
              graphs.size());
    }

    void analysed() {
        const auto path = test::corpusPath("graphs/partial_wait_on_input.json");
        if (!path)
            return;
        AnalysisRequest request;
        request.graph_file = *path;
        QVERIFY(request.settings.set("in_flight_ns", "arg3_1=9000000,nobody=3").ok());
        const auto analysis = Analyser().analyse(request, {});
        QVERIFY(analysis.ok());
        const auto count = [&](const char* code) {
            const auto& all = analysis.value()->diagnostics.all();
            return std::count_if(all.begin(), all.end(), [&](const Diagnostic& d) { return d.code == code; });
        };
        QCOMPARE(count("in-flight-at-entry"), 2);
        QCOMPARE(count("unknown-in-flight-name"), 1);
        QCOMPARE(count("missing-in-flight-costs"), 1);
        QVERIFY(analysis.value()->before.timeline->exposed_ns > 0);
        QVERIFY(analysis.value()->lower_bound_ns <= analysis.value()->after.timeline->step_ns);
        checkExports(*analysis.value());
        QVERIFY(request.settings.set("in_flight_ns", "arg3_1").ok());
        QCOMPARE(Analyser().analyse(request, {}).error().code, std::string("bad-setting"));
    }

private:
    static void checkExports(const Analysis& analysis) {
        std::map<std::string, std::string> texts;
        for (const Exporter& exporter : exporters()) {
            if (Result<std::string> text = exporter.write(analysis); text.ok())
                texts[std::string(exporter.name)] = std::move(text).value();
        }
        const auto json = nlohmann::json::parse(texts.at("analysis"));
        const auto& rows = json.at("in_flight_at_entry");
        QCOMPARE(rows.size(), size_t{2});
        QCOMPARE(rows[0].at("input").get<std::string>(), std::string("arg3_1"));
        QCOMPARE(rows[0].at("remaining_ns").get<int64_t>(), 9'000'000);
        QVERIFY(rows[0].at("exposed_after_ns").get<int64_t>() > 0);
        QCOMPARE(rows[1].at("provenance").get<std::string>(), std::string("missing"));
        QVERIFY(rows[1].at("duration_ns").is_null());
        QCOMPARE(json.at("graph").at("collectives").at("in_flight").get<int>(), 2);
        QVERIFY(texts.at("transfers-csv").find("before,,in_flight,,wait_tensor,") != std::string::npos);
        QVERIFY(texts.at("trace").find("in flight at entry: arg3_1") != std::string::npos);
        QVERIFY(texts.at("costs-csv").find("in flight at entry bf16") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestInFlight)
#include "tst_in_flight.moc"
