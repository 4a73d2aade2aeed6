// The exact search: against brute force on tiny programs, the lower bound and `two-sided` on small ones.
#include "graph/graph_builder.h"
#include "priced_graph.h"
#include "schedule/optimum/optimum.h"
#include "schedule/two_sided/list_scheduler.h"
#include "schedule/two_sided/local_search.h"

#include <QTest>
#include <algorithm>
#include <functional>

using namespace gs;
using test::PricedGraph;

namespace {

bool says(const Schedule& schedule, std::string_view code) {
    const auto& all = schedule.diagnostics.all();
    return std::any_of(all.begin(), all.end(), [&](const Diagnostic& item) { return item.code == code; });
}

/// Every order of the movable nodes (gathers and their preparation) that respects the edges, by brute force:
/// computation and other launches in program order, waits right in front of their users. The shortest step.
class BruteForce {
public:
    BruteForce(const PricedGraph& g, const StepProblem& problem) : g_(g), problem_(problem) {
        std::vector<char> free(g.graph->size(), 0);
        for (size_t i = 0; i < g.collectives->size(); ++i) {
            const Collective& item = (*g.collectives)[i];
            if (!item.isGather())
                continue;
            groups_.push_back(problem.prep(static_cast<int32_t>(i)));
            groups_.back().push_back(item.launch);
            for (const NodeId id : groups_.back())
                free[id] = 1;
        }
        for (const StepRole role : {StepRole::Work, StepRole::Late}) {
            for (NodeId id = 0; id < g.graph->size(); ++id) {
                const bool launch = role == StepRole::Work && problem.role[id] == StepRole::Launch;
                if (free[id] == 0 && (problem.role[id] == role || launch))
                    fixed_.push_back(id);
            }
        }
        placed_.assign(groups_.size(), false);
    }

    int64_t run() {
        extend(0);
        return best_;
    }

private:
    void extend(size_t at) {
        for (size_t i = 0; i < groups_.size(); ++i) {
            if (placed_[i])
                continue;
            placed_[i] = true;
            anchors_.insert(anchors_.end(), groups_[i].begin(), groups_[i].end());
            extend(at);
            anchors_.resize(anchors_.size() - groups_[i].size());
            placed_[i] = false;
        }
        if (at < fixed_.size()) {
            anchors_.push_back(fixed_[at]);
            extend(at + 1);
            anchors_.pop_back();
        } else if (std::find(placed_.begin(), placed_.end(), false) == placed_.end()) {
            finish();
        }
    }

    /// Waits and views as late as possible; sequences that break an edge don't count.
    void finish() {
        Order order;
        std::vector<char> done(g_.graph->size(), 0), anchored(g_.graph->size(), 0);
        for (const NodeId id : anchors_)
            anchored[id] = 1;
        bool legal = true;
        const std::function<void(NodeId)> put = [&](NodeId id) {
            if (done[id] != 0)
                return;
            for (const NodeId input : problem_.before(id)) {
                legal = legal && (done[input] != 0 || anchored[input] == 0);
                if (legal)
                    put(input);
            }
            done[id] = 1;
            order.push_back(id);
        };
        for (const NodeId id : anchors_) {
            anchored[id] = 0;
            put(id);
            if (!legal)
                return;
        }
        for (NodeId id = 0; id < g_.graph->size(); ++id)
            put(id);
        best_ = std::min(best_, problem_.evaluator.run(order).step_ns);
    }

    const PricedGraph& g_;
    const StepProblem& problem_;
    std::vector<std::vector<NodeId>> groups_;
    std::vector<NodeId> fixed_, anchors_;
    std::vector<bool> placed_;
    int64_t best_ = INT64_MAX;
};

/// The list scheduler alone, under all of its policies.
Order bestOfPolicies(const StepProblem& problem, StepCost& cost) {
    Order best;
    for (const int64_t aim : {kNoAim, problem.bounds.bound_ns}) {
        for (int bits = 0; bits < 8; ++bits) {
            ListPolicy policy;
            policy.aim_ns = aim;
            policy.feed_first = (bits & 1) != 0;
            policy.reductions_first = (bits & 2) != 0;
            policy.fill_stalls = (bits & 4) != 0;
            Order order = scheduleList(problem, policy, {});
            const StepCost found = problem.evaluator.run(order);
            if (best.empty() || found.step_ns < cost.step_ns) {
                best = std::move(order);
                cost = found;
            }
        }
    }
    return best;
}

} // namespace

class TestOptimum : public QObject {
    Q_OBJECT

private slots:
    void equalsBruteForce() {
        size_t compared = 0;
        for (uint32_t seed = 0; seed < 400; ++seed) {
            const PricedGraph g = test::randomPricedGraph(seed, {2, 2, 0.2, 0.4, 0.1, 0.7});
            if (g.gathers() > 3)
                continue;
            for (const char* contention : {"1", "1.5"}) {
                Settings settings;
                (void)settings.set(Setting::Contention, contention);
                const StepProblem problem({*g.graph, *g.collectives, *g.costs, settings, {}});
                const OptimumResult found = findOptimum(problem, 1'000'000, {});
                QVERIFY2(found.proven, g.name.c_str());
                QVERIFY2(!findBrokenEdge(*g.graph, found.order), g.name.c_str());
                QCOMPARE(problem.evaluator.run(found.order).step_ns, found.step_ns);
                QCOMPARE(found.step_ns, BruteForce(g, problem).run());
                ++compared;
            }
        }
        std::printf("compared with brute force: %zu\n", compared);
        QVERIFY(compared > 50);
    }

    /// The bound is below the optimum, and `two-sided`, which may also move computation, is at it or the gap
    /// is printed.
    void twoSidedOnSmallGraphs() {
        std::vector<PricedGraph> graphs;
        for (const char* table : {"roofline", "commheavy", "commlight"}) {
            for (PricedGraph& g : test::corpusGraphsWithCosts(table, 400))
                graphs.push_back(std::move(g));
        }
        for (uint32_t seed = 0; seed < 150; ++seed)
            graphs.push_back(test::randomPricedGraph(seed, {4, 2, 0.3, 0.6, 0.1, 0.5}));
        size_t equal = 0, below = 0, above = 0, unproven = 0;
        for (const PricedGraph& g : graphs) {
            if (g.gathers() == 0 || g.gathers() > kMostOptimumGathers)
                continue;
            const Schedule exact = g.run("optimum", test::quietSettings());
            const int64_t optimum = g.simulate(exact.order)->step_ns;
            const int64_t ours = g.simulate(g.run("two-sided", test::quietSettings()).order)->step_ns;
            QVERIFY2(g.bound() <= optimum && g.bound() <= ours, g.name.c_str());
            unproven += says(exact, "optimum-proven") ? 0 : 1;
            equal += ours == optimum ? 1 : 0;
            below += ours < optimum ? 1 : 0;
            if (ours > optimum) {
                ++above;
                std::printf("two-sided %.4f of the optimum: %s\n",
                            static_cast<double>(ours) / static_cast<double>(optimum), g.name.c_str());
                QVERIFY2(static_cast<double>(ours) < 1.05 * static_cast<double>(optimum), g.name.c_str());
            }
        }
        std::printf(
            "two-sided = optimum: %zu, below (it moves computation too): %zu, above: %zu; not proven: %zu\n",
            equal, below, above, unproven);
        QVERIFY(equal + below > 9 * above);
    }

    /// What larger graphs have to do without: list scheduling and local search against the optimum.
    void heuristicsAlone() {
        size_t equal = 0, proven = 0;
        double worst = 1, sum = 0;
        std::string worst_name;
        for (uint32_t seed = 0; seed < 300; ++seed) {
            const PricedGraph g = test::randomPricedGraph(seed, {4, 2, 0.3, 0.6, 0.1, 0.5});
            if (g.gathers() == 0 || g.gathers() > kMostOptimumGathers)
                continue;
            const Settings settings = test::quietSettings();
            const StepProblem problem({*g.graph, *g.collectives, *g.costs, settings, {}});
            const OptimumResult exact = findOptimum(problem, 100'000, {});
            if (!exact.proven)
                continue;
            ++proven;
            StepCost cost;
            Order best = bestOfPolicies(problem, cost);
            LocalSearchLimits limits;
            limits.steps = 300;
            limits.better = [](const StepCost& a, const StepCost& b) { return a.step_ns < b.step_ns; };
            limits.fits = [](const StepCost&) { return true; };
            improveOrder(problem, limits, {}, best, cost);
            QVERIFY2(!findBrokenEdge(*g.graph, best), g.name.c_str());
            const double ratio = static_cast<double>(cost.step_ns) / static_cast<double>(exact.step_ns);
            equal += ratio <= 1 ? 1 : 0;
            sum += ratio;
            if (ratio > worst) {
                worst = ratio;
                worst_name = g.name;
            }
        }
        std::printf(
            "list scheduling and local search reach the optimum on %zu of %zu graphs, mean %.4f, worst %.4f "
            "(%s)\n",
            equal, proven, sum / static_cast<double>(proven), worst, worst_name.c_str());
        QVERIFY(proven > 100);
        QVERIFY(sum / static_cast<double>(proven) < 1.02);
    }

    /// Without a gather there is nothing to search, and the search would go one call deeper per node.
    void longGraphsAreNotSearched() {
        const PricedGraph g = test::randomPricedGraph(1, {1, 1, 0, 0, 0, 0});
        QVERIFY(tooLargeForOptimum(*g.graph, *g.collectives).empty());
        GraphBuilder b(*g.graph);
        std::vector<NodeId> map(g.graph->size(), kNoNode);
        for (NodeId id = 0; id < g.graph->size(); ++id)
            map[id] = b.copyNode(*g.graph, id, map);
        for (size_t i = 0; i < kMostOptimumNodes; ++i) {
            const NodeId id =
                b.addNode("long" + std::to_string(i), NodeOp::CallFunction, "aten.relu.default");
            b.setArgs(id, {b.nodeArg(0)});
        }
        const GraphPtr graph = b.finish(nullptr);
        QVERIFY(!tooLargeForOptimum(*graph, CollectiveTable(*graph)).empty());
    }

    void largeGraphsKeepProgramOrder() {
        const PricedGraph g = test::randomPricedGraph(1, {30, 2, 0.3, 0.6, 0.1, 0.5});
        const Schedule schedule = g.run("optimum", test::quietSettings());
        QCOMPARE(schedule.scheduler, std::string("optimum"));
        QVERIFY(schedule.order == identityOrder(*g.graph));
        QVERIFY(says(schedule, "optimum-too-large"));
    }

    void limitAndStopAreHonest() {
        const PricedGraph g = test::randomPricedGraph(7, {5, 2, 0.0, 0.6, 0.1, 0.5});
        const Settings settings = test::quietSettings();
        const StepProblem problem({*g.graph, *g.collectives, *g.costs, settings, {}});
        const OptimumResult cut = findOptimum(problem, 3, {});
        QVERIFY(!cut.proven);
        QVERIFY(!findBrokenEdge(*g.graph, cut.order));
        std::stop_source stop;
        stop.request_stop();
        const Schedule stopped = g.run("optimum", settings, {stop.get_token(), nullptr});
        QVERIFY(!findBrokenEdge(*g.graph, stopped.order));
    }

    void deterministic() {
        for (uint32_t seed = 0; seed < 40; ++seed) {
            const PricedGraph g = test::randomPricedGraph(seed, {4, 2, 0.3, 0.6, 0.1, 0.5});
            QVERIFY(g.run("optimum", test::quietSettings()).order ==
                    g.run("optimum", test::quietSettings()).order);
        }
    }
};

QTEST_GUILESS_MAIN(TestOptimum)
#include "tst_optimum.moc"
