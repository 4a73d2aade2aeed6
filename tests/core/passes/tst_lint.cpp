// Lint: every finding by hand, what must not be found, the public cases, and counts over the corpus.
#include "import/importer.h"
#include "passes/lint/lint.h"
#include "passes/pass.h"
#include "support/line_graph.h"
#include "support/test_data.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <set>

using namespace gs;
using gs::test::GraphLine;

namespace {

using Lines = std::vector<GraphLine>;

Diagnostics lintOf(const Graph& graph, const Settings& settings = {}) {
    Diagnostics diagnostics;
    const CollectiveTable table(graph);
    lint({graph, table, settings, findDevicePreset(settings.text(Setting::Device))}, diagnostics);
    return diagnostics;
}

/// "code node" of all findings but the totals that every graph has.
QStringList findings(const Diagnostics& diagnostics) {
    QStringList out;
    for (const Diagnostic& item : diagnostics.all()) {
        if (item.code != "memory-held" && item.code != "latency-bound-gathers" && item.code != "no-gathers")
            out << QString::fromStdString(item.code + " " + item.node);
    }
    out.sort();
    return out;
}

QStringList lintLines(const Lines& lines) {
    return findings(lintOf(*test::lineGraph(lines)));
}

const Diagnostic* find(const Diagnostics& diagnostics, std::string_view code) {
    for (const Diagnostic& item : diagnostics.all()) {
        if (item.code == code)
            return &item;
    }
    return nullptr;
}

/// A weight that is gathered and used; its shard has `rows` rows.
Lines layer(const std::string& n, int64_t rows = 64) {
    return {{"p" + n, "", {}, "0", rows},
            {"g" + n, "gather", {"p" + n}, "0", rows * 8},
            {"w" + n, "wait", {"g" + n}, "0", rows * 8},
            {"m" + n, "aten.mm.default", {"x", "w" + n}}};
}

Lines programOf(std::initializer_list<Lines> parts, std::vector<std::string> returned) {
    Lines out{{"x", ""}};
    for (const Lines& part : parts)
        out.insert(out.end(), part.begin(), part.end());
    out.push_back({"out", "output", std::move(returned)});
    return out;
}

GraphPtr readGraph(const std::string& path) {
    Diagnostics diagnostics;
    const auto read = importGraph(path, -1, -1, diagnostics, {});
    return read ? read->graph : nullptr;
}

} // namespace

class TestLint : public QObject {
    Q_OBJECT
private slots:
    void everyCheckIsListed() {
        std::set<std::string_view> names;
        for (const LintCheck& check : lintChecks()) {
            QVERIFY(check.run && !check.codes.empty() && !check.meaning.empty());
            QVERIFY(names.insert(check.name).second);
        }
    }

    void cleanProgramsHaveNoFindings() {
        QCOMPARE(lintLines(programOf({layer("0"), layer("1")}, {"m0", "m1"})), QStringList());
    }

    void deadGathers() {
        const GraphPtr graph = test::lineGraph(programOf(
            {layer("0"), {{"q", ""}, {"g", "gather", {"q"}, "0", 512}, {"w", "wait", {"g"}, "0", 512}}},
            {"m0"}));
        const Diagnostics diagnostics = lintOf(*graph);
        QCOMPARE(findings(diagnostics), QStringList({"dead-gather g"}));
        QVERIFY(find(diagnostics, "dead-gather")->message.find("8.0 KiB") != std::string::npos);
        QCOMPARE(find(diagnostics, "dead-gather")->where.line, 7u);
        // returned, or only waited for and returned: somebody uses it
        QCOMPARE(lintLines({{"q", ""},
                            {"g", "gather", {"q"}, "0", 512},
                            {"w", "wait", {"g"}, "0", 512},
                            {"out", "output", {"w"}}})
                     .filter("dead"),
                 QStringList());
        // a graph that does not say what it returns
        QCOMPARE(lintLines({{"q", ""}, {"r", "scatter", {"q"}}, {"w", "wait", {"r"}}}).filter("dead"),
                 QStringList());
    }

    void launchOnly() { // case 65: the wait went to another graph
        QCOMPARE(lintLines(programOf({layer("0"), {{"q", ""}, {"g", "gather", {"q"}, "0", 512}}}, {"m0"})),
                 QStringList({"never-waited g"}));
    }

    void gatheredTwice() {
        Lines again = layer("0");
        again[0] = {"unused", ""};
        for (GraphLine& line : again)
            line.name += "b";
        again[1].inputs = {"p0"};
        again[2].inputs = {"g0b"};
        again[3].inputs = {"m0", "w0b"};
        const GraphPtr graph = test::lineGraph(programOf({layer("0"), again}, {"m0b"}));
        const Diagnostics diagnostics = lintOf(*graph);
        QCOMPARE(findings(diagnostics), QStringList({"gathered-twice g0b"}));
        const std::string& message = find(diagnostics, "gathered-twice")->message;
        QVERIFY2(message.find("\"p0\"") != std::string::npos && message.find("\"g0\"") != std::string::npos,
                 message.c_str());
        QVERIFY(find(diagnostics, "gathered-twice")->hint.find("keep the first") != std::string::npos);

        Lines freed = programOf(
            {layer("0"), {{"f", "inductor.resize_storage_bytes_.default", {"w0"}}}, again}, {"m0b"});
        QCOMPARE(lintLines(freed), QStringList()); // on purpose
        Lines other = programOf({layer("0"), again}, {"m0b"});
        other[6].group = "1"; // another group is another gather
        QCOMPARE(lintLines(other), QStringList());
        Lines held = programOf({layer("0"), again}, {"m0b", "w0"});
        QVERIFY(find(lintOf(*test::lineGraph(held)), "gathered-twice")->hint.find("still held") !=
                std::string::npos);
    }

    void gatheringAgainInBackwardIsNoFault() {
        const auto lines = [](const char* gradient) {
            return Lines{{"x", ""},
                         {"p0", ""},
                         {gradient, ""},
                         {"g0", "gather", {"p0"}, "0", 512},
                         {"w0", "wait", {"g0"}, "0", 512},
                         {"m0", "aten.mm.default", {"x", "w0"}},
                         {"d", "aten.mul.Tensor", {gradient, gradient}},
                         {"g1", "gather", {"p0"}, "0", 512},
                         {"w1", "wait", {"g1"}, "0", 512},
                         {"m1", "aten.mm.default", {"d", "w1"}},
                         {"out", "output", {"m0", "m1"}}};
        };
        QCOMPARE(lintLines(lines("tangents_1")), QStringList());
        QCOMPARE(lintLines(lines("y")), QStringList({"gathered-twice g1"}));
    }

    /// A step without tangents in its inputs: five weights, then the same ones backwards.
    void backwardIsKnownByItsOrder() {
        Lines lines{{"x", ""}};
        const auto use = [&](int p, const std::string& n) {
            lines.push_back({"g" + n, "gather", {"p" + std::to_string(p)}, "0", 512});
            lines.push_back({"w" + n, "wait", {"g" + n}, "0", 512});
            lines.push_back({"m" + n, "aten.mm.default", {lines[lines.size() - 3].name, "w" + n}});
        };
        for (int i = 0; i < 5; ++i)
            lines.push_back({"p" + std::to_string(i), ""});
        for (int i = 0; i < 5; ++i)
            use(i, std::to_string(i));
        for (int i = 4; i >= 0; --i)
            use(i, std::to_string(i) + "b");
        lines.push_back({"out", "output", {"m0b"}});
        QCOMPARE(lintLines(lines), QStringList({"gathered-again g4b"}));
    }

    void reducedTwice() {
        const auto lines = [](const char* operation) {
            return Lines{{"a", ""},
                         {"b", ""},
                         {"ra", "scatter", {"a"}},
                         {"rb", "scatter", {"b"}, "0", 64, "bfloat16", operation},
                         {"wa", "wait", {"ra"}},
                         {"wb", "wait", {"rb"}},
                         {"s", "aten.add.Tensor", {"wa", "wb"}},
                         {"out", "output", {"s"}}};
        };
        QCOMPARE(lintLines(lines("sum")), QStringList({"reduced-twice rb"}));
        QCOMPARE(lintLines(lines("avg")), QStringList());
    }

    void activationGathers() {
        const Lines activation{{"ga", "gather", {"m0"}, "tp", 512},
                               {"wa", "wait", {"ga"}, "tp", 512},
                               {"ma", "aten.mm.default", {"wa", "x"}}};
        QCOMPARE(lintLines(programOf({layer("0"), activation}, {"ma"})),
                 QStringList({"activation-gathers ga"}));
        Lines alone = activation;
        alone[0].inputs = {"h"};
        QCOMPARE(lintLines(programOf({{{"h", "aten.mm.default", {"x", "x"}}}, alone}, {"ma"})),
                 QStringList());
        alone[0].inputs = {"h"};
        QCOMPARE(lintLines(programOf({{{"y", ""}, {"h", "aten.mm.default", {"x", "y"}}}, alone}, {"ma"})),
                 QStringList({"no-weight-gathers ga"}));
        // a bucket of two parameters is no activation
        const Lines bucket{{"q", ""},
                           {"c", "aten.cat.default", {"p0", "q"}, "0", 128},
                           {"gb", "gather", {"c"}, "0", 1024},
                           {"wb", "wait", {"gb"}, "0", 1024},
                           {"mb", "aten.mm.default", {"x", "wb"}}};
        QCOMPARE(lintLines(programOf({layer("0"), bucket}, {"m0", "mb"})), QStringList());
    }

    void waitsForceEarlierOnes() {
        const Lines lines{{"x", ""},
                          {"p", ""},
                          {"q", ""},
                          {"a", "gather", {"p"}, "0", 512},
                          {"b", "gather", {"q"}, "0", 512},
                          {"wb", "wait", {"b"}, "0", 512},
                          {"mb", "aten.mm.default", {"x", "wb"}},
                          {"wa", "wait", {"a"}, "0", 512},
                          {"ma", "aten.mm.default", {"mb", "wa"}},
                          {"out", "output", {"ma"}}};
        QCOMPARE(lintLines(lines), QStringList({"wait-forces-earlier wb"}));
        Lines apart = lines;
        apart[4].group = "1"; // two streams
        QCOMPARE(lintLines(apart), QStringList());
    }

    void hiddenCommunication() {
        Lines lines = programOf({layer("0"),
                                 {{"c", "vllm.all_reduce.default", {"m0"}},
                                  {"c2", "vllm.all_reduce.default", {"c"}},
                                  {"d", "mylib.exchange.default", {"c2"}}}},
                                {"d"});
        const GraphPtr graph = test::lineGraph(lines);
        QCOMPARE(findings(lintOf(*graph)), QStringList({"hidden-communication c"}));
        Settings settings;
        QVERIFY(settings.set(Setting::CommunicatingOps, "mylib.*, !vllm.*").ok());
        QCOMPARE(findings(lintOf(*graph, settings)), QStringList({"hidden-communication d"}));
    }

    void wireDtype() { // case 63
        const auto lines = [](int64_t rows, bool direct) {
            Lines out{{"x", ""},
                      {"p", "", {}, "0", rows},
                      {"g", "gather", {"p"}, "0", rows * 8},
                      {"w", "wait", {"g"}, "0", rows * 8}};
            if (!direct) { // a scale, then clamp and cast
                out.push_back({"a", "aten.abs.default", {"w"}, "0", rows * 8});
                out.push_back({"top", "aten.amax.default", {"a"}, "0", 1});
                out.push_back({"s", "aten.mul.Tensor", {"w", "top"}, "0", rows * 8});
            }
            out.push_back({"c",
                           "prims.convert_element_type.default",
                           {direct ? "w" : "s"},
                           "0",
                           rows * 8,
                           "float8_e4m3fn"});
            out.push_back({"m", "aten._scaled_mm.default", {"x", "c"}});
            out.push_back({"out", "output", {"m"}});
            return out;
        };
        for (const bool direct : {true, false}) {
            const Diagnostics diagnostics = lintOf(*test::lineGraph(lines(1 << 16, direct)));
            QCOMPARE(findings(diagnostics), QStringList({"wire-dtype g"}));
            const Diagnostic& item = *find(diagnostics, "wire-dtype");
            QCOMPARE(item.severity, Severity::Warning);
            QVERIFY2(item.message.find("in bf16") != std::string::npos &&
                         item.message.find("f8e4m3fn") != std::string::npos &&
                         item.message.find("4.0 MiB less") != std::string::npos,
                     item.message.c_str());
        }
        QCOMPARE(find(lintOf(*test::lineGraph(lines(64, true))), "wire-dtype")->severity, Severity::Info);
        Lines both = lines(1 << 16, true);
        both.insert(both.end() - 1, {"m2", "aten.mm.default", {"x", "w"}}); // somebody needs the wide one
        QCOMPARE(lintLines(both).filter("wire-dtype"), QStringList());
    }

    void unevenAndEmptyShards() { // case 68
        const auto lines = [](int64_t held, int64_t pad) {
            return Lines{{"x", ""},
                         {"p", "", {}, "0", held},
                         {"pad", "aten.constant_pad_nd.default", {"p"}, "0", pad},
                         {"v", "aten.view.default", {"pad"}, "0", held + pad},
                         {"g", "gather", {"v"}, "0", (held + pad) * 8},
                         {"w", "wait", {"g"}, "0", (held + pad) * 8},
                         {"m", "aten.mm.default", {"x", "w"}},
                         {"out", "output", {"m"}}};
        };
        QCOMPARE(lintLines(lines(64, 0)), QStringList());
        QCOMPARE(lintLines(lines(60, 4)), QStringList({"uneven-shards g"}));
        QCOMPARE(lintLines(lines(0, 64)), QStringList({"empty-shard g", "uneven-shards g"}));
        Lines bare = layer("0", 60);
        bare[1].rows = 512;
        QCOMPARE(lintLines(programOf({bare}, {"m0"})), QStringList({"shard-size g0"}));
    }

    void memoryHeld() { // case 67
        Lines lines{{"x", ""}};
        for (int i = 0; i < 6; ++i) {
            const std::string n = std::to_string(i);
            lines.push_back({"p" + n, "", {}, "0", 1 << 16});
            lines.push_back({"g" + n, "gather", {"p" + n}, "0", 1 << 19}); // 8 MiB each
        }
        for (int i = 0; i < 6; ++i) {
            const std::string n = std::to_string(i);
            lines.push_back({"w" + n, "wait", {"g" + n}, "0", 1 << 19});
            lines.push_back({"m" + n, "aten.mm.default", {"x", "w" + n}});
        }
        lines.push_back({"s", "scatter", {"m5"}});
        lines.push_back({"ws", "wait", {"s"}});
        lines.push_back({"out", "output", {"m0", "m1", "m2", "m3", "m4", "ws"}});
        const GraphPtr graph = test::lineGraph(lines);
        const Diagnostics diagnostics = lintOf(*graph);
        const Diagnostic& info = *find(diagnostics, "memory-held");
        QCOMPARE(info.severity, Severity::Info);
        QCOMPARE(QString::fromStdString(info.node), QString("g5"));
        QVERIFY2(info.message.find("48.0 MiB") != std::string::npos &&
                     info.message.find("at most 6 gathers") != std::string::npos,
                 info.message.c_str());
        Settings settings;
        QVERIFY(settings.set(Setting::HeldLimitMib, "40").ok());
        QCOMPARE(find(lintOf(*graph, settings), "memory-held")->severity, Severity::Warning);
    }

    void latencyBoundGathers() {
        std::initializer_list<Lines> parts = {layer("0"), layer("1"), layer("2"), layer("3")};
        const Diagnostics diagnostics = lintOf(*test::lineGraph(programOf(parts, {"m0", "m1", "m2", "m3"})));
        const Diagnostic* item = find(diagnostics, "latency-bound-gathers");
        QVERIFY(item);
        QVERIFY2(item->message.find("4 of 4") != std::string::npos &&
                     item->message.find("3 launches less") != std::string::npos,
                 item->message.c_str());
        QVERIFY2(item->hint.find("bucket:g0,g1,g2,g3") != std::string::npos, item->hint.c_str());
        const int64_t large = 1 << 20;
        QVERIFY(
            !find(lintOf(*test::lineGraph(programOf({layer("0", large), layer("1", large)}, {"m0", "m1"}))),
                  "latency-bound-gathers"));
    }

    void waitForAnotherBuffer() { // case 60
        const Diagnostics diagnostics =
            lintOf(*test::lineGraph({{"a", ""},
                                     {"b", "aten.mm.default", {"a", "a"}},
                                     {"c", "aten.mm.default", {"a", "b"}},
                                     {"r", "_c10d_functional.all_reduce_.default", {"b"}},
                                     {"use", "aten.add.Tensor", {"b", "c"}},
                                     {"w", "wait", {"c"}},
                                     {"out", "output", {"use", "w"}}}));
        const Diagnostic* item = find(diagnostics, "wait-other-buffer");
        QVERIFY(item);
        QCOMPARE(item->severity, Severity::Error);
        QVERIFY2(item->message.find("waits for \"c\"") != std::string::npos &&
                     item->message.find("\"b\", which \"r\" writes") != std::string::npos,
                 item->message.c_str());
    }

    void launchAndWaitInDifferentGraphs() { // case 72
        const GraphPtr a = test::lineGraph({{"x", ""},
                                            {"y", "aten.relu.default", {"x"}},
                                            {"r", "reduce", {"x"}},
                                            {"out", "output", {"y", "r"}}});
        const GraphPtr b = test::lineGraph({{"p", ""}, {"w", "wait", {"p"}}, {"out", "output", {"w"}}});
        const GraphPtr c = test::lineGraph(
            {{"p", "", {}, "0", 32}, {"w", "wait", {"p"}, "0", 32}, {"out", "output", {"w"}}});
        const auto of = [](const char* label, const GraphPtr& graph) {
            return LintGraph{label, graph, std::make_shared<CollectiveTable>(*graph)};
        };
        Diagnostics found, none;
        lintAcross(std::vector{of("A", a), of("B", b)}, found);
        QCOMPARE(found.all().size(), size_t(1));
        const Diagnostic& item = found.all().front();
        QCOMPARE(QString::fromStdString(item.code + " " + item.node), QString("launch-wait-split r"));
        QVERIFY2(item.message.find("output 1") != std::string::npos &&
                     item.message.find("B waits for it") != std::string::npos &&
                     item.message.find("\"p\"") != std::string::npos,
                 item.message.c_str());
        lintAcross(std::vector{of("A", a), of("C", c)}, none); // another shape
        lintAcross(std::vector{of("B", b), of("A", a)}, none); // the other way round
        QCOMPARE(none.all().size(), size_t(0));
        QCOMPARE(findings(lintOf(*a)), QStringList({"leaves-in-flight r"})); // not "dead"
        QCOMPARE(findings(lintOf(*b)), QStringList({"in-flight-at-entry p"}));
    }

    // ----- the public cases --------------------------------------------------------------------------------
    void cases_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("least");
        QTest::newRow("case 09") << "09-tp-allreduce-four-stages/input_a_readable.fx.py"
                                 << "no-gathers" << 1;
        QTest::newRow("case 25") << "25-reduce-scatter-pair-lambda-class/input.txt"
                                 << "no-gathers" << 1;
        QTest::newRow("case 18") << "18-megatron-sp-fw-two-ranks/input_rank0.fx.py"
                                 << "no-weight-gathers" << 1;
        QTest::newRow("case 20 twice") << "20-megatron-sp-bw-missing-allreduce/input_rank0.fx.py"
                                       << "gathered-twice" << 2;
        QTest::newRow("case 20 semantics") << "20-megatron-sp-bw-missing-allreduce/input_rank0.fx.py"
                                           << "never-waited" << 0;
        QTest::newRow("case 27") << "27-async-input-wait-on-placeholder/input.txt"
                                 << "in-flight-at-entry" << 1;
        QTest::newRow("case 28") << "28-tied-weight-duplicate-gathers/input.txt"
                                 << "gathered-twice" << 0;
    }
    void cases() {
        QFETCH(QString, file);
        QFETCH(QString, code);
        QFETCH(int, least);
        const auto path = test::casePath(file.toStdString());
        if (!path)
            return;
        const GraphPtr graph = readGraph(*path);
        QVERIFY(graph);
        const Diagnostics diagnostics = lintOf(*graph);
        const auto count =
            std::count_if(diagnostics.all().begin(), diagnostics.all().end(),
                          [&](const Diagnostic& item) { return item.code == code.toStdString(); });
        QVERIFY2(least == 0 ? count == 0 : count >= least, qPrintable(findings(diagnostics).join('\n')));
    }

    void case22RedistributesOfUnknownKind() {
        const auto path = test::casePath("22-dynamo-graph-prim-redistribute/input.txt");
        if (!path)
            return;
        for (const int form : {0, 1}) { // both forms of Dynamo's graph
            Diagnostics diagnostics;
            const auto read = importGraph(*path, form, -1, diagnostics, {});
            QVERIFY(read.ok());
            const Diagnostics found = lintOf(*read->graph);
            const Diagnostic* item = find(found, "redistributes");
            QVERIFY(item);
            QVERIFY2(item->message.find("2 redistributes") != std::string::npos &&
                         item->message.find("not known before lowering") != std::string::npos,
                     item->message.c_str());
        }
    }

    void case27NamesTheInput() {
        const auto path = test::casePath("27-async-input-wait-on-placeholder/input.txt");
        if (!path)
            return;
        const Diagnostics diagnostics = lintOf(*readGraph(*path));
        const Diagnostic* item = find(diagnostics, "in-flight-at-entry");
        QVERIFY(item && item->severity == Severity::Info);
        QVERIFY2(item->message.find("\"primals_1\" is in flight when the graph starts: launched before") !=
                     std::string::npos,
                 item->message.c_str());
    }

    void case20NamesBothInputs() {
        const auto path = test::casePath("20-megatron-sp-bw-missing-allreduce/input_rank0.fx.py");
        if (!path)
            return;
        std::string all;
        const Diagnostics diagnostics = lintOf(*readGraph(*path));
        for (const Diagnostic& item : diagnostics.all())
            all += item.code == "gathered-twice" ? item.message : "";
        QVERIFY2(all.find("\"getitem_40\"") != std::string::npos &&
                     all.find("\"getitem_52\"") != std::string::npos,
                 all.c_str());
    }

    void countsOverTheCorpus() {
        std::map<std::string, std::pair<size_t, size_t>> counts; // code → findings, graphs
        size_t graphs = 0;
        for (const std::string& name : test::corpusGraphs()) {
            const GraphPtr graph =
                lowerRedistributes(readGraph(*test::corpusPath("graphs/" + name + ".json")), Settings())
                    .graph;
            ++graphs;
            std::set<std::string> seen;
            const Diagnostics diagnostics = lintOf(*graph);
            for (const Diagnostic& item : diagnostics.all()) {
                // No captured program has one of these faults.
                for (const char* code :
                     {"wait-other-buffer", "never-waited", "used-unwaited", "shard-size",
                      "hidden-communication", "wait-without-collective", "dead-collective"})
                    QVERIFY2(item.code != code, (name + ": " + item.message).c_str());
                ++counts[item.code].first;
                counts[item.code].second += seen.insert(item.code).second ? 1 : 0;
            }
        }
        for (const auto& [code, count] : counts)
            qInfo("%-24s %4zu in %3zu of %zu graphs", code.c_str(), count.first, count.second, graphs);
        QVERIFY(counts.count("memory-held"));
    }
};

QTEST_GUILESS_MAIN(TestLint)
#include "tst_lint.moc"
