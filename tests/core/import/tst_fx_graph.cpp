#include "core/import/fx_compare.h"
#include "import/importer.h"
#include "support/test_data.h"

#include <QTest>

using namespace gs;
using namespace gs::test;

class TstFxGraph : public QObject {
    Q_OBJECT
private slots:
    void lossyArgumentsAreResolved();
    void corpusTextsEqualTheirJson_data();
    void corpusTextsEqualTheirJson();
};

void TstFxGraph::corpusTextsEqualTheirJson_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("json");
    for (const std::string& name : corpusGraphs()) {
        const auto text = corpusPath("graphs/" + name + ".graph.txt");
        const auto json = corpusPath("graphs/" + name + ".json");
        if (text && json)
            QTest::newRow(name.c_str()) << QString::fromStdString(*text) << QString::fromStdString(*json);
    }
    if (!corpusPath("graphs/mlp4_fsdp8_joint.graph.txt")) // a checkout without the corpus
        QTest::newRow("none") << QString() << QString();
}

void TstFxGraph::corpusTextsEqualTheirJson() {
    QFETCH(QString, text);
    QFETCH(QString, json);
    if (text.isEmpty())
        return;
    Diagnostics diagnostics;
    const auto imported = importGraph(text.toStdString(), -1, -1, diagnostics, {});
    QVERIFY(imported.ok());
    for (const Diagnostic& item : diagnostics.all())
        QVERIFY2(item.code == "no-shapes", item.message.c_str());
    const Json file = Json::parse(readAll(json.toStdString()));
    const auto found = differences(*imported->graph, file, {.values = false, .modules = false});
    for (size_t i = 0; i < found.size() && i < 6; ++i)
        qWarning("%s", found[i].c_str());
    QCOMPARE(found.size(), size_t{0});
    for (const ProcessGroup& group : imported->graph->groups())
        QVERIFY(file.at("groups").contains(std::string(imported->graph->text(group.name))));
}

void TstFxGraph::lossyArgumentsAreResolved() {
    Diagnostics diagnostics;
    const auto imported = importGraph(testDataPath("import/lossy.txt"), -1, -1, diagnostics, {});
    QVERIFY(imported.ok());
    const Graph& graph = *imported->graph;
    QCOMPARE(diagnostics.all().size(), size_t{0}); // one node has a shape
    const auto arg = [&](const char* node, size_t index) {
        return argJson(graph, *graph.arg(graph.find(node).value(), index));
    };
    QCOMPARE(arg("ag", 1).get<int>(), 8);
    QCOMPARE(arg("ag", 2).get<std::string>(),
             std::string("0")); // a group name, though it looks like a number
    QCOMPARE(arg("rs", 1).get<std::string>(), std::string("avg"));
    QCOMPARE(arg("rs", 3).get<std::string>(), std::string("tp:0"));
    QVERIFY(arg("part", 1) == Json::parse(R"([{"slice": [null, 4, null]}, 0])"));
    QVERIFY(argJson(graph, graph.node(graph.find("cast").value()).kwargs) ==
            Json::parse(R"({"dict": {"dtype": {"dtype": "float32"}, "layout": {"layout": "strided"},
                                     "device": {"device": "cuda:0"}}})"));
    QVERIFY(argJson(graph, *graph.kwarg(graph.find("gelu").value(), "approximate")) == Json("tanh"));
    QCOMPARE(graph.node(graph.find("clone").value()).op, NodeOp::CallMethod);
    QCOMPARE(graph.groups().size(), size_t{2});
    QVERIFY(
        valueJson(graph, graph.value(graph.find("w").value())) ==
        Json::parse(R"({"dtype": "bfloat16", "shape": ["s0", 8], "stride": [8, 1], "device": "cuda:0"})"));
    QCOMPARE(graph.value(graph.find("w").value()).tensor.shape[0].value, kUnknownSize);
}

QTEST_GUILESS_MAIN(TstFxGraph)
#include "tst_fx_graph.moc"
