// Tables (print_tabular), Inductor's scheduler nodes and output code.
#include "core/import/open_graph.h"
#include "graph/collectives.h"
#include "support/test_data.h"

#include <QTest>
#include <algorithm>
#include <filesystem>
#include <map>

using namespace gs;
using namespace gs::test;

namespace {

std::string targetOf(const Graph& graph, const char* name) {
    const auto id = graph.find(name);
    return id ? std::string(graph.targetText(*id)) : std::string("no such node");
}

} // namespace

class TstTextTables : public QObject {
    Q_OBJECT
private slots:
    void tables();
    void everyTextIsCompared();
    void schedulerNodes();
    void outputCode();
};

void TstTextTables::tables() {
    size_t compared = 0;
    for (const std::string& name : corpusGraphs()) {
        const auto table = corpusPath("graphs/" + name + ".tabular.txt");
        const auto text = corpusPath("graphs/" + name + ".graph.txt");
        if (!table || !text || name.find("tp2fsdp4") != std::string::npos)
            continue;
        const Opened one = open(*table), two = open(*text);
        QVERIFY2(one.result.ok() && two.result.ok(), name.c_str());
        QCOMPARE(one.result.value().reader, std::string("fx-table"));
        QVERIFY2(!one.diagnostics.hasErrors(), name.c_str());
        QCOMPARE(one.graph().size(), two.graph().size());
        for (NodeId id = 0; id < one.graph().size(); ++id) {
            QCOMPARE(one.graph().name(id), two.graph().name(id));
            // a function of Python is printed without its module
            const std::string_view have = one.graph().targetText(id), want = two.graph().targetText(id);
            QVERIFY2(have == want || want.substr(want.rfind('.') + 1) == have, std::string(have).c_str());
            QVERIFY(std::equal(one.graph().inputs(id).begin(), one.graph().inputs(id).end(),
                               two.graph().inputs(id).begin(), two.graph().inputs(id).end()));
        }
        ++compared;
    }
    qInfo("%zu tables equal print(graph)", compared);
    const Opened cut = open(testDataPath("import/cut_table.txt"));
    QVERIFY(cut.result.ok());
    QVERIFY(cut.find("cut-graph"));
    QCOMPARE(cut.find("cut-graph")->where.line, 5u);
}

/// tst_fx_code compares print_readable, tst_fx_graph print(graph) with the JSON, tables() the tables with
/// print(graph): each takes its texts by the names of the JSON files, so that no text may lack them.
void TstTextTables::everyTextIsCompared() {
    const auto any = corpusPath("graphs/mlp4_fsdp8_joint.json");
    QVERIFY(any.has_value());
    const std::vector<std::string> names = corpusGraphs();
    std::map<std::string, size_t> counts;
    for (const auto& item : std::filesystem::directory_iterator(std::filesystem::path(*any).parent_path())) {
        const std::string file = item.path().filename().string();
        const size_t dot = file.find('.');
        const std::string name = file.substr(0, dot), form = file.substr(dot, file.find(".gz") - dot);
        QVERIFY2(form == ".json" || form == ".readable.txt" || form == ".graph.txt" || form == ".tabular.txt",
                 file.c_str());
        QVERIFY2(std::binary_search(names.begin(), names.end(), name), file.c_str());
        QVERIFY2(form != ".tabular.txt" || corpusPath("graphs/" + name + ".graph.txt"), file.c_str());
        ++counts[form];
    }
    for (const auto& [form, count] : counts)
        qInfo("%zu %s", count, form.c_str());
}

void TstTextTables::schedulerNodes() {
    const Opened opened = open(testDataPath("import/ir_post_fusion.txt"));
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    QCOMPARE(graph.info().level, GraphLevel::Scheduler);
    const NodeId fused = graph.find("op0_op1").value();
    QCOMPARE(targetOf(graph, "op0_op1"), std::string("fused"));
    QCOMPARE(graph.origins(fused).size(), size_t{2});
    QCOMPARE(graph.value(fused).items.size(), size_t{2});
    const NodeId launch = graph.find("op2").value(), wait = graph.find("op3").value(),
                 use = graph.find("op4").value();
    QCOMPARE(graph.weakInputs(launch).size(), size_t{1}); // WeakDep: advisory, no input
    QCOMPARE(graph.inputs(launch).size(), size_t{1});
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{1});
    QCOMPARE(table[0].waits, std::vector<NodeId>{wait});
    QCOMPARE(table[0].consumers, std::vector<NodeId>{use});
    QCOMPARE(table[0].output_bytes, int64_t{64});
    QVERIFY(graph.output() != kNoNode);
    QVERIFY(!opened.find("cut-graph"));
}

void TstTextTables::outputCode() {
    const Opened opened = open(testDataPath("import/output_code.py"));
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{3});
    for (const Collective& item : table.all()) {
        QVERIFY(item.launch != kNoNode);
        QCOMPARE(item.waits.size(), size_t{1});
    }
    QCOMPARE(table[0].output_bytes, int64_t{32});
    QCOMPARE(table[2].kind, CollectiveKind::AllGatherCoalesced);
    // in_ptr is read, out_ptr is written, by the kernel's own text
    const NodeId kernel = graph.find("triton_poi_fused_add_0").value();
    QCOMPARE(graph.inputs(kernel).size(), size_t{2});
    QCOMPARE(std::string(graph.text(graph.origins(kernel)[0])), std::string("add"));
    // reusing a buffer orders its writer behind the readers of what was in it
    Order order = identityOrder(graph);
    const NodeId writer = graph.find("mm").value_or(0);
    QVERIFY(writer != 0);
    QVERIFY(!findBrokenEdge(graph, order).has_value());
    QVERIFY(!graph.orderEdges(writer).empty());
}

QTEST_GUILESS_MAIN(TstTextTables)
#include "tst_text_tables.moc"
