// What the cuda backend does where there is a device, and that it says why where there is none.
#include "graph/graph_builder.h"
#include "profile/backends/cuda/cuda_backend.h"
#include "profile/backends/cuda/device_facts.h"
#include "support/one_rank.h"

#include <QTest>

using namespace gs;
using namespace gs::test;

namespace {

Value tensor(DType dtype, std::vector<int64_t> shape) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = dtype;
    for (int64_t size : shape)
        value.tensor.shape.push_back({size, kEmptyString});
    return value;
}

/// x @ x, a product beyond any device, and an operator without a kernel.
GraphPtr someWork() {
    GraphBuilder b;
    const NodeId x = b.addNode("x", NodeOp::Placeholder, "x");
    b.setValue(x, tensor(DType::BFloat16, {1024, 1024}));
    const NodeId product = b.addNode("product", NodeOp::CallFunction, "aten.mm.default");
    b.setArgs(product, {b.nodeArg(x), b.nodeArg(x)});
    b.setValue(product, tensor(DType::BFloat16, {1024, 1024}));
    const NodeId twice = b.addNode("twice", NodeOp::CallFunction, "aten.add.Tensor");
    b.setArgs(twice, {b.nodeArg(product), b.nodeArg(product)});
    b.setValue(twice, tensor(DType::BFloat16, {1024, 1024}));
    const NodeId huge = b.addNode("huge", NodeOp::Placeholder, "huge");
    b.setValue(huge, tensor(DType::BFloat16, {int64_t{1} << 21, int64_t{1} << 20}));
    const NodeId copy = b.addNode("copy", NodeOp::CallFunction, "aten.clone.default");
    b.setArgs(copy, {b.nodeArg(huge)});
    b.setValue(copy, tensor(DType::BFloat16, {int64_t{1} << 21, int64_t{1} << 20}));
    const NodeId sorted = b.addNode("sorted", NodeOp::CallFunction, "aten.sort.default");
    b.setArgs(sorted, {b.nodeArg(x)});
    b.setValue(sorted, tensor(DType::BFloat16, {1024, 1024}));
    Diagnostics diagnostics;
    return b.finish(&diagnostics);
}

CollectiveSpec gatherOf(int64_t bytes) {
    CollectiveSpec spec;
    spec.kind = CollectiveKind::AllGather;
    spec.dtype = DType::BFloat16;
    spec.input_bytes = spec.output_bytes = bytes;
    spec.ranks = {0};
    return spec;
}

} // namespace

class TestCudaBackend : public QObject {
    Q_OBJECT

    static bool hasDevice() {
        const bool found = cuda::probeDevices().ok();
        if (!found)
            std::printf("NOT RUN: %s\n", QTest::currentTestFunction());
        return found;
    }

private slots:
    void withoutADeviceItSaysWhy() {
        OneRank plane;
        const auto devices = cudaBackend().probe();
        const auto made = cudaBackend().make(plane);
        QCOMPARE(made.ok(), devices.ok());
        if (devices) {
            QVERIFY(!devices.value().front().name.empty());
            return;
        }
        QCOMPARE(devices.error().code, std::string("no-device"));
        QVERIFY(devices.error().message.size() > 30);
        QVERIFY(!devices.error().hint.empty());
        std::printf("%s\n", devices.error().message.c_str());
    }

    void productsKernelsAndRefusals() {
        if (!hasDevice())
            return;
        OneRank plane;
        auto backend = std::move(cudaBackend().make(plane).value());
        const GraphPtr graph = someWork();
        for (const char* name : {"product", "twice"}) {
            auto op = backend->prepare(*graph, *graph->find(name));
            QVERIFY2(op, op ? "" : op.error().message.c_str());
            for (bool cold : {false, true}) {
                const auto times = backend->time(*op.value(), {3, 10, cold});
                QVERIFY2(times, times ? "" : times.error().message.c_str());
                QCOMPARE(times.value().size(), size_t{10});
                QVERIFY(times.value().front() > 500 && times.value().front() < 10'000'000);
            }
        }
        QCOMPARE(backend->prepare(*graph, *graph->find("copy")).error().code, std::string("would-not-fit"));
        QCOMPARE(backend->prepare(*graph, *graph->find("sorted")).error().code, std::string("not-supported"));
    }

    void tenThousandCollectivesLeaveNothing() {
        if (!hasDevice())
            return;
        OneRank plane;
        std::vector<Diagnostic> warnings;
        WorkRegistry registry([&](const Diagnostic& warning) { warnings.push_back(warning); });
        cuda::Communicators communicators(plane);
        auto op = communicators.prepare(gatherOf(1 << 16), nullptr);
        QVERIFY2(op, op ? "" : op.error().message.c_str());
        size_t free_before = 0, free_after = 0, total = 0;
        for (int i = 0; i < 10'100; ++i) {
            if (i == 100)
                cudaMemGetInfo(&free_before, &total);
            QVERIFY(op.value()->launchAsync(registry, nullptr, nullptr));
            QVERIFY(registry.waitTensor(op.value()->storage(), "wait_tensor"));
        }
        QCOMPARE(cudaDeviceSynchronize(), cudaSuccess);
        cudaMemGetInfo(&free_after, &total);
        QCOMPARE(registry.size(), size_t{0});
        QVERIFY(warnings.empty());
        QVERIFY(free_before <= free_after + (8 << 20));
    }

    void unwaitedAndTwiceWaitedOnesWarn() {
        if (!hasDevice())
            return;
        OneRank plane;
        std::vector<Diagnostic> warnings;
        WorkRegistry registry([&](const Diagnostic& warning) { warnings.push_back(warning); });
        cuda::Communicators communicators(plane);
        auto op = std::move(communicators.prepare(gatherOf(4096), nullptr).value());
        QVERIFY(op->launchAsync(registry, nullptr, nullptr));
        QCOMPARE(registry.reportUnwaited(), size_t{1});
        QVERIFY(warnings.back().message.find("all_gather") != std::string::npos);
        QVERIFY(registry.waitTensor(op->storage(), "wait_tensor"));
        QVERIFY(registry.waitTensor(op->storage(), "wait_tensor"));
        QCOMPARE(warnings.back().code, std::string("wait-without-collective"));
    }
};

QTEST_GUILESS_MAIN(TestCudaBackend)
#include "tst_cuda_backend.moc"
