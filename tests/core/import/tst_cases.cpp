// What the about.md of each public case says that a correct tool does, as far as it concerns reading.
// (Counts against facts.json: tst_import_cases.)
#include "core/import/open_graph.h"
#include "graph/collectives.h"
#include "support/test_data.h"

#include <QTest>
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
    void fsdp2Forward();
    void fsdp2Backward();
    void schedulerNodes();
    void fourStages();
    void runnableWithShapes();
    void largeRunnable();
    void megatron();
    void jointWithBroadcast();
    void legacyAndSmallGraphs();
    void inputsThatAreAwaited();
    void cutText();
    void sinkWaits();
    void commentsAndFragments();
    void controlDeps();
    void eagerTrace();
    void shardedAlongAnotherDimension();
    void outputCodeWithMissingWait();
    void graphBreak();
};

#define NEEDS_CASES()                                                                                        \
    if (!casePath("README.md"))                                                                              \
    return

void TstCases::fsdp2Forward() {
    NEEDS_CASES();
    const Opened opened = openCase("01-fsdp2-fwd-readable-t26/input.fx.py");
    QVERIFY(opened.result.ok());
    QCOMPARE(opened.diagnostics.all().size(), size_t{0});
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{3});
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
    // hoisting gather 2 is allowed, running the matmul before its copy is not
    Order order = identityOrder(graph);
    const NodeId copy = graph.find("copy__1").value(), matmul = graph.find("mm_1").value();
    std::rotate(order.begin() + copy, order.begin() + copy + 1, order.begin() + matmul + 1);
    QVERIFY(findBrokenEdge(graph, order).has_value());
}

void TstCases::fsdp2Backward() {
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
            if (!item.isGather())
                continue;
            for (const std::string& name : names(graph, item.parameters))
                gathered.push_back(name);
            // the first layer needs no gradient of its input: nothing reads its gathered weight
            QCOMPARE(item.consumers.empty(), gathered.back() == "arg10_1");
        }
        QCOMPARE(gathered, (std::vector<std::string>{"arg8_1", "arg9_1", "arg10_1"}));
    }
}

void TstCases::schedulerNodes() {
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

void TstCases::fourStages() {
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

void TstCases::runnableWithShapes() {
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

void TstCases::largeRunnable() {
    NEEDS_CASES();
    const Opened opened = openCase("14-deepseek-v3-bw-128-ep/input.py");
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

void TstCases::megatron() {
    NEEDS_CASES();
    for (int rank : {0, 1}) {
        const std::string file = "/input_rank" + std::to_string(rank) + ".fx.py";
        const Opened forward = openCase("18-megatron-sp-fw-two-ranks" + file);
        QVERIFY(forward.result.ok());
        const CollectiveTable table(forward.graph());
        QCOMPARE(kindCount(table, CollectiveKind::AllGather), size_t{5});
        QCOMPARE(table.weightGatherCount(), size_t{0}); // activations only
        QCOMPARE(forward.graph().info().rank, rank);

        const Opened backward = openCase("20-megatron-sp-bw-missing-allreduce" + file);
        QVERIFY(backward.result.ok());
        const Graph& graph = backward.graph();
        const CollectiveTable all(graph);
        QCOMPARE(kindCount(all, CollectiveKind::AllGather), size_t{9});
        QCOMPARE(kindCount(all, CollectiveKind::ReduceScatter), size_t{5});
        QCOMPARE(kindCount(all, CollectiveKind::AllReduce), size_t{6});
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

void TstCases::jointWithBroadcast() {
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

void TstCases::legacyAndSmallGraphs() {
    NEEDS_CASES();
    for (int index : {0, 1}) {
        const Opened opened = openCase("23-old-c10d-functional-tag-ranks/input.txt", index);
        QVERIFY(opened.result.ok());
        const CollectiveTable table(opened.graph());
        QCOMPARE(kindCount(table, CollectiveKind::AllGather), size_t{1});
        QCOMPARE(kindCount(table, CollectiveKind::ReduceScatter), static_cast<size_t>(index));
        QCOMPARE(table[0].group_size, 2);
        QCOMPARE(opened.graph().groups()[0].ranks, (std::vector<int32_t>{0, 1}));
    }
    const Opened pair = openCase("25-reduce-scatter-pair-lambda-class/input.txt");
    QVERIFY(pair.result.ok());
    const CollectiveTable table(pair.graph());
    QCOMPARE(table.size(), size_t{2});
    QCOMPARE(mostInFlight(table, false), size_t{2});
}

void TstCases::inputsThatAreAwaited() {
    NEEDS_CASES();
    const Opened opened = openCase("27-async-input-wait-on-placeholder/input.txt");
    QVERIFY(opened.result.ok());
    const CollectiveTable table(opened.graph());
    QCOMPARE(table.size(), size_t{1});
    QCOMPARE(table[0].launch, kNoNode); // launched by the caller
    QCOMPARE(table[0].waits.size(), size_t{1});
    QVERIFY(!opened.diagnostics.hasErrors());
}

void TstCases::cutText() {
    NEEDS_CASES();
    const Opened opened = openCase("28-tied-weight-duplicate-gathers/input.txt");
    QVERIFY(opened.result.ok());
    QVERIFY(opened.find("cut-graph") && opened.find("cut-graph")->where.line == 13);
    const CollectiveTable table(opened.graph());
    QCOMPARE(table.weightGatherCount(), size_t{1});
    QCOMPARE(opened.graph().info().name, std::string("input: Forward graph 0"));
}

void TstCases::sinkWaits() {
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
}

void TstCases::commentsAndFragments() {
    NEEDS_CASES();
    const Opened commented = openCase("32-commented-graph-async-tp/input.txt");
    QVERIFY(commented.result.ok() && commented.find("fragment"));
    const CollectiveTable table(commented.graph());
    QCOMPARE(kindCount(table, CollectiveKind::ReduceScatter), size_t{1});
    QCOMPARE(waitCount(commented.graph()), size_t{1});
    QCOMPARE(commented.graph().node(commented.graph().find("cat_33").value()).kind, NodeKind::Placeholder);
    QCOMPARE(table[0].group_size, 16);

    const Opened repeated = openCase("38-eval-with-key-comments/input.txt");
    QVERIFY(repeated.result.ok());
    const CollectiveTable once(repeated.graph());
    QCOMPARE(once.size(), size_t{1});
    QCOMPARE(waitCount(repeated.graph()), size_t{1});
    QCOMPARE(once[0].output_bytes, int64_t{1218303520});
}

void TstCases::controlDeps() {
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

void TstCases::eagerTrace() {
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
    QVERIFY(opened.find("eager-trace"));
}

void TstCases::shardedAlongAnotherDimension() {
    NEEDS_CASES();
    const Opened opened = openCase("42-activation-checkpoint-comment-graph/input.txt");
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph(); // wait → split → getitem ×4 → cat
    const NodeId cat = graph.find("cat_1").value();
    QCOMPARE(graph.inputs(cat).size(), size_t{4});
    QCOMPARE(graph.node(graph.find("wait_tensor_5").value()).kind, NodeKind::Wait);
}

void TstCases::outputCodeWithMissingWait() {
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

void TstCases::graphBreak() {
    NEEDS_CASES();
    const Opened opened = openCase("72-graph-break-between-launch-and-wait/input.md");
    QVERIFY(opened.result.ok()); // the lines before the break
    const CollectiveTable table(opened.graph());
    QCOMPARE(table.size(), size_t{1});
    QVERIFY(table[0].waits.empty());
    QVERIFY(opened.find("fragment"));
}

QTEST_GUILESS_MAIN(TstCases)
#include "tst_cases.moc"
