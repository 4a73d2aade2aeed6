// Coalesced buckets: the rules on small graphs, and properties on random graphs and on the corpus.
#include "graph/graph_builder.h"
#include "import/importer.h"
#include "passes/bucket_coalesced.h"
#include "passes/lower_redistribute.h"
#include "support/test_data.h"

#include <QTest>
#include <fmt/format.h>
#include <map>
#include <random>
#include <set>

using namespace gs;

namespace {

constexpr int64_t kMib = 1024 * 1024;
constexpr const char* kGather = "_c10d_functional.all_gather_into_tensor.default";
constexpr const char* kWait = "_c10d_functional.wait_tensor.default";

Value tensorOf(DType dtype, int64_t rows) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = dtype;
    value.tensor.shape = {{rows, kEmptyString}};
    return value;
}

/// Builds programs of weights that are cast, gathered, waited for and used.
struct Program {
    GraphBuilder b;
    NodeId x = b.addNode("x", NodeOp::Placeholder, "x");
    int gathers = 0;

    NodeId call(const std::string& name, const std::string& target, std::vector<NodeId> inputs,
                std::vector<Arg> more = {}) {
        const NodeId id = b.addNode(name, NodeOp::CallFunction, target);
        std::vector<Arg> args;
        for (NodeId input : inputs)
            args.push_back(b.nodeArg(input));
        args.insert(args.end(), more.begin(), more.end());
        b.setArgs(id, args);
        return id;
    }
    NodeId parameter(int64_t bytes, DType dtype = DType::BFloat16) {
        const NodeId id =
            b.addNode(fmt::format("p{}", b.size()), NodeOp::Placeholder, fmt::format("p{}", b.size()));
        b.setValue(id, tensorOf(dtype, bytes / dtypeBytes(dtype)));
        return id;
    }
    /// cast → gather of `world` ranks; returns the launch, named g0, g1, ….
    NodeId gather(NodeId shard, const std::string& group = "0", bool cast = true) {
        if (b.value(shard).kind != Value::Kind::Tensor)
            b.setValue(shard, tensorOf(DType::BFloat16, 64));
        const Value value = b.value(shard);
        if (cast) {
            shard = call(fmt::format("cast{}", gathers), "aten._to_copy.default", {shard});
            b.setValue(shard, value);
        }
        const NodeId launch = call(fmt::format("g{}", gathers++), kGather, {shard},
                                   {b.intArg(8), b.textArg(Arg::Kind::String, group)});
        b.setValue(launch, tensorOf(value.tensor.dtype, value.tensor.shape[0].value * 8));
        return launch;
    }
    NodeId use(NodeId launch) {
        const std::string name(b.text(b.node(launch).name));
        const NodeId wait = call("w_" + name, kWait, {launch});
        return x = call("mm_" + name, "aten.mm.default", {x, wait});
    }
    NodeId attention() {
        const std::string target = "aten._scaled_dot_product_flash_attention.default";
        return x = call(fmt::format("attention{}", b.size()), target, {x});
    }
    GraphPtr finish() {
        const NodeId output = b.addNode("output", NodeOp::Output, "output");
        b.setArgs(output, {b.nodeArg(x)});
        return b.finish(nullptr);
    }
};

/// "g0+g1 g2" : members by name per coalesced launch in program order; plain gathers stand alone.
std::string bucketsOf(const Graph& graph) {
    std::string text;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.node(id).kind != NodeKind::Launch)
            continue;
        std::string members;
        for (StringId origin : graph.origins(id))
            members += (members.empty() ? "" : "+") + std::string(graph.text(origin));
        text += (text.empty() ? "" : " ") + (members.empty() ? std::string(graph.name(id)) : members);
    }
    return text;
}

std::string reasonOf(const PassResult& result, const std::string& launch) {
    for (const PassReportLine& line : result.report.lines) {
        if (line.node == launch)
            return line.done ? "done" : line.reason;
    }
    return "no line";
}

/// Data edges of a graph by name, seen through launches and buckets: a wait hangs on its shard.
std::map<std::string, std::vector<std::string>> edgesByName(const Graph& graph) {
    std::map<std::string, std::vector<std::string>> edges;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const NodeKind kind = graph.node(id).kind;
        const bool of_bucket = kind == NodeKind::Unpack && graph.node(graph.inputs(id).front()).moved_by_pass;
        if (kind == NodeKind::Launch || of_bucket)
            continue;
        std::vector<std::string>& inputs = edges[std::string(graph.name(id))];
        for (NodeId input : graph.inputs(id)) {
            size_t member = 0;
            if (graph.node(input).kind == NodeKind::Unpack && graph.node(input).moved_by_pass) {
                member = static_cast<size_t>(graph.arg(input, 1)->integer);
                input = graph.inputs(input).front();
            }
            if (graph.node(input).kind == NodeKind::Launch) {
                const Arg& sent = *graph.arg(input, 0);
                input = sent.kind == Arg::Kind::List ? graph.children(sent)[member].node() : sent.node();
            }
            inputs.emplace_back(graph.name(input));
        }
    }
    return edges;
}

/// Everything that has to hold for any graph and any options; the fault, if any.
std::string faultOf(const GraphPtr& before, const PassResult& result, const BucketOptions& options) {
    const Graph& after = *result.graph;
    if (findBrokenEdge(after, identityOrder(after)))
        return "an edge is broken";
    if (edgesByName(*before) != edgesByName(after))
        return "data edges differ";
    const CollectiveTable old_table(*before), table(after);
    std::set<std::string> merged, plain;
    std::vector<uint32_t> candidates;
    std::map<std::string, uint32_t> region_of;
    for (uint32_t i = 0; i < old_table.size(); ++i) {
        if (old_table[i].launch != kNoNode && old_table[i].kind == CollectiveKind::AllGather &&
            !old_table[i].consumers.empty() && (old_table[i].weight_gather || options.all_gathers))
            candidates.push_back(i);
    }
    const auto regions = gatherRegions(*before, old_table, candidates, options);
    for (size_t i = 0; i < candidates.size(); ++i)
        region_of[std::string(before->name(old_table[candidates[i]].launch))] = regions[i];
    for (const Collective& item : table.all()) {
        if (item.launch == kNoNode || !after.node(item.launch).moved_by_pass ||
            item.kind != CollectiveKind::AllGatherCoalesced)
            continue;
        const auto members = after.origins(item.launch);
        if (members.size() < 2 || members.size() > item.waits.size() || members.size() != item.unpacks.size())
            return "a bucket has not one unpack and wait per member";
        int64_t bytes = 0;
        std::set<uint32_t> bucket_regions;
        for (size_t i = 0; i < members.size(); ++i) {
            const std::string name(after.text(members[i]));
            const Collective& old_item =
                old_table[static_cast<size_t>(old_table.indexOf(*before->find(name)))];
            if (!merged.insert(name).second)
                return name + " is in two buckets";
            if (old_item.dtype != item.dtype || before->text(before->groups()[old_item.group].name) !=
                                                    after.text(after.groups()[item.group].name))
                return name + " has another dtype or group than its bucket";
            bytes += old_item.input_bytes;
            bucket_regions.insert(region_of.at(name));
        }
        if (bucket_regions.size() != 1)
            return "a bucket spans two regions";
        if (options.cap_bytes && bytes > *options.cap_bytes)
            return "a bucket is over the cap";
        if (bytes != item.input_bytes)
            return "bytes are lost";
    }
    for (const Collective& item : table.all()) {
        if (item.kind == CollectiveKind::AllGather)
            plain.insert(std::string(after.name(item.launch)));
    }
    for (const Collective& item : old_table.all()) {
        if (item.kind == CollectiveKind::AllGather &&
            merged.count(std::string(before->name(item.launch))) +
                    plain.count(std::string(before->name(item.launch))) !=
                1)
            return "a gather is lost";
    }
    if (result.report.done != merged.size() ||
        result.report.done + result.report.skipped != result.report.lines.size())
        return "the report does not add up";
    return {};
}

BucketOptions randomOptions(std::mt19937& random) {
    BucketOptions options;
    options.region = static_cast<BucketOptions::Region>(random() % 3);
    if (random() % 2)
        options.cap_bytes = static_cast<int64_t>(1 + random() % 64) * 64;
    options.all_gathers = random() % 4 == 0;
    return options;
}

/// A random program: gathers of parameters and activations, shared and private preparation, writes to
/// parameters, barriers, attention.
GraphPtr randomProgram(std::mt19937& random) {
    Program p;
    const DType dtypes[] = {DType::BFloat16, DType::BFloat16, DType::Float32};
    std::vector<NodeId> parameters, pending, casts;
    for (int i = 0; i < 12; ++i)
        parameters.push_back(
            p.parameter(static_cast<int64_t>(64 + 64 * (random() % 8)), dtypes[random() % 3]));
    for (int step = 0; step < 60; ++step) {
        const NodeId parameter = parameters[random() % parameters.size()];
        const std::string group = random() % 5 ? "0" : "1";
        switch (random() % 12) {
        case 0:
            p.attention();
            break;
        case 1:
            p.call(fmt::format("copy{}", step), "aten.copy_.default", {parameter, p.x});
            break;
        case 2:
            p.call(fmt::format("barrier{}", step), "_c10d_functional.barrier.default", {});
            break;
        case 3: // an activation, or a cast that two gathers share
            pending.push_back(
                p.gather(casts.empty() || random() % 2 ? p.x : casts[random() % casts.size()], group, false));
            break;
        case 4:
            casts.push_back(p.call(fmt::format("shared{}", step), "aten._to_copy.default", {parameter}));
            p.b.setValue(casts.back(), p.b.value(parameter));
            break;
        case 5:
        case 6:
        case 7:
            if (!pending.empty()) {
                p.use(pending.front());
                pending.erase(pending.begin());
            }
            break;
        default:
            pending.push_back(p.gather(parameter, group));
        }
        p.b.node(static_cast<NodeId>(p.b.size() - 1)).module =
            p.b.intern(fmt::format("layers.{}.mlp", step / 20));
    }
    for (NodeId launch : pending)
        p.use(launch);
    return p.finish();
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
    void randomProgramsKeepTheirMeaning();
    void corpusKeepsItsMeaning_data();
    void corpusKeepsItsMeaning();
    void ranksAgree();
    void scalesLinearly();
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
    QCOMPARE(faultOf(graph, result, BucketOptions{}), std::string());
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

void TestBucketCoalesced::randomProgramsKeepTheirMeaning() {
    std::mt19937 random(4711);
    size_t merged = 0, illegal = 0;
    for (int round = 0; round < 1000; ++round) {
        const GraphPtr graph = randomProgram(random);
        const BucketOptions options = randomOptions(random);
        const PassResult result = bucketCoalesced(graph, options);
        const std::string fault = faultOf(graph, result, options);
        QVERIFY2(fault.empty(), fmt::format("round {}: {}", round, fault).c_str());
        const PassResult again = bucketCoalesced(graph, options);
        QCOMPARE(again.graph->structuralHash(), result.graph->structuralHash());
        merged += result.report.done;
        for (const PassReportLine& line : result.report.lines)
            illegal += line.reason.find("must stay behind") != std::string::npos ||
                               line.reason.find("is used by") != std::string::npos
                           ? 1
                           : 0;
    }
    QVERIFY(merged > 5000);
    QVERIFY(illegal > 500);
}

void TestBucketCoalesced::corpusKeepsItsMeaning_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("none") << QString();
    for (const std::string& name : test::corpusGraphs())
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void TestBucketCoalesced::corpusKeepsItsMeaning() {
    QFETCH(QString, name);
    const auto path =
        name.isEmpty() ? std::nullopt : test::corpusPath("graphs/" + name.toStdString() + ".json");
    if (!path)
        return;
    Diagnostics diagnostics;
    Result<ImportedGraph> imported = importGraph(*path, -1, -1, diagnostics, {});
    QVERIFY(imported.ok());
    const GraphPtr graph = lowerRedistributes(imported.value().graph, LoweringOptions{}).graph;
    if (graph->info().level == GraphLevel::Scheduler) {
        QVERIFY(bucketCoalesced(graph, BucketOptions{}).graph == graph);
        return;
    }
    for (int region = 0; region < 3; ++region) {
        for (int64_t cap : {int64_t(0), kMib / 4, 16 * kMib}) {
            BucketOptions options;
            options.region = static_cast<BucketOptions::Region>(region);
            if (cap > 0)
                options.cap_bytes = cap;
            const PassResult result = bucketCoalesced(graph, options);
            const std::string fault = faultOf(graph, result, options);
            QVERIFY2(fault.empty(), fmt::format("region {}, cap {}: {}", region, cap, fault).c_str());
        }
    }
}

void TestBucketCoalesced::ranksAgree() {
    std::vector<std::string> buckets;
    for (const char* rank : {"0", "7"}) {
        const auto path = test::corpusPath(fmt::format("graphs/prim29_uneven_fsdp8_rank{}.json", rank));
        if (!path)
            return;
        Diagnostics diagnostics;
        const GraphPtr read = importGraph(*path, -1, -1, diagnostics, {}).value().graph;
        const PassResult result =
            bucketCoalesced(lowerRedistributes(read, LoweringOptions{}).graph, BucketOptions{});
        buckets.push_back(bucketsOf(*result.graph));
        for (NodeId id = 0; id < result.graph->size(); ++id)
            buckets.back() += "\n" + std::string(result.graph->name(id));
    }
    QCOMPARE(buckets[0], buckets[1]);
}

void TestBucketCoalesced::scalesLinearly() {
    Program p;
    constexpr int kGathers = 2000, kComputes = 47; // about 100,000 nodes
    std::vector<NodeId> parameters;
    for (int i = 0; i < kGathers; ++i)
        parameters.push_back(p.parameter(4096));
    for (int i = 0; i < kGathers; ++i) {
        p.use(p.gather(parameters[static_cast<size_t>(i)]));
        for (int k = 0; k < kComputes; ++k)
            p.x = p.call(fmt::format("c{}_{}", i, k), "aten.mm.default", {p.x, p.x});
        if (i % 8 == 7)
            p.attention();
    }
    const GraphPtr graph = p.finish();
    QElapsedTimer timer;
    timer.start();
    const PassResult result = bucketCoalesced(graph, BucketOptions{});
    const double ms = double(timer.nsecsElapsed()) / 1e6;
    std::printf("bucketing: %zu nodes, %d gathers: %.1f ms\n", graph->size(), kGathers, ms);
    QCOMPARE(result.report.done, size_t(kGathers));
    QVERIFY(ms < 2000); // far above the goal: catches quadratic growth on a busy machine
}

QTEST_GUILESS_MAIN(TestBucketCoalesced)
#include "tst_bucket_coalesced.moc"
