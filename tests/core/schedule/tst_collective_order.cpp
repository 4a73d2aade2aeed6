// One order of collectives for all ranks: by hand, and on random programs whose ranks differ in compute.
#include "schedule/collective_order.h"
#include "support/line_graph.h"

#include "priced_graph.h"
#include "rank_variants.h"

#include <QTest>

using namespace gs;
using namespace gs::test;

namespace {

constexpr uint32_t kSeeds = 120;

/// Three gathers and a reduce-scatter between them; g2 can be launched anywhere, g3 needs `m` on ranks where
/// `tied`.
GraphPtr handGraph(bool tied = false) {
    return lineGraph({{"p1", ""},
                      {"p2", ""},
                      {"p3", ""},
                      {"x", ""},
                      {"g1", "gather", {"p1"}},
                      {"w1", "wait", {"g1"}},
                      {"m", "aten.mm.default", {"x", "w1"}},
                      {"r", "reduce", {"m"}},
                      {"wr", "wait", {"r"}},
                      {"g2", "gather", {"p2"}},
                      {"w2", "wait", {"g2"}},
                      {"m2", "aten.mm.default", {"m", "w2"}},
                      {"g3", "gather", {tied ? "m2" : "p3"}},
                      {"w3", "wait", {"g3"}},
                      {"m3", "aten.mm.default", {"m2", "w3"}},
                      {"out", "output", {"m3", "wr"}}});
}

RankOrder rankOrder(const GraphPtr& graph, Order order) {
    return {graph.get(), collectiveNodes(*graph, communicatingOps("none")), std::move(order)};
}

/// The program order with `node` in front of `anchor`.
Order moved(const Graph& graph, const Order& before, const char* node, const char* anchor) {
    Order order = before;
    order.erase(std::find(order.begin(), order.end(), *graph.find(node)));
    order.insert(std::find(order.begin(), order.end(), *graph.find(anchor)), *graph.find(node));
    return order;
}

/// Numbers of the collectives as an order has them.
std::vector<uint32_t> sequenceOf(const RankOrder& rank, const Order& order) {
    std::vector<uint32_t> out;
    for (const NodeId id : order) {
        const auto at = std::find(rank.collectives.begin(), rank.collectives.end(), id);
        if (at != rank.collectives.end())
            out.push_back(static_cast<uint32_t>(at - rank.collectives.begin()));
    }
    return out;
}

using Numbers = std::vector<uint32_t>;

/// A random order that keeps all edges.
Order randomOrder(const Graph& graph, std::mt19937& random) {
    std::vector<size_t> missing(graph.size());
    std::vector<std::vector<NodeId>> later(graph.size());
    std::vector<NodeId> ready;
    for (NodeId id = 0; id < graph.size(); ++id) {
        for (const NodeId input : graph.inputs(id))
            later[input].push_back(id);
        for (const OrderEdge& edge : graph.orderEdges(id))
            later[edge.node].push_back(id);
        missing[id] = graph.inputs(id).size() + graph.orderEdges(id).size();
        if (missing[id] == 0)
            ready.push_back(id);
    }
    Order order;
    while (!ready.empty()) {
        std::swap(ready[random() % ready.size()], ready.back());
        const NodeId id = ready.back();
        ready.pop_back();
        order.push_back(id);
        for (const NodeId next : later[id]) {
            if (--missing[next] == 0)
                ready.push_back(next);
        }
    }
    return order;
}

/// What must hold whatever the orders of the ranks were.
void checkAgreed(const std::vector<RankOrder>& ranks, const std::string& name) {
    const AgreedOrder agreed = agreeOnOrder(ranks);
    const size_t count = ranks.front().collectives.size();
    QVERIFY2(agreed.sequence.size() == count, name.c_str());
    std::vector<uint32_t> place(count);
    for (uint32_t i = 0; i < count; ++i)
        place[agreed.sequence[i]] = i;
    for (const RankOrder& rank : ranks) {
        const Order order = withSequence(rank, agreed.sequence, {});
        QVERIFY2(!findBrokenEdge(*rank.graph, order), name.c_str());
        QVERIFY2(sequenceOf(rank, order) == agreed.sequence, name.c_str());
        const std::vector<uint32_t> position = positionsOf(rank.order);
        for (size_t j = 0; j < count; ++j) { // nothing is launched ahead of what it follows on some rank
            for (size_t i = 0; i < j; ++i) {
                bool all_later_pass = true;
                for (size_t k = 0; k <= i; ++k)
                    all_later_pass =
                        all_later_pass && position[rank.collectives[k]] < position[rank.collectives[j]];
                QVERIFY2(!all_later_pass || place[i] < place[j], name.c_str());
            }
        }
    }
    for (size_t r = 0; r + 1 < ranks.size(); ++r) { // one rank alone keeps its order
        const AgreedOrder alone = agreeOnOrder({ranks[r], ranks[r]});
        QVERIFY2(alone.sequence == sequenceOf(ranks[r], ranks[r].order), name.c_str());
        QVERIFY2(withSequence(ranks[r], alone.sequence, {}) == ranks[r].order, name.c_str());
    }
}

} // namespace

class TestCollectiveOrder : public QObject {
    Q_OBJECT
private slots:
    void slotsByHand() {
        const GraphPtr graph = handGraph();
        const Order program = identityOrder(*graph);
        QCOMPARE(slotsOf(rankOrder(graph, program)), Numbers({0, 1, 2, 3}));
        const Order early = moved(*graph, program, "g2", "m");
        QCOMPARE(slotsOf(rankOrder(graph, early)), Numbers({0, 1, 1, 3}));
        QCOMPARE(slotsOf(rankOrder(graph, moved(*graph, early, "g3", "g1"))), Numbers({0, 1, 1, 0}));
    }

    void theLatestRankCounts() {
        const GraphPtr graph = handGraph(), tied = handGraph(true);
        const Order program = identityOrder(*graph);
        const Order far = moved(*graph, moved(*graph, program, "g3", "m"), "g2", "g3"); // g1 g2 g3 r
        const Order some = moved(*tied, identityOrder(*tied), "g2", "m");               // g1 g2 r g3
        const std::vector<RankOrder> ranks{rankOrder(graph, far), rankOrder(tied, some)};
        const AgreedOrder agreed = agreeOnOrder(ranks);
        QCOMPARE(agreed.sequence, Numbers({0, 2, 1, 3}));
        QCOMPARE(agreed.slot, Numbers({0, 1, 1, 3}));
        QCOMPARE(agreed.latest[3], size_t{1});
        QCOMPARE(agreed.latest[2], size_t{0});
        // Held back no further than it must be: right behind the reduce-scatter.
        QCOMPARE(withSequence(ranks[0], agreed.sequence, {}), [&] {
            Order order = far;
            order.erase(std::find(order.begin(), order.end(), *graph->find("g3")));
            order.insert(std::find(order.begin(), order.end(), *graph->find("r")) + 1, *graph->find("g3"));
            return order;
        }());
        QCOMPARE(withSequence(ranks[1], agreed.sequence, {}), some);
    }

    /// Three ranks of one program that differ in compute and costs, under every scheduler.
    void schedulersOnRandomPrograms() {
        size_t differing = 0;
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            const PricedGraph base = randomPricedGraph(seed);
            for (const SchedulerInfo& info : schedulers()) {
                if (info.name == "optimum" || (info.name == "two-sided" && seed > 20))
                    continue;
                std::vector<RankOrder> ranks;
                std::vector<GraphPtr> graphs;
                for (uint32_t rank = 0; rank < 3; ++rank) {
                    graphs.push_back(rankVariant(*base.graph, seed * 3 + rank));
                    const CollectiveTable collectives(*graphs.back());
                    const CostTablePtr costs = randomCosts(*graphs.back(), collectives, seed + rank % 2);
                    const Settings settings;
                    ranks.push_back(rankOrder(
                        graphs.back(), info.run({*graphs.back(), collectives, *costs, settings, {}}).order));
                }
                const std::string name = fmt::format("{} seed {}", info.name, seed);
                checkAgreed(ranks, name);
                if (QTest::currentTestFailed())
                    return;
                differing += sequenceOf(ranks[0], ranks[0].order) != sequenceOf(ranks[1], ranks[1].order);
            }
        }
        QVERIFY(differing > 50);
    }

    /// Whatever the orders are: the ranks end alike, and all edges hold.
    void anyOrders() {
        std::mt19937 random(5);
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            const GraphPtr base = randomGraph(seed);
            std::vector<RankOrder> ranks;
            std::vector<GraphPtr> graphs;
            for (uint32_t rank = 0; rank < 3; ++rank) {
                graphs.push_back(rankVariant(*base, seed * 7 + rank));
                ranks.push_back(rankOrder(graphs.back(), randomOrder(*graphs.back(), random)));
            }
            checkAgreed(ranks, fmt::format("seed {}", seed));
            if (QTest::currentTestFailed())
                return;
        }
    }
};

QTEST_GUILESS_MAIN(TestCollectiveOrder)
#include "tst_collective_order.moc"
