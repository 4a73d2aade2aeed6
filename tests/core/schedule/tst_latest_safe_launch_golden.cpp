// The sweep against every golden of the reference: chains, random DAGs, corpus; both modes, node for node.
#include "import/importer.h"
#include "schedule/latest_safe_launch.h"
#include "support/golden_count.h"
#include "support/small_graph.h"
#include "support/test_data.h"

#include <QTest>
#include <map>
#include <nlohmann/json.hpp>

using Json = nlohmann::json;
using namespace gs;

namespace {

GatherMoveSettings modeSettings(const Json& params, const std::string& mode) {
    GatherMoveSettings settings;
    settings.contention = params.at("contention");
    settings.slack_ns = params.at("slack_ns");
    settings.carry = settings.move_prep_chain = mode == "default";
    return settings;
}

/// First difference between a golden decision and ours; empty if equal.
std::string difference(const Json& want, const Decision& got, const Graph& graph) {
    const auto name = std::string(graph.name(got.launch));
    const auto number = [&](const char* key, double ours) {
        const double theirs = want.at(key);
        return theirs == ours ? std::string()
                              : std::string(key) + " " + want.at(key).dump() + " vs " + std::to_string(ours);
    };
    if (want.at("launch") != name)
        return "launch " + want.at("launch").get<std::string>() + " vs " + name;
    for (const std::string& text :
         {number("cur", got.cur), number("target", got.target), number("lower", got.floor),
          number("fc", got.first_consumer), number("comm", got.comm_ns), number("need", got.need_ns),
          number("carry_in", got.carry_in_ns), number("acc", got.window_ns)}) {
        if (!text.empty())
            return name + ": " + text;
    }
    if (want.at("hidden") != (got.verdict == Verdict::Hidden))
        return name + ": hidden";
    if (want.at("group").is_number()) {
        if (want.at("group") != got.moved_group.size())
            return name + ": group size " + std::to_string(got.moved_group.size());
        return {};
    }
    std::vector<std::string> group;
    for (const NodeId id : got.moved_group)
        group.emplace_back(graph.name(id));
    std::vector<std::string> golden = want.at("group"); // in the reference's order of discovery
    std::sort(golden.begin(), golden.end());
    std::sort(group.begin(), group.end());
    return golden == group ? std::string() : name + ": group " + Json(group).dump();
}

std::string compare(const Json& want, const Graph& graph, const CollectiveTable& collectives,
                    const std::vector<double>& cost_ns, const GatherMoveSettings& settings,
                    bool order_by_name) {
    const GatherCandidates candidates = findGatherCandidates(graph, collectives, cost_ns, settings);
    const std::vector<Decision> decisions = sweepLatestSafeLaunch(graph, cost_ns, candidates, settings);
    const Json& golden = want.at("decisions");
    if (golden.size() != decisions.size())
        return "decisions: " + std::to_string(golden.size()) + " vs " + std::to_string(decisions.size());
    std::vector<uint32_t> targets;
    for (size_t i = 0; i < decisions.size(); ++i) {
        if (const std::string text = difference(golden[i], decisions[i], graph); !text.empty())
            return text;
        targets.push_back(decisions[i].target);
    }
    const Order order = rebuildOrder(graph, candidates, targets);
    if (findBrokenEdge(graph, order))
        return "the order breaks an edge";
    const Json& golden_order = want.at("order");
    if (golden_order.size() != order.size())
        return "order size";
    for (size_t i = 0; i < order.size(); ++i) {
        const bool same = order_by_name ? golden_order[i] == std::string(graph.name(order[i]))
                                        : golden_order[i] == order[i];
        if (!same)
            return "order at " + std::to_string(i) + ": " + golden_order[i].dump() + " vs " +
                   std::string(graph.name(order[i]));
    }
    return {};
}

struct CorpusGraph {
    GraphPtr graph;
    std::shared_ptr<CollectiveTable> collectives;
};

} // namespace

class TestLatestSafeLaunchGolden : public QObject {
    Q_OBJECT

private slots:
    void smallGraphs_data() {
        QTest::addColumn<QString>("file");
        QTest::newRow("chains") << "golden/latest_safe_launch/chains.jsonl";
        QTest::newRow("random") << "golden/latest_safe_launch/random.jsonl";
    }

    void smallGraphs() {
        QFETCH(QString, file);
        const auto path = test::corpusPath(file.toStdString());
        if (!path)
            return;
        size_t checked = 0;
        for (const std::string& line : test::readLines(*path)) {
            const Json row = Json::parse(line);
            std::vector<test::SmallNode> nodes;
            std::vector<double> cost_ns;
            for (const Json& node : row.at("nodes")) {
                nodes.push_back({node.at("name"), node.at("kind"), node.at("deps"), node.at("cost")});
                cost_ns.push_back(node.at("cost"));
            }
            const GraphPtr graph = test::buildSmallGraph(nodes);
            const CollectiveTable collectives(*graph);
            for (const auto& [mode, want] : row.at("results").items()) {
                GatherMoveSettings settings = modeSettings(row.at("params"), mode);
                settings.all_gathers = true;
                const std::string text = compare(want, *graph, collectives, cost_ns, settings, true);
                QVERIFY2(text.empty(), (row.at("key").get<std::string>() + " " + mode + ": " + text).c_str());
                ++checked;
            }
        }
        qInfo("%s: %zu results equal", qPrintable(file), checked);
        test::reportGoldens("latest_safe_launch", QTest::currentDataTag(), {checked, 0, {}});
        QVERIFY(checked > 0);
    }

    void corpus() {
        const auto path = test::corpusPath("golden/latest_safe_launch/corpus.jsonl");
        if (!path)
            return;
        test::GoldenCount count;
        for (const std::string& line : test::readLines(*path)) {
            const Json row = Json::parse(line);
            const std::string key = row.at("key");
            const std::string name = key.substr(0, key.find('|')), costs = key.substr(key.find('|') + 1);
            const CorpusGraph* item = load(name);
            const auto cost_path = test::corpusPath("costs/" + name + "." + costs + ".json");
            if (!item || !cost_path) {
                count.not_run[item ? "costs/" + name + "." + costs + ".json" : "graphs/" + name + ".json"] +=
                    row.at("results").size();
                continue;
            }
            std::vector<double> cost_ns(item->graph->size(), 0);
            const Json table = Json::parse(test::readAll(*cost_path));
            for (const auto& [node, ns] : table.at("nodes").items())
                cost_ns[item->graph->find(node).value()] = ns;
            for (const auto& [mode, want] : row.at("results").items()) {
                const std::string text = compare(want, *item->graph, *item->collectives, cost_ns,
                                                 modeSettings(row.at("params"), mode), false);
                QVERIFY2(text.empty(), (key + " " + mode + ": " + text).c_str());
                ++count.compared;
            }
        }
        qInfo("corpus: %zu results equal", count.compared);
        test::reportGoldens("latest_safe_launch", "corpus", count);
        QVERIFY(count.compared > 0);
    }

private:
    const CorpusGraph* load(const std::string& name) {
        const auto found = graphs_.find(name);
        if (found != graphs_.end())
            return &found->second;
        const auto path = test::corpusPath("graphs/" + name + ".json");
        if (!path)
            return nullptr;
        Diagnostics diagnostics;
        auto imported = importGraph(*path, -1, -1, diagnostics, {});
        if (!imported)
            return nullptr;
        graphs_.clear(); // rows are sorted by graph: one at a time is enough
        return &(graphs_[name] = {imported->graph, std::make_shared<CollectiveTable>(*imported->graph)});
    }

    std::map<std::string, CorpusGraph> graphs_;
};

QTEST_GUILESS_MAIN(TestLatestSafeLaunchGolden)
#include "tst_latest_safe_launch_golden.moc"
