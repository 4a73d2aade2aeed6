// Lowering of redistributes: random layouts run with numbers on all ranks, and the rules one by one. The
// corpus is in tst_lowering_corpus.cpp.
#include "graph/collectives.h"
#include "graph/graph_builder.h"
#include "passes/lower_redistribute.h"
#include "support/tiny_tensor.h"

#include <QTest>
#include <fmt/format.h>
#include <random>

using namespace gs;

namespace {

std::string shapeText(const Value& value) {
    std::string text(dtypeName(value.tensor.dtype));
    for (const Dim& dim : value.tensor.shape)
        text += fmt::format(" {}", dim.value);
    return text;
}

std::string descText(const std::string& placements, const std::string& mesh) {
    return fmt::format(R"x({{"dtensor":{{"placements":"{}","mesh":"{}"}}}})x", placements, mesh);
}

/// A graph that redistributes one parameter `p` of `shape` to `to` and returns its local tensor.
GraphPtr oneParameterGraph(const std::vector<int64_t>& shape, const std::string& from,
                           const std::string& mesh, const std::string& to, int32_t rank,
                           NodeOp source = NodeOp::Placeholder) {
    GraphBuilder b;
    b.info().rank = rank;
    TensorMeta meta;
    meta.dtype = DType::Float32;
    for (int64_t size : shape)
        meta.shape.push_back({size, kEmptyString});
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor = meta;
    const NodeId p = b.addNode("p", source, "p");
    b.setValue(p, value);
    if (!from.empty())
        b.meta(p).desc_json = b.intern(descText(from, mesh));
    const NodeId r = b.addNode("r", NodeOp::CallMethod, "redistribute");
    std::vector<Arg> placements;
    for (const DTensorPlacement& item : parsePlacements(to))
        placements.push_back(b.textArg(Arg::Kind::Repr, item.text));
    b.setArgs(r, {b.nodeArg(p)});
    const std::vector<Arg> kwargs = {b.textArg(Arg::Kind::String, "placements"), b.listArg(placements)};
    b.setKwargs(r, kwargs);
    b.setValue(r, value);
    const NodeId local = b.addNode("local", NodeOp::CallMethod, "to_local");
    b.setArgs(local, {b.nodeArg(r)});
    b.setValue(local, value);
    const NodeId output = b.addNode("output", NodeOp::Output, "output");
    b.setArgs(output, {b.nodeArg(local)});
    return b.finish(nullptr);
}

std::string signature(const Graph& graph) {
    std::string text;
    for (NodeId id = 0; id < graph.size(); ++id)
        text += fmt::format("{} {}\n", graph.name(id), graph.targetText(id));
    return text;
}

} // namespace

class TestLowering : public QObject {
    Q_OBJECT

private slots:
    void randomLayoutsGiveTheWholeTensor();
    void keepsWhatIsNoWeightGather();
    void assumesTheStatedMesh();
    void symbolicSizes();
    void namesGroups();
    void getAttrIsAParameter();
    void readsSettings();
    void parsesMeshes();
    void scalesLinearly();
};

void TestLowering::randomLayoutsGiveTheWholeTensor() {
    std::mt19937 random(20261129);
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    int lowered = 0;
    for (int round = 0; round < 400; ++round) {
        std::vector<int64_t> shape(static_cast<size_t>(pick(1, 3))), mesh(static_cast<size_t>(pick(1, 3)));
        for (int64_t& size : shape)
            size = pick(1, 9);
        int64_t ranks = 1;
        for (int64_t& size : mesh)
            ranks *= size = pick(1, 4);
        std::string from, to, mesh_text;
        std::vector<int> shards;
        for (int64_t size : mesh) {
            shards.push_back(pick(-1, static_cast<int>(shape.size()) - 1));
            from += shards.back() < 0 ? "Replicate(), " : fmt::format("Shard(dim={}), ", shards.back());
            to += "R, ";
            mesh_text += fmt::format("{}, ", size);
        }
        const test::TinyTensor whole = test::countingTensor(shape);
        std::vector<GraphPtr> graphs;
        std::vector<test::TinyTensor> locals;
        for (int32_t rank = 0; rank < ranks; ++rank) {
            const PassResult result = lowerRedistributes(
                oneParameterGraph(shape, "(" + from + ")", "(" + mesh_text + ")", "[" + to + "]", rank),
                LoweringOptions{});
            graphs.push_back(result.graph);
            test::TinyTensor local = whole;
            int64_t inner = ranks, rest = rank;
            for (size_t i = 0; i < mesh.size(); ++i) {
                inner /= mesh[i];
                const int64_t at = rest / inner;
                rest %= inner;
                if (shards[i] < 0)
                    continue;
                const auto dim = static_cast<size_t>(shards[i]);
                const int64_t chunk = (local.shape[dim] + mesh[i] - 1) / mesh[i];
                local = test::sliceAlong(local, dim, at * chunk, (at + 1) * chunk);
            }
            locals.push_back(local);
            QCOMPARE(signature(*graphs.back()), signature(*graphs.front()));
        }
        if (graphs.front()->find("r"))
            continue; // nothing to gather
        ++lowered;
        for (const test::TinyTensor& result : test::runLockstep(graphs, locals))
            QVERIFY2(result == whole, fmt::format("round {}: {} on ({})", round, from, mesh_text).c_str());
        const Graph& graph = *graphs.back();
        for (NodeId id = 0; id < graph.size(); ++id) {
            if (graph.isCall(id) && graph.value(id).kind == Value::Kind::Tensor)
                QVERIFY(graph.value(id).tensor.numel() >= 0);
        }
    }
    QVERIFY(lowered > 200);
}

void TestLowering::keepsWhatIsNoWeightGather() {
    const auto reasonFor = [](const std::string& from, const std::string& mesh, const std::string& to) {
        const GraphPtr graph = oneParameterGraph({8, 4}, from, mesh, to, 0);
        const PassResult result = lowerRedistributes(graph, LoweringOptions{});
        return result.graph == graph ? result.report.lines.at(0).reason : "lowered";
    };
    QCOMPARE(reasonFor("(Partial(sum),)", "(4,)", "[R]"),
             std::string("Partial(sum) → Replicate: only Shard → Replicate is a gather"));
    QCOMPARE(reasonFor("(Shard(dim=0),)", "(4,)", "[S(1)]"),
             std::string("Shard(0) → Shard(1): only Shard → Replicate is a gather"));
    QCOMPARE(reasonFor("(_StridedShard(dim=0, sf=2),)", "(4,)", "[R]"),
             std::string("_StridedShard(dim=0, sf=2) → Replicate: only Shard → Replicate is a gather"));
    QCOMPARE(reasonFor("(Replicate(),)", "(4,)", "[R]"),
             std::string("Replicate → Replicate: there is nothing to gather"));
    QCOMPARE(reasonFor("(Shard(dim=2),)", "(4,)", "[R]"),
             std::string("Shard(2) → Replicate: the tensor has no dimension 2"));
    QCOMPARE(
        reasonFor("(Shard(dim=0), Shard(dim=0))", "(2, 2)", "[R, S(0)]"),
        std::string("(Shard(0), Shard(0)) → (Replicate, Shard(0)): an inner mesh dimension keeps the same "
                    "dimension sharded"));
    QVERIFY(reasonFor("", "", "[R]").find("states no placements") != std::string::npos);
    QCOMPARE(reasonFor("(Shard(dim=0), Shard(dim=1))", "(2, 2)", "[R, S(1)]"), std::string("lowered"));

    // The weight goes through another op first, or the DTensor itself is used.
    GraphBuilder b;
    const NodeId p = b.addNode("p", NodeOp::Placeholder, "p");
    const NodeId relu = b.addNode("relu", NodeOp::CallFunction, "aten.relu.default");
    b.setArgs(relu, {b.nodeArg(p)});
    const NodeId r = b.addNode("r", NodeOp::CallMethod, "redistribute");
    b.setArgs(r, {b.nodeArg(relu)});
    const NodeId q = b.addNode("q", NodeOp::CallMethod, "redistribute");
    b.setArgs(q, {b.nodeArg(p)});
    const NodeId add = b.addNode("add", NodeOp::CallFunction, "operator.add");
    b.setArgs(add, {b.nodeArg(q), b.nodeArg(r)});
    const PassResult result = lowerRedistributes(b.finish(nullptr), LoweringOptions{});
    QCOMPARE(result.report.lines.at(0).reason, std::string("its input relu is no parameter"));
    QCOMPARE(result.report.lines.at(1).reason,
             std::string("add uses the DTensor itself, not its local tensor"));
    QCOMPARE(result.report.skipped, size_t(2));
}

void TestLowering::assumesTheStatedMesh() {
    LoweringOptions options;
    options.mesh = parseMesh("dp=2,fsdp=4").value();
    const PassResult result = lowerRedistributes(oneParameterGraph({10, 3}, "", "", "[R, R]", 7), options);
    QCOMPARE(result.report.done, size_t(1));
    QCOMPARE(result.report.diagnostics.all().at(0).code, std::string("assumed-placements"));
    const Graph& graph = *result.graph;
    const ProcessGroup& group = graph.groups()[graph.findGroup("mesh_fsdp")];
    QCOMPARE(group.ranks, (std::vector<int32_t>{4, 5, 6, 7}));
    const NodeId pad = *graph.find("constant_pad_nd");
    QCOMPARE(shapeText(graph.value(graph.inputs(pad).front())), std::string("float32 1 3")); // 10 = 3+3+3+1
    QCOMPARE(shapeText(graph.value(pad)), std::string("float32 3 3"));
    QVERIFY(graph.node(*graph.find("to_local")).kind == NodeKind::View);
    QCOMPARE(shapeText(graph.value(*graph.find("slice_1"))), std::string("float32 10 3"));
    QCOMPARE(CollectiveTable(graph).weightGatherCount(), size_t(1));
}

void TestLowering::symbolicSizes() {
    GraphBuilder b;
    const NodeId p = b.addNode("p", NodeOp::Placeholder, "p");
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = DType::Float32;
    // A number that the file writes as an expression is a number.
    value.tensor.shape = {{20, b.intern("s5")}, {6, b.intern("6")}};
    b.setValue(p, value);
    b.meta(p).desc_json = b.intern(
        R"x({"dtensor":{"placements":"(Shard(dim=0),)","mesh":"(8,)","local_shape":[{"sym":"u1","hint":2},6]}})x");
    const NodeId r = b.addNode("r", NodeOp::CallMethod, "redistribute");
    b.setArgs(r, {b.nodeArg(p)});
    const NodeId local = b.addNode("local", NodeOp::CallMethod, "to_local");
    b.setArgs(local, {b.nodeArg(r)});
    const PassResult result = lowerRedistributes(b.finish(nullptr), LoweringOptions{});
    QCOMPARE(result.report.done, size_t(1));
    const Graph& graph = *result.graph;
    const NodeId pad = *graph.find("constant_pad_nd");
    const Dim chunk = graph.value(pad).tensor.shape[0];
    QCOMPARE(std::string(graph.text(chunk.symbol)), std::string("(s5 + 7)//8"));
    QCOMPARE(chunk.value, int64_t(3));
    QVERIFY(!graph.value(pad).tensor.shape[1].symbolic());
    const Arg width = graph.children(*graph.arg(pad, 1))[3];
    QCOMPARE(std::string(graph.text(width.text)), std::string("((s5 + 7)//8) - u1"));
    QCOMPARE(width.integer, int64_t(1));
    const NodeId slice = *graph.find("slice_1"); // always: whether it divides is not known
    QCOMPARE(std::string(graph.text(graph.arg(slice, 3)->text)), std::string("s5"));
    QCOMPARE(graph.value(slice).tensor.shape[0].value, int64_t(20));
}

void TestLowering::namesGroups() {
    const PassResult nested = lowerRedistributes(
        oneParameterGraph({8}, "(Shard(dim=0), Shard(dim=0))", "(2, 4)", "[R, R]", 5), LoweringOptions{});
    const Graph& graph = *nested.graph;
    QCOMPARE(graph.groups()[graph.findGroup("mesh_shard1")].ranks, (std::vector<int32_t>{4, 5, 6, 7}));
    QCOMPARE(graph.groups()[graph.findGroup("mesh_shard0")].ranks, (std::vector<int32_t>{1, 5}));
    // Innermost first.
    const CollectiveTable table(graph);
    QCOMPARE(table[0].group, graph.findGroup("mesh_shard1"));
    QCOMPARE(table[1].group, graph.findGroup("mesh_shard0"));
    QCOMPARE(table.weightGatherCount(), size_t(2));

    // A group that the graph has already is used.
    GraphBuilder b(*oneParameterGraph({8}, "(Shard(dim=0),)", "(4,)", "[R]", 2));
    const GraphPtr plain = oneParameterGraph({8}, "(Shard(dim=0),)", "(4,)", "[R]", 2);
    std::vector<NodeId> map(plain->size(), kNoNode);
    for (NodeId id = 0; id < plain->size(); ++id)
        map[id] = b.copyNode(*plain, id, map);
    b.addGroup("5", {0, 1, 2, 3}, "mesh_fsdp");
    const PassResult known = lowerRedistributes(b.finish(nullptr), LoweringOptions{});
    QCOMPARE(CollectiveTable(*known.graph)[0].group, known.graph->findGroup("5"));
}

void TestLowering::getAttrIsAParameter() {
    const PassResult result = lowerRedistributes(
        oneParameterGraph({8}, "(Shard(dim=0),)", "(4,)", "[R]", 0, NodeOp::GetAttr), LoweringOptions{});
    const CollectiveTable table(*result.graph);
    QCOMPARE(table.weightGatherCount(), size_t(1));
    QCOMPARE(table[0].parameters.at(0), *result.graph->find("p"));
}

void TestLowering::readsSettings() {
    const GraphPtr graph = oneParameterGraph({8}, "", "", "[R]", 0);
    Settings settings;
    QCOMPARE(lowerRedistributes(graph, settings).report.diagnostics.all().at(0).code,
             std::string("no-placements"));
    QVERIFY(settings.set(Setting::Mesh, "4").ok());
    QCOMPARE(lowerRedistributes(graph, settings).report.done, size_t(1));
    QVERIFY(settings.set(Setting::Lowering, "false").ok());
    QVERIFY(lowerRedistributes(graph, settings).graph == graph);
    QVERIFY(settings.set(Setting::Lowering, "true").ok());
    if (settings.set(Setting::Mesh, "dp=0").ok()) {
        const PassResult bad = lowerRedistributes(graph, settings);
        QVERIFY(bad.graph == graph && bad.report.diagnostics.hasErrors());
    }
}

void TestLowering::parsesMeshes() {
    QCOMPARE(parseMesh("2x4").value().size(), size_t(2));
    QCOMPARE(parseMesh("2, 4").value().at(1).size, int64_t(4));
    QCOMPARE(parseMesh("expert=2,shard=4").value().at(0).name, std::string("expert"));
    QVERIFY(parseMesh("auto").value().empty());
    for (const char* bad : {"0", "-8", "dp=", "8,,4", "eight", "99999999999"})
        QVERIFY2(!parseMesh(bad).ok(), bad);
}

void TestLowering::scalesLinearly() {
    GraphBuilder b;
    constexpr int kGathers = 2000, kComputes = 48; // about 100,000 nodes
    NodeId last = b.addNode("x", NodeOp::Placeholder, "x");
    std::vector<NodeId> parameters;
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = DType::Float32;
    value.tensor.shape = {{1000, kEmptyString}, {64, kEmptyString}};
    for (int i = 0; i < kGathers; ++i) {
        parameters.push_back(b.addNode(fmt::format("p{}", i), NodeOp::Placeholder, "p"));
        b.setValue(parameters.back(), value);
        b.meta(parameters.back()).desc_json = b.intern(descText("(Shard(dim=0),)", "(8,)"));
    }
    for (int i = 0; i < kGathers; ++i) {
        const NodeId r = b.addNode(fmt::format("r{}", i), NodeOp::CallMethod, "redistribute");
        b.setArgs(r, {b.nodeArg(parameters[static_cast<size_t>(i)])});
        const NodeId local = b.addNode(fmt::format("l{}", i), NodeOp::CallMethod, "to_local");
        b.setArgs(local, {b.nodeArg(r)});
        for (int k = 0; k < kComputes; ++k) {
            const NodeId mm =
                b.addNode(fmt::format("mm{}_{}", i, k), NodeOp::CallFunction, "aten.mm.default");
            b.setArgs(mm, {b.nodeArg(last), b.nodeArg(local)});
            last = mm;
        }
    }
    const GraphPtr graph = b.finish(nullptr);
    QElapsedTimer timer;
    timer.start();
    const PassResult result = lowerRedistributes(graph, LoweringOptions{});
    const double ms = double(timer.nsecsElapsed()) / 1e6;
    std::printf("lowering: %zu nodes, %zu gathers: %.1f ms\n", graph->size(), result.report.done, ms);
    QCOMPARE(result.report.done, size_t(kGathers));
}

QTEST_GUILESS_MAIN(TestLowering)
#include "tst_lowering.moc"
