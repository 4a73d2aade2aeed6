// Replay of operators by their schemas, on the graphs at hand.
#include "graph/graph_builder.h"
#include "profile/backends/aten/aten_backend.h"
#include "profile/backends/aten/aten_call.h"
#include "support/kernel_cases.h"
#include "support/one_rank.h"

#include <QTest>
#include <map>

using namespace gs;
using namespace gs::test;

class TestAtenBackend : public QObject {
    Q_OBJECT

private slots:
    void probeNamesDeviceAndVersion() {
        const auto devices = atenBackend().probe();
        QVERIFY(devices);
        QVERIFY(!devices.value().empty() && !devices.value().front().name.empty());
        QVERIFY(devices.value().front().versions.contains("torch"));
    }

    /// Every ATen operator of the graphs that torch can run here, with outputs of the size that the graph
    /// states.
    void operatorsOfTheGraphs() {
        std::map<std::string, std::string> refused;
        size_t ran = 0, aten = 0;
        std::map<std::string, int> done;
        for (const KernelCase& item : kernelCases()) {
            const NodeId node = item.region.nodes.front();
            const std::string target(item.graph->targetText(node));
            constexpr int64_t kLargest = 16 << 20;
            if (item.region.nodes.size() > 1 || !target.starts_with("aten.") || done[target] >= 3 ||
                item.graph->value(node).bytes() > kLargest)
                continue;
            ++done[target];
            ++aten;
            auto op = aten::prepareCall(*item.graph, node, -1);
            if (!op) {
                refused[target] = op.error().message;
                continue;
            }
            QVERIFY2(op.value()->run(), target.c_str());
            int64_t wanted = 0;
            const Value& value = item.graph->value(node);
            if (value.kind == Value::Kind::Tensor)
                wanted = value.tensor.numel();
            if (wanted > 0 && target.find("repeat_interleave") == std::string::npos)
                QVERIFY2(op.value()->outputElements() == wanted,
                         (target + " in " + item.from + ": " + std::to_string(op.value()->outputElements()) +
                          " instead of " + std::to_string(wanted))
                             .c_str());
            ++ran;
        }
        for (const auto& [target, why] : refused)
            std::printf("not run: %s: %s\n", target.c_str(), why.substr(0, 160).c_str());
        std::printf("%zu of %zu operators ran\n", ran, aten);
        QVERIFY(ran * 10 >= aten * 7);
    }

    void timesAndRefusals() {
        OneRank plane;
        auto backend = atenBackend().make(plane);
        QVERIFY2(backend, backend ? "" : backend.error().message.c_str());
        GraphBuilder b;
        Value matrix;
        matrix.kind = Value::Kind::Tensor;
        matrix.tensor.dtype = DType::Float32;
        matrix.tensor.shape = {{256, kEmptyString}, {256, kEmptyString}};
        Value huge = matrix;
        huge.tensor.shape[0].value = int64_t{1} << 40;
        const auto call = [&](const char* name, const char* target, const Value& value) {
            const NodeId x = b.addNode(std::string(name) + "_x", NodeOp::Placeholder, "x");
            b.setValue(x, value);
            const NodeId id = b.addNode(name, NodeOp::CallFunction, target);
            b.setArgs(id, {b.nodeArg(x), b.nodeArg(x)});
            b.setValue(id, value);
        };
        call("product", "aten.mm.default", matrix);
        call("unknown", "custom.thing.default", matrix);
        call("huge", "aten.add.Tensor", huge);
        Diagnostics diagnostics;
        const GraphPtr graph = b.finish(&diagnostics);
        auto op = backend.value()->prepare(*graph, *graph->find("product"));
        QVERIFY2(op, op ? "" : op.error().message.c_str());
        const auto times = backend.value()->time(*op.value(), {2, 5, false});
        QVERIFY(times && times.value().size() == 5);
        QVERIFY(times.value().front() > 1000);
        QCOMPARE(backend.value()->prepare(*graph, *graph->find("unknown")).error().code,
                 std::string("not-supported"));
        QCOMPARE(backend.value()->prepare(*graph, *graph->find("huge")).error().code,
                 std::string("would-not-fit"));
    }
};

QTEST_GUILESS_MAIN(TestAtenBackend)
#include "tst_aten_backend.moc"
