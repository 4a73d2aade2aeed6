// Coalesced buckets: what holds for any program and any options, on random programs and on the corpus.
#include "import/importer.h"
#include "passes/bucket_coalesced.h"
#include "passes/lower_redistribute.h"
#include "support/gather_program.h"
#include "support/test_data.h"

#include <QTest>
#include <map>
#include <random>
#include <set>

using namespace gs;
using namespace gs::test;

namespace {

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

/// Region of each candidate by the name of its launch.
std::map<std::string, uint32_t> regionsByName(const Graph& graph, const CollectiveTable& table,
                                              const BucketOptions& options) {
    std::vector<uint32_t> candidates;
    for (uint32_t i = 0; i < table.size(); ++i) {
        if (table[i].launch != kNoNode && table[i].kind == CollectiveKind::AllGather &&
            !table[i].consumers.empty() && (table[i].weight_gather || options.all_gathers))
            candidates.push_back(i);
    }
    const auto regions = gatherRegions(graph, table, candidates, options);
    std::map<std::string, uint32_t> by_name;
    for (size_t i = 0; i < candidates.size(); ++i)
        by_name[std::string(graph.name(table[candidates[i]].launch))] = regions[i];
    return by_name;
}

/// Fault of one bucket of `after`, if any; its members are added to `merged`.
std::string bucketFault(const Graph& before, const CollectiveTable& old_table, const Graph& after,
                        const Collective& item, const BucketOptions& options,
                        const std::map<std::string, uint32_t>& region_of, std::set<std::string>& merged) {
    const auto members = after.origins(item.launch);
    if (members.size() < 2 || members.size() > item.waits.size() || members.size() != item.unpacks.size())
        return "a bucket has not one unpack and wait per member";
    int64_t bytes = 0;
    std::set<uint32_t> regions;
    for (StringId member : members) {
        const std::string name(after.text(member));
        const Collective& old_item = old_table[static_cast<size_t>(old_table.indexOf(*before.find(name)))];
        if (!merged.insert(name).second)
            return name + " is in two buckets";
        if (old_item.dtype != item.dtype ||
            before.text(before.groups()[old_item.group].name) != after.text(after.groups()[item.group].name))
            return name + " has another dtype or group than its bucket";
        bytes += old_item.input_bytes;
        regions.insert(region_of.at(name));
    }
    if (regions.size() != 1)
        return "a bucket spans two regions";
    if (options.cap_bytes && bytes > *options.cap_bytes)
        return "a bucket is over the cap";
    return bytes == item.input_bytes ? "" : "bytes are lost";
}

/// Everything that has to hold for any graph and any options; the fault, if any.
std::string faultOf(const GraphPtr& before, const PassResult& result, const BucketOptions& options) {
    const Graph& after = *result.graph;
    if (findBrokenEdge(after, identityOrder(after)))
        return "an edge is broken";
    if (edgesByName(*before) != edgesByName(after))
        return "data edges differ";
    const CollectiveTable old_table(*before), table(after);
    const auto region_of = regionsByName(*before, old_table, options);
    std::set<std::string> merged, plain;
    for (const Collective& item : table.all()) {
        if (item.kind == CollectiveKind::AllGather)
            plain.insert(std::string(after.name(item.launch)));
        if (item.kind != CollectiveKind::AllGatherCoalesced || !after.node(item.launch).moved_by_pass)
            continue;
        const std::string fault = bucketFault(*before, old_table, after, item, options, region_of, merged);
        if (!fault.empty())
            return fault;
    }
    for (const Collective& item : old_table.all()) {
        if (item.kind != CollectiveKind::AllGather)
            continue;
        const std::string name(before->name(item.launch));
        if (merged.count(name) + plain.count(name) != 1)
            return name + " is lost";
    }
    const bool adds_up = result.report.done == merged.size() &&
                         result.report.done + result.report.skipped == result.report.lines.size();
    return adds_up ? "" : "the report does not add up";
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

class TestBucketProperties : public QObject {
    Q_OBJECT

private slots:
    void randomProgramsKeepTheirMeaning();
    void corpusKeepsItsMeaning_data();
    void corpusKeepsItsMeaning();
    void ranksAgree();
    void scalesLinearly();
};

void TestBucketProperties::randomProgramsKeepTheirMeaning() {
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

void TestBucketProperties::corpusKeepsItsMeaning_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("none") << QString();
    for (const std::string& name : test::corpusGraphs())
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void TestBucketProperties::corpusKeepsItsMeaning() {
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

void TestBucketProperties::ranksAgree() {
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

void TestBucketProperties::scalesLinearly() {
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
}

QTEST_GUILESS_MAIN(TestBucketProperties)
#include "tst_bucket_properties.moc"
