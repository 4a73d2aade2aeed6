// Short names of parameters, layers and places.
#include "explain/names.h"
#include "support/sample_analysis.h"

#include <QTest>

using namespace gs;

class TestNames : public QObject {
    Q_OBJECT
private slots:
    void parameters_data() {
        QTest::addColumn<QString>("fqn");
        QTest::addColumn<QString>("brief");
        QTest::newRow("ffn") << "layers.8.feed_forward.w1.weight"
                             << "layers.8.ffn.w1";
        QTest::newRow("qkv") << "layers.0.attention.qkv_linear.wqkv.weight"
                             << "layers.0.attn.wqkv";
        QTest::newRow("norm") << "layers.8.attention_norm.weight"
                              << "layers.8.attn_norm";
        QTest::newRow("bias stays") << "layers.1.feed_forward.w1.bias"
                                    << "layers.1.ffn.w1.bias";
        QTest::newRow("wrappers go") << "_orig_mod.layers.3._fsdp_wrapped_module.attention.wo.weight"
                                     << "layers.3.attn.wo";
        QTest::newRow("experts") << "layers.0.moe.routed_experts.inner_experts.w1_EFD"
                                 << "layers.0.moe.experts.w1_EFD";
        QTest::newRow("huggingface") << "model.layers.2.self_attn.q_proj.weight"
                                     << "model.layers.2.attn.q_proj";
        QTest::newRow("only weight") << "weight"
                                     << "weight";
        QTest::newRow("placeholder") << "primals_5"
                                     << "primals_5";
        QTest::newRow("empty") << ""
                               << "";
    }
    void parameters() {
        QFETCH(QString, fqn);
        QFETCH(QString, brief);
        QCOMPARE(QString::fromStdString(shortParameter(fqn.toStdString())), brief);
    }

    void layers_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<int>("layer");
        QTest::newRow("plain") << "layers.8.feed_forward" << 8;
        QTest::newRow("dynamo") << "L['m'].blocks.1.w3" << 1;
        QTest::newRow("closure")
            << "dict(type(L['m'].blocks.0.q).__dict__)['weight'].fget.__closure__[0].cell_contents" << 0;
        QTest::newRow("closure without layer")
            << "dict(type(L['m'].emb).__dict__)['weight'].fget.__closure__[0].cell_contents" << -1;
        QTest::newRow("none") << "tok_embeddings" << -1;
        QTest::newRow("no digits") << "layers.x8.w" << -1;
        QTest::newRow("empty") << "" << -1;
        QTest::newRow("huge") << "layers.99999999999999999999.w" << -1;
    }
    void layers() {
        QFETCH(QString, path);
        QTEST(layerOf(path.toStdString()), "layer");
    }

    void places() {
        const AnalysisPtr sample = test::sampleAnalysis();
        const Graph& graph = *sample->after.graph;
        QCOMPARE(placeName(graph, *graph.find("_scaled_dot_product_flash_attention_1")),
                 "layer 1's attention");
        QCOMPARE(placeName(graph, *graph.find("mm")), "layer 0's attn.wqkv (mm)");
        QCOMPARE(placeName(graph, *graph.find("add")), "layer 0's add");
        QCOMPARE(placeName(graph, *graph.find("odd_add")), "odd_add");
        QCOMPARE(placeName(graph, kNoNode), "?");
    }

    void gathers() {
        const AnalysisPtr sample = test::sampleAnalysis();
        const Graph& graph = *sample->after.graph;
        const CollectiveTable& table = *sample->after.collectives;
        const NodeId launch = test::launchOf(*sample, "layers.1.feed_forward.w1.weight");
        const Collective& gather = table[static_cast<size_t>(table.indexOf(launch))];
        QCOMPARE(gatherLabel(graph, gather), "layers.1.ffn.w1");
        QCOMPARE(gatherLayer(graph, gather), 1);
        Collective bucket = gather;
        bucket.parameters = {gather.parameters[0], gather.parameters[0], gather.parameters[0]};
        QCOMPARE(gatherLabel(graph, bucket), "layers.1.ffn.w1 +2");
        bucket.parameters.clear();
        QCOMPARE(gatherLabel(graph, bucket), std::string(graph.name(launch)));
        bucket.launch = kNoNode;
        bucket.waits.clear();
        QCOMPARE(gatherLabel(graph, bucket), "?");
        QCOMPARE(gatherLayer(graph, bucket), -1);
    }
};

QTEST_GUILESS_MAIN(TestNames)
#include "tst_names.moc"
