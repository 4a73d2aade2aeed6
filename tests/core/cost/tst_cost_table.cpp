// Pricing of whole graphs: keys, entries, provenance, overrides, speed.
#include "cost/analytical_model.h"
#include "cost/cost_file.h"
#include "graph/graph_builder.h"
#include "import/importer.h"
#include "support/test_data.h"

#include <QElapsedTimer>
#include <QTest>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

using namespace gs;
using Json = nlohmann::json;

namespace {

Value tensor(std::initializer_list<Dim> shape, DType dtype = DType::BFloat16) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = dtype;
    value.tensor.shape = shape;
    return value;
}

/// A model that knows a fixed number for some names.
class NamedModel : public CostModel {
public:
    std::map<std::string, int64_t, std::less<>> ns;
    Provenance provenance = Provenance::Measured;
    std::string title = "named";

    std::string name() const override { return title; }
    std::string source() const override { return title; }
    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable&,
                                         NodeId id) const override {
        const auto found = ns.find(graph.name(id));
        if (found == ns.end())
            return std::nullopt;
        return CostEstimate{found->second, provenance, {}};
    }
};

std::shared_ptr<NamedModel> named(std::map<std::string, int64_t, std::less<>> ns) {
    auto model = std::make_shared<NamedModel>();
    model->ns = std::move(ns);
    return model;
}

/// x → gather → wait → mm, mm_1 (equal) → add → view, all small.
GraphPtr smallGraph() {
    GraphBuilder b;
    const NodeId x = b.addNode("x", NodeOp::Placeholder, "x");
    b.setValue(x, tensor({{1024, 0}, {8, 0}}));
    const NodeId gather =
        b.addNode("gather", NodeOp::CallFunction, "_c10d_functional.all_gather_into_tensor.default");
    b.setArgs(gather, {b.nodeArg(x), b.intArg(64), b.textArg(Arg::Kind::String, "0")});
    b.setValue(gather, tensor({{65536, 0}, {8, 0}}));
    const NodeId wait = b.addNode("wait", NodeOp::CallFunction, "_c10d_functional.wait_tensor.default");
    b.setArgs(wait, {b.nodeArg(gather)});
    b.setValue(wait, tensor({{65536, 0}, {8, 0}}));
    const NodeId y = b.addNode("y", NodeOp::Placeholder, "y");
    b.setValue(y, tensor({{8, 0}, {4, 0}}));
    NodeId product = kNoNode;
    for (const char* name : {"mm", "mm_1"}) {
        product = b.addNode(name, NodeOp::CallFunction, "aten.mm.default");
        b.setArgs(product, {b.nodeArg(wait), b.nodeArg(y)});
        b.setValue(product, tensor({{65536, 0}, {4, 0}}));
    }
    const NodeId add = b.addNode("add", NodeOp::CallFunction, "aten.add.Scalar");
    b.setArgs(add, {b.nodeArg(product), b.intArg(1)});
    b.setValue(add, tensor({{65536, 0}, {4, 0}}));
    const NodeId view = b.addNode("view", NodeOp::CallFunction, "aten.view.default");
    b.setArgs(view, {b.nodeArg(add), b.listArg({b.intArg(-1)})});
    b.setValue(view, tensor({{262144, 0}}));
    const NodeId output = b.addNode("output", NodeOp::Output, "output");
    b.setArgs(output, {b.nodeArg(view)});
    return b.finish(nullptr);
}

const CostEntry* entryOf(const CostTable& table, const Graph& graph, std::string_view name) {
    return table.entry(graph.find(name).value());
}

GraphPtr corpusGraph(const std::string& name) {
    const auto path = test::corpusPath("graphs/" + name + ".json");
    if (!path)
        return nullptr;
    Diagnostics diagnostics;
    const auto imported = importGraph(*path, -1, -1, diagnostics, {});
    return imported ? imported->graph : nullptr;
}

} // namespace

class TestCostTable : public QObject {
    Q_OBJECT

private slots:
    void keysAndLabels() {
        const GraphPtr graph = smallGraph();
        const CollectiveTable collectives(*graph);
        const auto key = [&](const char* name) {
            return structuralKey(*graph, collectives, graph->find(name).value());
        };
        QCOMPARE(key("mm"), std::string("aten.mm.default(bf16[65536,8], bf16[8,4]) -> bf16[65536,4]"));
        QCOMPARE(key("mm_1"), key("mm"));
        QCOMPARE(key("add"), std::string("aten.add.Scalar(bf16[65536,4], #) -> bf16[65536,4]"));
        QCOMPARE(key("gather"), std::string("all_gather bf16 in=16384 out=1048576 ranks=64"));
        for (const char* name : {"x", "wait", "view", "output"})
            QCOMPARE(key(name), std::string());
        const auto label = [&](const char* name) {
            return costLabel(*graph, collectives, graph->find(name).value());
        };
        QCOMPARE(label("mm"), std::string("mm bf16[65536, 8] × [8, 4]"));
        QCOMPARE(label("gather"), std::string("all_gather bf16 1.0 MiB × 64 ranks"));
        QCOMPARE(label("add"), std::string("add bf16[65536, 4]"));
    }

    /// Symbols count by their hint, strides and scalars that change the work enter, unknown sizes too.
    void keyContents() {
        GraphBuilder b;
        const StringId symbol = b.intern("s0");
        const NodeId x = b.addNode("x", NodeOp::Placeholder, "x");
        Value strided = tensor({{16, symbol}, {8, 0}});
        strided.tensor.has_stride = true;
        strided.tensor.stride = {{1, 0}, {16, symbol}};
        b.setValue(x, strided);
        const NodeId u = b.addNode("u", NodeOp::Placeholder, "u");
        b.setValue(u, tensor({{kUnknownSize, b.intern("u0")}}));
        const NodeId sum = b.addNode("sum", NodeOp::CallFunction, "aten.sum.dim_IntList");
        b.setArgs(sum, {b.nodeArg(x), b.listArg({b.intArg(1)}), b.boolArg(true)});
        b.setKwargs(sum, std::vector<Arg>{b.textArg(Arg::Kind::String, "dtype"),
                                          b.textArg(Arg::Kind::DType, "float32")});
        b.setValue(sum, tensor({{16, symbol}, {1, 0}}, DType::Float32));
        const NodeId relu = b.addNode("relu", NodeOp::CallFunction, "aten.relu.default");
        b.setArgs(relu, {b.nodeArg(u)});
        b.setValue(relu, tensor({{kUnknownSize, b.intern("u0")}}));
        const GraphPtr graph = b.finish(nullptr);
        const CollectiveTable collectives(*graph);
        QCOMPARE(structuralKey(*graph, collectives, sum),
                 std::string("aten.sum.dim_IntList(bf16[16,8;1,16], [1], true, dtype=float32) -> f32[16,1]"));
        QCOMPARE(structuralKey(*graph, collectives, relu),
                 std::string("aten.relu.default(bf16[?]) -> bf16[?]"));
    }

    void chainOrder() {
        const GraphPtr graph = smallGraph();
        const CollectiveTable collectives(*graph);
        CostChain chain;
        const auto first = named({{"mm", 100}, {"mm_1", 100}, {"add", -5}});
        const auto second = named({{"mm", 7}, {"gather", 50}});
        second->provenance = Provenance::Imported;
        second->title = "second";
        chain.models = {first, nullptr, second};
        chain.analytical = makeAnalyticalModel(*findDevicePreset("h100"));
        const CostTablePtr table = priceGraph(*graph, collectives, chain);
        const CostEntry* mm = entryOf(*table, *graph, "mm");
        QCOMPARE(mm->ns, int64_t{100});
        QCOMPARE(mm->provenance, Provenance::Measured);
        QCOMPARE(mm->nodes.size(), size_t{2});
        QCOMPARE(entryOf(*table, *graph, "mm_1"), mm);
        QVERIFY(mm->analytical_ns > 0);
        QCOMPARE(mm->kind, std::string("compute"));
        const CostEntry* gather = entryOf(*table, *graph, "gather");
        QCOMPARE(gather->provenance, Provenance::Imported);
        QCOMPARE(gather->source, std::string("second"));
        QCOMPARE(gather->kind, std::string("all_gather"));
        // A negative number is not known; the last model does not know it either.
        const CostEntry* add = entryOf(*table, *graph, "add");
        QCOMPARE(add->provenance, Provenance::Missing);
        QCOMPARE(table->ns(graph->find("add").value()), int64_t{0});
        QVERIFY(add->analytical_ns > 0);
        for (const char* name : {"x", "y", "wait", "view", "output"}) {
            QVERIFY(!entryOf(*table, *graph, name));
            QCOMPARE(table->ns(graph->find(name).value()), int64_t{0});
        }
        QCOMPARE(table->entries().size(), size_t{3});
        QCOMPARE(table->count(Provenance::Missing), size_t{1});
    }

    /// Equal ops with different numbers get an entry each, under one key.
    void differentNumbers() {
        const GraphPtr graph = smallGraph();
        const CollectiveTable collectives(*graph);
        CostChain chain;
        chain.models = {named({{"mm", 100}, {"mm_1", 120}})};
        CostTablePtr table = priceGraph(*graph, collectives, chain);
        QCOMPARE(table->ns(graph->find("mm").value()), int64_t{100});
        QCOMPARE(table->ns(graph->find("mm_1").value()), int64_t{120});
        const std::string key = entryOf(*table, *graph, "mm")->key;
        QCOMPARE(entryOf(*table, *graph, "mm_1")->key, key);
        QVERIFY(entryOf(*table, *graph, "mm_1") != entryOf(*table, *graph, "mm"));
        chain.overrides[key] = 70; // an edit of the key holds for both
        table = priceGraph(*graph, collectives, chain);
        QCOMPARE(entryOf(*table, *graph, "mm_1"), entryOf(*table, *graph, "mm"));
        QCOMPARE(entryOf(*table, *graph, "mm")->ns, int64_t{70});
        QCOMPARE(entryOf(*table, *graph, "mm")->source, std::string("edited by hand"));
        chain.node_overrides["mm_1"] = 80;
        chain.node_overrides["view"] = 9; // also nodes that cost nothing by themselves
        chain.node_overrides["no such node"] = 1;
        table = priceGraph(*graph, collectives, chain);
        QCOMPARE(table->ns(graph->find("mm").value()), int64_t{70});
        QCOMPARE(table->ns(graph->find("mm_1").value()), int64_t{80});
        QCOMPARE(table->ns(graph->find("view").value()), int64_t{9});
        chain.overrides[key] = -3;
        chain.node_overrides["mm_1"] = INT64_MAX;
        table = priceGraph(*graph, collectives, chain);
        QCOMPARE(table->ns(graph->find("mm").value()), int64_t{0});
        QCOMPARE(table->ns(graph->find("mm_1").value()), kMaxCostNs);
    }

    void emptyChain() {
        const GraphPtr graph = smallGraph();
        const CollectiveTable collectives(*graph);
        const CostTablePtr table = priceGraph(*graph, collectives, {});
        QCOMPARE(table->entries().size(), size_t{3});
        QCOMPARE(table->count(Provenance::Missing), size_t{3});
        const GraphPtr none = GraphBuilder().finish(nullptr);
        QCOMPARE(priceGraph(*none, CollectiveTable(*none), {})->entries().size(), size_t{0});
    }

    /// Every entry of every corpus cost table arrives at its node; nodes of one class share an entry.
    void corpus() {
        size_t files = 0, priced = 0, most_entries = 0;
        for (const std::string& name : test::corpusGraphs()) {
            for (const char* kind : {"roofline", "commheavy", "commlight"}) {
                if (name.starts_with("tagged_") || name.starts_with("dynamo_") || name.starts_with("prim29_"))
                    continue;
                const auto path = test::corpusPath("costs/" + name + "." + kind + ".json");
                if (!path)
                    continue;
                const GraphPtr graph = corpusGraph(name);
                QVERIFY2(graph, name.c_str());
                const CollectiveTable collectives(*graph);
                Diagnostics diagnostics;
                const auto model = loadCostFile(*path, diagnostics);
                QVERIFY2(model.ok(), path->c_str());
                model.value()->check(*graph, diagnostics);
                QVERIFY2(diagnostics.all().empty(), path->c_str());
                CostChain chain;
                chain.models = {model.value()};
                const CostTablePtr table = priceGraph(*graph, collectives, chain);
                const Json costs = Json::parse(test::readAll(*path)).at("nodes");
                for (const auto& [node, ns] : costs.items()) {
                    QCOMPARE(table->ns(graph->find(node).value()), ns.get<int64_t>());
                    ++priced;
                }
                std::set<std::pair<std::string, int64_t>> seen;
                for (const CostEntry& entry : table->entries()) {
                    const bool missing = entry.provenance == Provenance::Missing;
                    QVERIFY(seen.emplace(entry.key, missing ? -1 : entry.ns).second);
                    QVERIFY(!entry.key.empty() && !entry.label.empty() && !entry.nodes.empty());
                    QVERIFY(std::is_sorted(entry.nodes.begin(), entry.nodes.end()));
                    for (NodeId id : entry.nodes)
                        QCOMPARE(structuralKey(*graph, collectives, id), entry.key);
                }
                most_entries = std::max(most_entries, table->entries().size());
                ++files;
            }
        }
        std::printf("cost tables: %zu numbers of %zu files, at most %zu entries\n", priced, files,
                    most_entries);
    }

    void speed() {
        const GraphPtr graph = corpusGraph("llama3_405b_fsdp64_joint");
        const auto path = test::corpusPath("costs/llama3_405b_fsdp64_joint.roofline.json");
        if (!graph || !path)
            return;
        const CollectiveTable collectives(*graph);
        Diagnostics diagnostics;
        CostChain chain;
        chain.models = {loadCostFile(*path, diagnostics).value(),
                        makeAnalyticalModel(*findDevicePreset("h100"))};
        chain.analytical = chain.models[1];
        double best_ms = 1e9;
        CostTablePtr table;
        for (int i = 0; i < 5; ++i) {
            QElapsedTimer timer;
            timer.start();
            table = priceGraph(*graph, collectives, chain);
            best_ms = std::min(best_ms, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        }
        std::printf("priceGraph: %zu nodes in %.1f ms, %zu entries, %zu missing\n", graph->size(), best_ms,
                    table->entries().size(), table->count(Provenance::Missing));
        QCOMPARE(table->count(Provenance::Missing), size_t{0});
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#endif
    }
};

QTEST_GUILESS_MAIN(TestCostTable)
#include "tst_cost_table.moc"
