// Which nodes become one kernel, what that kernel reads and writes, and the key it is known by.
#include "cost/fused_regions.h"
#include "graph/graph_builder.h"
#include "import/importer.h"
#include "support/random_graph.h"
#include "support/test_data.h"
#include "support/time_limit.h"

#include <QElapsedTimer>
#include <QTest>
#include <algorithm>
#include <filesystem>
#include <set>

using namespace gs;

namespace {

using Shape = std::vector<int64_t>;

Value tensor(const Shape& shape, DType dtype = DType::Float32) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = dtype;
    value.tensor.has_stride = true;
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
        value.tensor.shape.insert(value.tensor.shape.begin(), {shape[i], kEmptyString});
        value.tensor.stride.insert(value.tensor.stride.begin(), {stride, kEmptyString});
        stride *= shape[i];
    }
    return value;
}

/// Writes graphs as one would write PyTorch.
class Program {
public:
    GraphBuilder b;

    NodeId in(const std::string& name, const Shape& shape, DType dtype = DType::Float32) {
        const NodeId id = b.addNode(name, NodeOp::Placeholder, name);
        b.setValue(id, tensor(shape, dtype));
        return id;
    }
    NodeId call(const std::string& target, const std::vector<Arg>& args, const Value& value) {
        const NodeId id = b.addNode("n" + std::to_string(b.size()), NodeOp::CallFunction, target);
        b.setArgs(id, args);
        b.setValue(id, value);
        return id;
    }
    NodeId op(const std::string& target, const std::vector<NodeId>& inputs, const Shape& shape,
              DType dtype = DType::Float32) {
        std::vector<Arg> args;
        for (NodeId input : inputs)
            args.push_back(b.nodeArg(input));
        return call(target, args, tensor(shape, dtype));
    }
    NodeId over(const std::string& target, NodeId input, const std::vector<int64_t>& dims,
                const Shape& shape) {
        return call(target, {b.nodeArg(input), list(dims), b.boolArg(true)}, tensor(shape));
    }
    NodeId view(const std::string& target, NodeId input, const Shape& shape) {
        return call(target, {b.nodeArg(input), list(shape)}, tensor(shape));
    }
    Arg list(const std::vector<int64_t>& numbers) {
        std::vector<Arg> items;
        for (int64_t number : numbers)
            items.push_back(b.intArg(number));
        return b.listArg(items);
    }
    GraphPtr finish(const std::vector<NodeId>& results) {
        const NodeId output = b.addNode("output", NodeOp::Output, "output");
        std::vector<Arg> args;
        for (NodeId id : results)
            args.push_back(b.nodeArg(id));
        b.setArgs(output, args);
        return b.finish(nullptr);
    }
};

using Nodes = std::vector<NodeId>;

/// Nodes of all regions.
std::vector<Nodes> regionsOf(const Graph& graph) {
    std::vector<Nodes> found;
    for (const FusedRegion& region : findFusedRegions(graph))
        found.push_back(region.nodes);
    return found;
}

/// What the header promises of every region of any graph.
QString fault(const Graph& graph) {
    NodeId last = 0;
    for (const FusedRegion& region : findFusedRegions(graph)) {
        if (region.nodes.size() < 2 || region.nodes.size() > kMostFusedNodes)
            return "size";
        if (!std::is_sorted(region.nodes.begin(), region.nodes.end()) || region.nodes.front() < last)
            return "order";
        last = region.nodes.back() + 1;
        if (region.numel < 1 || region.rows < 1 || region.numel % region.rows != 0)
            return "space";
        const std::set<NodeId> members(region.nodes.begin(), region.nodes.end());
        for (NodeId id = region.nodes.front(); id <= region.nodes.back(); ++id) {
            const NodeKind kind = graph.node(id).kind;
            if (members.count(id) != (kind == NodeKind::Compute ? 1U : 0U) || kind == NodeKind::Wait ||
                kind == NodeKind::Launch || kind == NodeKind::Barrier)
                return QString("between: %1").arg(QString::fromUtf8(graph.name(id)));
        }
        const RegionOperands operands = regionOperands(graph, region);
        if (operands.outputs.empty())
            return "no output";
        for (NodeId input : operands.inputs) {
            if (members.count(input) || regionMemberOf(graph, region, input) != kNoNode)
                return "an input from inside";
        }
    }
    return {};
}

} // namespace

class TestFusedRegions : public QObject {
    Q_OBJECT
private slots:
    void chainIsOne();
    void softmaxIsOne();
    void layerNormByParts();
    void resultsOfALayerNorm();
    void lossChain();
    void castsAreMembers();
    void othersEndARegion_data();
    void othersEndARegion();
    void strangersAreSplit();
    void sharedOperandHoldsTogether();
    void rowsBroadcastBackOnly();
    void permutedMemberStartsAnother();
    void fewLongRows();
    void atMostSixtyFour();
    void symbolsAreLeftOut();
    void keysOfRepeatedLayers();
    void keyTellsKernelsApart();
    void corpus();
    void randomGraphs();
    void linear();
    void longChainOfViews();
};

void TestFusedRegions::chainIsOne() {
    Program p;
    const NodeId x = p.in("x", {8, 16});
    const NodeId bias = p.in("bias", {16});
    const NodeId a = p.op("aten.add.Tensor", {x, bias}, {8, 16});
    const NodeId v = p.view("aten.view.default", a, {2, 4, 16});
    const NodeId g = p.op("aten.gelu.default", {v}, {2, 4, 16});
    const NodeId m = p.op("aten.mul.Tensor", {g, v}, {2, 4, 16});
    const GraphPtr graph = p.finish({m});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{a, g, m}}));
    const FusedRegion region = findFusedRegions(*graph).front();
    QCOMPARE(region.numel, 128);
    QCOMPARE(region.rows, 128);
    const RegionOperands operands = regionOperands(*graph, region);
    QCOMPARE(operands.inputs, Nodes({x, bias}));
    QCOMPARE(operands.outputs, Nodes({m}));
    QCOMPARE(fusedRegionKey(*graph, region),
             std::string("fused{aten.add.Tensor(f32[8,16;16,1], f32[16;1]) -> f32[8,16;16,1]; "
                         "aten.gelu.default(%0[2,4,16]) -> f32[2,4,16;64,16,1]; "
                         "aten.mul.Tensor(%1, %0[2,4,16]) -> f32[2,4,16;64,16,1]} -> (%2)"));
}

void TestFusedRegions::softmaxIsOne() {
    Program p;
    const NodeId x = p.in("x", {4, 8, 32});
    const NodeId most = p.over("aten.amax.default", x, {-1}, {4, 8, 1});
    const NodeId d = p.op("aten.sub.Tensor", {x, most}, {4, 8, 32});
    const NodeId e = p.op("aten.exp.default", {d}, {4, 8, 32});
    const NodeId s = p.over("aten.sum.dim_IntList", e, {2}, {4, 8, 1});
    const NodeId r = p.op("aten.div.Tensor", {e, s}, {4, 8, 32});
    const GraphPtr graph = p.finish({r, s});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{most, d, e, s, r}}));
    const FusedRegion region = findFusedRegions(*graph).front();
    QCOMPARE(region.numel, 1024);
    QCOMPARE(region.rows, 32);
    QCOMPARE(regionOperands(*graph, region).outputs, Nodes({s, r}));
}

void TestFusedRegions::layerNormByParts() {
    Program p;
    const NodeId x = p.in("x", {64, 32}, DType::BFloat16);
    const NodeId weight = p.in("weight", {32});
    const NodeId f = p.op("aten._to_copy.default", {x}, {64, 32});
    const NodeId sq = p.op("aten.pow.Tensor_Scalar", {f}, {64, 32});
    const NodeId mean = p.over("aten.mean.dim", sq, {1}, {64, 1});
    const NodeId eps = p.op("aten.add.Scalar", {mean}, {64, 1});
    const NodeId r = p.op("aten.rsqrt.default", {eps}, {64, 1});
    const NodeId wide = p.view("aten.expand.default", r, {64, 32});
    Value repeated = tensor({64, 32});
    repeated.tensor.stride[0].value = 1;
    repeated.tensor.stride[1].value = 0;
    p.b.setValue(wide, repeated);
    const NodeId n = p.op("aten.mul.Tensor", {f, wide}, {64, 32});
    const NodeId w = p.op("aten.mul.Tensor", {n, weight}, {64, 32});
    const NodeId back = p.op("prims.convert_element_type.default", {w}, {64, 32}, DType::BFloat16);
    const GraphPtr graph = p.finish({back});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{f, sq, mean, eps, r, n, w, back}}));
}

void TestFusedRegions::resultsOfALayerNorm() {
    Program p;
    const NodeId x = p.in("x", {64, 32});
    const NodeId add = p.op("aten.add.Tensor", {x, x}, {64, 32});
    Value three;
    three.kind = Value::Kind::List;
    three.items = {tensor({64, 32}), tensor({64, 1}), tensor({64, 1})};
    const NodeId norm =
        p.call("aten.native_layer_norm.default",
               {p.b.nodeArg(add), p.list({32}), p.b.noneArg(), p.b.noneArg(), p.b.floatArg(1e-5)}, three);
    const NodeId out = p.call("operator.getitem", {p.b.nodeArg(norm), p.b.intArg(0)}, tensor({64, 32}));
    const NodeId rstd = p.call("operator.getitem", {p.b.nodeArg(norm), p.b.intArg(2)}, tensor({64, 1}));
    const NodeId scaled = p.op("aten.mul.Tensor", {out, rstd}, {64, 32});
    const GraphPtr graph = p.finish({scaled, rstd});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{add, norm, scaled}}));
    const FusedRegion region = findFusedRegions(*graph).front();
    QCOMPARE(region.rows, 64);
    QCOMPARE(regionOperands(*graph, region).outputs, Nodes({rstd, scaled}));
    const std::string key = fusedRegionKey(*graph, region);
    QVERIFY2(key.find("aten.mul.Tensor(%1.0, %1.2)") != std::string::npos, key.c_str());
    QVERIFY2(key.ends_with("-> (%1.2, %2)"), key.c_str());
}

void TestFusedRegions::lossChain() {
    Program p;
    const NodeId x = p.in("x", {64, 100});
    const NodeId y = p.in("y", {64, 100});
    const NodeId d = p.op("aten.sub.Tensor", {x, y}, {64, 100});
    const NodeId sq = p.op("aten.mul.Tensor", {d, d}, {64, 100});
    const NodeId sum = p.op("aten.sum.default", {sq}, {});
    const NodeId mean = p.op("aten.div.Scalar", {sum}, {});
    const GraphPtr graph = p.finish({mean});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{d, sq, sum, mean}}));
    QCOMPARE(findFusedRegions(*graph).front().rows, 1);
}

void TestFusedRegions::castsAreMembers() {
    Program p;
    const NodeId x = p.in("x", {128}, DType::BFloat16);
    const NodeId f = p.op("prims.convert_element_type.default", {x}, {128});
    const NodeId s = p.op("aten.sin.default", {f}, {128});
    const NodeId other = p.in("other", {128}, DType::Complex64);
    const NodeId c = p.op("aten.mul.Tensor", {other, other}, {128}, DType::Complex64);
    const NodeId c2 = p.op("aten.mul.Tensor", {c, other}, {128}, DType::Complex64);
    const GraphPtr graph = p.finish({s, c2});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{f, s}}));
}

void TestFusedRegions::othersEndARegion_data() {
    QTest::addColumn<QString>("target");
    for (const char* target :
         {"aten.mm.default", "aten.bernoulli.p", "aten.index.Tensor", "aten.gather.default",
          "aten.add_.Tensor", "aten.rrelu.default", "_c10d_functional.wait_tensor.default",
          "_c10d_functional.all_reduce.default", "aten.cumsum.default", "my.unknown.default"})
        QTest::newRow(target) << QString(target);
}

void TestFusedRegions::othersEndARegion() {
    QFETCH(QString, target);
    Program p;
    const NodeId x = p.in("x", {16, 16});
    const NodeId y = p.in("y", {16, 16});
    const NodeId a = p.op("aten.add.Tensor", {x, y}, {16, 16});
    const NodeId m = p.op("aten.mul.Tensor", {a, y}, {16, 16});
    const NodeId other = p.op(target.toStdString(), {x, y}, {16, 16});
    const NodeId s = p.op("aten.sub.Tensor", {m, other}, {16, 16});
    const NodeId t = p.op("aten.neg.default", {s}, {16, 16});
    const GraphPtr graph = p.finish({t});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{a, m}, {s, t}}));
}

void TestFusedRegions::strangersAreSplit() {
    Program p;
    const NodeId x = p.in("x", {16});
    const NodeId y = p.in("y", {16});
    const NodeId z = p.in("z", {16});
    const NodeId a = p.op("aten.neg.default", {x}, {16});
    const NodeId b = p.op("aten.exp.default", {a}, {16});
    const NodeId c = p.op("aten.sin.default", {y}, {16}); // nothing in common with the others
    const NodeId d = p.op("aten.neg.default", {z}, {16});
    const NodeId e = p.op("aten.mul.Tensor", {d, z}, {16});
    const GraphPtr graph = p.finish({b, c, e});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{a, b}, {d, e}}));
}

void TestFusedRegions::sharedOperandHoldsTogether() {
    Program p;
    const NodeId x = p.in("x", {16});
    const NodeId a = p.op("aten.neg.default", {x}, {16});
    const NodeId b = p.op("aten.exp.default", {x}, {16});
    const GraphPtr graph = p.finish({a, b});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{a, b}}));
}

void TestFusedRegions::rowsBroadcastBackOnly() {
    Program p;
    const NodeId x = p.in("x", {32, 32});
    const NodeId s = p.call("aten.sum.dim_IntList", {p.b.nodeArg(x), p.list({1})}, tensor({32}));
    const NodeId bad = p.op("aten.sub.Tensor", {x, s}, {32, 32});             // [32] lies along the columns
    const NodeId over_rows = p.over("aten.sum.dim_IntList", x, {0}, {1, 32}); // not the last dimension
    const GraphPtr graph = p.finish({bad, over_rows});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>());
}

void TestFusedRegions::permutedMemberStartsAnother() {
    Program p;
    const NodeId x = p.in("x", {16, 16});
    const NodeId a = p.op("aten.neg.default", {x}, {16, 16});
    const NodeId b = p.op("aten.exp.default", {a}, {16, 16});
    const NodeId t = p.view("aten.permute.default", b, {16, 16});
    const NodeId c = p.op("aten.sin.default", {t}, {16, 16});
    const NodeId d = p.op("aten.mul.Tensor", {c, x}, {16, 16});
    const GraphPtr graph = p.finish({d});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{a, b}, {c, d}}));
    QCOMPARE(regionOperands(*graph, findFusedRegions(*graph)[1]).inputs, Nodes({t, x}));
}

void TestFusedRegions::fewLongRows() {
    Program p;
    const NodeId x = p.in("x", {1 << 20});
    const NodeId sq = p.op("aten.mul.Tensor", {x, x}, {1 << 20});
    const NodeId sum = p.op("aten.sum.default", {sq}, {});
    const NodeId norm = p.op("aten.sqrt.default", {sum}, {});
    const NodeId clipped = p.op("aten.div.Tensor", {x, norm}, {1 << 20});
    const NodeId half = p.op("aten.mul.Tensor", {clipped, x}, {1 << 20});
    const GraphPtr graph = p.finish({half});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>({{sq, sum, norm}, {clipped, half}}));
}

void TestFusedRegions::atMostSixtyFour() {
    Program p;
    NodeId at = p.in("x", {16});
    for (int i = 0; i < 100; ++i)
        at = p.op("aten.neg.default", {at}, {16});
    const GraphPtr graph = p.finish({at});
    const auto regions = findFusedRegions(*graph);
    QCOMPARE(regions.size(), 2U);
    QCOMPARE(regions[0].nodes.size(), kMostFusedNodes);
    QCOMPARE(regions[1].nodes.size(), 36U);
}

void TestFusedRegions::symbolsAreLeftOut() {
    Program p;
    const NodeId x = p.in("x", {16});
    Value symbolic = tensor({16});
    symbolic.tensor.shape[0].symbol = p.b.intern("s0");
    const NodeId a = p.call("aten.neg.default", {p.b.nodeArg(x)}, symbolic);
    const NodeId b = p.call("aten.neg.default", {p.b.nodeArg(a)}, symbolic);
    const GraphPtr graph = p.finish({b});
    QCOMPARE(regionsOf(*graph), std::vector<Nodes>());
}

void TestFusedRegions::keysOfRepeatedLayers() {
    Program p;
    NodeId at = p.in("x", {16, 16});
    const NodeId weight = p.in("w", {16, 16});
    for (int layer = 0; layer < 3; ++layer) {
        at = p.op("aten.mm.default", {at, weight}, {16, 16});
        at = p.op("aten.neg.default", {at}, {16, 16});
        at = p.op("aten.exp.default", {at}, {16, 16});
    }
    const GraphPtr graph = p.finish({at});
    const auto regions = findFusedRegions(*graph);
    QCOMPARE(regions.size(), 3U);
    QCOMPARE(fusedRegionKey(*graph, regions[0]), fusedRegionKey(*graph, regions[2]));
}

void TestFusedRegions::keyTellsKernelsApart() {
    const auto key = [](bool same, bool both) {
        Program p;
        const NodeId x = p.in("x", {16});
        const NodeId y = p.in("y", {16});
        const NodeId a = p.op("aten.neg.default", {x}, {16});
        const NodeId b = p.op("aten.mul.Tensor", {a, same ? x : y}, {16});
        const GraphPtr graph = both ? p.finish({a, b}) : p.finish({b});
        return fusedRegionKey(*graph, findFusedRegions(*graph).at(0));
    };
    QVERIFY(key(false, false) != key(true, false)); // the second reads one array less
    QVERIFY(key(false, false) != key(false, true)); // and the third writes one more
    QCOMPARE(key(true, false), std::string("fused{aten.neg.default(f32[16;1]) -> f32[16;1]; "
                                           "aten.mul.Tensor(%0, $0) -> f32[16;1]} -> (%1)"));
}

void TestFusedRegions::corpus() {
    size_t all_regions = 0;
    for (const std::string& name : test::corpusGraphs()) {
        const auto path = test::corpusPath("graphs/" + name + ".json");
        QVERIFY(path);
        Diagnostics diagnostics;
        const auto imported = importGraph(*path, -1, -1, diagnostics, {});
        QVERIFY2(imported.ok(), path->c_str());
        const Graph& graph = *imported.value().graph;
        QCOMPARE(fault(graph), QString());
        const auto regions = findFusedRegions(graph);
        size_t members = 0;
        std::set<std::string> keys;
        for (const FusedRegion& region : regions) {
            members += region.nodes.size();
            keys.insert(fusedRegionKey(graph, region));
        }
        qDebug("%s: %zu regions, %zu keys, %zu of %zu nodes", name.c_str(), regions.size(), keys.size(),
               members, graph.size());
        all_regions += regions.size();
    }
    QVERIFY(all_regions > 0);
}

void TestFusedRegions::randomGraphs() {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        const GraphPtr graph = test::randomGraph(seed);
        QCOMPARE(fault(*graph), QString());
    }
}

void TestFusedRegions::linear() {
    Program p;
    NodeId at = p.in("x", {16, 16});
    for (int i = 0; i < 50000; ++i)
        at = p.op(i % 50 == 0 ? "aten.mm.default" : "aten.mul.Tensor", {at, at}, {16, 16});
    const GraphPtr graph = p.finish({at});
    QElapsedTimer timer;
    timer.start();
    const auto regions = findFusedRegions(*graph);
    QCOMPARE(regions.size(), 1000U);
    QVERIFY2(timer.elapsed() < test::timeLimit(1000), qPrintable(QString::number(timer.elapsed())));
}

/// As long as no stack is deep.
void TestFusedRegions::longChainOfViews() {
    for (const bool read : {true, false}) {
        Program p;
        const NodeId x = p.in("x", {16, 16});
        const NodeId a = p.op("aten.mul.Tensor", {x, x}, {16, 16});
        NodeId view = a;
        for (int i = 0; i < 300'000; ++i)
            view = p.view("aten.view.default", view, {16, 16});
        const NodeId b = p.op("aten.add.Tensor", {view, x}, {16, 16});
        const GraphPtr graph = p.finish(read ? std::vector<NodeId>{view, b} : std::vector<NodeId>{b});
        const auto regions = findFusedRegions(*graph);
        QCOMPARE(regions.size(), 1U);
        QCOMPARE(regions[0].nodes, Nodes({a, b}));
        QCOMPARE(regionOperands(*graph, regions[0]).outputs, read ? Nodes({a, b}) : Nodes({b}));
        QVERIFY(!fusedRegionKey(*graph, regions[0]).empty());
    }
}

QTEST_GUILESS_MAIN(TestFusedRegions)
#include "tst_fused_regions.moc"
