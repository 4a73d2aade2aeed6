// Nested graphs that communicate are put in the place of their calls (invoke_subgraph); pages that show a
// graph.
#include "core/import/open_graph.h"
#include "graph/collectives.h"
#include "import/html_text.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

using namespace gs;
using namespace gs::test;

namespace {

const std::string kGather = "torch.ops._c10d_functional.all_gather_into_tensor.default";
const std::string kWait = "torch.ops._c10d_functional.wait_tensor.default";
const std::string kInvoke = "torch.ops.higher_order.invoke_subgraph";

/// "class NAME: def forward(self, INPUT): …", indented by `depth` levels of a class.
std::string nested(const std::string& name, int depth, const std::string& inputs,
                   const std::vector<std::string>& lines) {
    const std::string indent(static_cast<size_t>(depth) * 4, ' ');
    std::string text = indent + "class " + name + "(torch.nn.Module):\n" + indent + "    def forward(self, " +
                       inputs + "):\n";
    for (const std::string& line : lines)
        text += indent + "        " + line + "\n";
    return text + "\n";
}

const std::string kLayer =
    nested("layer", 1, "arg0: \"f32[4]\", arg1: \"f32[8]\"",
           {"gather: \"f32[8]\" = " + kGather + "(arg0, 2, '0');  arg0 = None",
            "ready: \"f32[8]\" = " + kWait + "(gather);  gather = None",
            "out: \"f32[8]\" = torch.ops.aten.add.Tensor(arg1, ready, alpha = 2);  arg1 = None",
            "return (out, ready)"});

} // namespace

class TstNestedGraphs : public QObject {
    Q_OBJECT
private slots:
    void calledOnce();
    void calledTwice();
    void callsOfCalls();
    void whatStaysOneNode();
    void manyCallsOfCalls();
    void pageText();
    void outputCodePages();
};

void TstNestedGraphs::calledOnce() {
    const Opened opened = open(testDataPath("import/invoke_subgraph.txt"));
    QVERIFY(opened.result.ok());
    QVERIFY(opened.find("inlined-subgraphs"));
    QVERIFY(!opened.find("hidden-collectives"));
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{1});
    QCOMPARE(table.weightGatherCount(), size_t{1});
    QCOMPARE(table[0].output_bytes, int64_t{32});
    QCOMPARE(std::string(graph.name(table[0].launch)), std::string("invoke_subgraph__gather"));
    QCOMPARE(graph.node(table[0].launch).source_line, 10u); // its own line, not that of the call
    QCOMPARE(graph.inputs(graph.output()).front(), table[0].waits.front()); // through the getitem
    QCOMPARE(opened.result.value().entries[0].collectives, size_t{1});
}

void TstNestedGraphs::calledTwice() {
    const Opened opened = openText(
        nested("GraphModule", 0, "p: \"f32[4]\", q: \"f32[4]\", x: \"f32[8]\"",
               {"layer = self.layer", "first = " + kInvoke + "(layer, 'layer', p, x);  layer = None",
                "a: \"f32[8]\" = first[0]", "layer_1 = self.layer",
                "second = " + kInvoke + "(layer_1, 'layer', q, a);  layer_1 = a = None",
                "b: \"f32[8]\" = second[0]", "w: \"f32[8]\" = second[1];  second = None", "return (b, w)"}) +
        kLayer);
    QVERIFY(opened.result.ok());
    for (const Diagnostic& item : opened.diagnostics.all())
        QVERIFY2(item.code == "inlined-subgraphs", item.message.c_str());
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{2});
    QCOMPARE(table.weightGatherCount(), size_t{2});
    const NodeId out = graph.find("second__out").value();
    QCOMPARE(graph.inputs(out)[0], graph.find("first__out").value());
    QCOMPARE(graph.kwarg(out, "alpha")->integer, int64_t{2}); // a keyword is no name
    QCOMPARE(graph.inputs(graph.output())[1], table[1].waits.front());
    QVERIFY(!findBrokenEdge(graph, identityOrder(graph)).has_value());
}

/// A graph that only calls one that communicates communicates, too.
void TstNestedGraphs::callsOfCalls() {
    const std::string block =
        nested("block", 1, "v: \"f32[4]\", y: \"f32[8]\"",
               {"layer = self.layer", "inner = " + kInvoke + "(layer, 'layer', v, y);  layer = v = y = None",
                "z: \"f32[8]\" = inner[0];  inner = None", "return (z,)"});
    const Opened opened =
        openText(nested("GraphModule", 0, "p: \"f32[4]\", x: \"f32[8]\"",
                        {"block = self.block", "call = " + kInvoke + "(block, 'block', p, x)",
                         "a: \"f32[8]\" = call[0]", "return (a,)"}) +
                 block + kLayer);
    QVERIFY(opened.result.ok());
    const CollectiveTable table(opened.graph());
    QCOMPARE(table.size(), size_t{1});
    QCOMPARE(std::string(opened.graph().name(table[0].launch)), std::string("call__inner__gather"));
    QCOMPARE(opened.count("unknown-input"), size_t{0});
    QVERIFY(opened.find("inlined-subgraphs")->message.find("2 calls") != std::string::npos);
}

void TstNestedGraphs::whatStaysOneNode() {
    const auto outer = [](const std::string& use) {
        return nested("GraphModule", 0, "p: \"f32[4]\", x: \"f32[8]\"",
                      {"layer = self.layer", "call = " + kInvoke + "(layer, 'layer', p, x)", use});
    };
    // its results are used as a whole
    const Opened whole = openText(outer("return call") + kLayer);
    QVERIFY(whole.result.ok() && whole.find("hidden-collectives"));
    QCOMPARE(whole.find("hidden-collectives")->where.line, 4u);
    QVERIFY(whole.graph().find("call").has_value());
    // the text is cut inside it, or does not have it
    const Opened cut = openText(outer("return (call[0],)") + kLayer.substr(0, kLayer.find("        return")));
    QVERIFY(cut.result.ok() && !cut.find("inlined-subgraphs"));
    // it does not communicate
    const Opened silent = openText(
        nested("GraphModule", 0, "x: \"f32[8]\"",
               {"s = self.s", "call = " + kInvoke + "(s, 's', x)", "y = call[0]", "return (y,)"}) +
        nested("s", 1, "a: \"f32[8]\"", {"r: \"f32[8]\" = torch.ops.aten.relu.default(a)", "return (r,)"}));
    QVERIFY(silent.result.ok() && !silent.find("inlined-subgraphs") && !silent.find("hidden-collectives"));
    QVERIFY(silent.graph().find("call").has_value());
}

/// Eight levels of ten calls each would be a hundred million statements; a graph that calls itself has no
/// end.
void TstNestedGraphs::manyCallsOfCalls() {
    std::string text =
        nested("GraphModule", 0, "p: \"f32[4]\", x: \"f32[8]\"",
               {"l0 = self.l0", "call = " + kInvoke + "(l0, 'l0', p, x)", "a = call[0]", "return (a,)"});
    for (int level = 0; level < 8; ++level) {
        const std::string next = level == 7 ? "layer" : "l" + std::to_string(level + 1);
        std::vector<std::string> lines{"n = self." + next};
        std::string last = "y";
        for (int i = 0; i < 10; ++i) {
            const std::string n = std::to_string(i);
            lines.push_back("c" + n + " = " + kInvoke + "(n, 'n', v, " + last + ")");
            lines.push_back("r" + n + " = c" + n + "[0]");
            last = "r" + n;
        }
        lines.push_back("return (" + last + ",)");
        text += nested("l" + std::to_string(level), 1, "v: \"f32[4]\", y: \"f32[8]\"", lines);
    }
    const Opened many = openText(text + kLayer);
    QVERIFY(many.result.ok());
    QVERIFY(many.graph().size() < 300'000);
    const Opened endless =
        openText(nested("GraphModule", 0, "p: \"f32[4]\"",
                        {"l = self.l", "call = " + kInvoke + "(l, 'l', p)", "a = call[0]", "return (a,)"}) +
                 nested("l", 1, "v: \"f32[4]\"",
                        {"g: \"f32[8]\" = " + kGather + "(v, 2, '0')", "l = self.l",
                         "c = " + kInvoke + "(l, 'l', v)", "r = c[0]", "return (r,)"}));
    QVERIFY(endless.result.ok());
    QVERIFY(endless.graph().size() < 100);
}

void TstNestedGraphs::pageText() {
    for (const auto& [html, text] :
         {std::pair<const char*, const char*>{"<pre>a &lt; b &amp;&amp; c &gt; d</pre>", "a < b && c > d"},
          {"<span class=\"x>y\">a</span>&#39;&#x41;&#233;&quot;", "a'A\xc3\xa9\""},
          {"<p>one<script>if (a < b) {\n}</script>two", "one\ntwo"},
          {"a<!-- <b>\n -->b", "a\nb"},
          {"1 < 2 & 3 &unknown; &#xzz; &#1234567890;", "1 < 2 & 3 &unknown; &#xzz; &#1234567890;"},
          {"<", "<"},
          {"<a", ""},
          {"&", "&"},
          {"<style>", ""}})
        QCOMPARE(QString::fromStdString(textOfHtml(html)), QString(text));
    QVERIFY(looksLikeHtml("\n <PRE style=''>x") && !looksLikeHtml("<eval_with_key>.3 class") &&
            !looksLikeHtml(""));
}

/// tlparse writes output code as a page of coloured text: the same graph as in the log that the page was made
/// from.
void TstNestedGraphs::outputCodePages() {
    const QTemporaryDir folder;
    const auto write = [&](const char* name, const std::string& text) {
        const QString path = folder.filePath(name);
        QFile file(path);
        return file.open(QIODevice::WriteOnly) && file.write(QByteArray::fromStdString(text)) > 0
                   ? path.toStdString()
                   : std::string();
    };
    std::string page = "<pre style=\"background-color:#ffffff;\">\n<span style=\"color:#323232;\">";
    for (const char c : readAll(testDataPath("import/output_code.py")))
        page += c == '<'    ? "&lt;"
                : c == '>'  ? "&gt;"
                : c == '&'  ? "&amp;"
                : c == '\'' ? "&#39;"
                            : std::string(1, c);
    const Opened code = open(testDataPath("import/output_code.py"));
    const Opened shown = open(write("page.html", page + "</span></pre>\n"));
    QVERIFY(code.result.ok() && shown.result.ok());
    QCOMPARE(shown.result.value().reader, std::string("inductor-code"));
    QCOMPARE(shown.graph().structuralHash(), code.graph().structuralHash());
    QCOMPARE(shown.result.value().entries[0].line, code.result.value().entries[0].line + 1);
    const Opened other = open(write("other.html", "<!DOCTYPE html><html><body>nothing here</body></html>"));
    QVERIFY(!other.result.ok());
    QVERIFY(other.result.error().message.find("a web page") != std::string::npos);
    size_t pages = 0;
    for (const char* log : {"mlp_fsdp8_plain", "mlp_fsdp8_overlap"}) {
        const auto tlparse = corpusPath(std::string("logs/") + log + "/tlparse/-_0_0_0");
        if (!tlparse)
            continue;
        for (const auto& item : std::filesystem::directory_iterator(*tlparse)) {
            if (item.path().filename().string().rfind("inductor_output_code", 0) != 0)
                continue;
            const Opened opened = open(item.path().string());
            QVERIFY2(opened.result.ok(), item.path().c_str());
            QVERIFY2(!opened.diagnostics.hasErrors(), item.path().c_str());
            QVERIFY(CollectiveTable(opened.graph()).size() > 0);
            QVERIFY(opened.graph().output() != kNoNode);
            ++pages;
        }
        Diagnostics diagnostics;
        const auto list = listGraphs(std::filesystem::path(*tlparse).parent_path().string(), diagnostics);
        QVERIFY(list.ok());
        QVERIFY(std::any_of(list->graphs.begin(), list->graphs.end(), [](const GraphEntry& entry) {
            return entry.stage == "inductor_output_code" && entry.compile_id == "0/0";
        }));
        QVERIFY(list->graphs[list->preferred].level == GraphLevel::Fx);
    }
    qInfo("%zu pages of tlparse", pages);
}

QTEST_GUILESS_MAIN(TstNestedGraphs)
#include "tst_nested_graphs.moc"
