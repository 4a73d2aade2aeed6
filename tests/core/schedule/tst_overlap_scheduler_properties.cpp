// Document 003's scheduler on random programs: valid orders, budget, accounting, decisions.
#include "graph/graph_builder.h"
#include "schedule/overlap_scheduler/overlap_scheduler.h"
#include "support/random_graph.h"

#include <QTest>
#include <set>

using namespace gs;

namespace {

constexpr uint32_t kSeeds = 400;

struct Case {
    GraphPtr graph;
    std::unique_ptr<CollectiveTable> collectives;
    CostTablePtr costs;
    std::vector<double> cost_ms;
    OverlapParameters parameters;
};

Case makeCase(uint32_t seed, double coalesced) {
    test::RandomGraphOptions options;
    options.layers = 2 + static_cast<int>(seed % 9);
    options.groups = 1 + static_cast<int>(seed % 3);
    options.coalesced = coalesced;
    Case c;
    c.graph = test::randomGraph(seed, options);
    c.collectives = std::make_unique<CollectiveTable>(*c.graph);
    c.costs = test::randomCosts(*c.graph, *c.collectives, seed);
    for (const int64_t ns : c.costs->all())
        c.cost_ms.push_back(static_cast<double>(ns) / 1e6);
    c.parameters.max_in_flight_gb = seed % 3 == 0 ? 2.0 : 0.0001;
    c.parameters.compute_overlap_multipler = 1.0 + seed % 2;
    c.parameters.max_coll_distance = seed % 4 == 0 ? 10 : 1000;
    return c;
}

std::string label(uint32_t seed) {
    return "seed " + std::to_string(seed);
}

} // namespace

class TestOverlapSchedulerProperties : public QObject {
    Q_OBJECT

private slots:
    void ordersAreValid() {
        size_t failing = 0;
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            const Case c = makeCase(seed, 0.3);
            Settings settings;
            QVERIFY(settings.set("max_in_flight_gb", seed % 3 == 0 ? "2" : "0.001").ok());
            const Schedule schedule =
                findScheduler("overlap-scheduler")->run({*c.graph, *c.collectives, *c.costs, settings, {}});
            QVERIFY2(!findBrokenEdge(*c.graph, schedule.order), label(seed).c_str());
            std::set<std::string> codes;
            for (const Diagnostic& item : schedule.diagnostics.all())
                codes.insert(item.code);
            QVERIFY2(!codes.count("order-dropped"), label(seed).c_str());
            OverlapParameters parameters = c.parameters;
            parameters.keep_order_edges = true;
            const OverlapResult kept_edges = scheduleOverlap(*c.graph, c.cost_ms, parameters);
            QVERIFY2(!findBrokenEdge(*c.graph, kept_edges.order), label(seed).c_str());
            const bool coalesced = std::any_of(c.collectives->all().begin(), c.collectives->all().end(),
                                               [](const Collective& item) { return !item.unpacks.empty(); });
            QCOMPARE(codes.count("reference-fails") == 1, coalesced);
            failing += coalesced ? 1 : 0;
        }
        qInfo("%u graphs, %zu where the reference fails", kSeeds, failing);
        QVERIFY(failing > 0);
    }

    void budgetIsKept() {
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            const Case c = makeCase(seed, 0.3);
            const OverlapResult result = scheduleOverlap(*c.graph, c.cost_ms, c.parameters);
            const auto position = positionsOf(result.order);
            // Bytes change after the launch at its position, and after the last wait at its own.
            std::vector<int64_t> change(c.graph->size(), 0);
            for (const OverlapCollective& item : result.collectives) {
                uint32_t last = 0;
                for (const NodeId wait : item.waits)
                    last = std::max(last, position[wait]);
                change[position[item.start]] += item.size_bytes;
                change[last] -= item.size_bytes;
            }
            const auto budget = static_cast<int64_t>(c.parameters.max_in_flight_gb * 1024 * 1024 * 1024);
            int64_t in_flight = 0;
            for (size_t at = 0; at < change.size(); ++at) {
                QVERIFY2(change[at] <= 0 || in_flight < budget, label(seed).c_str());
                in_flight += change[at];
            }
            QCOMPARE(in_flight, 0);
        }
    }

    /// What is hidden is covered by compute, and the node that hides the last of it runs in between.
    void hidingIsAccounted() {
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            const Case c = makeCase(seed, 0.3);
            const OverlapResult result = scheduleOverlap(*c.graph, c.cost_ms, c.parameters);
            const auto position = positionsOf(result.order);
            const std::vector<bool> is_compute = overlapComputeNodes(*c.graph, false);
            double compute_ms = 0, hidden_ms = 0;
            for (NodeId id = 0; id < c.graph->size(); ++id)
                compute_ms += is_compute[id] ? c.cost_ms[id] * c.parameters.compute_overlap_multipler : 0;
            for (const OverlapCollective& item : result.collectives) {
                QVERIFY(item.exposed_ms >= 0 && item.exposed_ms <= item.estimated_ms);
                hidden_ms += item.estimated_ms - item.exposed_ms;
                QCOMPARE(item.hiding_node != kNoNode, item.exposed_ms == 0 && item.estimated_ms > 0);
                if (item.hiding_node == kNoNode)
                    continue;
                QVERIFY2(is_compute[item.hiding_node], label(seed).c_str());
                // Compute behind one wait of several can hide what the others still wait for.
                QVERIFY2(item.potentially_hidden || item.waits.size() > 1, label(seed).c_str());
                QVERIFY2(position[item.start] < position[item.hiding_node], label(seed).c_str());
                uint32_t last = 0;
                for (const NodeId wait : item.waits)
                    last = std::max(last, position[wait]);
                QVERIFY2(position[item.hiding_node] < last, label(seed).c_str());
            }
            QVERIFY2(hidden_ms <= compute_ms * (1 + 1e-9), label(seed).c_str());
            QVERIFY(result.bad_exposed <= result.exposed && result.exposed <= result.collectives.size());
        }
    }

    /// Only ratios of times matter; a power of two changes no digit.
    void scalesWithTime() {
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            Case c = makeCase(seed, 0.0);
            const OverlapResult once = scheduleOverlap(*c.graph, c.cost_ms, c.parameters);
            for (double& ms : c.cost_ms)
                ms *= 1024;
            const OverlapResult scaled = scheduleOverlap(*c.graph, c.cost_ms, c.parameters);
            QCOMPARE(scaled.order, once.order);
            for (size_t i = 0; i < once.collectives.size(); ++i)
                QCOMPARE(scaled.collectives[i].exposed_ms, once.collectives[i].exposed_ms * 1024);
        }
    }

    void decisionsTellTheOutcome() {
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            test::RandomGraphOptions options;
            options.in_place = 0; // so that the schedule is the pure function's
            const GraphPtr graph = test::randomGraph(seed, options);
            const CollectiveTable collectives(*graph);
            const CostTablePtr costs = test::randomCosts(*graph, collectives, seed);
            std::vector<double> cost_ms;
            for (const int64_t ns : costs->all())
                cost_ms.push_back(static_cast<double>(ns) / 1e6);
            const OverlapResult result = scheduleOverlap(*graph, cost_ms, {});
            const Schedule schedule = runOverlapScheduler({*graph, collectives, *costs, {}, {}});
            QCOMPARE(schedule.order, result.order);
            size_t gathers = 0;
            for (const Collective& item : collectives.all())
                gathers += item.isGather() ? 1 : 0;
            QCOMPARE(schedule.decisions.size(), gathers);
            for (const Decision& decision : schedule.decisions) {
                const auto found = std::find_if(
                    result.collectives.begin(), result.collectives.end(),
                    [&](const OverlapCollective& item) { return item.start == decision.launch; });
                QVERIFY(found != result.collectives.end());
                const bool hidden = found->exposed_ms == 0;
                QCOMPARE(decision.verdict == Verdict::Hidden, hidden);
                QCOMPARE(decision.reason == BindingReason::None, hidden);
                QCOMPARE(schedule.order[decision.target], decision.launch);
                QCOMPARE(decision.cur, decision.launch);
                QVERIFY(decision.floor <= decision.target);
                QVERIFY(decision.first_consumer != kNoNode);
            }
        }
    }

    /// A read that blocks no compute goes behind a write that does: the document's order breaks the program.
    void mutationsAreKept() {
        GraphBuilder builder;
        const NodeId x = builder.addNode("x", NodeOp::Placeholder, "x");
        const NodeId read = builder.addNode("read", NodeOp::CallFunction, "aten.relu.default");
        builder.setArgs(read, {builder.nodeArg(x)});
        const NodeId write = builder.addNode("write", NodeOp::CallFunction, "aten.add_.Tensor");
        builder.setArgs(write, {builder.nodeArg(x), builder.nodeArg(x)});
        const NodeId mm = builder.addNode("mm", NodeOp::CallFunction, "aten.mm.default");
        builder.setArgs(mm, {builder.nodeArg(write), builder.nodeArg(write)});
        const NodeId output = builder.addNode("output", NodeOp::Output, "output");
        builder.setArgs(output, {builder.listArg({builder.nodeArg(read), builder.nodeArg(mm)})});
        const GraphPtr graph = builder.finish(nullptr);
        const CollectiveTable collectives(*graph);
        const CostTablePtr costs = test::randomCosts(*graph, collectives, 1);

        const OverlapResult result = scheduleOverlap(*graph, std::vector<double>(graph->size(), 1.0), {});
        QCOMPARE(result.order, (Order{x, write, mm, read, output}));
        const Schedule schedule = runOverlapScheduler({*graph, collectives, *costs, {}, {}});
        QCOMPARE(schedule.order, (Order{x, read, write, mm, output}));
        QCOMPARE(schedule.diagnostics.all().size(), size_t(1));
        QCOMPARE(schedule.diagnostics.all().front().code, std::string("order-edges-kept"));
    }

    void emptyGraph() {
        GraphBuilder builder;
        const GraphPtr graph = builder.finish(nullptr);
        const OverlapResult result = scheduleOverlap(*graph, {}, {});
        QVERIFY(result.order.empty() && result.collectives.empty() && result.failures.empty());
    }
};

QTEST_GUILESS_MAIN(TestOverlapSchedulerProperties)
#include "tst_overlap_scheduler_properties.moc"
