// Logs and folders: the public cases, tlparse's output in the corpus, stages and ranks, what lies beside.
#include "core/import/open_graph.h"
#include "graph/collectives.h"
#include "support/test_data.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <set>

using namespace gs;
using namespace gs::test;

namespace {

Opened openCase(const std::string& relative, int index = -1, int rank = -1) {
    return open(casePath(relative).value_or(""), index, rank);
}

GraphList listOf(const std::string& path) {
    Diagnostics diagnostics;
    Result<GraphList> list = listGraphs(path, diagnostics);
    return list ? std::move(list).value() : GraphList{};
}

/// Each entry's counts are those of the graph it is read to.
void checkCounts(const std::string& path, const GraphList& list, size_t& checked) {
    for (size_t i = 0; i < list.graphs.size(); ++i) {
        const GraphEntry& entry = list.graphs[i];
        const Opened opened = open(path, static_cast<int>(i));
        QVERIFY2(opened.result.ok(), entry.name.c_str());
        if (entry.level == GraphLevel::Scheduler || opened.find("fragment"))
            continue; // their inputs are known only after reading
        const CollectiveTable table(opened.graph());
        size_t launches = 0, gathers = 0;
        for (const Collective& item : table.all()) {
            launches += item.launch == kNoNode ? 0 : 1;
            gathers += item.isGather() ? 1 : 0;
        }
        const std::string what = path + " " + entry.name + " line " + std::to_string(entry.line);
        QVERIFY2(entry.nodes == opened.graph().size(), what.c_str());
        QVERIFY2(entry.collectives == launches, what.c_str());
        QVERIFY2(entry.gathers == gathers, what.c_str());
        ++checked;
    }
}

} // namespace

class TstCasesLogs : public QObject {
    Q_OBJECT
private slots:
    void case15RanksDiffer();
    void case16ExecutionOrder();
    void case22Redistribute();
    void case43LogPrefix();
    void tlparseFolder();
    void traceFolderOfOurOwn();
    void faultyFilesOfAFolderAreNamed();
    void countsWithoutReading();
    void filesCompleteEachOther();
};

#define NEEDS_CASES()                                                                                        \
    if (!casePath("README.md"))                                                                              \
    return

void TstCasesLogs::case15RanksDiffer() {
    NEEDS_CASES();
    const GraphList log = listOf(*casePath("15-torch-trace-ranks-differ-hang/input_rank0.log"));
    std::set<std::string> stages, ids;
    for (const GraphEntry& entry : log.graphs) {
        stages.insert(entry.stage);
        ids.insert(entry.compile_id);
    }
    QCOMPARE(ids, (std::set<std::string>{"0/0", "1/0"}));
    for (const char* stage :
         {"dynamo_output_graph", "before_pre_grad_graph", "after_pre_grad_graph", "aot_inference_graph",
          "before_post_grad_graph", "after_post_grad_graph", "fx_graph_runnable", "inductor_output_code"})
        QVERIFY2(stages.count(stage), stage);
    // both logs state rank 0: in a folder their names tell them apart
    const GraphList folder = listOf(*casePath("15-torch-trace-ranks-differ-hang"));
    std::set<int32_t> ranks;
    for (const GraphEntry& entry : folder.graphs)
        ranks.insert(entry.rank);
    QCOMPARE(ranks, (std::set<int32_t>{0, 1}));
    // the graphs of both ranks are equal; only the schedule of rank 1 lacks the reduce_scatter
    Diagnostics told[2];
    GraphPtr graphs[2];
    for (int rank : {0, 1}) {
        const auto imported = importGraph(*casePath("15-torch-trace-ranks-differ-hang"),
                                          {-1, rank, "after_post_grad_graph", {}}, told[rank], {});
        QVERIFY(imported.ok());
        QCOMPARE(imported->entries[imported->chosen].compile_id, std::string("0/0"));
        graphs[rank] = imported->graph;
    }
    QCOMPARE(graphs[0]->structuralHash(), graphs[1]->structuralHash());
    const auto differs = [](const Diagnostics& diagnostics) {
        for (const Diagnostic& item : diagnostics.all()) {
            if (item.code == "schedule-differs")
                return item.message.find("reduce_scatter_tensor is missing") != std::string::npos;
        }
        return false;
    };
    QVERIFY(!differs(told[0]));
    QVERIFY(differs(told[1]));
    // the op kind comes from the target, not from the user's name
    const NodeId gather = graphs[0]->find("all_gather_into_tensor").value_or(0);
    QCOMPARE(graphs[0]->node(gather).kind, NodeKind::Launch);
}

void TstCasesLogs::case16ExecutionOrder() {
    NEEDS_CASES();
    Diagnostics diagnostics;
    const auto imported = importGraph(*casePath("16-torch-trace-graph-exec-order"),
                                      {-1, 0, "after_post_grad_graph", {}}, diagnostics, {});
    QVERIFY(imported.ok());
    std::set<std::string> codes;
    for (const Diagnostic& item : diagnostics.all()) {
        codes.insert(item.code);
        if (item.code == "execution-order-differs")
            QVERIFY2(item.message.find("[0/1]") != std::string::npos &&
                         item.message.find("[0/0]") != std::string::npos,
                     item.message.c_str());
    }
    QVERIFY(codes.count("costs-beside"));
    QVERIFY(codes.count("execution-order"));
    QVERIFY(codes.count("execution-order-differs"));
    QVERIFY(codes.count("schedule-differs")); // rank 0's schedule of 0/1 lacks the reduce_scatter
    size_t costs = 0;
    for (const Companion& item : imported->companions)
        costs += item.kind == Companion::Kind::Costs ? 1 : 0;
    QVERIFY(costs >= 4);
    // beside a single log, too
    const Opened one = openCase("16-torch-trace-graph-exec-order/input_rank1.log");
    QVERIFY(one.find("costs-beside"));
}

void TstCasesLogs::case22Redistribute() {
    NEEDS_CASES();
    const GraphList list = listOf(*casePath("22-dynamo-graph-prim-redistribute/input.txt"));
    QCOMPARE(list.graphs.size(), size_t{5});
    QCOMPARE(list.graphs[2].rank, 1);
    QCOMPARE(list.graphs[4].rank, 0);
    const Opened dynamo = openCase("22-dynamo-graph-prim-redistribute/input.txt", 0);
    size_t redistributes = 0;
    for (NodeId id = 0; id < dynamo.graph().size(); ++id)
        redistributes +=
            dynamo.graph().targetText(id).find("prim_redistribute") != std::string_view::npos ? 1 : 0;
    QCOMPARE(redistributes, size_t{2});
    const Opened aot = openCase("22-dynamo-graph-prim-redistribute/input.txt", 2);
    const CollectiveTable table(aot.graph());
    QCOMPARE(table.size(), size_t{1});
    QCOMPARE(table[0].kind, CollectiveKind::AllReduce);
    QCOMPARE(std::string(aot.graph().text(aot.graph().groups()[0].name)), std::string("0"));
}

void TstCasesLogs::case43LogPrefix() {
    NEEDS_CASES();
    const GraphList list = listOf(*casePath("43-torch-logs-aot-graphs-prefix/input.txt"));
    QCOMPARE(list.graphs.size(), size_t{1});
    QCOMPARE(list.graphs[0].compile_id, std::string("0/0"));
    const Opened opened = openCase("43-torch-logs-aot-graphs-prefix/input.txt");
    QCOMPARE(opened.diagnostics.all().size(), size_t{0});
    QCOMPARE(opened.graph().size(), size_t{6}); // 3 inputs, 2 nodes, the output
}

void TstCasesLogs::tlparseFolder() {
    const auto folder = corpusPath("logs/lm1_fsdp8_overlap");
    if (!folder)
        return;
    const GraphList list = listOf(*folder + "/tlparse");
    std::set<std::string> stages, ids;
    for (const GraphEntry& entry : list.graphs) {
        stages.insert(entry.stage);
        ids.insert(entry.compile_id);
        QVERIFY(!entry.file.empty());
    }
    QCOMPARE(ids, std::set<std::string>{"0/0"}); // from the name of the folder -_0_0_0
    for (const char* stage :
         {"aot_forward_graph", "aot_backward_graph", "aot_joint_graph", "dynamo_output_graph",
          "inductor_post_grad_graph", "overlap_scheduling_graph_after"})
        QVERIFY2(stages.count(stage), stage);
    size_t costs = 0, schedules = 0;
    for (const Companion& item : list.companions) {
        costs += item.kind == Companion::Kind::Costs ? 1 : 0;
        schedules += item.kind == Companion::Kind::CollectiveSchedule ? 1 : 0;
    }
    QCOMPARE(costs, size_t{8});
    QCOMPARE(schedules, size_t{2});
    // three choices lead to the graph: the folder, the rank, the stage; the log beside it holds the same
    Diagnostics diagnostics;
    const auto forward =
        importGraph(*folder + "/tlparse", {-1, -1, "aot_forward_graph", {}}, diagnostics, {});
    const auto logged = importGraph(*folder, {-1, 0, "aot_forward_graph", {}}, diagnostics, {});
    QVERIFY(forward.ok() && logged.ok());
    QCOMPARE(forward->graph->structuralHash(), logged->graph->structuralHash());
    // the recorded schedules are those of the graphs after the passes
    for (const std::string stage : {"inductor_post_grad_graph"}) {
        Diagnostics told;
        QVERIFY(importGraph(*folder + "/tlparse", {-1, -1, stage, {}}, told, {}).ok());
        for (const Diagnostic& item : told.all())
            QVERIFY2(item.code != "schedule-differs", item.message.c_str());
    }
}

void TstCasesLogs::faultyFilesOfAFolderAreNamed() {
    QTemporaryDir folder;
    const auto put = [&](const char* name, const std::string& text) {
        QFile file(folder.filePath(QString::fromLatin1(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text.data(), static_cast<qint64>(text.size()));
    };
    put("torch_trace_rank_1_x.log", ""); // wrote nothing
    put("torch_trace_rank_2_x.log.gz", std::string("\x1f\x8b\x08\x00", 4));
    put("torch_trace_rank_3_x.log", "V1201 10:00:00.0 1 a.py:1] {\"str\": [\"a\", 0]}\n");
    put("notes.txt", ""); // nobody's fault
    const std::string path = folder.path().toStdString();
    Diagnostics diagnostics;
    const auto none = listGraphs(path, diagnostics);
    QVERIFY(!none.ok());
    QVERIFY(none.error().message.find("torch_trace_rank_1_x.log: the file is empty") != std::string::npos);
    const auto log = "torch_trace/dedicated_log_torch_trace_rank_0_ab.log";
    put("torch_trace_rank_0_x.log", readAll(testDataPath(std::string("import/") + log)));
    Diagnostics told;
    const auto list = listGraphs(path, told);
    QVERIFY(list.ok());
    QCOMPARE(list->graphs.size(), size_t{2});
    std::set<std::string> faults;
    for (const Diagnostic& item : told.all())
        faults.insert(item.where.file.substr(path.size() + 1) + " " + item.code);
    QCOMPARE(faults, (std::set<std::string>{"torch_trace_rank_1_x.log unreadable-file",
                                            "torch_trace_rank_2_x.log.gz unreadable-file",
                                            "torch_trace_rank_3_x.log no-graph-in-log"}));
}

void TstCasesLogs::traceFolderOfOurOwn() {
    const std::string folder = testDataPath("import/torch_trace");
    const GraphList list = listOf(folder);
    QCOMPARE(list.graphs.size(), size_t{4}); // two stages of two ranks
    QCOMPARE(list.graphs[list.preferred].stage, std::string("after_post_grad_graph"));
    Diagnostics diagnostics;
    const auto second = importGraph(folder, {-1, 1, "post_grad", {}}, diagnostics, {});
    QVERIFY(second.ok());
    QCOMPARE(second->graph->info().rank, 1);
    QCOMPARE(CollectiveTable(*second->graph).size(), size_t{1});
    std::set<std::string> codes;
    for (const Diagnostic& item : diagnostics.all())
        codes.insert(item.code);
    QVERIFY(codes.count("execution-order-differs"));
    QVERIFY(codes.count("costs-beside"));
    QVERIFY(codes.count("schedule-differs")); // rank 1 recorded an all_reduce that its graph lacks
    for (const GraphChoice& wrong : {GraphChoice{-1, 7, {}, {}}, GraphChoice{-1, -1, "no such stage", {}},
                                     GraphChoice{99, -1, {}, {}}, GraphChoice{0, 1, {}, {}}}) {
        const auto none = importGraph(folder, wrong, diagnostics, {});
        QVERIFY(!none.ok());
        QCOMPARE(none.error().code, std::string("no-such-graph"));
        QVERIFY(none.error().hint.find("dynamo_output_graph") != std::string::npos);
    }
    const auto empty = importGraph(testDataPath("corpus/costs"), GraphChoice{}, diagnostics, {});
    QVERIFY(!empty.ok());
    QCOMPARE(empty.error().code, std::string("not-a-graph"));
}

void TstCasesLogs::countsWithoutReading() {
    size_t checked = 0;
    for (const std::string& name : corpusGraphs()) {
        for (const char* form : {".readable.txt", ".graph.txt", ".tabular.txt", ".json"}) {
            if (name.find("405b") != std::string::npos || name.find("70b") != std::string::npos)
                continue;
            if (const auto path = corpusPath("graphs/" + name + form))
                checkCounts(*path, listOf(*path), checked);
        }
    }
    for (const char* log :
         {"15-torch-trace-ranks-differ-hang/input_rank0.log",
          "16-torch-trace-graph-exec-order/input_rank0.log", "22-dynamo-graph-prim-redistribute/input.txt",
          "14-deepseek-v3-bw-128-ep/input.py", "21-joint-graph-moe-broadcast/input_rank0.fx.py"}) {
        if (const auto path = casePath(log))
            checkCounts(*path, listOf(*path), checked);
    }
    for (const char* after : {"overlap_scheduling_graph_after_18", "overlap_scheduling_graph_after_32"}) {
        if (const auto path =
                corpusPath(std::string("logs/mlp_fsdp8_overlap/tlparse/-_0_0_0/") + after + ".txt"))
            checkCounts(*path, listOf(*path), checked); // collectives inside control_deps count too
    }
    qInfo("%zu entries counted", checked);
    QVERIFY(checked > 10);
}

void TstCasesLogs::filesCompleteEachOther() {
    const auto lossy = corpusPath("graphs/mlp4_fsdp8_joint.graph.txt");
    const auto readable = corpusPath("graphs/mlp4_fsdp8_joint.readable.txt");
    const auto json = corpusPath("graphs/mlp4_fsdp8_joint.json");
    const auto other = corpusPath("graphs/mlp2_fsdp8_fwd.json");
    if (!lossy || !readable || !json || !other)
        return;
    Diagnostics diagnostics;
    const auto whole = importGraph(*json, GraphChoice{}, diagnostics, {});
    for (const std::string& second : {*readable, *json}) {
        Diagnostics told;
        const auto completed = importGraph(*lossy, {-1, -1, {}, second}, told, {});
        QVERIFY(completed.ok());
        QVERIFY(completed->graph->info().has_shapes);
        QCOMPARE(completed->graph->structuralHash(), whole->graph->structuralHash());
        for (NodeId id = 0; id < completed->graph->size(); ++id)
            QCOMPARE(completed->graph->value(id).bytes(), whole->graph->value(id).bytes());
        const CollectiveTable table(*completed->graph);
        QVERIFY(table[0].output_bytes > 0);
    }
    const auto refused = importGraph(*lossy, {-1, -1, {}, *other}, diagnostics, {});
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().code, std::string("other-graph"));
    QVERIFY(refused.error().message.find("node ") != std::string::npos);
    // a table has no shapes either; the JSON supplies them
    if (const auto table = corpusPath("graphs/mlp2_fsdp8_fwd.tabular.txt")) {
        const auto completed = importGraph(*table, {-1, -1, {}, *other}, diagnostics, {});
        QVERIFY(completed.ok());
        QVERIFY(CollectiveTable(*completed->graph)[0].output_bytes > 0);
    }
}

QTEST_GUILESS_MAIN(TstCasesLogs)
#include "tst_cases_logs.moc"
