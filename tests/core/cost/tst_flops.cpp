// FLOPs from shapes against what PyTorch's flop counter wrote into every graph of the corpus.
#include "cost/flops.h"
#include "graph/graph_builder.h"
#include "import/importer.h"
#include "support/test_data.h"

#include <QTest>
#include <cstdio>

using namespace gs;

namespace {

Value tensor(std::initializer_list<int64_t> shape, DType dtype = DType::BFloat16) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = dtype;
    for (int64_t size : shape)
        value.tensor.shape.push_back({size, kEmptyString});
    return value;
}

using Shapes = std::vector<std::vector<int64_t>>;

/// FLOPs of one call on tensors of these shapes; `more` are further arguments.
struct Call {
    GraphBuilder builder;
    std::vector<Arg> args;

    explicit Call(std::initializer_list<std::initializer_list<int64_t>> shapes) {
        for (const auto& shape : shapes)
            add(tensor(shape));
    }
    void add(const Value& value) {
        const std::string name = "x" + std::to_string(builder.size());
        const NodeId id = builder.addNode(name, NodeOp::Placeholder, name);
        builder.setValue(id, value);
        args.push_back(builder.nodeArg(id));
    }
    std::optional<int64_t> flops(std::string_view target, const Value& out = {}) {
        const NodeId id = builder.addNode("call", NodeOp::CallFunction, target);
        builder.setArgs(id, args);
        builder.setValue(id, out);
        const GraphPtr graph = builder.finish(nullptr);
        return flopsFromShapes(*graph, id);
    }
};

} // namespace

class TestFlops : public QObject {
    Q_OBJECT

private slots:
    void corpus() {
        size_t graphs = 0, nodes = 0;
        for (const std::string& name : test::corpusGraphs()) {
            const auto path = test::corpusPath("graphs/" + name + ".json");
            if (!path)
                continue;
            Diagnostics diagnostics;
            const auto imported = importGraph(*path, -1, -1, diagnostics, {});
            QVERIFY2(imported.ok(), name.c_str());
            const Graph& graph = *imported->graph;
            ++graphs;
            for (NodeId id = 0; id < graph.size(); ++id) {
                if (graph.node(id).flops < 0)
                    continue;
                const std::string what = name + ": " + std::string(graph.name(id));
                QVERIFY2(flopsFromShapes(graph, id) == graph.node(id).flops, what.c_str());
                ++nodes;
            }
        }
        std::printf("flops: %zu compute nodes of %zu graphs\n", nodes, graphs);
        if (test::corpusPath("graphs/llama3_405b_fsdp64_joint.json"))
            QVERIFY(nodes > 12'000);
    }

    /// Scheduler nodes carry no FLOPs; the ATen node that each one came from does.
    void schedulerNodes() {
        size_t checked = 0, unknown = 0;
        for (const std::string name : {"lm2_fsdp8", "lm3ac_fsdp8", "mlp_fsdp8", "uneven_fsdp8"}) {
            for (const std::string phase : {"fwd", "bwd"}) {
                const auto kernels = test::corpusPath("graphs/snodes_" + name + "_" + phase + ".json");
                const auto nodes = test::corpusPath("graphs/aot_" + name + "_" + phase + ".json");
                if (!kernels || !nodes)
                    continue;
                Diagnostics diagnostics;
                const GraphPtr fused = importGraph(*kernels, -1, -1, diagnostics, {})->graph;
                const GraphPtr plain = importGraph(*nodes, -1, -1, diagnostics, {})->graph;
                for (NodeId id = 0; id < fused->size(); ++id) {
                    if (!hasFlopFormula(fused->targetText(id)))
                        continue;
                    const auto flops = flopsFromShapes(*fused, id);
                    unknown += flops ? 0 : 1;
                    for (StringId origin : fused->origins(id)) {
                        const auto from = plain->find(fused->text(origin));
                        if (!from || plain->node(*from).flops < 0 || !flops)
                            continue;
                        QVERIFY2(*flops == plain->node(*from).flops, std::string(fused->name(id)).c_str());
                        ++checked;
                    }
                }
            }
        }
        std::printf("flops of scheduler nodes: %zu equal to their ATen nodes, %zu unknown\n", checked,
                    unknown);
    }

    void matrices() {
        QCOMPARE(Call({{8, 16}, {16, 32}}).flops("aten.mm.default").value_or(-1), 2 * 8 * 16 * 32);
        QCOMPARE(Call({{32}, {8, 16}, {16, 32}}).flops("aten.addmm.default").value_or(-1), 2 * 8 * 16 * 32);
        QCOMPARE(Call({{8, 16}, {16, 32}}).flops("aten._scaled_mm.default").value_or(-1), 2 * 8 * 16 * 32);
        QCOMPARE(Call({{3, 8, 16}, {3, 16, 32}}).flops("aten.bmm").value_or(-1), 3 * 2 * 8 * 16 * 32);
        QCOMPARE(Call({{3, 8, 32}, {3, 8, 16}, {3, 16, 32}}).flops("aten.baddbmm.default").value_or(-1),
                 3 * 2 * 8 * 16 * 32);
        QCOMPARE(Call({{0, 16}, {16, 32}}).flops("aten.mm.default").value_or(-1), 0);
    }

    void convolutions() {
        // 2 images, 3 → 8 channels, 5×5 filter, 28×28 out: 2 · 8 · 3 · 25 · 784 · 2
        constexpr int64_t kForward = int64_t{2} * 8 * 3 * 25 * 784 * 2;
        const auto with = [](std::initializer_list<std::initializer_list<int64_t>> shapes, bool transposed) {
            Call call(shapes);
            call.args.push_back(call.builder.noneArg());
            for (int i = 0; i < 3; ++i)
                call.args.push_back(call.builder.listArg({call.builder.intArg(1)}));
            call.args.push_back(call.builder.boolArg(transposed));
            return call;
        };
        auto forward = with({{2, 3, 32, 32}, {8, 3, 5, 5}}, false);
        QCOMPARE(forward.flops("aten.convolution.default", tensor({2, 8, 28, 28})).value_or(-1), kForward);
        auto transposed = with({{2, 8, 28, 28}, {8, 3, 5, 5}}, true);
        QCOMPARE(transposed.flops("aten.convolution.default", tensor({2, 3, 32, 32})).value_or(-1), kForward);
        auto backward = with({{2, 8, 28, 28}, {2, 3, 32, 32}, {8, 3, 5, 5}}, false);
        backward.args.push_back(backward.builder.listArg({backward.builder.intArg(0)}));
        backward.args.push_back(backward.builder.intArg(1));
        const Arg yes = backward.builder.boolArg(true);
        backward.args.push_back(backward.builder.listArg({yes, yes, yes}));
        Value out;
        out.kind = Value::Kind::List;
        out.items = {tensor({2, 3, 32, 32}), tensor({8, 3, 5, 5}), tensor({8})};
        // The gradient of the weight is a convolution over the batch, with as many multiplications.
        QCOMPARE(backward.flops("aten.convolution_backward.default", out).value_or(-1), 2 * kForward);
    }

    void attention() {
        constexpr int64_t kScores = int64_t{2} * 4 * 128 * 256 * 64 * 2; // 2 batches, 4 heads, 128 × 256, 64
        const auto forward = {"aten._scaled_dot_product_efficient_attention.default",
                              "aten._scaled_dot_product_flash_attention.default",
                              "aten._scaled_dot_product_flash_attention_for_cpu.default",
                              "aten._scaled_dot_product_cudnn_attention.default",
                              "higher_order.flex_attention"};
        for (const char* target : forward) { // keys and values have half as many heads
            Call call({{2, 4, 128, 64}, {2, 2, 256, 64}, {2, 2, 256, 64}});
            QCOMPARE(call.flops(target).value_or(-1), 2 * kScores);
        }
        Call backward({{2, 4, 128, 64}, {2, 4, 128, 64}, {2, 4, 256, 64}, {2, 4, 256, 64}});
        QCOMPARE(backward.flops("aten._scaled_dot_product_flash_attention_backward.default").value_or(-1),
                 5 * kScores);
        Call flex({{2, 4, 128, 64}, {2, 4, 256, 64}, {2, 4, 256, 64}, {2, 4, 128, 64}});
        QCOMPARE(flex.flops("higher_order.flex_attention_backward").value_or(-1), 5 * kScores);
        Call direct({{2, 128, 4, 64}, {2, 256, 4, 64}, {2, 256, 4, 64}});
        QCOMPARE(direct.flops("aten._flash_attention_forward.default").value_or(-1), 2 * kScores);
        Call ragged({{200, 4, 64}, {400, 4, 64}, {400, 4, 64}, {3}, {3}});
        ragged.args.push_back(ragged.builder.intArg(128));
        ragged.args.push_back(ragged.builder.intArg(256));
        QCOMPARE(ragged.flops("aten._flash_attention_forward.default").value_or(-1), 2 * kScores);
    }

    /// Unknown or inconsistent shapes give no number, huge ones the largest.
    void robustness() {
        QVERIFY(!Call({{8, kUnknownSize}, {16, 32}}).flops("aten.mm.default"));
        QVERIFY(!Call({{8, 16}, {17, 32}}).flops("aten.mm.default"));
        QVERIFY(!Call({{8, 16}}).flops("aten.mm.default"));
        QVERIFY(!Call({{16}, {16, 32}}).flops("aten.mm.default"));
        QVERIFY(!Call({{1, 4, 8, 16}, {1, 3, 8, 16}, {1, 3, 8, 16}})
                     .flops("aten._scaled_dot_product_flash_attention.default"));
        QVERIFY(!Call({{1, 4, 8, 16}, {1, 0, 8, 16}, {1, 0, 8, 16}})
                     .flops("aten._scaled_dot_product_flash_attention.default"));
        QVERIFY(!Call({{8, 8}}).flops("aten.relu.default"));
        QVERIFY(!hasFlopFormula("aten.relu.default"));
        QVERIFY(!hasFlopFormula("relu"));
        QVERIFY(!hasFlopFormula(""));
        constexpr int64_t kHuge = 1'000'000'000;
        QCOMPARE(Call({{kHuge, kHuge}, {kHuge, kHuge}}).flops("aten.mm.default").value_or(-1), kHugeSize);
        QCOMPARE(Call({{kHuge, 4, kHuge, 64}, {kHuge, 4, kHuge, 64}, {kHuge, 4, kHuge, 64}})
                     .flops("aten._scaled_dot_product_flash_attention.default")
                     .value_or(-1),
                 kHugeSize);
    }
};

QTEST_GUILESS_MAIN(TestFlops)
#include "tst_flops.moc"
