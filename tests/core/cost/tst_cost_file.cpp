// Cost files: what is accepted, what is ignored, what is refused, each with its place.
#include "cost/cost_file.h"
#include "graph/graph_builder.h"
#include "support/test_data.h"

#include <QCoreApplication>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <zlib.h>

using namespace gs;

namespace {

/// A temporary file that goes with the object.
struct TempFile {
    std::filesystem::path path;

    explicit TempFile(const std::string& text, bool gzip = false) {
        static int count = 0;
        path = std::filesystem::temp_directory_path() /
               ("gatherscope_costs_" + std::to_string(QCoreApplication::applicationPid()) + "_" +
                std::to_string(++count) + ".json");
        if (gzip) {
            const gzFile file = gzopen(path.c_str(), "wb");
            gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
            gzclose(file);
        } else {
            std::ofstream(path, std::ios::binary) << text;
        }
    }
    ~TempFile() { std::filesystem::remove(path); }
};

std::string withNodes(const std::string& nodes) {
    return R"({"format":"gatherscope.costs","version":1,"unit":"ns","graph":"g","model":"m","nodes":{)" +
           nodes + "}}";
}

/// Graph of relu calls with these names; `gather` is a launch made from two others.
GraphPtr graphOf(std::initializer_list<const char*> names, bool bucket = false) {
    GraphBuilder b;
    b.info().name = "g";
    const NodeId x = b.addNode("x", NodeOp::Placeholder, "x");
    for (const char* name : names)
        b.setArgs(b.addNode(name, NodeOp::CallFunction, "aten.relu.default"), {b.nodeArg(x)});
    if (bucket) {
        const NodeId gather =
            b.addNode("bucket", NodeOp::CallFunction, "_c10d_functional.all_gather_into_tensor.default");
        b.setArgs(gather, {b.nodeArg(x), b.intArg(8), b.textArg(Arg::Kind::String, "0")});
        b.addOrigin(gather, b.intern("ag0"));
        b.addOrigin(gather, b.intern("ag1"));
        b.addOrigin(gather, b.intern("cast"));
    }
    return b.finish(nullptr);
}

std::optional<CostEstimate> estimate(const CostModelPtr& model, const Graph& graph, std::string_view name) {
    return model->estimate(graph, CollectiveTable(graph), graph.find(name).value());
}

} // namespace

class TestCostFile : public QObject {
    Q_OBJECT

private slots:
    void plainAndCompressed() {
        const GraphPtr graph = graphOf({"a", "b", "c"});
        for (bool gzip : {false, true}) {
            const TempFile file(withNodes(R"("a":5,"b":0)"), gzip);
            Diagnostics diagnostics;
            const auto model = loadCostFile(file.path.string(), diagnostics);
            QVERIFY2(model.ok(), model.ok() ? "" : model.error().message.c_str());
            QVERIFY(diagnostics.all().empty());
            QCOMPARE(estimate(model.value(), *graph, "a")->ns, int64_t{5});
            QCOMPARE(estimate(model.value(), *graph, "a")->provenance, Provenance::Imported);
            QCOMPARE(estimate(model.value(), *graph, "a")->note, std::string("m"));
            QCOMPARE(estimate(model.value(), *graph, "b")->ns, int64_t{0});
            QVERIFY(!estimate(model.value(), *graph, "c"));
            QCOMPARE(model.value()->source(), file.path.filename().string());
        }
    }

    void badEntries() {
        const TempFile file(
            withNodes("\n\"neg\": -1,\n  \"frac\": 1.5,\n\"whole\": 3.0,\n\"text\": \"12\",\n"
                      "\"null\": null,\n\"list\": [1, 2],\n\"object\": {\"a\": 1},\n"
                      "\"hour\": 3600000000000,\n\"long\": 3600000000001,\n"
                      "\"huge\": 123456789012345678901234567890,\n\"bool\": true,\n\"inf\": 1e300,\n"
                      "\"twice\": 1,\n\"twice\": 2\n"));
        Diagnostics diagnostics;
        const auto model = loadCostFile(file.path.string(), diagnostics);
        QVERIFY(model.ok());
        const GraphPtr graph = graphOf({"neg", "frac", "whole", "text", "null", "list", "object", "hour",
                                        "long", "huge", "bool", "inf", "twice"});
        const std::map<std::string, std::pair<uint32_t, const char*>> expected = {
            {"neg", {2, "negative (-1 ns)"}},
            {"frac", {3, "no whole number (1.5 ns)"}},
            {"text", {5, "a text"}},
            {"null", {6, "null"}},
            {"list", {7, "an array"}},
            {"object", {8, "an object"}},
            {"long", {10, "more than an hour"}},
            {"huge", {11, "more than an hour"}},
            {"bool", {12, "true"}},
            {"inf", {13, "more than an hour"}},
            {"twice", {14, "occurs twice"}}};
        QCOMPARE(diagnostics.all().size(), expected.size());
        for (const Diagnostic& item : diagnostics.all()) {
            const auto& [line, text] = expected.at(item.node);
            QVERIFY2(item.message.find(text) != std::string::npos, item.message.c_str());
            QCOMPARE(item.where.line, line);
            QVERIFY(item.where.column >= 1);
            QCOMPARE(item.where.file, file.path.string());
            if (item.node != "twice")
                QVERIFY2(!estimate(model.value(), *graph, item.node), item.node.c_str());
        }
        QCOMPARE(estimate(model.value(), *graph, "whole")->ns, int64_t{3});
        QCOMPARE(estimate(model.value(), *graph, "hour")->ns, int64_t{3'600'000'000'000});
        QCOMPARE(estimate(model.value(), *graph, "twice")->ns, int64_t{1});
    }

    void refused_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("code");
        QTest::addColumn<uint>("line");
        QTest::addColumn<uint>("column");
        const auto row = [](const char* name, QByteArray text, const char* code, uint line, uint column) {
            QTest::newRow(name) << text << QByteArray(code) << line << column;
        };
        row("empty", "", "empty-file", 0, 0);
        row("text", "hello", "not-a-cost-file", 1, 1);
        row("cut", "{\"format\":\"gatherscope.costs\",\n\"nodes\":{\"a\":1", "bad-json", 2, 14);
        row("comma", "{\"format\":\"gatherscope.costs\",\n \"version\":1 \"unit\":\"ns\"}", "bad-json", 2,
            19);
        row("array", "[1,2]", "not-a-cost-file", 1, 1);
        row("number", "7", "not-a-cost-file", 1, 1);
        row("graph", "{\n\"format\":\"gatherscope.graph\",\"version\":1}", "not-a-cost-file", 2, 1);
        row("no format", "{\"nodes\":{}}", "not-a-cost-file", 1, 1);
        row("version", "{\"format\":\"gatherscope.costs\",\"version\":2}", "unsupported-version", 1, 31);
        row("no version", "{\"format\":\"gatherscope.costs\"}", "unsupported-version", 1, 1);
        row("unit", "{\"format\":\"gatherscope.costs\",\"version\":1,\n  \"unit\":\"ms\",\"nodes\":{}}",
            "unsupported-unit", 2, 3);
        row("no unit", "{\"format\":\"gatherscope.costs\",\"version\":1,\"nodes\":{}}", "unsupported-unit", 1,
            1);
        row("no nodes", "{\"format\":\"gatherscope.costs\",\"version\":1,\"unit\":\"ns\"}", "not-a-cost-file",
            1, 1);
        row("nodes list", "{\"format\":\"gatherscope.costs\",\"version\":1,\"unit\":\"ns\",\"nodes\":[1]}",
            "not-a-cost-file", 1, 55);
    }

    void refused() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, code);
        QFETCH(uint, line);
        QFETCH(uint, column);
        const TempFile file(text.toStdString());
        Diagnostics diagnostics;
        const auto model = loadCostFile(file.path.string(), diagnostics);
        QVERIFY(!model.ok());
        const Error& error = model.error();
        QVERIFY2(error.code == code.toStdString(), error.message.c_str());
        QVERIFY2(error.message.find(file.path.string()) != std::string::npos, error.message.c_str());
        QVERIFY(!error.hint.empty());
        if (line > 0) {
            QVERIFY2(error.where.line == line && error.where.column == column, error.message.c_str());
        }
    }

    /// Damaged texts give a model or an error with a place, and nothing else.
    void damaged() {
        const std::string whole = withNodes("\"a\": 5,\n\"b\": [1, {\"c\": 2}],\n\"d\": 1e9, \"e\": null");
        uint32_t state = 1;
        const auto next = [&](size_t below) {
            state = state * 1664525U + 1013904223U;
            return static_cast<size_t>(state >> 8) % below;
        };
        size_t models = 0, errors = 0;
        for (int round = 0; round < 500; ++round) {
            std::string text = whole;
            for (size_t change = 0; change < 1 + next(3); ++change) {
                const size_t at = next(text.size());
                switch (next(3)) {
                case 0:
                    text.erase(at);
                    text += ' ';
                    break;
                case 1:
                    text[at] = static_cast<char>(next(256));
                    break;
                default:
                    text.insert(at, 1, "{}[]\",:-0"[next(9)]);
                }
            }
            const TempFile file(text);
            Diagnostics diagnostics;
            const auto model = loadCostFile(file.path.string(), diagnostics);
            if (!model.ok()) {
                QVERIFY2(model.error().where.line >= 1 && model.error().where.column >= 1, text.c_str());
                QVERIFY(!model.error().message.empty());
            }
            ++(model.ok() ? models : errors);
        }
        std::printf("damaged cost files: %zu read, %zu refused\n", models, errors);
        QVERIFY(models > 0 && errors > 0);
    }

    void missingFile() {
        Diagnostics diagnostics;
        QCOMPARE(loadCostFile("/no/such/file.json", diagnostics).error().code, std::string("missing-file"));
    }

    void foreignNames() {
        const TempFile file(withNodes(R"("a":1,"q1":2,"q2":3,"q3":4,"q4":5,"q5":6,"q6":7)"));
        Diagnostics diagnostics;
        const auto model = loadCostFile(file.path.string(), diagnostics);
        QVERIFY(diagnostics.all().empty());
        model.value()->check(*graphOf({"a", "b"}), diagnostics);
        QCOMPARE(diagnostics.all().size(), size_t{1});
        QCOMPARE(diagnostics.all()[0].code, std::string("unknown-cost-names"));
        const std::string& message = diagnostics.all()[0].message;
        QVERIFY2(message.starts_with("6 of 7 names of ") && message.ends_with(": q1, q2, q3, q4, q5, …"),
                 message.c_str());
        Diagnostics other;
        model.value()->check(*graphOf({"z"}), other);
        QCOMPARE(other.all().size(), size_t{1});
        QCOMPARE(other.all()[0].code, std::string("costs-of-another-graph"));
        QVERIFY(other.hasErrors());
    }

    /// A gather that a pass made has no entry; the ones it was made from do.
    void buckets() {
        const GraphPtr graph = graphOf({"a"}, true);
        const TempFile file(withNodes(R"("a":1,"ag0":40,"ag1":2)"));
        Diagnostics diagnostics;
        const auto model = loadCostFile(file.path.string(), diagnostics);
        model.value()->check(*graph, diagnostics);
        QVERIFY(diagnostics.all().empty());
        const auto sum = estimate(model.value(), *graph, "bucket");
        QCOMPARE(sum->ns, int64_t{42});
        QCOMPARE(sum->provenance, Provenance::Interpolated);
        QVERIFY2(sum->note.find("sum of 2 of the 3 nodes") != std::string::npos, sum->note.c_str());
        const TempFile own(withNodes(R"("bucket":30,"ag0":40)"));
        QCOMPARE(estimate(loadCostFile(own.path.string(), diagnostics).value(), *graph, "bucket")->ns,
                 int64_t{30});
        const TempFile none(withNodes(R"("a":1)"));
        QVERIFY(!estimate(loadCostFile(none.path.string(), diagnostics).value(), *graph, "bucket"));
    }
};

QTEST_GUILESS_MAIN(TestCostFile)
#include "tst_cost_file.moc"
