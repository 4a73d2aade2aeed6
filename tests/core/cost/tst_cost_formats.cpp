// Tables, logs, databases and lists of estimates as costs.
#include "analysis/analysis.h"
#include "cost/readers/measured_model.h"
#include "export/exporter.h"
#include "support/cost_graph.h"
#include "support/cost_reading.h"
#include "support/test_data.h"

#include <QCoreApplication>
#include <QTest>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sqlite3.h>
#include <zlib.h>

using namespace gs;
using test::contains;
using test::CostGraph;
using test::LoadedCosts;

namespace {

LoadedCosts load(const char* name) {
    return LoadedCosts(test::testDataPath(std::string("cost/") + name));
}

constexpr int64_t kMib = 1024 * 1024;

std::string temporary(const std::string& name) {
    return (std::filesystem::temp_directory_path() /
            fmt::format("gatherscope_{}_{}", QCoreApplication::applicationPid(), name))
        .string();
}

/// A database made of statements.
struct Database {
    std::string path;

    Database(const std::string& name, const std::string& sql) : path(temporary(name)) {
        std::filesystem::remove(path);
        sqlite3* database = nullptr;
        sqlite3_open(path.c_str(), &database);
        char* problem = nullptr;
        if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &problem) != SQLITE_OK)
            qFatal("%s", problem);
        sqlite3_close(database);
    }
    ~Database() { std::filesystem::remove(path); }
};

/// An export with two processes that use the same correlation ids, on two devices.
std::string nsysExport(bool text_names) {
    const std::string names = text_names ? "TEXT" : "INTEGER";
    const auto name = [&](int id, const char* text) {
        return text_names ? fmt::format("'{}'", text) : std::to_string(id);
    };
    std::string sql = fmt::format(
        "CREATE TABLE StringIds(id INTEGER, value TEXT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, deviceId INTEGER, streamId "
        "INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName {0});"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, \"end\" INTEGER, globalTid INTEGER, "
        "correlationId INTEGER, nameId INTEGER);"
        "CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, eventType INTEGER, text TEXT, textId "
        "INTEGER, "
        "globalTid INTEGER);",
        names);
    sql += "INSERT INTO StringIds VALUES "
           "(1,'gemm'),(2,'ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage)'),"
           "(3,'ncclAllGather');";
    for (int64_t process : {5, 6}) {
        const int64_t pid = process * 0x1000000;
        const int64_t at = process * 100000;
        sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({},{},{},7,1,{},{});", at + 100,
                           at + 1300, process - 5, pid, name(1, "gemm"));
        sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({},{},{},20,2,{},{});", at + 5000,
                           at + 9000, process - 5, pid, name(2, "ncclDevKernel_AllGather_RING_LL(x)"));
        sql += fmt::format(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({0},{0}+5,{1},1,0),({2},{2}+5,{1},2,0);",
            at + 50, pid + 9, at + 4000);
        sql += fmt::format(
            "INSERT INTO NVTX_EVENTS VALUES ({},{},59,'aten::mm, seq = 3, sizes = [[8, 4], [4, 2]]',NULL,"
            "{}),({},{},59,NULL,3,{}),({},NULL,59,'open',NULL,{});",
            at + 40, at + 60, pid + 9, at + 3900, at + 4100, pid + 9, at, pid + 9);
    }
    return sql;
}

Result<AnalysisPtr> analyse(const std::string& graph, std::vector<std::string> costs,
                            const char* fused_regions = "false") {
    AnalysisRequest request;
    static_cast<void>(request.settings.set(Setting::FusedRegions, fused_regions));
    request.graph_file = graph;
    request.cost_files = std::move(costs);
    return Analyser().analyse(request, {});
}

} // namespace

class TestCostFormats : public QObject {
    Q_OBJECT

private:
    /// Nodes that were compared.
    size_t roundTripOf(const char* name, const std::string& graph, const char* fused) {
        const auto written = analyse(graph, {}, fused);
        const std::string path = temporary("round.log");
        if (written)
            std::ofstream(path) << findExporter("magi-log")->write(*written.value()).value();
        const auto read = analyse(graph, {path}, fused);
        std::filesystem::remove(path);
        compareTables(name, written, read, std::string(fused) == "true");
        return written ? written.value()->after.graph->size() : 0;
    }

    static void compareTables(const char* name, const Result<AnalysisPtr>& written,
                              const Result<AnalysisPtr>& read, bool fused) {
        QVERIFY2(written.ok(), written.ok() ? "" : written.error().message.c_str());
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        const CostTable& first = *written.value()->after.costs;
        const CostTable& second = *read.value()->after.costs;
        int64_t difference = 0, priced = 0;
        for (NodeId id = 0; id < written.value()->after.graph->size(); ++id) {
            const CostEntry* entry = first.entry(id);
            if (!entry || entry->provenance == Provenance::Missing)
                continue;
            ++priced;
            QVERIFY(second.entry(id));
            QVERIFY2(
                fused || second.ns(id) == first.ns(id),
                fmt::format("{}: {} is {} ns, was {} ns", name, entry->label, second.ns(id), first.ns(id))
                    .c_str());
            QCOMPARE(second.entry(id)->provenance, Provenance::Imported);
            difference += second.ns(id) - first.ns(id);
        }
        QVERIFY2(std::abs(difference) <= priced / 2, qPrintable(QString::number(difference)));
    }

private slots:
    void collectiveTable() {
        const LoadedCosts loaded = load("collectives.table");
        QVERIFY2(loaded.ok(), loaded.errorCode().c_str());
        CostGraph g;
        const auto rows = {std::pair("exact", kMib), std::pair("between", kMib * 3 / 2),
                           std::pair("small", kMib / 16), std::pair("large", 16 * kMib)};
        std::vector<NodeId> waits;
        for (const auto& [name, bytes] : rows)
            waits.push_back(g.gather(name, bytes / 2));
        const NodeId other = g.gather("other", kMib / 2, "1");
        const NodeId unknown = g.gather("unknown", kMib / 2, "7");
        const GraphPtr graph = g.finish({waits[0], waits[1], waits[2], waits[3], other, unknown});
        const auto exact = loaded.of(*graph, "exact");
        QCOMPARE(exact->ns, int64_t{100000});
        QCOMPARE(exact->provenance, Provenance::Imported);
        QCOMPARE(loaded.of(*graph, "between")->provenance, Provenance::Interpolated);
        QCOMPARE(loaded.of(*graph, "between")->ns, int64_t{150000}); // slope 1
        QCOMPARE(loaded.of(*graph, "small")->ns, int64_t{100000});   // the 1 MB column
        QCOMPARE(loaded.of(*graph, "small")->provenance, Provenance::Interpolated);
        QCOMPARE(loaded.of(*graph, "large")->ns, int64_t{1600000});
        QCOMPARE(loaded.of(*graph, "large")->provenance, Provenance::Extrapolated);
        QVERIFY(contains(loaded.of(*graph, "large")->note, "4 times the largest"));
        QCOMPARE(loaded.of(*graph, "other")->ns, int64_t{10000});
        QVERIFY(!loaded.of(*graph, "unknown")); // another group of 8 is another network
        Diagnostics checked;
        loaded.model.value()->check(*graph, checked);
        QVERIFY(std::any_of(checked.all().begin(), checked.all().end(), [](const Diagnostic& item) {
            return item.code == "nodes-without-cost" && contains(item.hint, "group 0 all_gather_into_tensor");
        }));
        QCOMPARE(loaded.diagnostics.all().size(), size_t(3)); // a short row, "soon", "frobnicate"
        for (const Diagnostic& item : loaded.diagnostics.all())
            QVERIFY(item.where.line >= 4 && item.where.line <= 6);
    }

    /// Case 19: every table, and what its about.md says.
    void case19Tables() {
        for (const auto& [name, group, ns] : {std::tuple("input_colls8_8.table", "0", int64_t{239700}),
                                              std::tuple("input_colls8_8.table", "1", int64_t{49500}),
                                              std::tuple("input_colls16_8.table", "0", int64_t{-1}),
                                              std::tuple("input_colls32_8.table", "0", int64_t{-1}),
                                              std::tuple("input_colls64_1.table", "0", int64_t{-1})}) {
            const auto path = test::casePath(std::string("19-comm-estimate-tables/") + name);
            if (!path)
                return;
            const LoadedCosts loaded(*path);
            QVERIFY(loaded.ok());
            QVERIFY(loaded.diagnostics.all().empty());
            CostGraph g;
            const NodeId one = g.gather("one", kMib / 2, group);
            const NodeId tiny = g.gather("tiny", 512, group);
            const NodeId huge = g.gather("huge", int64_t{2} << 30, group);
            const GraphPtr graph = g.finish({one, tiny, huge});
            if (ns < 0)
                continue;
            QCOMPARE(loaded.of(*graph, "one")->ns, ns);
            QCOMPARE(loaded.of(*graph, "tiny")->ns, ns);
            QCOMPARE(loaded.of(*graph, "huge")->provenance, Provenance::Extrapolated);
        }
    }

    void inductorCsv() {
        const LoadedCosts loaded = load("estimates.csv");
        QVERIFY2(loaded.ok(), loaded.errorCode().c_str());
        const GraphPtr graph = CostGraph::make();
        QCOMPARE(loaded.of(*graph, "mm0")->ns, int64_t{12500});
        QCOMPARE(loaded.of(*graph, "mm0")->provenance, Provenance::Imported);
        QVERIFY(contains(loaded.of(*graph, "mm0")->note, "Benchmarked"));
        QCOMPARE(loaded.of(*graph, "g0")->ns, int64_t{28500}); // 2048 bytes
        QVERIFY(contains(loaded.message("zero-estimates"), "1 rows"));
        const auto& typed = measuredCostsOf(*loaded.model.value())->typed;
        QCOMPARE(typed.at("aten.addmm(bf16[8],bf16[8,4],bf16[4,2])").ns, int64_t{3250});
        QCOMPARE(loaded.diagnostics.all().size(), size_t(4)); // x, short, no collective, zeros
    }

    void runtimeJson() {
        const LoadedCosts loaded = load("estimates.json");
        QVERIFY2(loaded.ok(), loaded.errorCode().c_str());
        CostGraph g;
        const NodeId mm = g.call("mm", "aten.mm.default", {g.left, g.right}, {8, 2});
        const NodeId fused = g.call("op1_op2", "aten.relu.default", {mm}, {8, 2});
        const NodeId w = g.gather("ag", 1024);
        const GraphPtr graph = g.finish({fused, w});
        QCOMPARE(loaded.of(*graph, "mm")->ns, int64_t{1501});
        QCOMPARE(loaded.of(*graph, "op1_op2")->ns, int64_t{20});
        QCOMPARE(loaded.of(*graph, "ag")->ns, int64_t{9000});
        QCOMPARE(loaded.diagnostics.all().size(), size_t(2));
        QVERIFY(!loaded.of(*CostGraph::make(), "mm0")); // two nodes, one estimate
        const LoadedCosts benchmarks = load("benchmarks.json");
        const GraphPtr small = CostGraph::make();
        QCOMPARE(benchmarks.of(*small, "g0")->ns, int64_t{50000});
        QCOMPARE(benchmarks.of(*small, "g1")->provenance, Provenance::Interpolated);
    }

    void estlines() {
        const LoadedCosts loaded = load("estline.log");
        QVERIFY2(loaded.ok(), loaded.errorCode().c_str());
        const GraphPtr graph = CostGraph::make();
        QCOMPARE(loaded.of(*graph, "mm0")->ns, int64_t{12345});
        QCOMPARE(loaded.of(*graph, "mm0")->provenance, Provenance::Imported);
        QCOMPARE(loaded.of(*graph, "mm0")->note, std::string("measured there"));
        QCOMPARE(loaded.of(*graph, "relu")->ns, int64_t{3000});
        QCOMPARE(loaded.of(*graph, "g0")->ns, int64_t{123400}); // of its placement line
        QVERIFY(!loaded.of(*graph, "g1"));
        QCOMPARE(loaded.diagnostics.all().size(), size_t(3));
    }

    /// What the exporter writes reads back as equal costs, node for node. Nodes of fused regions cost
    /// different times under one key: the table has their mean, so that the sum over the program stays.
    void roundTrip() {
        size_t graphs = 0;
        size_t nodes = 0;
        for (const char* name : {"mlp4_fsdp8_joint", "aot_lm2_fsdp8_joint", "coalesced3x3_fsdp8_fwd",
                                 "llama3_debug_fsdp8_joint", "llama3_8b_fsdp64_joint"}) {
            const auto graph = test::corpusPath(fmt::format("graphs/{}.json", name));
            if (!graph)
                continue;
            ++graphs;
            for (const char* fused : {"false", "true"}) {
                nodes += roundTripOf(name, *graph, fused);
                if (QTest::currentTestFailed())
                    return;
            }
        }
        std::printf("ESTLINE round trip: %zu graphs, %zu nodes\n", graphs, nodes);
        QVERIFY(graphs > 0 && nodes > 0);
    }

    /// What the document of case 56 names is what the reader looks for: tables, ids of strings, packed
    /// process ids.
    void case56SchemaOfTheDocument() {
        const GraphPtr graph = CostGraph::make();
        std::string sql = nsysExport(false);
        for (const char* column : {"demangledName", "shortName"}) {
            const size_t at = sql.find("demangledName");
            if (std::string(column) == "shortName")
                sql.replace(at, std::string("demangledName").size(), column);
            const Database database("document.sqlite", sql);
            const LoadedCosts loaded(database.path);
            QVERIFY2(loaded.ok(), loaded.errorCode().c_str());
            QCOMPARE(loaded.of(*graph, "mm0")->ns, int64_t{1200});
        }
        const auto path = test::casePath("56-nsys-schema-doc/input.md");
        if (!path)
            return;
        const std::string document = test::readAll(*path);
        for (const char* name : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS",
                                 "StringIds", "demangledName", "shortName", "correlationId", "globalTid",
                                 "globalPid / 0x1000000", "eventType", "nameId"})
            QVERIFY2(contains(document, name), name);
        const LoadedCosts notes(*path); // the document itself is no database
        QCOMPARE(notes.errorCode(), std::string("not-a-cost-file"));
        QVERIFY2(contains(notes.model.error().message, "Nsight Systems"),
                 notes.model.error().message.c_str());
    }

    void nsys() {
        const GraphPtr graph = CostGraph::make();
        for (bool text_names : {false, true}) {
            const Database database(text_names ? "text.sqlite" : "ids.sqlite", nsysExport(text_names));
            const LoadedCosts loaded(database.path);
            QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.model.error().message.c_str());
            QCOMPARE(loaded.of(*graph, "mm0")->ns, int64_t{1200});
            QCOMPARE(loaded.of(*graph, "mm0")->samples, int64_t{2});
            const std::string summary = loaded.message("trace-summary");
            QVERIFY2(contains(summary, "4 kernels, 2 of them communication") &&
                         contains(summary, "device 0, stream 20 and device 1, stream 20") &&
                         contains(summary, "2 × all_gather"),
                     summary.c_str());
            // Sizes are not in it: two gathers of the graph, two calls in order.
            QCOMPARE(loaded.of(*graph, "g1")->ns, int64_t{4000});
            // Compressed, it is read from memory.
            const std::string bytes = test::readAll(database.path);
            const std::string packed = temporary("packed.sqlite.gz");
            const gzFile file = gzopen(packed.c_str(), "wb");
            gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
            gzclose(file);
            QCOMPARE(LoadedCosts(packed).of(*graph, "mm0")->ns, int64_t{1200});
            std::filesystem::remove(packed);
        }
    }

    void nsysWithoutKernels() {
        const Database none("none.sqlite",
                            "CREATE TABLE StringIds(id INTEGER, value TEXT); CREATE TABLE other(x);");
        const LoadedCosts loaded(none.path);
        QCOMPARE(loaded.errorCode(), std::string("no-kernel-table"));
        QVERIFY2(contains(loaded.model.error().message, "StringIds, other"),
                 loaded.model.error().message.c_str());
        QVERIFY(contains(loaded.model.error().hint, "--trace=cuda"));
        const Database renamed(
            "renamed.sqlite",
            "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start, \"end\", shortName); INSERT "
            "INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1, 5, 'ncclKernel_AllReduce_x(y)');");
        QVERIFY(contains(LoadedCosts(renamed.path).message("trace-summary"), "1 × ncclKernel_AllReduce_x"));
        const std::string bytes = test::readAll(renamed.path);
        const std::string cut = temporary("cut.sqlite");
        for (size_t length : {size_t(16), size_t(100), size_t(1000), size_t(5000), bytes.size() - 1}) {
            std::ofstream(cut, std::ios::binary) << bytes.substr(0, length);
            const LoadedCosts broken(cut);
            QVERIFY(broken.ok() || broken.errorCode() == "bad-database" ||
                    broken.errorCode() == "no-kernel-table");
        }
        std::filesystem::remove(cut);
    }

    void neighbours_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("what");
        QTest::newRow("pickle") << QByteArray("\x80\x04\x95\x10\x00\x00\x00", 7) << "a Python pickle";
        QTest::newRow("zip") << QByteArray("PK\x03\x04rest") << "ZIP archive";
        QTest::newRow("schedule") << QByteArray("[\n\"torch.ops._c10d_functional.all_reduce_.default\"\n]")
                                  << "a list of operators";
        QTest::newRow("graph")
            << QByteArray("class GraphModule(torch.nn.Module):\n    def forward(self, a: \"f32[2]\"):\n"
                          "        mm: \"f32[2]\" = torch.ops.aten.mm.default(a, a);  a = None\n"
                          "        return (mm,)\n")
            << "this is a graph";
        QTest::newRow("text") << QByteArray("hello") << "plain text";
        QTest::newRow("html") << QByteArray("<!DOCTYPE html><html></html>") << "a web page";
    }
    void neighbours() {
        QFETCH(QByteArray, text);
        QFETCH(QString, what);
        const std::string path = temporary("neighbour");
        std::ofstream(path, std::ios::binary) << text.toStdString();
        const LoadedCosts loaded(path);
        std::filesystem::remove(path);
        QCOMPARE(loaded.errorCode(), std::string("not-a-cost-file"));
        QVERIFY2(contains(loaded.model.error().message, what.toStdString()),
                 loaded.model.error().message.c_str());
        QVERIFY(!loaded.model.error().hint.empty());
    }

    void scheduleOfNamesOnly() {
        const LoadedCosts loaded = load("schedule.json");
        QCOMPARE(loaded.errorCode(), std::string("not-a-cost-file"));
        QVERIFY(contains(loaded.model.error().hint, "names only"));
    }

    /// Each small input cut and changed at many places: a model or an error with a place.
    void damaged() {
        uint32_t state = 3;
        const auto next = [&](size_t below) {
            state = state * 1664525U + 1013904223U;
            return static_cast<size_t>(state >> 8) % below;
        };
        const std::string path = temporary("damaged");
        const GraphPtr graph = CostGraph::make();
        size_t models = 0;
        size_t errors = 0;
        for (const auto& file : std::filesystem::directory_iterator(test::testDataPath("cost"))) {
            const std::string whole = test::readAll(file.path().string());
            for (int round = 0; round < 100; ++round) {
                std::string text = whole;
                if (round % 2 == 0)
                    text.resize(1 + next(text.size()));
                for (size_t change = next(3); change > 0; --change)
                    text[next(text.size())] = static_cast<char>(next(256));
                std::ofstream(path, std::ios::binary) << text;
                const LoadedCosts loaded(path);
                ++(loaded.ok() ? models : errors);
                if (!loaded.ok()) {
                    QVERIFY(!loaded.model.error().message.empty());
                    QVERIFY2(loaded.model.error().where.line >= 1, loaded.model.error().message.c_str());
                    continue;
                }
                Diagnostics diagnostics;
                loaded.model.value()->check(*graph, diagnostics);
            }
        }
        std::filesystem::remove(path);
        std::printf("damaged inputs: %zu read, %zu refused\n", models, errors);
        QVERIFY(models > 0 && errors > 0);
    }
};

QTEST_GUILESS_MAIN(TestCostFormats)
#include "tst_cost_formats.moc"
