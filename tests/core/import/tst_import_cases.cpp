// The text readers on real files of users (cases/), against facts that another program counted, and on real
// logs.
#include "core/import/open_graph.h"
#include "graph/collectives.h"
#include "support/test_data.h"

#include <QTest>
#include <nlohmann/json.hpp>

using namespace gs;
using namespace gs::test;
using Json = nlohmann::json;

namespace {

Opened openCase(const std::string& relative, int index = -1, int rank = -1) {
    return open(casePath(relative).value_or(""), index, rank);
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

class TstImportCases : public QObject {
    Q_OBJECT
private slots:
    void factsOfCases_data();
    void factsOfCases();
    void fragments();
    void bothFormsInOneFile();
    void specialPoints();
    void logs();
};

void TstImportCases::factsOfCases_data() {
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
    if (!casePath("README.md")) // a checkout without the cases
        QTest::newRow("none") << QString() << QString();
}

void TstImportCases::factsOfCases() {
    QFETCH(QString, path);
    QFETCH(QString, expected);
    if (path.isEmpty())
        return;
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
        // load_args() of a runnable script has shapes, which the counter of facts.json does not read
        if (std::string(key) == "gather_bytes_total" && want.at(key).is_null() &&
            opened.find("inferred-shapes"))
            continue;
        if (have.at(key) != want.at(key))
            qWarning("%s: read %s, facts say %s", key, have.at(key).dump().c_str(),
                     want.at(key).dump().c_str());
        QVERIFY2(have.at(key) == want.at(key), key);
    }
}

void TstImportCases::fragments() {
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
}

void TstImportCases::bothFormsInOneFile() {
    if (!casePath("README.md"))
        return;
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
}

void TstImportCases::specialPoints() {
    if (!casePath("README.md"))
        return;
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
}

void TstImportCases::logs() {
    const auto stderr_log = corpusPath("logs/lm1_fsdp8_overlap/torch_logs.stderr.txt");
    const auto trace = corpusPath("logs/lm1_fsdp8_overlap/dedicated_log_torch_trace_rank_0_a1b2c3d4.log");
    const auto folder = corpusPath("logs/lm1_fsdp8_overlap/tlparse/-_0_0_0/aot_forward_graph_7.txt");
    if (!stderr_log || !trace || !folder)
        return;
    // the same graph as a file, as payload of a trace and behind log prefixes
    const Opened file = open(*folder);
    QVERIFY(file.result.ok());
    for (const Diagnostic& item : file.diagnostics.all())
        QVERIFY2(item.severity == Severity::Info, item.message.c_str());
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

QTEST_GUILESS_MAIN(TstImportCases)
#include "tst_import_cases.moc"
