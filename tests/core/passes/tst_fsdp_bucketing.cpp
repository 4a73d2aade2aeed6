// FSDP bucketing as a pass: settings, the cap, reports, what schedulers make of merged gathers, legality.
#include "analysis/analysis.h"
#include "cost/device_presets.h"
#include "graph/collectives.h"
#include "passes/fsdp_bucketing/fsdp_bucketing.h"
#include "passes/fsdp_bucketing/tracer.h"
#include "schedule/scheduler.h"
#include "support/gather_program.h"
#include "support/layered_graph.h"
#include "support/test_data.h"

#include <QElapsedTimer>
#include <QTest>

using namespace gs;

namespace {

size_t countCode(const Diagnostics& diagnostics, const std::string& code) {
    size_t count = 0;
    for (const Diagnostic& item : diagnostics.all())
        count += item.code == code ? 1 : 0;
    return count;
}

/// Two gathers whose waits are used by one product each; `between` may add nodes after the first product.
template <typename Between>
GraphPtr twoLayers(Between between) {
    test::Program program;
    const NodeId p = program.parameter(test::kMib), q = program.parameter(test::kMib);
    const NodeId first = program.gather(p);
    const NodeId first_wait = program.call("wait0", test::kWait, {first});
    program.b.setValue(first_wait, program.b.value(first));
    NodeId x = program.call("mm0", "aten.mm.default", {program.x, first_wait});
    x = between(program, x);
    const NodeId second = program.gather(q);
    const NodeId second_wait = program.call("wait1", test::kWait, {second});
    program.b.setValue(second_wait, program.b.value(second));
    const NodeId last = program.call("mm1", "aten.mm.default", {x, second_wait});
    const NodeId out = program.b.addNode("output", NodeOp::Output, "output");
    program.b.setArgs(out, {program.b.nodeArg(last)});
    return program.b.finish(nullptr);
}

} // namespace

class TestFsdpBucketing : public QObject {
    Q_OBJECT

private slots:
    void viewStridesAreTorchs() {
        using S = Sizes;
        QVERIFY(viewStrides({8, 4}, {4, 1}, {32}) == S({1}));
        QVERIFY(!viewStrides({8, 4}, {100, 1}, {32}));
        QVERIFY(viewStrides({8, 4}, {100, 1}, {8, 2, 2}) == S({100, 2, 1}));
        QVERIFY(viewStrides({8, 1}, {100, 1}, {8}) == S({100}));
        QVERIFY(viewStrides({}, {}, {1, 1}) == S({1, 1}));
        QVERIFY(viewStrides({1}, {1}, {}) == S({}));
        QVERIFY(viewStrides({0, 4}, {4, 1}, {4, 0}) == S({1, 1}));
        QVERIFY(!viewStrides({4, 4}, {1, 4}, {16}));
    }

    void namesAreFxs() {
        FxNames names;
        QCOMPARE(names.create("view"), std::string("view"));
        QCOMPARE(names.create("view_7"), std::string("view_7"));
        QCOMPARE(names.create("view"), std::string("view_8"));
        QCOMPARE(names.create("view_3"), std::string("view_3"));
        QCOMPARE(names.create("view_3"), std::string("view_4"));
        QCOMPARE(names.create("slice"), std::string("slice_1"));
    }

    void mergedGathersAreWeightGathers() {
        const GraphPtr graph = twoLayers([](test::Program&, NodeId x) { return x; });
        FsdpBucketOptions options;
        options.cap_mib = 100;
        const PassResult result = bucketFsdp(graph, options);
        QCOMPARE(result.report.done, size_t(2));
        QVERIFY(result.graph != graph);
        const CollectiveTable table(*result.graph);
        QCOMPARE(table.weightGatherCount(), size_t(1));
        const Collective& gather = table[0];
        QCOMPARE(gather.parameters.size(), size_t(2));
        QCOMPARE(gather.input_bytes, 2 * test::kMib);
        QCOMPARE(gather.output_bytes, 16 * test::kMib);
        QCOMPARE(result.graph->origins(gather.launch).size(), size_t(2));
        QVERIFY(result.report.summary.find("all-gathers 2 → 1") != std::string::npos);
        QCOMPARE(countCode(result.report.diagnostics, "fsdp-bucketing"), size_t(3));
        // The first product follows the merged gather now.
        QVERIFY(result.graph->find("mm0").value() > gather.waits.front());
        QVERIFY(!result.graph->find("g0"));
    }

    void bucketsUpToTheCap() {
        const GraphPtr graph = twoLayers([](test::Program&, NodeId x) { return x; });
        FsdpBucketOptions options;
        options.cap_mib = 15.9;
        const PassResult result = bucketFsdp(graph, options);
        QCOMPARE(result.graph, graph);
        QCOMPARE(result.report.skipped, size_t(2));
        QVERIFY(result.report.lines.front().reason.find("no other collective") != std::string::npos);
    }

    /// The first product reads x; it may not come after the write to x that stood behind it.
    void writesStayBehindEarlierReaders() {
        const GraphPtr graph = twoLayers([](test::Program& program, NodeId x) {
            program.call("add_", "aten.add_.Tensor", {program.x, x});
            return x;
        });
        FsdpBucketOptions options;
        options.cap_mib = 100;
        const PassResult result = bucketFsdp(graph, options);
        QVERIFY(result.graph != graph);
        QVERIFY(result.graph->find("mm0").value() < result.graph->find("add_").value());
    }

    void settings() {
        const GraphPtr graph = twoLayers([](test::Program&, NodeId x) { return x; });
        Settings settings;
        QCOMPARE(bucketFsdp(graph, settings).graph, graph);
        QVERIFY(settings.set("bucket_mode", "fsdp").ok());
        const PassResult saturated = bucketFsdp(graph, settings);
        QVERIFY(saturated.graph != graph);
        NcclSystem system = findDevicePreset("h100")->nccl;
        const std::string cap = QString::number(preBucketCapMib(system, {8, 0}), 'f', 1).toStdString();
        QVERIFY2(saturated.report.summary.find("up to " + cap + " MiB") != std::string::npos,
                 saturated.report.summary.c_str());
        QCOMPARE(countCode(saturated.report.diagnostics, "fsdp-bucketing"), size_t(4));
        for (const char* bad : {"-1", "0", "x", "1x", "inf", ""})
            QVERIFY2(!settings.set("bucket_cap_mib", bad).ok(), bad);
    }

    /// Analysis from end to end with every scheduler, and a change of device alone runs the pass again.
    void analysis() {
        const auto path = test::corpusPath("graphs/lm_shared4_fsdp8_joint.json");
        if (!path)
            return;
        Analyser analyser;
        AnalysisRequest request;
        request.graph_file = *path;
        QVERIFY(request.settings.set("bucket_mode", "fsdp").ok());
        QVERIFY(request.settings.set("fsdp_dedup", "true").ok());
        for (const SchedulerInfo& info : schedulers()) {
            QVERIFY(request.settings.set("scheduler", info.name).ok());
            const auto result = analyser.analyse(request, {});
            QVERIFY2(result.ok(), std::string(info.name).c_str());
            const Analysis& analysis = *result.value();
            QVERIFY(analysis.after.collectives->size() < analysis.before.collectives->size());
            QCOMPARE(countCode(analysis.diagnostics, "order-dropped"), size_t(0));
            QVERIFY(!findBrokenEdge(*analysis.after.graph, analysis.after.schedule->order));
            qInfo("%s: %zu candidates, %zu moved, step %lld → %lld ns", std::string(info.name).c_str(),
                  analysis.after.schedule->candidates, analysis.after.schedule->moved,
                  static_cast<long long>(analysis.before.timeline->step_ns),
                  static_cast<long long>(analysis.after.timeline->step_ns));
        }
        QVERIFY(request.settings.set("device", "a100").ok());
        const auto other = analyser.analyse(request, {});
        QVERIFY(other.ok());
        QCOMPARE(other.value()->reports.back().pass, std::string("bucket-fsdp"));
    }

    void isFast() {
        const GraphPtr graph = test::layeredGraph(100000);
        FsdpBucketOptions options;
        options.cap_mib = 500;
        QElapsedTimer timer;
        timer.start();
        const PassResult result = bucketFsdp(graph, options);
        const qint64 ms = timer.elapsed();
        qInfo("%zu nodes: %lld ms: %s", graph->size(), static_cast<long long>(ms),
              result.report.summary.c_str());
        QVERIFY(result.graph != graph);
    }
};

QTEST_GUILESS_MAIN(TestFsdpBucketing)
#include "tst_fsdp_bucketing.moc"
