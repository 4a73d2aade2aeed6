// The lower bound: by hand where it is tight, and never above the step of any scheduler's order.
#include "../schedule/priced_graph.h"
#include "simulate/held_bytes.h"
#include "simulate/lower_bound.h"
#include "support/small_graph.h"

#include <QTest>
#include <map>

using namespace gs;
using test::PricedGraph;

namespace {

PricedGraph makeSmall(const std::vector<test::SmallNode>& nodes) {
    PricedGraph out;
    out.graph = test::buildSmallGraph(nodes);
    out.collectives = std::make_shared<CollectiveTable>(*out.graph);
    std::map<std::string, int64_t> ns;
    for (const test::SmallNode& node : nodes)
        ns[node.name] = static_cast<int64_t>(node.cost);
    out.costs = test::makeCosts(*out.graph, *out.collectives, [ns](const Graph& graph, NodeId id) {
        return std::optional<int64_t>(ns.at(std::string(graph.name(id))));
    });
    return out;
}

std::vector<SimulationSettings> manySettings(const Graph& graph) {
    std::vector<SimulationSettings> out(4);
    out[1].contention = 1.5;
    out[2].contention = 2.0;
    out[2].compute_slowdown = 1.3;
    const GroupId first = graph.findGroup("0"), second = graph.findGroup("1");
    if (first != kNoGroup && second != kNoGroup)
        out[3].shared_links = {{first, second}};
    return out;
}

void checkSound(const PricedGraph& g) {
    std::vector<Order> orders;
    for (const SchedulerInfo& info : schedulers()) {
        for (const char* contention : {"1", "1.5"}) {
            Settings settings;
            (void)settings.set(Setting::Contention, contention);
            orders.push_back(g.run(info.name, settings).order);
        }
    }
    for (const SimulationSettings& settings : manySettings(*g.graph)) {
        const int64_t bound = g.bound(settings);
        QVERIFY(bound > 0 || g.simulate(orders.front(), settings)->step_ns == 0);
        for (size_t i = 0; i < orders.size(); ++i) {
            const int64_t step = g.simulate(orders[i], settings)->step_ns;
            QVERIFY2(bound <= step, qPrintable(QString("%1: %2 > %3 of %4")
                                                   .arg(g.name.c_str())
                                                   .arg(bound)
                                                   .arg(step)
                                                   .arg(schedulers()[i / 2].name.data())));
        }
    }
}

} // namespace

class TestLowerBound : public QObject {
    Q_OBJECT

private slots:
    /// Nothing can run before the first gather is there, and only one of the two others can be hidden by it.
    void headByHand() {
        const PricedGraph g = makeSmall({{"g1", "gather", {}, 100},
                                         {"w1", "wait", {"g1"}, 0},
                                         {"a", "compute", {"w1"}, 500},
                                         {"g2", "gather", {}, 300},
                                         {"w2", "wait", {"g2"}, 0},
                                         {"b", "compute", {"a", "w2"}, 400}});
        const StepBounds bounds = findStepBounds(*g.graph, *g.collectives, *g.costs, {});
        QCOMPARE(bounds.bound_ns, 100 + 500 + 400);
        QCOMPARE(bounds.head_ns[g.graph->find("b").value()], 600);
        QCOMPARE(bounds.tail_ns[g.graph->find("g1").value()], 900);
    }

    /// The stream carries both gathers before b: no path says so, the stream does.
    void streamHeadByHand() {
        const PricedGraph g = makeSmall({{"g1", "gather", {}, 400},
                                         {"w1", "wait", {"g1"}, 0},
                                         {"a", "compute", {"w1"}, 100},
                                         {"g2", "gather", {}, 500},
                                         {"w2", "wait", {"g2"}, 0},
                                         {"b", "compute", {"a", "w2"}, 300}});
        QCOMPARE(g.bound(), 400 + 500 + 300);
    }

    /// Contention 2: beside 1000 of compute a transfer of 800 gets 500 done, the rest takes 300.
    void contentionByHand() {
        const PricedGraph g = makeSmall({{"a", "compute", {}, 1000},
                                         {"g1", "gather", {}, 800},
                                         {"w1", "wait", {"g1"}, 0},
                                         {"b", "compute", {"w1"}, 0}});
        SimulationSettings settings;
        settings.contention = 2;
        QVERIFY(g.bound(settings) <= 1300 && g.bound(settings) >= 1299);
    }

    void neverAboveAnyResultOnTheCorpus() {
        for (const char* table : {"roofline", "commheavy", "commlight"}) {
            for (const PricedGraph& g : test::corpusGraphsWithCosts(table, 1200))
                checkSound(g);
        }
    }

    void neverAboveAnyResultOnRandomGraphs() {
        for (uint32_t seed = 0; seed < 100; ++seed)
            checkSound(test::randomPricedGraph(seed));
    }

    /// A gather is held from launch to last use, a gradient from its maker to the end of its reduce-scatter.
    void heldBytesByHand() {
        for (uint32_t seed = 0; seed < 100; ++seed) {
            const PricedGraph g = test::randomPricedGraph(seed);
            const Order order = g.run("overlap-scheduler", test::quietSettings()).order;
            const TimelinePtr timeline = g.simulate(order);
            const std::vector<uint32_t> position = positionsOf(order);
            int64_t highest = 0;
            for (const NodeId now : order) {
                int64_t live = 0;
                for (const Collective& item : g.collectives->all()) {
                    const int32_t index = g.collectives->indexOf(item.launch);
                    if (item.isGather()) {
                        uint32_t last = position[item.launch];
                        for (const NodeId id : item.waits)
                            last = std::max(last, position[id]);
                        for (const NodeId id : item.consumers)
                            last = std::max(last, position[id]);
                        if (position[item.launch] <= position[now] && position[now] <= last)
                            live += item.output_bytes;
                    } else if (item.kind == CollectiveKind::ReduceScatter) {
                        const NodeId maker = g.graph->inputs(item.launch).front();
                        const bool done =
                            position[item.launch] < position[now] &&
                            timeline->transfers[static_cast<size_t>(index)].end_ns <= timeline->start_ns[now];
                        if (position[maker] <= position[now] && !done)
                            live += g.graph->value(maker).bytes();
                    }
                }
                highest = std::max(highest, live);
            }
            QCOMPARE(timeline->peak_held_bytes, highest);
        }
    }
};

QTEST_GUILESS_MAIN(TestLowerBound)
#include "tst_lower_bound.moc"
