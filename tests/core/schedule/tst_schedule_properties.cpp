// Schedulers on random programs: valid orders, an independent oracle for the sweep, budgets kept.
#include "schedule/just_in_time.h"
#include "schedule/latest_safe_launch.h"
#include "support/random_graph.h"

#include <QTest>
#include <map>
#include <set>

using namespace gs;

namespace {

constexpr uint32_t kSeeds = 400;

/// The sweep written down literally from passes.md §4, quadratic, with nothing shared with the product's
/// code.
class Oracle {
public:
    Oracle(const Graph& graph, const CollectiveTable& collectives, std::vector<double> cost,
           GatherMoveSettings settings)
        : graph_(graph), collectives_(collectives), cost_(std::move(cost)), settings_(settings) {}

    std::map<NodeId, uint32_t> targets() {
        std::vector<const Collective*> gathers;
        for (const Collective& item : collectives_.all()) {
            if (item.isGather() && item.launch != kNoNode && (settings_.all_gathers || item.weight_gather) &&
                hasRealConsumer(item))
                gathers.push_back(&item);
        }
        std::map<NodeId, std::set<NodeId>> group;
        std::set<NodeId> nobodys;
        for (const Collective* item : gathers) {
            group[item->launch] = groupOf(*item);
            if (settings_.move_prep_chain)
                nobodys.insert(group[item->launch].begin(), group[item->launch].end());
        }
        std::map<NodeId, uint32_t> target;
        uint32_t pointer = static_cast<uint32_t>(graph_.size());
        double left_over = 0;
        uint32_t boundary = 0;
        for (size_t i = gathers.size(); i-- > 0;) {
            const NodeId launch = gathers[i]->launch;
            const uint32_t floor = floorOf(group[launch]);
            const double need = cost_[launch] * settings_.contention + settings_.slack_ns;
            const uint32_t start = std::min<uint32_t>(pointer, launch);
            double sum = settings_.carry && launch > boundary ? left_over : 0;
            uint32_t at = start;
            while (sum < need && at > floor) {
                --at;
                const NodeKind kind = graph_.node(at).kind;
                if (!nobodys.count(at) && kind != NodeKind::Launch && kind != NodeKind::Wait)
                    sum += cost_[at];
            }
            if (at < start)
                boundary = at;
            left_over = std::max(0.0, sum - need);
            target[launch] = pointer = std::max(floor, at);
        }
        uint32_t highest = 0;
        for (auto& [launch, position] : target)
            highest = position = std::max(position, highest);
        return target;
    }

private:
    bool hasRealConsumer(const Collective& item) const {
        std::set<NodeId> seen(item.waits.begin(), item.waits.end());
        std::vector<NodeId> stack(item.waits);
        while (!stack.empty()) {
            const NodeId id = stack.back();
            stack.pop_back();
            for (const NodeId user : graph_.users(id)) {
                const NodeKind kind = graph_.node(user).kind;
                if (kind != NodeKind::Wait && kind != NodeKind::Unpack && cost_[user] > 1)
                    return true;
                if (seen.insert(user).second)
                    stack.push_back(user);
            }
        }
        return false;
    }

    std::set<NodeId> groupOf(const Collective& item) const {
        std::set<NodeId> group{item.launch};
        group.insert(item.unpacks.begin(), item.unpacks.end());
        const std::set<NodeId> waits(item.waits.begin(), item.waits.end());
        for (bool grew = settings_.move_prep_chain; grew;) {
            grew = false;
            for (NodeId id = 0; id < graph_.size(); ++id) {
                if (group.count(id) || graph_.node(id).kind == NodeKind::Placeholder || !feeds(id, group))
                    continue;
                bool is_private = true;
                for (const NodeId user : graph_.users(id))
                    is_private = is_private && (group.count(user) || waits.count(user));
                if (is_private)
                    grew = group.insert(id).second;
            }
        }
        return group;
    }

    bool feeds(NodeId id, const std::set<NodeId>& group) const {
        const auto users = graph_.users(id);
        return std::any_of(users.begin(), users.end(), [&](NodeId user) { return group.count(user) != 0; });
    }

    uint32_t floorOf(const std::set<NodeId>& group) const {
        uint32_t floor = graph_.placeholdersEnd();
        for (const NodeId id : group) {
            for (const NodeId input : graph_.inputs(id))
                floor = group.count(input) ? floor : std::max(floor, input + 1);
            for (const OrderEdge& edge : graph_.orderEdges(id))
                floor = group.count(edge.node) ? floor : std::max(floor, edge.node + 1);
        }
        return floor;
    }

    const Graph& graph_;
    const CollectiveTable& collectives_;
    std::vector<double> cost_;
    GatherMoveSettings settings_;
};

struct Case {
    GraphPtr graph;
    std::unique_ptr<CollectiveTable> collectives;
    CostTablePtr costs;
};

Case makeCase(uint32_t seed) {
    test::RandomGraphOptions options;
    options.layers = 2 + static_cast<int>(seed % 9);
    options.groups = 1 + static_cast<int>(seed % 3);
    Case c;
    c.graph = test::randomGraph(seed, options);
    c.collectives = std::make_unique<CollectiveTable>(*c.graph);
    c.costs = test::randomCosts(*c.graph, *c.collectives, seed);
    return c;
}

/// Bytes of gathers alive, by program position.
int64_t peakBytes(const Graph& graph, const CollectiveTable& collectives, const Order& order) {
    const auto position = positionsOf(order);
    std::vector<int64_t> delta(graph.size() + 1, 0);
    for (const Collective& item : collectives.all()) {
        if (!item.isGather())
            continue;
        uint32_t last = position[item.launch];
        for (const NodeId id : item.waits)
            last = std::max(last, position[id]);
        for (const NodeId id : item.consumers)
            last = std::max(last, position[id]);
        delta[position[item.launch]] += item.output_bytes;
        delta[last + 1] -= item.output_bytes;
    }
    int64_t live = 0, peak = 0;
    for (const int64_t change : delta)
        peak = std::max(peak, live += change);
    return peak;
}

} // namespace

class TestScheduleProperties : public QObject {
    Q_OBJECT

private slots:
    void sweepEqualsOracle() {
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            const Case c = makeCase(seed);
            for (const bool later_rules : {false, true}) {
                GatherMoveSettings settings;
                settings.contention = 1.0 + (seed % 4) * 0.25;
                settings.slack_ns = (seed % 2) * 5000.0;
                settings.carry = settings.move_prep_chain = later_rules;
                const std::vector<double> cost = costsAsDouble(*c.costs);
                const auto candidates = findGatherCandidates(*c.graph, *c.collectives, cost, settings);
                const auto decisions = sweepLatestSafeLaunch(*c.graph, cost, candidates, settings);
                const auto want = Oracle(*c.graph, *c.collectives, cost, settings).targets();
                QCOMPARE(decisions.size(), want.size());
                for (const Decision& decision : decisions)
                    QVERIFY2(want.at(decision.launch) == decision.target,
                             qPrintable(QString("seed %1").arg(seed)));
            }
        }
    }

    void everySchedulerKeepsEveryEdge() {
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            const Case c = makeCase(seed);
            for (const SchedulerInfo& info : schedulers()) {
                const Schedule schedule = info.run({*c.graph, *c.collectives, *c.costs, Settings(), {}});
                const auto broken = findBrokenEdge(*c.graph, schedule.order);
                QVERIFY2(!broken, qPrintable(QString("%1 seed %2").arg(info.name.data()).arg(seed)));
                for (const Diagnostic& item : schedule.diagnostics.all())
                    QVERIFY2(item.code != "order-dropped", item.message.c_str());
                if (!reordersLaunches(info.name))
                    checkLaunchOrder(c, schedule);
            }
        }
    }

    void hiddenMeansEnoughWindow() {
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            const Case c = makeCase(seed);
            for (const SchedulerInfo& info : schedulers()) {
                const Schedule schedule = info.run({*c.graph, *c.collectives, *c.costs, Settings(), {}});
                for (const Decision& decision : schedule.decisions) {
                    if (decision.verdict == Verdict::NotCandidate)
                        continue;
                    if (!judgesByTime(info.name))
                        QCOMPARE(decision.verdict == Verdict::Hidden,
                                 decision.window_ns >= decision.need_ns - 1e-3);
                    QVERIFY(decision.verdict == Verdict::Hidden || decision.reason != BindingReason::None);
                    QVERIFY(decision.target >= decision.floor);
                }
            }
        }
    }

    void budgetIsKept() {
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            const Case c = makeCase(seed);
            const int64_t before = peakBytes(*c.graph, *c.collectives, identityOrder(*c.graph));
            const std::vector<double> cost = costsAsDouble(*c.costs);
            GatherMoveSettings settings;
            const auto candidates = findGatherCandidates(*c.graph, *c.collectives, cost, settings);
            for (const double factor : {1.0, 1.5, 3.0}) {
                const auto budget = static_cast<int64_t>(static_cast<double>(before) * factor);
                const auto decisions = placeJustInTime(*c.graph, *c.collectives, cost, candidates, budget);
                std::vector<uint32_t> targets;
                for (const Decision& decision : decisions)
                    targets.push_back(decision.target);
                const Order order = rebuildOrder(*c.graph, candidates, targets);
                QVERIFY2(peakBytes(*c.graph, *c.collectives, order) <= budget,
                         qPrintable(QString("seed %1 factor %2").arg(seed).arg(factor)));
            }
        }
    }

private:
    /// Documents 002 and 003, PyTorch 2.15 and ours reorder collectives by their own definition.
    static bool reordersLaunches(std::string_view name) {
        return name == "overlap-scheduler" || name == "parameter-prefetch" || judgesByTime(name);
    }

    /// Their verdict is what is exposed on a time axis (with 2.15, less what a bucket would save), not a
    /// window of compute held against a need.
    static bool judgesByTime(std::string_view name) {
        return name == "overlap-scheduler-upstream" || name == "two-sided" || name == "optimum";
    }

    /// Launches of one process group keep their relative order.
    static void checkLaunchOrder(const Case& c, const Schedule& schedule) {
        const auto position = positionsOf(schedule.order);
        std::map<GroupId, NodeId> last;
        for (const Collective& item : c.collectives->all()) {
            if (!item.isGather())
                continue;
            if (last.count(item.group))
                QVERIFY(position[last[item.group]] < position[item.launch]);
            last[item.group] = item.launch;
        }
    }
};

QTEST_GUILESS_MAIN(TestScheduleProperties)
#include "tst_schedule_properties.moc"
