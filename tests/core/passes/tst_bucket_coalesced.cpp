// Coalesced buckets: the rules, on small programs. What holds for all programs is in
// tst_bucket_properties.cpp.
#include "passes/bucket_coalesced.h"
#include "support/gather_program.h"

#include <QTest>

using namespace gs;
using namespace gs::test;

namespace {

std::string reasonOf(const PassResult& result, const std::string& launch) {
    for (const PassReportLine& line : result.report.lines) {
        if (line.node == launch)
            return line.done ? "done" : line.reason;
    }
    return "no line";
}

} // namespace

namespace QTest {
template <>
char* toString(const std::string& text) {
    return qstrdup(text.c_str());
}
} // namespace QTest

class TestBucketCoalesced : public QObject {
    Q_OBJECT

private slots:
    void dtypeCuts();
    void capFillsInProgramOrder();
    void boundaryRegions();
    void moduleRegions();
    void adjacentRegions();
    void launchAndWaitsStay();
    void illegalMembersStayOut();
    void leavesOtherGathersAlone();
    void readsSettings();
};

void TestBucketCoalesced::dtypeCuts() {
    Program p;
    const DType dtypes[] = {DType::BFloat16, DType::BFloat16, DType::Float32, DType::BFloat16,
                            DType::BFloat16};
    std::vector<NodeId> parameters, launches;
    for (DType dtype : dtypes)
        parameters.push_back(p.parameter(kMib, dtype));
    for (NodeId parameter : parameters)
        launches.push_back(p.gather(parameter));
    for (NodeId launch : launches)
        p.use(launch);
    const PassResult result = bucketCoalesced(p.finish(), BucketOptions{});
    QCOMPARE(bucketsOf(*result.graph), std::string("g0+g1 g2 g3+g4"));
    QCOMPARE(reasonOf(result, "g2"), std::string("no other gather fits into its bucket"));
    QCOMPARE(result.report.done, size_t(4));
}

void TestBucketCoalesced::capFillsInProgramOrder() {
    Program p;
    std::vector<NodeId> parameters, launches;
    for (int64_t mib : {2, 2, 1, 9, 1, 1, 3})
        parameters.push_back(p.parameter(mib * kMib));
    for (NodeId parameter : parameters)
        launches.push_back(p.gather(parameter));
    for (NodeId launch : launches)
        p.use(launch);
    const GraphPtr graph = p.finish();
    const auto withCap = [&](int64_t bytes) {
        BucketOptions options;
        options.cap_bytes = bytes;
        return bucketsOf(*bucketCoalesced(graph, options).graph);
    };
    QCOMPARE(withCap(5 * kMib), std::string("g0+g1+g2 g3 g4+g5+g6")); // 5, 9 alone, 5
    QCOMPARE(withCap(4 * kMib), std::string("g0+g1 g2 g3 g4+g5 g6"));
    QCOMPARE(withCap(1), std::string("g0 g1 g2 g3 g4 g5 g6"));
    QCOMPARE(withCap(100 * kMib), std::string("g0+g1+g2+g3+g4+g5+g6"));
    QVERIFY(bucketCoalesced(graph, BucketOptions{.cap_bytes = 1}).graph == graph);
}

void TestBucketCoalesced::boundaryRegions() {
    Program p;
    std::vector<NodeId> launches;
    for (int i = 0; i < 6; ++i)
        launches.push_back(p.parameter(kMib));
    for (NodeId& launch : launches)
        launch = p.gather(launch);
    for (size_t i = 0; i < launches.size(); ++i) {
        if (i == 2 || i == 4)
            p.attention();
        p.use(launches[i]);
    }
    const GraphPtr graph = p.finish();
    QCOMPARE(bucketsOf(*bucketCoalesced(graph, BucketOptions{}).graph), std::string("g0+g1 g2+g3 g4+g5"));
    BucketOptions named;
    named.boundary = "aten.mm"; // every use is a boundary, and belongs to the region it ends
    QCOMPARE(bucketsOf(*bucketCoalesced(graph, named).graph), std::string("g0 g1 g2 g3 g4 g5"));
    named.boundary = "no such op";
    QCOMPARE(bucketsOf(*bucketCoalesced(graph, named).graph), std::string("g0+g1+g2+g3+g4+g5"));
}

void TestBucketCoalesced::moduleRegions() {
    Program p;
    std::vector<NodeId> launches;
    for (int i = 0; i < 6; ++i)
        launches.push_back(p.parameter(kMib));
    for (NodeId& launch : launches)
        launch = p.gather(launch);
    const char* modules[] = {"L['m'].layers.0.attention", "L['m'].layers.0.mlp", "L['m'].layers.1.mlp",
                             "L['m'].layers.1.norm",      "L['m'].layers.0.mlp", "L['m'].layers.0.mlp"};
    for (size_t i = 0; i < launches.size(); ++i)
        p.b.node(p.use(launches[i])).module = p.b.intern(modules[i]);
    const GraphPtr graph = p.finish();
    BucketOptions options;
    options.region = BucketOptions::Region::Module;
    // The layer that runs again is a region of its own.
    QCOMPARE(bucketsOf(*bucketCoalesced(graph, options).graph), std::string("g0+g1 g2+g3 g4+g5"));
    options.module_depth = 1;
    QCOMPARE(bucketsOf(*bucketCoalesced(graph, options).graph), std::string("g0+g1+g2+g3+g4+g5"));
    options.module_depth = 3;
    QCOMPARE(bucketsOf(*bucketCoalesced(graph, options).graph), std::string("g0 g1 g2 g3 g4+g5"));
}

void TestBucketCoalesced::adjacentRegions() {
    Program p;
    std::vector<NodeId> launches;
    for (int i = 0; i < 5; ++i)
        launches.push_back(p.parameter(kMib));
    for (size_t i = 0; i < launches.size(); ++i) {
        p.use(p.gather(launches[i], i == 2 ? "1" : "0"));
        p.attention();
    }
    BucketOptions options;
    options.region = BucketOptions::Region::Adjacent;
    QCOMPARE(bucketsOf(*bucketCoalesced(p.finish(), options).graph), std::string("g0+g1 g2 g3+g4"));
}

void TestBucketCoalesced::launchAndWaitsStay() {
    Program p;
    const NodeId a = p.parameter(kMib), b = p.parameter(2 * kMib);
    const NodeId g0 = p.gather(a);
    p.use(g0);
    p.use(p.gather(b));
    const PassResult result = bucketCoalesced(p.finish(), BucketOptions{});
    const Graph& graph = *result.graph;
    std::vector<std::string> names;
    for (NodeId id = graph.placeholdersEnd(); id < graph.size(); ++id)
        names.emplace_back(graph.name(id));
    const std::vector<std::string> want = {
        "cast0", "cast1", "all_gather_into_tensor_coalesced", "getitem", "getitem_1", "w_g0", "mm_g0", "w_g1",
        "mm_g1", "output"};
    QCOMPARE(names, want);
    const NodeId launch = *graph.find("all_gather_into_tensor_coalesced");
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t(1));
    QVERIFY(table[0].weight_gather);
    QCOMPARE(table[0].parameters.size(), size_t(2));
    QCOMPARE(table[0].input_bytes, 3 * kMib);
    QCOMPARE(table[0].output_bytes, 24 * kMib);
    QCOMPARE(table[0].group_size, 8);
    QVERIFY(graph.node(launch).moved_by_pass && graph.node(*graph.find("cast1")).moved_by_pass);
    QVERIFY(!graph.node(*graph.find("cast0")).moved_by_pass);
    QCOMPARE(graph.value(launch).items.size(), size_t(2));
    QCOMPARE(std::string(graph.text(graph.origins(*graph.find("getitem_1")).front())), std::string("g1"));
}

void TestBucketCoalesced::illegalMembersStayOut() {
    Program p;
    std::vector<NodeId> w;
    for (int i = 0; i < 6; ++i)
        w.push_back(p.parameter(kMib));
    const NodeId g0 = p.gather(w[0]);
    const NodeId shared = p.call("shared", "aten._to_copy.default", {w[1]});
    p.b.setValue(shared, tensorOf(DType::BFloat16, 4));
    const NodeId g1 = p.gather(shared, "0", false);
    p.x = p.call("other", "aten.add.Tensor", {p.x, shared});
    p.call("write", "aten.copy_.default", {w[2], p.x});
    const NodeId g2 = p.gather(w[2]);
    const NodeId g3 = p.gather(w[3]);
    p.call("barrier", "_c10d_functional.barrier.default", {});
    const NodeId g4 = p.gather(w[4]);
    for (NodeId launch : {g0, g1, g2, g3, g4})
        p.use(launch);
    const GraphPtr graph = p.finish();
    const PassResult result = bucketCoalesced(graph, BucketOptions{});
    QCOMPARE(bucketsOf(*result.graph), std::string("g0+g3 g1 g2 g4"));
    QCOMPARE(reasonOf(result, "g1"), std::string("its preparation shared is used by other too"));
    QCOMPARE(reasonOf(result, "g2"),
             std::string("cast2 must stay behind write, which is behind the bucket's launch"));
    QCOMPARE(reasonOf(result, "g4"),
             std::string("g4 must stay behind barrier, which is behind the bucket's launch"));
    QCOMPARE(reasonOf(result, "g3"), std::string("done"));
}

void TestBucketCoalesced::leavesOtherGathersAlone() {
    Program p;
    const NodeId a = p.parameter(kMib), b = p.parameter(kMib);
    const NodeId g0 = p.gather(a);
    const NodeId sum = p.call("sum", "aten.mm.default", {p.x, a});
    p.b.setValue(sum, tensorOf(DType::BFloat16, 8));
    const NodeId g1 = p.gather(sum, "0", false); // of two placeholders
    const NodeId g2 = p.gather(b);
    p.gather(b); // never waited for
    for (NodeId launch : {g0, g1, g2})
        p.use(launch);
    const GraphPtr graph = p.finish();
    const PassResult result = bucketCoalesced(graph, BucketOptions{});
    QCOMPARE(bucketsOf(*result.graph), std::string("g0+g2 g1 g3"));
    QCOMPARE(reasonOf(result, "g1"), std::string("it gathers no parameter"));
    QCOMPARE(reasonOf(result, "g3"), std::string("it is never waited for"));
    BucketOptions all;
    all.all_gathers = true;
    QCOMPARE(reasonOf(bucketCoalesced(graph, all), "g1"),
             std::string("its input sum comes from behind the bucket's launch g0 and is no preparation"));
    // A second application finds nothing to do.
    const PassResult again = bucketCoalesced(result.graph, BucketOptions{});
    QVERIFY(again.graph == result.graph);
    QCOMPARE(reasonOf(again, "all_gather_into_tensor_coalesced"), std::string("it is coalesced already"));
}

void TestBucketCoalesced::readsSettings() {
    Program p;
    const NodeId a = p.parameter(kMib), b = p.parameter(kMib);
    const NodeId g0 = p.gather(a), g1 = p.gather(b);
    p.use(g0);
    p.use(g1);
    const GraphPtr graph = p.finish();
    Settings settings;
    QVERIFY(bucketCoalesced(graph, settings).graph == graph);
    QVERIFY(settings.set(Setting::BucketMode, "coalesced").ok());
    QCOMPARE(bucketCoalesced(graph, settings).report.done, size_t(2));
    QVERIFY(settings.set(Setting::BucketCapMib, "1.5").ok());
    QCOMPARE(bucketCoalesced(graph, settings).report.done, size_t(0));
    for (const char* bad : {"0", "-1", "many", "inf", "1 MiB"}) {
        if (!settings.set(Setting::BucketCapMib, bad).ok())
            continue; // refused by the table already
        const PassResult result = bucketCoalesced(graph, settings);
        QVERIFY2(result.graph == graph && result.report.diagnostics.hasErrors(), bad);
    }
}

QTEST_GUILESS_MAIN(TestBucketCoalesced)
#include "tst_bucket_coalesced.moc"
