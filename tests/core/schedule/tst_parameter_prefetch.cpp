// Parameter prefetch as a scheduler: derived tags, valid orders on every graph, decisions, budget, speed.
#include "cost/cost_sources.h"
#include "import/importer.h"
#include "schedule/parameter_prefetch/parameter_prefetch.h"
#include "support/gather_program.h"
#include "support/layered_graph.h"
#include "support/random_graph.h"
#include "support/test_data.h"

#include <QElapsedTimer>
#include <QTest>

using namespace gs;

namespace {

struct Scheduled {
    GraphPtr graph;
    std::shared_ptr<CollectiveTable> collectives;
    CostTablePtr costs;
    Schedule schedule;
};

Scheduled run(GraphPtr graph, const Settings& settings) {
    Scheduled out{graph, std::make_shared<CollectiveTable>(*graph), nullptr, {}};
    Diagnostics diagnostics;
    const CostChain chain = makeCostChain({}, settings, diagnostics).value();
    out.costs = priceGraph(*graph, *out.collectives, chain);
    out.schedule =
        findScheduler("parameter-prefetch")->run({*graph, *out.collectives, *out.costs, settings, {}});
    return out;
}

size_t countCode(const Schedule& schedule, const std::string& code) {
    size_t count = 0;
    for (const Diagnostic& item : schedule.diagnostics.all())
        count += item.code == code ? 1 : 0;
    return count;
}

const Decision& decisionOf(const Scheduled& item, const std::string& name) {
    const NodeId launch = item.graph->find(name).value();
    for (const Decision& decision : item.schedule.decisions) {
        if (decision.launch == launch)
            return decision;
    }
    throw std::runtime_error("no decision for " + name);
}

/// Three gathers right in front of the products that use them.
GraphPtr threeLayers() {
    test::Program program;
    NodeId x = program.x;
    std::vector<NodeId> shards;
    for (int i = 0; i < 3; ++i)
        shards.push_back(program.parameter(test::kMib));
    for (int i = 0; i < 3; ++i) {
        const NodeId launch = program.gather(shards[static_cast<size_t>(i)]);
        const NodeId wait = program.call("wait" + std::to_string(i), test::kWait, {launch});
        x = program.call("mm" + std::to_string(i), "aten.mm.default", {x, wait});
    }
    const NodeId out = program.b.addNode("output", NodeOp::Output, "output");
    program.b.setArgs(out, {program.b.nodeArg(x)});
    return program.b.finish(nullptr);
}

} // namespace

class TestParameterPrefetch : public QObject {
    Q_OBJECT

private slots:
    void looksAheadByDepth() {
        Settings settings;
        QVERIFY(settings.set("contention", "1").ok());
        const Scheduled one = run(threeLayers(), settings);
        std::vector<std::string> names;
        for (const NodeId id : one.schedule.order)
            names.emplace_back(one.graph->name(id));
        // Each gather goes in front of the consumer before its own; waits sink to their first user.
        const std::vector<std::string> expected = {"x",     "p1",  "p2",    "p3",  "cast0", "g0",
                                                   "cast1", "g1",  "wait0", "mm0", "cast2", "g2",
                                                   "wait1", "mm1", "wait2", "mm2", "output"};
        QCOMPARE(names, expected);
        QCOMPARE(one.schedule.moved, size_t(2));
        QCOMPARE(one.schedule.candidates, size_t(3));
        QCOMPARE(countCode(one.schedule, "fsdp-tags-derived"), size_t(1));
        QCOMPARE(decisionOf(one, "g1").target, 7u);
        QCOMPARE(decisionOf(one, "g1").moved_group.size(), size_t(2));
        QCOMPARE(one.graph->name(decisionOf(one, "g1").first_consumer), std::string_view("mm1"));
        QVERIFY(settings.set("forward_depth", "0").ok());
        const Scheduled none = run(threeLayers(), settings);
        QCOMPARE(none.schedule.moved, size_t(0));
        QVERIFY(decisionOf(none, "g2").verdict == Verdict::ComputeLimited);
        QVERIFY(decisionOf(none, "g2").reason == BindingReason::Depth);
        QVERIFY(!decisionOf(none, "g2").moved());
    }

    void budgetRefuses() {
        // Each gather yields 8 MiB; two of them do not fit into 12 MiB.
        Settings settings;
        QVERIFY(settings.set("forward_depth", "2").ok());
        QVERIFY(settings.set("max_in_flight_gb", "0.012").ok());
        const Scheduled item = run(threeLayers(), settings);
        QCOMPARE(item.schedule.moved, size_t(1));
        QVERIFY(decisionOf(item, "g2").reason == BindingReason::Budget);
    }

    void phasesOfJointGraphs_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("joint");
        QTest::newRow("joint") << "aot_lm2_fsdp8_joint" << true;
        QTest::newRow("backward alone") << "aot_lm3ac_fsdp8_bwd" << false;
    }

    /// Phases from the names of inputs agree with those that the file states.
    void phasesOfJointGraphs() {
        QFETCH(QString, name);
        QFETCH(bool, joint);
        const auto path = test::corpusPath("graphs/" + name.toStdString() + ".json");
        if (!path)
            return;
        Diagnostics diagnostics;
        const GraphPtr graph = importGraph(*path, -1, -1, diagnostics, {})->graph;
        GraphBuilder builder(*graph);
        std::vector<NodeId> map(graph->size(), kNoNode);
        for (NodeId id = 0; id < graph->size(); ++id) {
            map[id] = builder.copyNode(*graph, id, map);
            builder.node(map[id]).phase = Phase::Unknown;
            builder.meta(map[id]) = {};
        }
        const GraphPtr bare = builder.finish(nullptr);
        const FsdpTags tags = readFsdpTags(*bare, CollectiveTable(*bare), false);
        QVERIFY(tags.derived_phases && tags.derived_gathers);
        size_t backward = 0, differ = 0;
        for (NodeId id = 0; id < bare->size(); ++id) {
            backward += tags.backward[id] ? 1 : 0;
            const bool call = graph->isCall(id);
            differ += call && tags.backward[id] != (graph->node(id).phase == Phase::Backward) ? 1 : 0;
        }
        QVERIFY(backward > 0);
        if (joint) // a few forward nodes that nothing needs before may stand behind the first backward one
            QVERIFY2(differ * 50 < bare->size(), std::to_string(differ).c_str());
        else
            QCOMPARE(backward, bare->size());
    }

    void everyGraphStaysValid() {
        Settings settings;
        QVERIFY(settings.set("forward_depth", "2").ok());
        QVERIFY(settings.set("backward_depth", "3").ok());
        size_t graphs = 0, moved = 0, dropped = 0;
        for (const std::string& name : test::corpusGraphs()) {
            Diagnostics diagnostics;
            const auto imported =
                importGraph(*test::corpusPath("graphs/" + name + ".json"), -1, -1, diagnostics, {});
            QVERIFY2(imported.ok(), name.c_str());
            const Scheduled item = run(imported->graph, settings);
            QVERIFY2(!findBrokenEdge(*item.graph, item.schedule.order), name.c_str());
            dropped += countCode(item.schedule, "order-dropped");
            moved += item.schedule.moved;
            for (const Decision& decision : item.schedule.decisions) {
                if (decision.verdict == Verdict::ComputeLimited)
                    QVERIFY2(decision.reason != BindingReason::None, name.c_str());
                else if (decision.verdict == Verdict::Hidden)
                    QVERIFY2(decision.reason == BindingReason::None, name.c_str());
            }
            ++graphs;
        }
        qInfo("%zu graphs valid, %zu launches moved, %zu orders dropped", graphs, moved, dropped);
        QCOMPARE(dropped, size_t(0));
    }

    void randomGraphsStayValid() {
        size_t dropped = 0;
        for (uint32_t seed = 0; seed < 300; ++seed) {
            const GraphPtr graph = test::randomGraph(seed);
            Settings settings;
            QVERIFY(settings.set("forward_depth", std::to_string(seed % 4)).ok());
            const Scheduled item = run(graph, settings);
            QVERIFY2(!findBrokenEdge(*graph, item.schedule.order), std::to_string(seed).c_str());
            dropped += countCode(item.schedule, "order-dropped");
        }
        qInfo("300 random graphs valid, %zu orders dropped", dropped);
    }

    void isFast() {
        const GraphPtr graph = test::layeredGraph(100000);
        const CollectiveTable collectives(*graph);
        const FsdpTags tags = readFsdpTags(*graph, collectives, false);
        PrefetchOptions options;
        options.forward_depth = 8;
        options.budget_bytes = int64_t{1} << 40;
        QElapsedTimer timer;
        timer.start();
        const auto result = prefetchParameters(*graph, tags, options, identityOrder(*graph));
        const qint64 ms = timer.elapsed();
        QVERIFY(result.ok());
        qInfo("%zu nodes, %zu gathers, %zu launches moved, %zu waits and views sunk: %lld ms", graph->size(),
              result->matches.size(), result->forward, result->sunk, static_cast<long long>(ms));
        QVERIFY(result->forward > 1000);
    }
};

QTEST_GUILESS_MAIN(TestParameterPrefetch)
#include "tst_parameter_prefetch.moc"
