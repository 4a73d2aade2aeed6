// importGraph and the text readers on real files of users (cases/) with facts counted by another program, on
// damaged texts, and on small own inputs for each kind of fault.
#include "graph/collectives.h"
#include "import/importer.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>

using namespace gs;
using namespace gs::test;
using Json = nlohmann::json;

namespace {

struct Opened {
    Result<ImportedGraph> result;
    Diagnostics diagnostics;

    const Graph& graph() const { return *result.value().graph; }
    size_t count(const std::string& code) const {
        const auto& all = diagnostics.all();
        return static_cast<size_t>(
            std::count_if(all.begin(), all.end(), [&](const Diagnostic& item) { return item.code == code; }));
    }
    const Diagnostic* find(const std::string& code) const {
        for (const Diagnostic& item : diagnostics.all()) {
            if (item.code == code)
                return &item;
        }
        return nullptr;
    }
};

Opened open(const std::string& path, int index = -1, int rank = -1) {
    Diagnostics diagnostics;
    Result<ImportedGraph> result = importGraph(path, index, rank, diagnostics, {});
    return {std::move(result), std::move(diagnostics)};
}

Opened openCase(const std::string& relative, int index = -1, int rank = -1) {
    return open(casePath(relative).value_or(""), index, rank);
}

Opened openText(std::string text) {
    Diagnostics diagnostics;
    Result<ImportedGraph> result = importText({"text", std::move(text)}, -1, -1, diagnostics, {});
    return {std::move(result), std::move(diagnostics)};
}

std::string kindName(CollectiveKind kind) {
    return kind == CollectiveKind::AllGather ? "gather" : std::string(collectiveKindName(kind));
}

/// The last part of "_c10d_functional.all_reduce.default" before the overload.
std::string operatorName(std::string_view target) {
    const std::string_view packet = target.substr(0, target.rfind('.'));
    return std::string(packet.substr(packet.rfind('.') + 1));
}

/// What facts.json counts, counted in a graph that was read.
Json factsOf(const Graph& graph) {
    Json facts = {{"collectives", Json::object()}, {"coll_ops", Json::object()}, {"groups", Json::object()}};
    facts["gather_order"] = Json::array();
    const CollectiveTable table(graph);
    size_t waits = 0, renamed = 0, immediate = 0;
    int64_t bytes = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
        waits += graph.node(id).kind == NodeKind::Wait ? 1 : 0;
        renamed += graph.node(id).kind == NodeKind::Placeholder && graph.name(id) != graph.targetText(id);
    }
    const auto bump = [](Json& counts, const std::string& key) {
        counts[key] = counts.contains(key) ? counts[key].get<int>() + 1 : 1;
    };
    for (const Collective& item : table.all()) {
        if (item.launch == kNoNode)
            continue;
        const std::string kind = kindName(item.kind);
        bump(facts["collectives"], kind);
        bump(facts["coll_ops"], operatorName(graph.targetText(item.launch)));
        if (item.isGather()) {
            if (facts["gather_order"].size() < 12)
                facts["gather_order"].push_back(graph.name(item.launch));
            bytes = bytes < 0 || item.output_bytes < 0 ? -1 : bytes + item.output_bytes;
            immediate += !item.waits.empty() && item.waits.front() == item.launch + 1;
        }
    }
    for (NodeId id = 0; id < graph.size(); ++id) {
        const OpTraits& traits = graph.target(id).traits;
        const Arg* name = graph.node(id).kind != NodeKind::Launch || traits.group_arg < 0
                              ? nullptr
                              : graph.arg(id, static_cast<size_t>(traits.group_arg));
        if (!name)
            continue;
        Json& group = facts["groups"][std::string(graph.text(name->text))];
        bump(group, kindName(traits.collective));
    }
    facts["waits"] = waits;
    facts["nodes"] = graph.size() - graph.placeholdersEnd() - (graph.output() == kNoNode ? 0 : 1);
    facts["renamed"] = renamed;
    facts["has_return"] = graph.output() != kNoNode;
    facts["gathers_wait_immediately_next"] = immediate;
    facts["gather_bytes_total"] = bytes <= 0 ? Json() : Json(bytes);
    return facts;
}

/// The graph of `imported` whose lines hold the def line that facts.json names.
int entryAtLine(const std::vector<GraphEntry>& entries, uint32_t line) {
    int found = -1;
    for (size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].line <= line && line <= entries[i].line + 100)
            found = static_cast<int>(i);
    }
    return found;
}

} // namespace

class TstImport : public QObject {
    Q_OBJECT
private slots:
    void factsOfCases_data();
    void factsOfCases();
    void whatCasesSay();
    void neighboursAreNamed_data();
    void neighboursAreNamed();
    void logs();
    void choosing();
    void faults();
    void cutAnywhere_data();
    void cutAnywhere();
    void damagedTexts();
    void largeTextIsFast();
};

void TstImport::factsOfCases_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("expected");
    for (const char* folder :
         {"01-fsdp2-fwd-readable-t26", "03-fsdp2-bwd-readable-t26", "09-tp-allreduce-four-stages",
          "11-llama3-8b-fw-64-1d", "14-deepseek-v3-bw-128-ep", "15-torch-trace-ranks-differ-hang",
          "16-torch-trace-graph-exec-order", "18-megatron-sp-fw-two-ranks",
          "20-megatron-sp-bw-missing-allreduce", "21-joint-graph-moe-broadcast",
          "22-dynamo-graph-prim-redistribute", "23-old-c10d-functional-tag-ranks",
          "25-reduce-scatter-pair-lambda-class", "27-async-input-wait-on-placeholder",
          "28-tied-weight-duplicate-gathers", "30-sink-waits-graph-form", "35-overlap-hop-control-deps",
          "43-torch-logs-aot-graphs-prefix"}) {
        const auto facts = casePath(std::string(folder) + "/facts.json");
        if (!facts)
            continue;
        for (const Json& file : Json::parse(readAll(*facts))) {
            const std::string name = file.at("file");
            for (const Json& graph : file.at("graphs")) {
                // stubs and nested graphs without nodes are no graphs of their own
                if (graph.at("nodes") == 0)
                    continue;
                // nor are the graph lines in the comments of Inductor's output code
                if (graph.at("form") == "graph()" && name.find(".log") != std::string::npos)
                    continue;
                const std::string row = std::string(folder) + " " + name + " " + graph.at("line").dump();
                QTest::newRow(row.c_str())
                    << QString::fromStdString(casePath(std::string(folder) + "/" + name).value_or(""))
                    << QString::fromStdString(graph.dump());
            }
        }
    }
}

void TstImport::factsOfCases() {
    QFETCH(QString, path);
    QFETCH(QString, expected);
    Json want = Json::parse(expected.toStdString());
    const Opened all = open(path.toStdString());
    QVERIFY(all.result.ok());
    const int index = entryAtLine(all.result.value().entries, want.at("line"));
    QVERIFY(index >= 0);
    const Opened opened = open(path.toStdString(), index);
    QVERIFY(opened.result.ok());
    QCOMPARE(opened.count("bad-line"), size_t{0});
    QCOMPARE(opened.count("unknown-input"), size_t{0});
    Json have = factsOf(opened.graph());
    if (want.at("form") == "code") // facts.json counts "l_x_ = L_x_" as a node
        have["nodes"] = have["nodes"].get<size_t>() + have["renamed"].get<size_t>();
    for (const auto& [name, group] : want.at("groups").items()) {
        const GroupId id = opened.graph().findGroup(name);
        QVERIFY(id != kNoGroup);
        if (group.contains("size"))
            QCOMPARE(opened.graph().groups()[id].size, group.at("size").get<int>());
        want["groups"][name].erase("size");
    }
    // the pytree form has two arguments and more inputs
    if (want.at("placeholders") != 2 || path.indexOf("/21-") < 0)
        QCOMPARE(int(opened.graph().placeholdersEnd()), want.at("placeholders").get<int>());
    // without annotations the counter of facts.json has no bytes, and neither has the graph
    for (const char* key : {"collectives", "coll_ops", "groups", "waits", "nodes", "has_return",
                            "gather_order", "gather_bytes_total", "gathers_wait_immediately_next"}) {
        if (have.at(key) != want.at(key))
            qWarning("%s: read %s, facts say %s", key, have.at(key).dump().c_str(),
                     want.at(key).dump().c_str());
        QVERIFY2(have.at(key) == want.at(key), key);
    }
}

void TstImport::whatCasesSay() {
    if (!casePath("README.md"))
        return;
    { // the group is an object, no waits: an eager trace; the inputs are not in the text
        const Opened opened = openCase("41-make-fx-eager-fsdp2-allgather-base/input.txt");
        QVERIFY(opened.result.ok());
        QCOMPARE(CollectiveTable(opened.graph()).size(), size_t{1});
        QCOMPARE(int(opened.graph().placeholdersEnd()), 3);
    }
    { // comments repeat the statements: one gather, not two
        const Opened opened = openCase("38-eval-with-key-comments/input.txt");
        QVERIFY(opened.result.ok());
        const CollectiveTable table(opened.graph());
        QCOMPARE(table.size(), size_t{1});
        QCOMPARE(table[0].output_bytes, int64_t{1218303520});
        QCOMPARE(table[0].waits.size(), size_t{1});
    }
    { // only comments: their lines are read, and the text says that it is a part
        const Opened opened = openCase("32-commented-graph-async-tp/input.txt");
        QVERIFY(opened.result.ok());
        QVERIFY(opened.find("fragment"));
        QCOMPARE(opened.graph().groups()[0].size, 16);
        const Opened chain = openCase("42-activation-checkpoint-comment-graph/input.txt");
        QVERIFY(chain.result.ok());
    }
    { // five graphs of two ranks in both forms; both forms of one graph agree
        const Opened code = openCase("22-dynamo-graph-prim-redistribute/input.txt", 3);
        const Opened graph = openCase("22-dynamo-graph-prim-redistribute/input.txt", 2);
        QVERIFY(code.result.ok() && graph.result.ok());
        QCOMPARE(code.result.value().entries.size(), size_t{5});
        QCOMPARE(code.graph().structuralHash(), graph.graph().structuralHash());
        const Opened dynamo_code = openCase("22-dynamo-graph-prim-redistribute/input.txt", 1);
        const Opened dynamo = openCase("22-dynamo-graph-prim-redistribute/input.txt", 0);
        QVERIFY(dynamo_code.result.ok() && dynamo.result.ok());
        QCOMPARE(dynamo_code.graph().structuralHash(), dynamo.graph().structuralHash());
        const NodeId local = dynamo.graph().find("input_tensor").value();
        QCOMPARE(std::string(dynamo.graph().targetText(local)),
                 std::string("torch._dynamo.variables.torch.prim from_local"));
        const Opened rank0 = openCase("22-dynamo-graph-prim-redistribute/input.txt", -1, 0);
        QVERIFY(rank0.result.ok());
        QCOMPARE(rank0.result.value().chosen, size_t{4});
    }
    { // a group named by its ranks
        const Opened opened = openCase("23-old-c10d-functional-tag-ranks/input.txt", 0);
        QVERIFY(opened.result.ok());
        QCOMPARE(opened.graph().groups()[0].ranks, (std::vector<int32_t>{0, 1}));
    }
    { // cut in a comment: opens, and says in which line the text ends
        const Opened opened = openCase("28-tied-weight-duplicate-gathers/input.txt");
        QVERIFY(opened.result.ok());
        QVERIFY(opened.find("cut-graph"));
        QCOMPARE(opened.find("cut-graph")->where.line, 13u);
    }
    { // shapes stand in another function of this file
        const Opened opened = openCase("11-llama3-8b-fw-64-1d/input.py");
        QVERIFY(opened.result.ok());
        QVERIFY(!opened.graph().info().has_shapes);
        QVERIFY(opened.find("no-shapes"));
        QCOMPARE(CollectiveTable(opened.graph()).weightGatherCount(), size_t{291});
    }
}

void TstImport::neighboursAreNamed_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("what");
    const auto add = [](const char* relative, const char* what) {
        if (const auto path = casePath(relative))
            QTest::newRow(relative) << QString::fromStdString(*path) << what;
    };
    add("05-fsdp2-ir-post-fusion-t26/input.txt", "scheduler IR");
    add("08-op-list-no-graph/input.txt", "plain text");
    add("09-tp-allreduce-four-stages/input_a_output_code.py", "output code");
    add("19-comm-estimate-tables/input_colls8_8.table", "table of estimated collective times");
    add("33-debugmode-trace-2d-mesh/input.txt", "DebugMode");
    add("50-kineto-ddp-pg-metadata/input.json", "Kineto or Chrome trace");
    add("50-kineto-ddp-pg-metadata/input_full.json.gz", "Kineto or Chrome trace");
    add("57-execution-trace-et-chakra/input_chakra_small.json", "Chakra");
    add("57-execution-trace-et-chakra/input_et.json", "Chakra");
    add("58-nccl-profiler-plugin-invalid-json/input.json", "NCCL's example profiler plugin");
    add("60-unwaited-collective-buffer-alias/input.md", "plain text");
    add("69-nccl-watchdog-order-mismatch-log/input.md", "plain text");
    add("16-torch-trace-graph-exec-order/input_rank0.inductor_runtime_and_tensor_meta.0_0.json",
        "runtime estimates");
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
    own("words.txt", "def forward is mentioned here\nbut no graph\n", "plain text");
    own("table.txt", "opcode       name    target    args    kwargs\n-----------  ------\n", "print_tabular");
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
}

void TstImport::logs() {
    const auto stderr_log = corpusPath("logs/lm1_fsdp8_overlap/torch_logs.stderr.txt");
    const auto trace = corpusPath("logs/lm1_fsdp8_overlap/dedicated_log_torch_trace_rank_0_a1b2c3d4.log");
    const auto folder = corpusPath("logs/lm1_fsdp8_overlap/tlparse/-_0_0_0/aot_forward_graph_7.txt");
    if (!stderr_log || !trace || !folder)
        return;
    // the same graph as a file, as payload of a trace and behind log prefixes
    const Opened file = open(*folder);
    QVERIFY(file.result.ok());
    QCOMPARE(file.diagnostics.all().size(), size_t{0});
    const Opened traced = open(*trace);
    QVERIFY(traced.result.ok());
    int forward = -1;
    const auto& entries = traced.result.value().entries;
    for (size_t i = 0; i < entries.size(); ++i) {
        QCOMPARE(entries[i].rank, 0);
        forward = entries[i].name == "aot_forward_graph [0/0]" ? static_cast<int>(i) : forward;
    }
    QVERIFY(forward >= 0);
    const Opened payload = open(*trace, forward);
    QVERIFY(payload.result.ok());
    QCOMPARE(payload.graph().structuralHash(), file.graph().structuralHash());
    const Opened logged = open(*stderr_log, 0);
    QVERIFY(logged.result.ok());
    QCOMPARE(logged.result.value().entries.size(), size_t{4});
    QCOMPARE(logged.result.value().entries[0].name, std::string("Forward graph 0 [0/0]"));
    QCOMPARE(logged.result.value().entries[0].rank, 0);
    QCOMPARE(logged.graph().structuralHash(), file.graph().structuralHash());

    // what another scheduler tied with control_deps is the operator inside, with advisory edges
    const auto after =
        corpusPath("logs/mlp_fsdp8_overlap/tlparse/-_0_0_0/overlap_scheduling_graph_after_18.txt");
    const Opened scheduled = open(after.value_or(""));
    QVERIFY(scheduled.result.ok());
    const NodeId addmm = scheduled.graph().find("addmm").value();
    QCOMPARE(std::string(scheduled.graph().targetText(addmm)), std::string("aten.addmm.default"));
    QCOMPARE(scheduled.graph().inputs(addmm).size(), size_t{3});
    QCOMPARE(scheduled.graph().weakInputs(addmm).size(), size_t{1});

    // a pass printed this graph before it sorted the nodes
    const auto before =
        corpusPath("logs/lm1_fsdp8_overlap/tlparse/-_0_0_0/overlap_scheduling_graph_before_13.txt");
    const Opened unsorted = open(before.value_or(""));
    QVERIFY(unsorted.result.ok());
    QVERIFY(unsorted.find("reordered"));
    QCOMPARE(unsorted.count("unknown-input") + unsorted.count("cycle"), size_t{0});
    QVERIFY(!findBrokenEdge(unsorted.graph(), identityOrder(unsorted.graph())).has_value());
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

void TstImport::largeTextIsFast() {
    const auto path = corpusPath("graphs/llama3_405b_fsdp64_joint.readable.txt");
    if (!path)
        return;
    double best_ms = 1e9;
    for (int round = 0; round < 3; ++round) {
        const auto start = std::chrono::steady_clock::now();
        const Opened opened = open(*path);
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        QVERIFY(opened.result.ok());
        QCOMPARE(opened.graph().size(), size_t{36891});
        best_ms = std::min(best_ms, took.count());
    }
    qInfo("7.3 MB of print_readable text: %.0f ms", best_ms);
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    QVERIFY(best_ms < 300);
#endif
}

QTEST_GUILESS_MAIN(TstImport)
#include "tst_import.moc"
