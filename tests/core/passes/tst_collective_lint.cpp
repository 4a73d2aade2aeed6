// The lint of launches and waits: each finding by hand, and counts on the fuzz graphs by a naive search.
#include "graph/graph_builder.h"
#include "import/importer.h"
#include "passes/collective_lint.h"
#include "support/edge_graphs.h"
#include "support/test_data.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <set>

using namespace gs;

namespace {

constexpr const char* kGather = "_c10d_functional.all_gather_into_tensor.default";
constexpr const char* kWait = "_c10d_functional.wait_tensor.default";
constexpr const char* kView = "aten.view.default";
constexpr const char* kRelu = "aten.relu.default";

/// One node a line: name, target ("" = placeholder), inputs.
struct Line {
    const char* name;
    const char* target;
    std::vector<const char*> inputs;
};

GraphPtr makeGraph(const std::vector<Line>& lines) {
    GraphBuilder b;
    for (const Line& line : lines) {
        const std::string_view target = line.target;
        const NodeOp op = target.empty()          ? NodeOp::Placeholder
                          : target == "output"    ? NodeOp::Output
                          : target == "attribute" ? NodeOp::GetAttr
                                                  : NodeOp::CallFunction;
        const NodeId id = b.addNode(line.name, op, target.empty() ? line.name : line.target);
        std::vector<Arg> args;
        for (const char* input : line.inputs)
            args.push_back(b.nodeArg(input, id));
        if (target == kGather) {
            args.push_back(b.intArg(8));
            args.push_back(b.textArg(Arg::Kind::String, "0"));
        }
        if (target == "operator.getitem")
            args.push_back(b.intArg(0));
        b.setArgs(id, args);
        b.node(id).source = b.intern(std::string("model.py:7 ") + line.name);
    }
    return b.finish(nullptr);
}

/// "severity code node" of every finding, sorted.
QStringList findings(const Graph& graph, Diagnostics* kept = nullptr) {
    Diagnostics diagnostics;
    lintCollectives(graph, CollectiveTable(graph), diagnostics);
    QStringList lines;
    for (const Diagnostic& item : diagnostics.all())
        lines.push_back(QString::fromStdString(std::string(severityName(item.severity)) + " " + item.code +
                                               " " + item.node));
    lines.sort();
    if (kept)
        *kept = diagnostics;
    return lines;
}

std::map<std::string, size_t> countByCode(const Graph& graph) {
    Diagnostics diagnostics;
    lintCollectives(graph, CollectiveTable(graph), diagnostics);
    std::map<std::string, size_t> counts;
    for (const Diagnostic& item : diagnostics.all())
        ++counts[item.code];
    return counts;
}

} // namespace

class TestCollectiveLint : public QObject {
    Q_OBJECT
private slots:
    void cleanGraphsHaveNoFindings() {
        const GraphPtr graph = makeGraph({{"p", "", {}},
                                          {"g", kGather, {"p"}},
                                          {"v", kView, {"g"}},
                                          {"w", kWait, {"v"}},
                                          {"r", kRelu, {"w"}},
                                          {"out", "output", {"r"}}});
        QCOMPARE(findings(*graph), QStringList());
    }

    void waitsForGraphInputs() {
        Diagnostics kept;
        const GraphPtr graph = makeGraph({{"p", "", {}},
                                          {"list", "", {}},
                                          {"a", "attribute", {}},
                                          {"v", kView, {"p"}},
                                          {"w", kWait, {"v"}},
                                          {"item", "operator.getitem", {"list"}},
                                          {"w2", kWait, {"item"}},
                                          {"w3", kWait, {"a"}},
                                          {"r", kRelu, {"p"}}, // after the wait: fine
                                          {"out", "output", {"r", "w", "w2", "w3"}}});
        QCOMPARE(findings(*graph, &kept),
                 QStringList({"info in-flight-at-entry a", "info in-flight-at-entry item",
                              "info in-flight-at-entry p"}));
        for (const Diagnostic& item : kept.all()) {
            QVERIFY2(item.message.find("model.py:7") != std::string::npos, item.message.c_str());
            QVERIFY2(item.hint.find("in_flight_ns=" + item.node + "=NS") != std::string::npos,
                     item.hint.c_str());
        }
        const CollectiveTable table(*graph);
        QCOMPARE(table.inFlightCount(), size_t{3});
        const Collective& first = table[static_cast<size_t>(table.indexOf(*graph->find("w")))];
        QCOMPARE(first.input, *graph->find("p"));
        QCOMPARE(first.consumers, (std::vector<NodeId>{*graph->find("r"), *graph->find("out")}));
        // Readers behind the wait stay behind it.
        Order order = identityOrder(*graph);
        std::swap(order[4], order[8]);
        const auto broken = findBrokenEdge(*graph, order);
        QVERIFY(broken && broken->before == *graph->find("w") && broken->after == *graph->find("r"));
    }

    void inputReadBeforeItsWait() {
        const GraphPtr graph = makeGraph(
            {{"p", "", {}}, {"r", kRelu, {"p"}}, {"w", kWait, {"p"}}, {"out", "output", {"r", "w"}}});
        QCOMPARE(findings(*graph),
                 QStringList({"info in-flight-at-entry p", "warning in-flight-read-early r"}));
    }

    void launchesWithoutWait() {
        const GraphPtr graph = makeGraph({{"p", "", {}},
                                          {"dead", kGather, {"p"}},
                                          {"race", kGather, {"p"}},
                                          {"leaves", kGather, {"p"}},
                                          {"v", kView, {"race"}},
                                          {"r", kRelu, {"v"}},
                                          {"out", "output", {"r", "leaves"}}});
        QCOMPARE(findings(*graph), QStringList({"info leaves-in-flight leaves", "warning never-waited dead",
                                                "warning used-unwaited race"}));
    }

    void resultsReadBeforeTheWait() {
        const GraphPtr graph = makeGraph({{"p", "", {}},
                                          {"g", kGather, {"p"}},
                                          {"r", kRelu, {"g"}},
                                          {"w", kWait, {"g"}},
                                          {"late", kRelu, {"g"}},
                                          {"out", "output", {"r", "w", "late"}}});
        QCOMPARE(findings(*graph), QStringList({"warning used-unwaited g"}));
    }

    void waitsThatDoNothing() {
        Diagnostics kept;
        const GraphPtr graph = makeGraph({{"p", "", {}},
                                          {"g", kGather, {"p"}},
                                          {"w", kWait, {"g"}},
                                          {"again", kWait, {"g"}},
                                          {"of_wait", kWait, {"w"}},
                                          {"r", kRelu, {"w"}},
                                          {"of_compute", kWait, {"r"}},
                                          {"out", "output", {"again", "of_wait", "of_compute"}}});
        QCOMPARE(findings(*graph, &kept),
                 QStringList({"warning wait-of-wait of_wait", "warning wait-without-collective of_compute",
                              "warning waited-twice again"}));
        for (const Diagnostic& item : kept.all())
            QVERIFY(!item.hint.empty());
        const CollectiveTable table(*graph);
        QCOMPARE(table.indexOf(*graph->find("of_compute")), -1);
        QCOMPARE(table.size(), size_t{1});
    }

    /// A launch that writes its argument in place: the wait names the argument only.
    void launchInPlaceIsNoCollectiveBeforeTheGraph() {
        GraphBuilder b;
        const NodeId p = b.addNode("p", NodeOp::Placeholder, "p");
        const NodeId launch = b.addNode("g", NodeOp::CallFunction, "_c10d_functional.all_reduce_.default");
        b.setArgs(launch,
                  {b.nodeArg(p), b.textArg(Arg::Kind::String, "sum"), b.textArg(Arg::Kind::String, "0")});
        for (const char* name : {"w", "w2"})
            b.setArgs(b.addNode(name, NodeOp::CallFunction, kWait), {b.nodeArg(p)});
        const GraphPtr graph = b.finish(nullptr);
        const CollectiveTable table(*graph);
        QCOMPARE(table.size(), size_t{1});
        QCOMPARE(table[0].launch, launch);
        QCOMPARE(table[0].waits.size(), size_t{2});
    }

    void fuzzGraphs() {
        size_t graphs = 0, total = 0;
        for (const GraphPtr& graph : test::edgeGraphs()) {
            std::map<std::string, size_t> want;
            std::set<NodeId> inputs;
            std::map<NodeId, size_t> waits_of;
            for (NodeId id = 0; id < graph->size(); ++id) {
                if (graph->node(id).kind != NodeKind::Wait)
                    continue;
                NodeId of = graph->inputs(id).front();
                if (graph->node(of).kind == NodeKind::Wait)
                    ++want["wait-of-wait"];
                else if (++waits_of[of] > 1)
                    ++want["waited-twice"];
                while (graph->node(of).kind == NodeKind::Wait)
                    of = graph->inputs(of).front();
                if (graph->node(of).kind == NodeKind::Placeholder)
                    inputs.insert(of);
            }
            size_t unwaited = 0;
            for (NodeId id = 0; id < graph->size(); ++id)
                unwaited += graph->node(id).kind == NodeKind::Launch && !waits_of.count(id) ? 1 : 0;
            auto got = countByCode(*graph);
            QCOMPARE(got["wait-of-wait"], want["wait-of-wait"]);
            QCOMPARE(got["waited-twice"], want["waited-twice"]);
            QCOMPARE(got["in-flight-at-entry"], inputs.size());
            QCOMPARE(CollectiveTable(*graph).inFlightCount(), inputs.size());
            QCOMPARE(got["wait-without-collective"], size_t{0});
            QVERIFY(got["never-waited"] + got["leaves-in-flight"] + got["used-unwaited"] >= unwaited);
            QVERIFY(got["never-waited"] + got["leaves-in-flight"] <= unwaited);
            ++graphs;
            for (const auto& [code, count] : got)
                total += count;
        }
        qInfo("%zu fuzz graphs, %zu findings", graphs, total);
    }

    void corpusGraphs() {
        std::map<std::string, size_t> codes;
        for (const std::string& name : test::corpusGraphs()) {
            Diagnostics diagnostics;
            const auto imported =
                importGraph(*test::corpusPath("graphs/" + name + ".json"), -1, -1, diagnostics, {});
            QVERIFY2(imported.ok(), name.c_str());
            for (const auto& [code, count] : countByCode(*imported->graph)) {
                codes[code] += count;
                qInfo("%s: %zu %s", name.c_str(), count, code.c_str());
            }
        }
        QCOMPARE(codes["wait-without-collective"], size_t{0});
        QCOMPARE(codes["used-unwaited"], size_t{0});
    }
};

QTEST_GUILESS_MAIN(TestCollectiveLint)
#include "tst_collective_lint.moc"
