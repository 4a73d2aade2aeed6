// The simulator: hand-computed steps, and conservation and bounds on random programs.
#include "schedule/just_in_time.h"
#include "schedule/latest_safe_launch.h"
#include "simulate/shared_links.h"
#include "simulate/timeline.h"
#include "support/random_graph.h"
#include "support/small_graph.h"

#include <QTest>
#include <algorithm>
#include <map>

using namespace gs;

namespace {

struct Small {
    GraphPtr graph;
    std::unique_ptr<CollectiveTable> collectives;
    CostTablePtr costs;
};

Small makeSmall(const std::vector<test::SmallNode>& nodes) {
    Small s;
    s.graph = test::buildSmallGraph(nodes);
    s.collectives = std::make_unique<CollectiveTable>(*s.graph);
    std::map<std::string, int64_t> ns;
    for (const test::SmallNode& node : nodes)
        ns[node.name] = static_cast<int64_t>(node.cost);
    s.costs = test::makeCosts(*s.graph, *s.collectives, [ns](const Graph& graph, NodeId id) {
        return std::optional<int64_t>(ns.at(std::string(graph.name(id))));
    });
    return s;
}

TimelinePtr run(const Small& s, const SimulationSettings& settings) {
    return simulate(*s.graph, *s.collectives, *s.costs, identityOrder(*s.graph), settings);
}

} // namespace

class TestSimulator : public QObject {
    Q_OBJECT

private slots:
    /// gather 1000 launched, 600 of compute, wait, 300 of compute: the wait stalls 400 without contention.
    void exposedByHand() {
        const Small s = makeSmall({{"g", "gather", {}, 1000},
                                   {"a", "compute", {}, 600},
                                   {"w", "wait", {"g"}, 0},
                                   {"b", "compute", {"w", "a"}, 300}});
        const TimelinePtr t = run(s, {});
        QCOMPARE(t->step_ns, 1300);
        QCOMPARE(t->exposed_ns, 400);
        QCOMPARE(t->compute_ns, 900);
        QCOMPARE(t->idle_ns, 400);
        QCOMPARE(t->comm_ns, 1000);
        QCOMPARE(t->transfers[0].exposed_ns, 400);
        QCOMPARE(t->stalls.size(), size_t{1});
        QCOMPARE(stepLowerBound(*s.graph, *s.collectives, *s.costs, {}), 1300);
    }

    /// With contention 2 the 600 of compute carry 300 of the transfer; 700 are left for the stall.
    void contentionByHand() {
        const Small s = makeSmall({{"g", "gather", {}, 1000},
                                   {"a", "compute", {}, 600},
                                   {"w", "wait", {"g"}, 0},
                                   {"b", "compute", {"w", "a"}, 300}});
        SimulationSettings settings;
        settings.contention = 2;
        QCOMPARE(run(s, settings)->step_ns, 600 + 700 + 300);
        settings.contention = 1;
        settings.compute_slowdown = 3; // 600 of compute take 1000 + 266.67: only while the transfer runs
        const TimelinePtr t = run(s, settings);
        QCOMPARE(t->exposed_ns, 0);
        QCOMPARE(t->step_ns, 1000 + (600 - 333) + 300);
    }

    /// Two gathers of one group share a stream: the second starts when the first is done.
    void oneStreamIsSerial() {
        const Small s = makeSmall({{"g", "gather", {}, 1000},
                                   {"h", "gather", {}, 500},
                                   {"v", "wait", {"h"}, 0},
                                   {"w", "wait", {"g"}, 0},
                                   {"b", "compute", {"v", "w"}, 10}});
        const TimelinePtr t = run(s, {});
        QCOMPARE(t->transfers[1].start_ns, 1000);
        QCOMPARE(t->transfers[1].exposed_ns, 1500);
        QCOMPARE(t->transfers[0].exposed_ns, 0);
        QCOMPARE(t->step_ns, 1510);
        QCOMPARE(t->critical_path.size(), size_t{4}); // g, h, v, b
    }

    void sharedLinkHalvesTheBandwidth() {
        test::RandomGraphOptions options;
        options.groups = 2;
        for (uint32_t seed = 0; seed < 50; ++seed) {
            const GraphPtr graph = test::randomGraph(seed, options);
            const CollectiveTable collectives(*graph);
            const CostTablePtr costs = test::randomCosts(*graph, collectives, seed);
            SimulationSettings alone, shared;
            Diagnostics diagnostics;
            shared.shared_links = parseSharedLinks(*graph, "0+1", diagnostics);
            const Order order = identityOrder(*graph);
            const auto t = simulate(*graph, collectives, *costs, order, alone);
            const auto u = simulate(*graph, collectives, *costs, order, shared);
            QVERIFY(u->step_ns + 1 >= t->step_ns);
            QVERIFY(u->step_ns + 1 >= stepLowerBound(*graph, collectives, *costs, shared));
        }
    }

    void unknownSharedGroupIsReported() {
        Diagnostics diagnostics;
        const GraphPtr graph = test::randomGraph(1);
        QVERIFY(parseSharedLinks(*graph, "0+nope", diagnostics).empty());
        QCOMPARE(diagnostics.all().front().code, std::string("unknown-group"));
    }

    void conservationAndBounds() {
        for (uint32_t seed = 0; seed < 300; ++seed) {
            test::RandomGraphOptions options;
            options.layers = 2 + static_cast<int>(seed % 12);
            options.groups = 1 + static_cast<int>(seed % 3);
            const GraphPtr graph = test::randomGraph(seed, options);
            const CollectiveTable collectives(*graph);
            const CostTablePtr costs = test::randomCosts(*graph, collectives, seed);
            SimulationSettings settings;
            settings.contention = 1.0 + (seed % 3) * 0.5;
            settings.compute_slowdown = 1.0 + (seed % 2) * 0.2;
            for (const SchedulerInfo& info : schedulers()) {
                const Schedule schedule = info.run({*graph, collectives, *costs, Settings(), {}});
                check(*graph, collectives, *costs, schedule.order, settings);
            }
        }
    }

private:
    static void check(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                      const Order& order, const SimulationSettings& settings) {
        const TimelinePtr t = simulate(graph, collectives, costs, order, settings);
        int64_t compute = 0, stalls = 0, exposed = 0;
        for (NodeId id = 0; id < graph.size(); ++id)
            compute += graph.node(id).kind == NodeKind::Launch ? 0 : costs.ns(id);
        for (const Stall& stall : t->stalls)
            stalls += stall.end_ns - stall.start_ns;
        for (const Transfer& transfer : t->transfers)
            exposed += transfer.exposed_ns;
        const auto slack = static_cast<int64_t>(order.size()); // each rounded time may be off by 1 ns
        QVERIFY(t->compute_ns + slack >= compute);
        QVERIFY(t->compute_ns <=
                static_cast<int64_t>(static_cast<double>(compute) * settings.compute_slowdown) + slack);
        QCOMPARE(t->step_ns, t->compute_ns + t->idle_ns);
        QVERIFY(std::abs(stalls - t->exposed_ns) <= slack);
        QCOMPARE(exposed, stalls);
        QVERIFY(t->step_ns + slack >= stepLowerBound(graph, collectives, costs, settings));
        QVERIFY(t->step_ns <= static_cast<int64_t>(static_cast<double>(compute) * settings.compute_slowdown +
                                                   static_cast<double>(t->comm_ns) * settings.contention) +
                                  slack);
        checkTransfers(graph, collectives, *t, settings);
    }

    static void checkTransfers(const Graph& graph, const CollectiveTable& collectives, const Timeline& t,
                               const SimulationSettings& settings) {
        std::map<uint32_t, std::vector<std::pair<int64_t, int64_t>>> spans;
        for (const Transfer& transfer : t.transfers) {
            const int64_t span = transfer.end_ns - transfer.start_ns;
            QVERIFY(transfer.start_ns >= transfer.launched_ns);
            QVERIFY(span + 1 >= transfer.alone_ns);
            QVERIFY(span <=
                    static_cast<int64_t>(static_cast<double>(transfer.alone_ns) * settings.contention) + 2);
            spans[transfer.stream].push_back({transfer.start_ns, transfer.end_ns});
            for (const NodeId wait : collectives[static_cast<size_t>(transfer.collective)].waits)
                QVERIFY(t.end_ns[wait] >= transfer.end_ns);
        }
        for (auto& [stream, list] : spans) {
            std::sort(list.begin(), list.end());
            for (size_t i = 1; i < list.size(); ++i)
                QVERIFY(list[i].first >= list[i - 1].second);
        }
        for (NodeId id = 0; id < graph.size(); ++id)
            QVERIFY(t.end_ns[id] >= t.start_ns[id]);
        QVERIFY(t.live_bytes.empty() || t.live_bytes.back().bytes == 0);
    }
};

QTEST_GUILESS_MAIN(TestSimulator)
#include "tst_simulator.moc"
