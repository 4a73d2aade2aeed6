// What the about.md of each public case says that a correct tool does, as far as it concerns reading.
// (Counts against facts.json: tst_import_cases.)
#include "core/import/open_graph.h"
#include "graph/collectives.h"
#include "support/test_data.h"

#include <QTest>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <set>

using namespace gs;
using namespace gs::test;

namespace {

Opened openCase(const std::string& relative, int index = -1, int rank = -1) {
    return open(casePath(relative).value_or(""), index, rank);
}

size_t waitCount(const Graph& graph) {
    size_t waits = 0;
    for (NodeId id = 0; id < graph.size(); ++id)
        waits += graph.node(id).kind == NodeKind::Wait ? 1 : 0;
    return waits;
}

size_t kindCount(const CollectiveTable& table, CollectiveKind kind) {
    size_t count = 0;
    for (const Collective& item : table.all())
        count += item.launch != kNoNode && item.kind == kind ? 1 : 0;
    return count;
}

std::vector<std::string> names(const Graph& graph, const std::vector<NodeId>& nodes) {
    std::vector<std::string> found;
    for (const NodeId id : nodes)
        found.emplace_back(graph.name(id));
    return found;
}

/// Most collectives between launch and first wait at one place.
size_t mostInFlight(const CollectiveTable& table, bool gathers_only) {
    size_t most = 0;
    for (const Collective& at : table.all()) {
        size_t flying = 0;
        for (const Collective& item : table.all()) {
            if (item.launch == kNoNode || (gathers_only && !item.isGather()) || at.launch == kNoNode)
                continue;
            const NodeId end = item.waits.empty() ? kNoNode : item.waits.front();
            flying += item.launch <= at.launch && at.launch < end ? 1 : 0;
        }
        most = std::max(most, flying);
    }
    return most;
}

} // namespace

class TstCases : public QObject {
    Q_OBJECT
private slots:
    void case01Fsdp2Forward();
    void case03Fsdp2Backward();
    void case05SchedulerNodes();
    void case09FourStages();
    void case11RunnableWithShapes();
    void case14LargeRunnable();
    void case18ActivationGathers();
    void case20SavedInputsGatheredTwice();
    void case21JointWithBroadcast();
    void case23LegacyOperators();
    void case25TwoInFlight();
    void case27InputsThatAreAwaited();
    void case28CutText();
    void case30SinkWaits();
    void case32GraphLinesInComments();
    void case38CommentsThatRepeatStatements();
    void case35ControlDeps();
    void case41EagerTrace();
    void case42ShardedAlongAnotherDimension();
    void case60OutputCodeWithMissingWait();
};

#define NEEDS_CASES()                                                                                        \
    if (!casePath("README.md"))                                                                              \
    return

void TstCases::case01Fsdp2Forward() {
    NEEDS_CASES();
    const Opened opened = openCase("01-fsdp2-fwd-readable-t26/input.fx.py");
    QVERIFY(opened.result.ok());
    QCOMPARE(opened.diagnostics.all().size(), size_t{0});
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{3});
    QCOMPARE(waitCount(graph), size_t{3});
    QCOMPARE(std::string(graph.text(graph.groups()[0].name)), std::string("0"));
    QCOMPARE(graph.groups()[0].size, 2);
    const char* shards[] = {"primals_2", "primals_5", "primals_7"};
    const char* unsharded[] = {"primals_3", "primals_6", "primals_8"};
    for (size_t i = 0; i < 3; ++i) {
        QCOMPARE(table[i].output_bytes, int64_t{512});
        QCOMPARE(names(graph, table[i].parameters), std::vector<std::string>{shards[i]});
        QCOMPARE(table[i].waits.front(), table[i].launch + 1); // no overlap at all
        // the matmul reads the parameter that copy_ filled, not the gather's result
        const NodeId matmul = graph.find(i == 0 ? "mm" : "mm_" + std::to_string(i)).value();
        const auto& consumers = table[i].consumers;
        QVERIFY(std::find(consumers.begin(), consumers.end(), matmul) != consumers.end());
        const NodeId parameter = graph.find(unsharded[i]).value();
        for (const NodeId consumer : consumers) // nothing after the parameter is freed
            QVERIFY(consumer < graph.users(parameter).back() || i > 0);
    }
    // hoisting gathers 2 and 3 to the start is allowed, running the matmul before its copy is not
    std::vector<bool> first(graph.size(), false);
    for (const Collective& item : table.all())
        first[item.launch] = true;
    for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;) {
        for (const NodeId input : graph.inputs(id))
            first[input] = first[input] || first[id];
    }
    Order order = identityOrder(graph);
    std::stable_partition(order.begin() + graph.placeholdersEnd(), order.end(),
                          [&](NodeId id) { return first[id]; });
    QVERIFY(std::find(order.begin(), order.end(), table[2].launch) <
            std::find(order.begin(), order.end(), table[0].waits.front()));
    QVERIFY(!findBrokenEdge(graph, order).has_value());
    order = identityOrder(graph);
    const NodeId copy = graph.find("copy__1").value(), matmul = graph.find("mm_1").value();
    std::rotate(order.begin() + copy, order.begin() + copy + 1, order.begin() + matmul + 1);
    QVERIFY(findBrokenEdge(graph, order).has_value());
}

void TstCases::case03Fsdp2Backward() {
    NEEDS_CASES();
    for (const char* file : {"input_before.fx.py", "input_after.fx.py"}) {
        const Opened opened = openCase(std::string("03-fsdp2-bwd-readable-t26/") + file);
        QVERIFY(opened.result.ok());
        const Graph& graph = opened.graph();
        const CollectiveTable table(graph);
        QCOMPARE(kindCount(table, CollectiveKind::AllGather), size_t{3});
        QCOMPARE(kindCount(table, CollectiveKind::ReduceScatter), size_t{3});
        QCOMPARE(waitCount(graph), size_t{6});
        std::vector<std::string> gathered;
        for (const Collective& item : table.all()) {
            QVERIFY(item.launch != kNoNode && item.waits.size() == 1);
            QCOMPARE(item.waits.front(), item.launch + 1);
            QCOMPARE(std::string(graph.text(graph.groups()[item.group].name)), std::string("0"));
            if (!item.isGather()) {
                QCOMPARE(std::string(graph.text(graph.arg(item.launch, 1)->text)), std::string("avg"));
                continue;
            }
            for (const std::string& name : names(graph, item.parameters))
                gathered.push_back(name);
            // the first layer needs no gradient of its input: nothing reads its gathered weight
            QCOMPARE(item.consumers.empty(), gathered.back() == "arg10_1");
        }
        QCOMPARE(gathered, (std::vector<std::string>{"arg8_1", "arg9_1", "arg10_1"}));
    }
}

void TstCases::case05SchedulerNodes() {
    NEEDS_CASES();
    const Opened opened = openCase("05-fsdp2-ir-post-fusion-t26/input.txt");
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    QCOMPARE(graph.info().level, GraphLevel::Scheduler);
    const CollectiveTable table(graph);
    QCOMPARE(kindCount(table, CollectiveKind::AllGather), size_t{3});
    QCOMPARE(kindCount(table, CollectiveKind::ReduceScatter), size_t{3});
    QCOMPARE(waitCount(graph), size_t{6});
    QVERIFY(graph.find("op5").value() < graph.find("op4").value()); // the text's order, not the numbers'
    const Collective& first = table[static_cast<size_t>(table.indexOf(graph.find("op3").value()))];
    QCOMPARE(first.output_bytes, int64_t{512});
    QCOMPARE(first.input_bytes, int64_t{256});
    QCOMPARE(first.group_size, 2);
    QCOMPARE(names(graph, first.parameters), std::vector<std::string>{"arg8_1"});
    QCOMPARE(names(graph, first.waits), std::vector<std::string>{"op4"});
    QCOMPARE(std::string(graph.targetText(graph.find("op8").value())), std::string("aten.mm.out"));
    QVERIFY(!findBrokenEdge(graph, identityOrder(graph)).has_value());
    // before fusion the collectives hide in grouped nodes: said, not counted as none
    const Opened before = openCase("05-fsdp2-ir-post-fusion-t26/input_pre.txt");
    QVERIFY(before.result.ok());
    QVERIFY(before.find("grouped-collectives"));
}

void TstCases::case09FourStages() {
    NEEDS_CASES();
    for (const char* process : {"a", "b"}) {
        for (const char* stage :
             {"readable.fx.py", "transformed.fx.py", "ir_post_fusion.txt", "output_code.py"}) {
            const Opened opened =
                openCase(std::string("09-tp-allreduce-four-stages/input_") + process + "_" + stage);
            QVERIFY2(opened.result.ok(), stage);
            const CollectiveTable table(opened.graph());
            QCOMPARE(table.size(), size_t{1});
            QCOMPARE(table[0].kind, CollectiveKind::AllReduce);
            QCOMPARE(table[0].waits.size(), size_t{1});
            QCOMPARE(table.weightGatherCount(), size_t{0});
            QCOMPARE(table[0].output_bytes, int64_t{128});
            const bool scheduler = opened.graph().info().level == GraphLevel::Scheduler;
            QCOMPARE(scheduler,
                     std::string(stage).find("ir_") == 0 || std::string(stage).find("output") == 0);
            if (std::string(stage).find("ir_") != 0) // scheduler nodes print no constants
                QCOMPARE(std::string(opened.graph().text(opened.graph().groups()[0].name)), std::string("1"));
            QVERIFY(opened.graph().output() != kNoNode);
        }
    }
    // by buffer: the reused buffer of relu is what the second matmul reads
    const Opened code = openCase("09-tp-allreduce-four-stages/input_a_output_code.py");
    const Graph& graph = code.graph();
    QCOMPARE(names(graph, {graph.inputs(graph.find("buf2").value())[0]}),
             std::vector<std::string>{"cpp_fused_relu_0"});
    QCOMPARE(std::string(graph.text(graph.origins(graph.find("buf2").value())[0])), std::string("linear_1"));
}

void TstCases::case11RunnableWithShapes() {
    NEEDS_CASES();
    const Opened opened = openCase("11-llama3-8b-fw-64-1d/input.py");
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{291});
    QCOMPARE(table.weightGatherCount(), size_t{291});
    QCOMPARE(graph.groups().size(), size_t{1});
    QCOMPARE(graph.groups()[0].size, 64);
    QCOMPARE(mostInFlight(table, true), size_t{1});
    std::set<NodeId> parameters;
    for (const Collective& item : table.all()) {
        QCOMPARE(item.waits.front(), item.launch + 1);
        QCOMPARE(item.parameters.size(), size_t{1});
        parameters.insert(item.parameters.front());
        QCOMPARE(item.dtype, DType::BFloat16);
        QCOMPARE(item.output_bytes, item.input_bytes * 64);
        if (graph.name(item.parameters.front()) == "primals_293")
            QCOMPARE(item.output_bytes, int64_t{128256} * 4096 * 2);
    }
    QCOMPARE(parameters.size(), size_t{291});                      // one gather per parameter
    QCOMPARE(opened.find("inferred-shapes")->hint, std::string()); // every call has a shape
}

void TstCases::case14LargeRunnable() {
    NEEDS_CASES();
    const std::clock_t start = std::clock(); // CPU time: other programs may be running
    const Opened opened = openCase("14-deepseek-v3-bw-128-ep/input.py");
    const double took_ms = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    qInfo("14,430 nodes with shapes inferred: %.0f ms", took_ms);
#ifdef NDEBUG
    QVERIFY2(took_ms < 1000, qPrintable(QString::number(took_ms)));
#endif
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(kindCount(table, CollectiveKind::AllGather), size_t{298});
    QCOMPARE(kindCount(table, CollectiveKind::ReduceScatter), size_t{377});
    QCOMPARE(kindCount(table, CollectiveKind::AllToAll), size_t{52});
    QCOMPARE(waitCount(graph), size_t{727});
    NodeId before = 0; // order from position, never from the number in the name
    for (const Collective& item : table.all()) {
        QVERIFY(item.launch >= before);
        before = item.launch;
    }
    QCOMPARE(std::string(graph.name(table[0].launch)), std::string("all_gather_into_tensor_454"));
    QCOMPARE(opened.count("inferred-shapes"), size_t{1});
    QCOMPARE(opened.graph().groups()[graph.findGroup("1033")].size > 1, true);
}

void TstCases::case18ActivationGathers() {
    NEEDS_CASES();
    for (int rank : {0, 1}) {
        const Opened opened = openCase(fmt::format("18-megatron-sp-fw-two-ranks/input_rank{}.fx.py", rank));
        QVERIFY(opened.result.ok());
        const Graph& graph = opened.graph();
        const CollectiveTable table(graph);
        QCOMPARE(kindCount(table, CollectiveKind::AllGather), size_t{5});
        QCOMPARE(kindCount(table, CollectiveKind::ReduceScatter), size_t{4});
        QCOMPARE(kindCount(table, CollectiveKind::AllReduce), size_t{4});
        QCOMPARE(waitCount(graph), size_t{13});
        QCOMPARE(graph.groups().size(), size_t{1});
        QCOMPARE(std::string(graph.text(graph.groups()[0].name)), std::string("12"));
        QCOMPARE(graph.groups()[0].size, 2);
        QCOMPARE(table.weightGatherCount(), size_t{0}); // activations only: said by lint, tst_lint
        QCOMPARE(graph.info().rank, rank);
    }
}

void TstCases::case20SavedInputsGatheredTwice() {
    NEEDS_CASES();
    for (int rank : {0, 1}) {
        const Opened backward =
            openCase(fmt::format("20-megatron-sp-bw-missing-allreduce/input_rank{}.fx.py", rank));
        QVERIFY(backward.result.ok());
        const Graph& graph = backward.graph();
        const CollectiveTable all(graph);
        QCOMPARE(kindCount(all, CollectiveKind::AllGather), size_t{9});
        QCOMPARE(kindCount(all, CollectiveKind::ReduceScatter), size_t{5});
        std::map<std::string, size_t> reduced;
        for (const Collective& item : all.all()) {
            if (item.kind == CollectiveKind::AllReduce)
                ++reduced[std::string(graph.text(graph.groups()[item.group].name))];
        }
        QCOMPARE(reduced, (std::map<std::string, size_t>{{"12", 4}, {rank == 0 ? "1" : "3", 2}}));
        QCOMPARE(waitCount(graph), size_t{20});
        // a placeholder called like an operator is a placeholder
        QCOMPARE(graph.node(graph.find("wait_tensor_3").value()).kind, NodeKind::Placeholder);
        std::map<NodeId, int> gathered;
        for (const Collective& item : all.all()) {
            if (item.isGather())
                ++gathered[graph.inputs(item.launch)[0]];
        }
        std::set<std::string> twice;
        for (const auto& [input, count] : gathered) {
            if (count > 1)
                twice.emplace(graph.name(input));
        }
        // besides the two saved inputs, one activation that this graph computes
        QCOMPARE(twice, (std::set<std::string>{"add_6", "getitem_40", "getitem_52"}));
    }
}

void TstCases::case21JointWithBroadcast() {
    NEEDS_CASES();
    const Opened opened = openCase("21-joint-graph-moe-broadcast/input_rank0.fx.py");
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(kindCount(table, CollectiveKind::AllGather), size_t{8});
    QCOMPARE(kindCount(table, CollectiveKind::Broadcast), size_t{5});
    QCOMPARE(kindCount(table, CollectiveKind::AllReduce), size_t{6});
    QCOMPARE(waitCount(graph), size_t{26});
    QVERIFY(graph.find("primals_1") && graph.find("tangents_1")); // from the pytree line
    QCOMPARE(graph.groups().size(), size_t{3});
    for (NodeId id = 0; id < graph.size(); ++id) // nothing marks where backward begins
        QCOMPARE(graph.node(id).phase, Phase::Unknown);
    const int32_t inner = table.indexOf(graph.find("wait_tensor_17").value());
    QCOMPARE(table.indexOf(graph.find("wait_tensor_18").value()), inner); // a wait of a wait
}

void TstCases::case23LegacyOperators() {
    NEEDS_CASES();
    const char* gathered[] = {"detach_3", "clone"};
    for (int index : {0, 1}) {
        const Opened opened = openCase("23-old-c10d-functional-tag-ranks/input.txt", index);
        QVERIFY(opened.result.ok());
        const CollectiveTable table(opened.graph());
        QCOMPARE(kindCount(table, CollectiveKind::AllGather), size_t{1});
        QCOMPARE(kindCount(table, CollectiveKind::ReduceScatter), static_cast<size_t>(index));
        QCOMPARE(waitCount(opened.graph()), static_cast<size_t>(index) + 1);
        QCOMPARE(table[0].group_size, 2);
        QCOMPARE(opened.graph().groups()[0].ranks, (std::vector<int32_t>{0, 1}));
        for (const Collective& item : table.all()) {
            if (item.isGather())
                QCOMPARE(names(opened.graph(), {opened.graph().inputs(item.launch)[0]}),
                         std::vector<std::string>{gathered[index]});
        }
    }
}

void TstCases::case25TwoInFlight() {
    NEEDS_CASES();
    const Opened pair = openCase("25-reduce-scatter-pair-lambda-class/input.txt");
    QVERIFY(pair.result.ok());
    const CollectiveTable table(pair.graph());
    QCOMPARE(table.size(), size_t{2});
    QCOMPARE(kindCount(table, CollectiveKind::ReduceScatter), size_t{2}); // no gather
    QCOMPARE(waitCount(pair.graph()), size_t{2});
    QCOMPARE(mostInFlight(table, false), size_t{2});
}

void TstCases::case27InputsThatAreAwaited() {
    NEEDS_CASES();
    const Opened opened = openCase("27-async-input-wait-on-placeholder/input.txt");
    QVERIFY(opened.result.ok());
    const CollectiveTable table(opened.graph());
    QCOMPARE(table.size(), size_t{1});
    QCOMPARE(table[0].launch, kNoNode); // launched by the caller
    QCOMPARE(table[0].waits.size(), size_t{1});
    QVERIFY(!opened.diagnostics.hasErrors());
}

void TstCases::case28CutText() {
    NEEDS_CASES();
    const Opened opened = openCase("28-tied-weight-duplicate-gathers/input.txt");
    QVERIFY(opened.result.ok());
    QVERIFY(opened.find("cut-graph") && opened.find("cut-graph")->where.line == 13);
    const CollectiveTable table(opened.graph());
    QCOMPARE(table.weightGatherCount(), size_t{1});
    QCOMPARE(waitCount(opened.graph()), size_t{1});
    QCOMPARE(opened.graph().info().name, std::string("input: Forward graph 0"));
}

void TstCases::case30SinkWaits() {
    NEEDS_CASES();
    const Opened opened = openCase("30-sink-waits-graph-form/input.txt");
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{1});
    QCOMPARE(std::string(graph.text(graph.groups()[0].name)), std::string("0"));
    size_t between = 0;
    for (NodeId id = table[0].launch + 1; id < table[0].waits.front(); ++id)
        between += graph.hasTrait(id, kTraitCompute) ? 1 : 0;
    QCOMPARE(between, size_t{2});
    const NodeId squared = graph.find("mm").value(); // uses its input twice, counts as one user
    QCOMPARE(graph.inputs(squared).size(), size_t{1});
    QCOMPARE(graph.users(graph.find("arg0_1").value()).size(), size_t{1});
}

void TstCases::case32GraphLinesInComments() {
    NEEDS_CASES();
    const Opened commented = openCase("32-commented-graph-async-tp/input.txt");
    QVERIFY(commented.result.ok() && commented.find("fragment"));
    const CollectiveTable table(commented.graph());
    QCOMPARE(kindCount(table, CollectiveKind::ReduceScatter), size_t{1});
    QCOMPARE(waitCount(commented.graph()), size_t{1});
    QCOMPARE(commented.graph().node(commented.graph().find("cat_33").value()).kind, NodeKind::Placeholder);
    QCOMPARE(table[0].group_size, 16);
}

void TstCases::case38CommentsThatRepeatStatements() {
    NEEDS_CASES();
    const Opened repeated = openCase("38-eval-with-key-comments/input.txt");
    QVERIFY(repeated.result.ok());
    const CollectiveTable once(repeated.graph());
    QCOMPARE(once.size(), size_t{1});
    QCOMPARE(waitCount(repeated.graph()), size_t{1});
    QCOMPARE(once[0].output_bytes, int64_t{1218303520});
}

void TstCases::case35ControlDeps() {
    NEEDS_CASES();
    const Opened opened = openCase("35-overlap-hop-control-deps/input.txt");
    QVERIFY(opened.result.ok());
    QCOMPARE(opened.result.value().entries.size(), size_t{1}); // the nested class is no graph of its own
    const Graph& graph = opened.graph();
    QCOMPARE(CollectiveTable(graph).size(), size_t{0});
    const NodeId hop = graph.find("control_deps").value();
    for (const char* before : {"mul", "add_1", "mul_2", "add_3", "add_2"}) {
        const auto inputs = graph.inputs(hop);
        QVERIFY2(std::find(inputs.begin(), inputs.end(), graph.find(before).value()) != inputs.end(), before);
    }
}

void TstCases::case41EagerTrace() {
    NEEDS_CASES();
    const Opened opened = openCase("41-make-fx-eager-fsdp2-allgather-base/input.txt");
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{1});
    QVERIFY(table[0].weight_gather);
    QCOMPARE(names(graph, table[0].parameters),
             (std::vector<std::string>{"getitem_24", "getitem_25", "getitem_26"}));
    QCOMPARE(table[0].group_size, 32);
    QCOMPARE(table[0].output_bytes, int64_t{525352960} * 2);
    QCOMPARE(table[0].input_bytes, int64_t{16417280} * 2);
    QCOMPARE(std::string(graph.text(graph.groups()[table[0].group].name)), std::string("_torchbind_obj0"));
    QCOMPARE(waitCount(graph), size_t{0});
    QVERIFY2(opened.find("eager-trace")->message.find("no wait nodes") != std::string::npos,
             opened.find("eager-trace")->message.c_str());
}

void TstCases::case42ShardedAlongAnotherDimension() {
    NEEDS_CASES();
    const Opened opened = openCase("42-activation-checkpoint-comment-graph/input.txt");
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph(); // wait → split → getitem ×4 → cat
    const NodeId cat = graph.find("cat_1").value();
    QCOMPARE(graph.inputs(cat).size(), size_t{4});
    QCOMPARE(graph.node(graph.find("wait_tensor_5").value()).kind, NodeKind::Wait);
    // the parameter is the cat, not the wait: the chain is followed to where the shards become one
    QCOMPARE(names(graph, CollectiveTable(graph)[0].consumers), std::vector<std::string>{"cat_1"});
}

void TstCases::case60OutputCodeWithMissingWait() {
    NEEDS_CASES();
    const Opened opened = openCase("60-unwaited-collective-buffer-alias/input.md");
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{1});
    const Collective& launched = table[0];
    QCOMPARE(launched.kind, CollectiveKind::AllReduce);
    QVERIFY(launched.waits.empty()); // buf289 is never waited for
    const NodeId wait = graph.find("wait_tensor").value();
    QCOMPARE(graph.node(wait).kind, NodeKind::Wait);
    QCOMPARE(table.indexOf(wait), -1); // no collective wrote buf292
    // the kernel that is called like a wait reads buf289 while it is in flight
    const NodeId kernel = graph.find("triton_poi_fused_wait_tensor_9").value();
    QCOMPARE(graph.node(kernel).kind, NodeKind::Compute);
    const auto users = graph.users(launched.launch);
    QVERIFY(std::find(users.begin(), users.end(), kernel) != users.end());
}

QTEST_GUILESS_MAIN(TstCases)
#include "tst_cases.moc"
