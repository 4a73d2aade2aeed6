// The recorded steps of the sweep, replayed: they alone must give the schedule, on every golden of the
// corpus.
#include "import/importer.h"
#include "schedule/latest_safe_launch.h"
#include "support/random_graph.h"
#include "support/test_data.h"

#include <QTest>
#include <nlohmann/json.hpp>

using Json = nlohmann::json;
using namespace gs;

namespace {

/// What a person would read off the steps: window, verdict, carry and place of each gather.
struct Replayed {
    std::vector<uint32_t> targets;
    std::vector<double> windows;
    std::vector<double> carries;
    std::vector<bool> hidden;
};

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            return std::string("step ") + std::to_string(i) + ": " #condition;                               \
    } while (false)

/// One step on its own: it starts where the one before ended, counts every compute node of its stretch once
/// and in order, and ends for the reason it states. First contradiction; empty if there is none.
std::string checkStep(const SweepSteps& sweep, size_t i, uint32_t end_of_graph, Replayed& out) {
    const SweepStep& step = sweep.steps[i];
    const Decision& decision = sweep.decisions[step.decision];
    const bool first = i == 0;
    CHECK(step.pointer == (first ? end_of_graph : sweep.steps[i - 1].target));
    CHECK(step.claimed_by == (first ? kNoNode : sweep.steps[i - 1].launch));
    CHECK(step.first_walked == (first ? 0 : sweep.steps[i - 1].last_walked));
    CHECK(step.decision == sweep.steps.size() - 1 - i && step.launch == decision.launch);
    CHECK(step.start == std::min(step.pointer, decision.cur));
    CHECK(step.end <= step.start && step.target == std::max(step.end, decision.floor));
    CHECK(decision.carry_in_ns == 0 || decision.carry_in_ns == sweep.steps[i - 1].left_over_ns);
    CHECK(decision.carry_in_ns == 0 ||
          (step.carry_at < decision.cur && decision.carry_from == step.claimed_by));
    double sum = decision.carry_in_ns;
    size_t at = step.first_walked;
    for (uint32_t node = step.start; node-- > step.end;) {
        if (sweep.compute_ns[node] == 0)
            continue;
        CHECK(sum < decision.need_ns); // else the walk went too far
        sum += sweep.compute_ns[node];
        CHECK(at < step.last_walked && sweep.walked[at].node == node && sweep.walked[at].sum_ns == sum);
        ++at;
    }
    CHECK(at == step.last_walked);
    const bool reached = sum >= decision.need_ns;
    CHECK(reached == (step.walk_end == WalkEnd::Reached));
    CHECK(reached || step.end == std::min(decision.floor, step.start));
    CHECK(step.left_over_ns == std::max(0.0, sum - decision.need_ns));
    out.targets[step.decision] = step.target;
    out.windows[step.decision] = sum;
    out.carries[step.decision] = decision.carry_in_ns;
    out.hidden[step.decision] = reached;
    return {};
}

#undef CHECK

std::string replay(const SweepSteps& sweep, uint32_t end_of_graph, Replayed& out) {
    const size_t n = sweep.steps.size();
    if (n != sweep.decisions.size())
        return "not one step per decision";
    out = {std::vector<uint32_t>(n), std::vector<double>(n), std::vector<double>(n), std::vector<bool>(n)};
    for (size_t i = 0; i < n; ++i) {
        if (const std::string text = checkStep(sweep, i, end_of_graph, out); !text.empty())
            return text;
    }
    for (size_t i = 1; i < n; ++i) // launches keep their order
        out.targets[i] = std::max(out.targets[i], out.targets[i - 1]);
    return {};
}

std::string compareDecisions(const Replayed& replayed, const std::vector<Decision>& decisions) {
    for (size_t i = 0; i < decisions.size(); ++i) {
        const Decision& decision = decisions[i];
        if (decision.target != replayed.targets[i] || decision.window_ns != replayed.windows[i] ||
            (decision.verdict == Verdict::Hidden) != replayed.hidden[i])
            return "decision " + std::to_string(i);
    }
    return {};
}

std::string compareGolden(const Replayed& replayed, const Json& want, const Order& order) {
    const Json& golden = want.at("decisions");
    if (golden.size() != replayed.targets.size())
        return "number of decisions";
    for (size_t i = 0; i < golden.size(); ++i) {
        if (golden[i].at("target") != replayed.targets[i] || golden[i].at("acc") != replayed.windows[i] ||
            golden[i].at("carry_in") != replayed.carries[i] || golden[i].at("hidden") != replayed.hidden[i])
            return "golden decision " + std::to_string(i);
    }
    return want.at("order") == Json(order) ? std::string() : std::string("order");
}

GatherMoveSettings modeSettings(const Json& params, const std::string& mode) {
    GatherMoveSettings settings;
    settings.contention = params.at("contention");
    settings.slack_ns = params.at("slack_ns");
    settings.carry = settings.move_prep_chain = mode == "default";
    return settings;
}

} // namespace

class TestSweepSteps : public QObject {
    Q_OBJECT

private slots:
    void corpus() {
        const auto path = test::corpusPath("golden/latest_safe_launch/corpus.jsonl");
        if (!path)
            return;
        size_t checked = 0, steps = 0;
        for (const std::string& line : test::readLines(*path)) {
            const Json row = Json::parse(line);
            const std::string key = row.at("key");
            const std::string name = key.substr(0, key.find('|')), costs = key.substr(key.find('|') + 1);
            const auto cost_path = test::corpusPath("costs/" + name + "." + costs + ".json");
            if (!load(name) || !cost_path)
                continue;
            std::vector<double> cost_ns(graph_->size(), 0);
            const Json table = Json::parse(test::readAll(*cost_path));
            for (const auto& [node, ns] : table.at("nodes").items())
                cost_ns[graph_->find(node).value()] = ns;
            for (const auto& [mode, want] : row.at("results").items()) {
                const std::string text =
                    checkGolden(want, cost_ns, modeSettings(row.at("params"), mode), steps);
                QVERIFY2(text.empty(), (key + " " + mode + ": " + text).c_str());
                ++checked;
            }
        }
        qInfo("%zu results replayed from %zu steps", checked, steps);
        QVERIFY(checked > 0);
    }

    /// Through the scheduler's own entry: what the window shows beside the schedule it shows.
    void programs() {
        size_t carried = 0, limited = 0, clamped = 0;
        for (uint32_t seed = 1; seed <= 200; ++seed) {
            const GraphPtr graph = test::randomGraph(seed);
            const CollectiveTable collectives(*graph);
            const CostTablePtr costs = test::randomCosts(*graph, collectives, seed);
            Settings settings;
            // Casts that stay make high floors, and those make launches that the order moves back.
            QVERIFY(settings.set(Setting::MovePrepChain, seed % 2 == 0 ? "true" : "false").ok());
            const ScheduleInput input{*graph, collectives, *costs, settings, {}};
            const SweepSteps sweep = sweepSteps(input);
            Replayed replayed;
            const std::string text = replay(sweep, static_cast<uint32_t>(graph->size()), replayed);
            QVERIFY2(text.empty(), text.c_str());
            std::vector<Decision> placed;
            for (const Decision& decision : runLatestSafeLaunch(input).decisions) {
                if (decision.verdict != Verdict::NotCandidate)
                    placed.push_back(decision);
            }
            QCOMPARE(placed.size(), sweep.decisions.size());
            QCOMPARE(compareDecisions(replayed, placed), std::string());
            for (const SweepStep& step : sweep.steps) {
                carried += sweep.decisions[step.decision].carry_in_ns > 0 ? 1 : 0;
                limited += step.walk_end != WalkEnd::Reached ? 1 : 0;
                clamped += step.target < sweep.decisions[step.decision].target ? 1 : 0;
            }
        }
        qInfo("%zu carried, %zu limited, %zu kept in order", carried, limited, clamped);
        QVERIFY(carried > 0 && limited > 0 && clamped > 0); // the cases are all there
    }

    void recordingChangesNothing() {
        const GraphPtr graph = test::randomGraph(7);
        const CollectiveTable collectives(*graph);
        const CostTablePtr costs = test::randomCosts(*graph, collectives, 7);
        const std::vector<double> cost_ns = costsAsDouble(*costs);
        const GatherMoveSettings settings;
        const GatherCandidates candidates = findGatherCandidates(*graph, collectives, cost_ns, settings);
        SweepSteps record;
        const auto with = sweepLatestSafeLaunch(*graph, cost_ns, candidates, settings, &record);
        const auto without = sweepLatestSafeLaunch(*graph, cost_ns, candidates, settings);
        QCOMPARE(with.size(), without.size());
        for (size_t i = 0; i < with.size(); ++i)
            QVERIFY(with[i].target == without[i].target && with[i].window_ns == without[i].window_ns &&
                    with[i].reason == without[i].reason);
        QCOMPARE(record.steps.size(), with.size());
    }

private:
    bool load(const std::string& name) {
        if (name == loaded_)
            return graph_ != nullptr;
        loaded_ = name;
        graph_ = nullptr;
        const auto path = test::corpusPath("graphs/" + name + ".json");
        Diagnostics diagnostics;
        auto imported = path ? importGraph(*path, -1, -1, diagnostics, {}) : Error{"", "", {}, ""};
        if (!imported)
            return false;
        graph_ = imported->graph;
        collectives_ = std::make_shared<CollectiveTable>(*graph_);
        return true;
    }

    std::string checkGolden(const Json& want, const std::vector<double>& cost_ns,
                            const GatherMoveSettings& settings, size_t& steps) const {
        const GatherCandidates candidates = findGatherCandidates(*graph_, *collectives_, cost_ns, settings);
        SweepSteps sweep;
        sweep.decisions = sweepLatestSafeLaunch(*graph_, cost_ns, candidates, settings, &sweep);
        Replayed replayed;
        std::string text = replay(sweep, static_cast<uint32_t>(graph_->size()), replayed);
        if (text.empty())
            text = compareDecisions(replayed, sweep.decisions);
        if (text.empty())
            text = compareGolden(replayed, want, rebuildOrder(*graph_, candidates, replayed.targets));
        steps += sweep.steps.size();
        return text;
    }

    std::string loaded_;
    GraphPtr graph_;
    CollectiveTablePtr collectives_;
};

QTEST_GUILESS_MAIN(TestSweepSteps)
#include "tst_sweep_steps.moc"
