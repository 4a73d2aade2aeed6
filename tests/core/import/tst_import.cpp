// importGraph: choosing a graph, files that are none, faults with their places, damaged texts, speed.
#include "core/import/open_graph.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <ctime>
#include <random>

using namespace gs;
using namespace gs::test;

class TstImport : public QObject {
    Q_OBJECT
private slots:
    void neighboursAreNamed_data();
    void neighboursAreNamed();
    void case08ListOfOperators();
    void case33DebugModeLog();
    void choosing();
    void faults();
    void cutAnywhere_data();
    void cutAnywhere();
    void damagedTexts();
    void listsThatNeverClose();
    void largeTextIsReadWhole();
};

/// The kinds of the cases, too, for checkouts without them.
static void addOwnNeighbours() {
    const auto own = [](const char* name, const QByteArray& bytes, const char* what) {
        static QTemporaryDir folder;
        const QString path = folder.path() + "/" + name;
        QFile file(path);
        if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size())
            QTest::newRow(name) << path << what;
    };
    own("pickle.bin", QByteArray("\x80\x04\x95\x10\x00\x00", 6), "Python pickle");
    own("archive.pt", QByteArray("PK\x03\x04\x00\x00", 6), "ZIP archive");
    own("report.sqlite", QByteArray("SQLite format 3\0\x10", 17), "SQLite");
    own("binary", QByteArray("abc\0def", 7), "binary file");
    own("blank", "  \n\n", "white space");
    own("costs.json", "{\"format\":\"gatherscope.costs\",\"version\":1}", "cost file");
    own("et.json",
        "{\"schema\": \"1.1.0-chakra.0.0.4\", \"pid\": 1, \"nodes\": [{\"id\": 1, \"name\": "
        "\"nccl:all_gather\", \"ctrl_deps\": 0}]}",
        "Chakra or PyTorch execution trace");
    own("chakra.json", "{\"workload_graph\": [{\"Id\": 0, \"Name\": \"COMP_NODE\", \"NodeType\": 4}]}",
        "Chakra or PyTorch execution trace");
    own("plugin.json",
        "[\n{\"name\": \"AllReduce\", \"cat\": \"COLL\", \"ph\": \"b\", \"args\": {\"Datatype\": "
        "ncclFloat32}},\n",
        "NCCL's example profiler plugin");
    own("debug_mode.txt",
        "  torch.mm(dt: f32[8, 8]| S(0), dt: f32[8, 32]| S(0))\n    redistribute_input(1, S(0) -> R)\n"
        "      _c10d_functional::all_gather_into_tensor(t: f32[1, 32], 8, 0)\n",
        "DebugMode");
    own("operators.txt",
        "torch.ops._c10d_functional.all_gather_into_tensor.default\ntorch.ops.aten.mm.default\n"
        "torch.ops.fsdp.copy_.default\n",
        "list of operators");
    own("watchdog.log",
        "[rank7]:[E901 05:20:03.1 ProcessGroupNCCL.cpp:632] [Rank 7] Watchdog caught collective operation "
        "timeout: "
        "WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 1 ms\n",
        "NCCL's watchdog");
    own("kernels.md", "It ran ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>) twice.\n",
        "report or list of kernels");
    own("page.html", "<!DOCTYPE html><html><body>Nothing.</body></html>\n", "web page");
    own("words.txt", "def forward is mentioned here\nbut no graph\n", "plain text");
    own("table.txt", "opcode       name    target    args    kwargs\n-----------  ------\n", "print_tabular");
}

void TstImport::neighboursAreNamed_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("what");
    const auto add = [](const char* relative, const char* what) {
        if (const auto path = casePath(relative))
            QTest::newRow(relative) << QString::fromStdString(*path) << what;
    };
    add("08-op-list-no-graph/input.txt", "list of operators");
    add("19-comm-estimate-tables/input_colls8_8.table", "table of estimated collective times");
    add("33-debugmode-trace-2d-mesh/input.txt", "DebugMode");
    add("50-kineto-ddp-pg-metadata/input.json", "Kineto or Chrome trace");
    add("50-kineto-ddp-pg-metadata/input_full.json.gz", "Kineto or Chrome trace");
    add("57-execution-trace-et-chakra/input_chakra_small.json", "Chakra");
    add("57-execution-trace-et-chakra/input_et.json", "Chakra");
    add("58-nccl-profiler-plugin-invalid-json/input.json", "NCCL's example profiler plugin");
    add("69-nccl-watchdog-order-mismatch-log/input.md", "NCCL's watchdog");
    for (const char* path :
         {"51-kineto-allgather-without-metadata/input.json", "52-kineto-two-ranks-sendrecv/input_rank0.json",
          "54-kineto-ddp-rank1-pid1/input.json", "59-kineto-doc-annotation-and-cudagraph/input.json"})
        add(path, "Kineto or Chrome trace");
    for (const char* path : {"61-cross-group-order-deadlock/input.md",
                             "63-fp8-flag-ignored-bf16-gather/input.md", "65-dead-bucketed-gathers/input.md",
                             "67-gather-and-rs-memory-held/input.md", "68-uneven-and-empty-shards/input.md"})
        add(path, "plain text");
    add("56-nsys-schema-doc/input.md", "notes on the database of Nsight Systems");
    add("57-execution-trace-et-chakra/input_full_et.json.gz", "Chakra");
    add("70-cupti-skew-kernel-before-launch/input.md", "report or list of kernels");
    add("71-misleading-kernel-names/input.md", "report or list of kernels");
    add("16-torch-trace-graph-exec-order/input_rank0.inductor_runtime_and_tensor_meta.0_0.json",
        "runtime estimates");
    addOwnNeighbours();
}

void TstImport::neighboursAreNamed() {
    QFETCH(QString, path);
    QFETCH(QString, what);
    const Opened opened = open(path.toStdString());
    QVERIFY(!opened.result.ok());
    QCOMPARE(opened.result.error().code, std::string("not-a-graph"));
    const QString message = QString::fromStdString(opened.result.error().message);
    QVERIFY2(message.contains(what), qPrintable(message));
    QVERIFY(!opened.result.error().hint.empty());
    const bool costs = what.contains("Kineto") || what.contains("estimate") || what.contains("cost file");
    QVERIFY(!costs || opened.result.error().hint.find("--costs") != std::string::npos);
}

namespace {

/// The text is refused for what it is, not opened as a graph with nothing in it.
void checkRefused(const char* relative, const char* what) {
    const auto path = casePath(relative);
    if (!path)
        return;
    Diagnostics diagnostics;
    QVERIFY(!listGraphs(*path, diagnostics).ok());
    const Opened opened = open(*path);
    QVERIFY(!opened.result.ok());
    const Error& error = opened.result.error();
    QCOMPARE(error.code, std::string("not-a-graph"));
    QVERIFY2(error.message.find(what) != std::string::npos &&
                 error.message.find("not an FX graph") != std::string::npos,
             error.message.c_str());
}

} // namespace

void TstImport::case08ListOfOperators() {
    checkRefused("08-op-list-no-graph/input.txt", "a list of operators");
}

void TstImport::case33DebugModeLog() {
    checkRefused("33-debugmode-trace-2d-mesh/input.txt", "a trace of DebugMode");
}

void TstImport::choosing() {
    const std::string path = testDataPath("import/two_ranks.log");
    const Opened opened = open(path);
    QVERIFY(opened.result.ok());
    const auto& entries = opened.result.value().entries;
    QCOMPARE(entries.size(), size_t{2});
    QCOMPARE(entries[0].rank, 0);
    QCOMPARE(entries[1].rank, 1);
    for (int rank : {0, 1}) { // interleaved lines are told apart
        const Opened one = open(path, -1, rank);
        QVERIFY(one.result.ok());
        QCOMPARE(one.graph().info().rank, rank);
        QCOMPARE(one.diagnostics.all().size(), size_t{0});
        QCOMPARE(one.graph().size(), size_t{4} + static_cast<size_t>(rank));
    }
    const Opened beyond = open(path, 7);
    QVERIFY(!beyond.result.ok());
    QCOMPARE(beyond.result.error().code, std::string("no-such-graph"));
    QVERIFY(!open(path, 0, 1).result.ok());
    QVERIFY(!open(path, -1, 5).result.ok());
}

void TstImport::faults() {
    struct Fault {
        const char* file;
        const char* code;
        uint32_t line;
        uint32_t column;
    };
    for (const Fault& fault :
         {Fault{"duplicate_name.txt", "duplicate-name", 4, 9},
          Fault{"unknown_input.txt", "unknown-input", 3, 43}, Fault{"cut_call.txt", "bad-line", 4, 47},
          Fault{"cut_annotation.txt", "bad-line", 4, 12}, Fault{"no_return.txt", "cut-graph", 4, 0},
          Fault{"stray_line.txt", "bad-line", 3, 14}, Fault{"unknown_dtype.txt", "unknown-dtype", 2, 0},
          Fault{"bad_graph_line.txt", "bad-line", 4, 5},
          Fault{"bad_graph_argument.txt", "unknown-input", 3, 88}}) {
        const Opened opened = open(testDataPath(std::string("import/") + fault.file));
        QVERIFY2(opened.result.ok(), fault.file);
        const Diagnostic* found = opened.find(fault.code);
        for (const Diagnostic& item : opened.diagnostics.all()) {
            if (!found || found->where.line != fault.line || found->where.column != fault.column)
                qWarning("%s: %s %u:%u %s", fault.file, item.code.c_str(), item.where.line, item.where.column,
                         item.message.c_str());
        }
        QVERIFY2(found, fault.file);
        QCOMPARE(found->where.line, fault.line);
        QCOMPARE(found->where.column, fault.column);
        QVERIFY(!found->where.file.empty());
    }
    const Opened empty = open(testDataPath("import/no_nodes.txt"));
    QVERIFY(!empty.result.ok());
    const Opened every = open(testDataPath("import/every_form.txt"));
    QVERIFY(every.result.ok());
    for (const Diagnostic& item : every.diagnostics.all())
        qWarning("%u:%u %s", item.where.line, item.where.column, item.message.c_str());
    QCOMPARE(every.diagnostics.all().size(), size_t{0});
    const Graph& graph = every.graph();
    const auto target = [&](const char* name) {
        return std::string(graph.targetText(graph.find(name).value()));
    };
    QCOMPARE(target("item"), std::string("operator.getitem"));
    QCOMPARE(target("sum_1"), std::string("operator.add"));
    QCOMPARE(target("minus"), std::string("operator.neg"));
    QCOMPARE(target("iadd"), std::string("operator.iadd"));
    QCOMPARE(target("setitem"), std::string("operator.setitem"));
    QCOMPARE(target("shape"), std::string("getattr"));
    QCOMPARE(target("call"), std::string("layers.0"));
    QCOMPARE(graph.node(graph.find("call").value()).op, NodeOp::CallModule);
    QCOMPARE(graph.node(graph.find("viewed").value()).op, NodeOp::CallMethod);
    QCOMPARE(graph.node(graph.find("weight").value()).op, NodeOp::GetAttr);
    QCOMPARE(graph.node(graph.find("viewed").value()).phase, Phase::Backward);
    QCOMPARE(std::string(graph.text(graph.node(graph.find("viewed").value()).module)),
             std::string("layers.3"));
    QVERIFY(graph.meta(graph.find("viewed").value()).recompute);
    QCOMPARE(graph.inputs(graph.find("longer").value()).size(), size_t{2});
    QCOMPARE(std::string(graph.name(graph.output())), std::string("output_1"));
}

void TstImport::cutAnywhere_data() {
    QTest::addColumn<QString>("path");
    QTest::newRow("code") << QString::fromStdString(testDataPath("import/every_form.txt"));
    QTest::newRow("log") << QString::fromStdString(testDataPath("import/two_ranks.log"));
    QTest::newRow("graph") << QString::fromStdString(testDataPath("import/lossy.txt"));
    for (const char* relative :
         {"28-tied-weight-duplicate-gathers/input.txt", "35-overlap-hop-control-deps/input.txt",
          "25-reduce-scatter-pair-lambda-class/input.txt"}) {
        if (const auto path = casePath(relative))
            QTest::newRow(relative) << QString::fromStdString(*path);
    }
}

void TstImport::cutAnywhere() {
    QFETCH(QString, path);
    const std::string text = readAll(path.toStdString());
    size_t graphs = 0;
    for (size_t length = 1; length <= text.size(); ++length) {
        const Opened opened = openText(text.substr(0, length));
        if (opened.result.ok()) {
            ++graphs;
            QVERIFY(opened.graph().size() > 0);
        } else {
            QVERIFY(!opened.result.error().message.empty());
        }
    }
    QVERIFY(graphs > text.size() / 3);
}

void TstImport::damagedTexts() {
    std::mt19937 random(20250601);
    std::vector<std::string> texts = {readAll(testDataPath("import/every_form.txt")),
                                      readAll(testDataPath("import/two_ranks.log")),
                                      readAll(testDataPath("import/lossy.txt"))};
    const std::string alphabet = "()[]{}'\"\\,;:=#%. \n\t@-+0aT";
    for (int round = 0; round < 3000; ++round) {
        std::string text = texts[random() % texts.size()];
        const int edits = 1 + static_cast<int>(random() % 8);
        for (int i = 0; i < edits && !text.empty(); ++i) {
            const size_t at = random() % text.size();
            switch (random() % 4) {
            case 0:
                text[at] = alphabet[random() % alphabet.size()];
                break;
            case 1:
                text.erase(at, 1 + random() % 40);
                break;
            case 2:
                text.insert(at, std::string(1 + random() % 3, alphabet[random() % alphabet.size()]));
                break;
            default:
                text.insert(at, text.substr(random() % text.size(), random() % 200));
            }
        }
        const Opened opened = openText(text);
        QVERIFY(opened.result.ok() ? opened.graph().size() > 0 : !opened.result.error().message.empty());
    }
}

/// Each line of a list that is never closed is looked at once: found by a fuzzer as a time-out.
void TstImport::listsThatNeverClose() {
    const std::string line = "    \"s\", # [0, 1,\n";
    for (const std::string& head :
         {std::string("def forward(self,\n"),
          std::string("def forward(self, x):\n    y = torch.ops.aten.cat.default([\n"),
          std::string("op0: ExternKernelSchedulerNode(_CollectiveKernel)\nop0.writes = \n    [ 0\n"),
          std::string("op0: ExternKernelSchedulerNode(_CollectiveKernel)\nop0.outputs = [\n    buf0: X\n    "
                      "buf0.users = [\n")}) {
        std::string text = head;
        while (text.size() < 2'000'000)
            text += line;
        const std::clock_t start = std::clock();
        const Opened opened = openText(text);
        const double took_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        QVERIFY(opened.result.ok() || !opened.result.error().message.empty());
        QVERIFY2(
            took_s < 5,
            qPrintable(QString("%1 s: %2").arg(took_s).arg(QString::fromStdString(head)))); // was minutes
    }
}

void TstImport::largeTextIsReadWhole() {
    const auto path = corpusPath("graphs/llama3_405b_fsdp64_joint.readable.txt");
    if (!path)
        return;
    double best_ms = 1e9;
    for (int round = 0; round < 5; ++round) {
        const std::clock_t start = std::clock(); // CPU time: other programs may be running
        const Opened opened = open(*path);
        const double took_ms = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        QVERIFY(opened.result.ok());
        QCOMPARE(opened.graph().size(), size_t{36891});
        best_ms = std::min(best_ms, took_ms);
    }
    qInfo("7.3 MB of print_readable text: %.0f ms", best_ms);
}

QTEST_GUILESS_MAIN(TstImport)
#include "tst_import.moc"
