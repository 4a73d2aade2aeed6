// Small traces with one peculiarity each: what is measured, how it is matched, what is said.
#include "cost/cost_sources.h"
#include "cost/readers/comm_facts.h"
#include "cost/readers/json_cursor.h"
#include "cost/readers/kineto.h"
#include "cost/readers/measured_model.h"
#include "cost/readers/node_places.h"
#include "support/cost_graph.h"
#include "support/cost_reading.h"
#include "support/test_data.h"

#include <QTest>
#include <filesystem>
#include <fstream>
#include <thread>
#include <zlib.h>

using namespace gs;
using test::contains;
using test::CostGraph;
using test::LoadedCosts;

namespace {

LoadedCosts load(const char* name) {
    return LoadedCosts(test::testDataPath(std::string("cost/") + name));
}

const MeasuredCosts& costsOf(const LoadedCosts& loaded) {
    return *measuredCostsOf(*loaded.model.value());
}

std::string said(const CostModelPtr& model, const Graph& graph, const std::string& code) {
    Diagnostics diagnostics;
    model->check(graph, diagnostics);
    for (const Diagnostic& item : diagnostics.all()) {
        if (item.code == code)
            return item.message;
    }
    return {};
}

} // namespace

class TestTraceCosts : public QObject {
    Q_OBJECT

private slots:
    void matchesOpsAndCollectives() {
        const GraphPtr graph = CostGraph::make();
        for (const char* name : {"trace_whole.json", "trace_bare_array.json"}) {
            const LoadedCosts loaded = load(name);
            QVERIFY2(loaded.ok(), loaded.errorCode().c_str());
            const auto mm = loaded.of(*graph, "mm0");
            QVERIFY(mm);
            QCOMPARE(mm->ns, int64_t{32000}); // 30, 32 and 37 µs
            QCOMPARE(mm->provenance, Provenance::Measured);
            QCOMPARE(mm->samples, int64_t{3});
            QCOMPARE(mm->spread_ns, int64_t{7000});
            QCOMPARE(loaded.of(*graph, "mm1")->ns, int64_t{32000});
            QCOMPARE(loaded.of(*graph, "g0")->ns, int64_t{100000});
            QCOMPARE(loaded.of(*graph, "g1")->ns, int64_t{120000});
            QVERIFY(!loaded.of(*graph, "relu"));
            QVERIFY(contains(said(loaded.model.value(), *graph, "matched-costs"),
                             "2 of 3 compute nodes and 2 of 2 collectives"));
            QVERIFY(contains(said(loaded.model.value(), *graph, "nodes-without-cost"), "aten.relu (1)"));
        }
    }

    void entriesCarrySamples() {
        const GraphPtr graph = CostGraph::make();
        const LoadedCosts loaded = load("trace_whole.json");
        CostChain chain;
        chain.models = {loaded.model.value()};
        const CostTablePtr table = priceGraph(*graph, CollectiveTable(*graph), chain);
        const CostEntry* entry = table->entry(*graph->find("mm1"));
        QCOMPARE(entry->samples, int64_t{3});
        QCOMPARE(entry->spread_ns, int64_t{7000});
        QCOMPARE(entry->rank_skew_ns, int64_t{-1});
        QCOMPARE(entry->source, std::string("trace_whole.json"));
        QCOMPARE(entry->nodes.size(), size_t(2));
        QCOMPARE(table->entry(*graph->find("relu"))->provenance, Provenance::Missing);
    }

    void otherSizesLieOnTheCurve() {
        CostGraph g;
        const NodeId between = g.gather("between", 1448);
        const NodeId below = g.gather("below", 64);
        const NodeId beyond = g.gather("beyond", 4096);
        const NodeId far = g.gather("far", 8192);
        const GraphPtr graph = g.finish({between, below, beyond, far});
        const LoadedCosts loaded = load("trace_whole.json");
        const auto middle = loaded.of(*graph, "between");
        QCOMPARE(middle->provenance, Provenance::Interpolated);
        QVERIFY(middle->ns > 108000 && middle->ns < 111000); // √(100 × 120) µs at √(1024 × 2048)
        QCOMPARE(loaded.of(*graph, "below")->ns, int64_t{100000});
        QCOMPARE(loaded.of(*graph, "below")->provenance, Provenance::Extrapolated);
        QCOMPARE(loaded.of(*graph, "beyond")->provenance, Provenance::Extrapolated);
        QCOMPARE(loaded.of(*graph, "beyond")->ns, int64_t{144000});
        QVERIFY(!loaded.of(*graph, "far")); // more than twice the largest
    }

    void ranksAreMerged() {
        const GraphPtr graph = CostGraph::make();
        Settings settings;
        Diagnostics diagnostics;
        const auto chain = makeCostChain(
            {test::testDataPath("cost/trace_whole.json"), test::testDataPath("cost/trace_rank1.json")},
            settings, diagnostics);
        QVERIFY(chain.ok());
        QCOMPARE(chain.value().models.size(), size_t(1));
        const CostModelPtr model = chain.value().models.front();
        const CollectiveTable table(*graph);
        const auto mm = model->estimate(*graph, table, *graph->find("mm0"));
        QCOMPARE(mm->ns, int64_t{50000}); // the slowest rank
        QCOMPARE(mm->samples, int64_t{4});
        QCOMPARE(mm->rank_skew_ns, int64_t{18000});
        const auto g0 = model->estimate(*graph, table, *graph->find("g0"));
        QCOMPARE(g0->ns, int64_t{100000}); // the fastest: the others wait
        QCOMPARE(g0->rank_skew_ns, int64_t{200000});
        QVERIFY(contains(model->source(), "and 1 more"));
        // Asked again, the files are not read again.
        QCOMPARE(makeCostChain({test::testDataPath("cost/trace_whole.json")}, settings, diagnostics)
                     .value()
                     .models.front(),
                 makeCostChain({test::testDataPath("cost/trace_whole.json")}, settings, diagnostics)
                     .value()
                     .models.front());
    }

    void unionsNotSums() {
        const GraphPtr graph = CostGraph::make();
        // 1020–1050 and 1030–1070 on two streams, 1100–1110: 60 µs, not 80 and not 90.
        QCOMPARE(load("trace_parallel.json").of(*graph, "mm0")->ns, int64_t{60000});
    }

    /// What case 70 reports: a kernel that starts before its launch is linked by its correlation id, and its
    /// time is that of the kernel alone.
    void case70EarlyKernels() {
        const GraphPtr graph = CostGraph::make();
        const LoadedCosts loaded = load("trace_early_kernel.json");
        QVERIFY2(loaded.ok(), loaded.errorCode().c_str());
        QCOMPARE(loaded.of(*graph, "mm0")->ns, int64_t{30000});
        const std::string message = loaded.message("kernels-before-launch");
        QVERIFY2(contains(message, "1 of 2 kernels") && contains(message, "6.5 µs"), message.c_str());
    }

    /// Without launches the ids tell; where they only repeat the correlation, the launches do.
    void idsOfWork() {
        const GraphPtr graph = CostGraph::make();
        for (const char* name : {"trace_external_ids.json", "trace_echoed_ids.json"}) {
            const LoadedCosts loaded = load(name);
            QCOMPARE(loaded.of(*graph, "mm0")->ns, int64_t{30000});
            QCOMPARE(loaded.of(*graph, "relu")->ns, int64_t{4000});
        }
    }

    void processGroupForms() {
        const GraphPtr graph = CostGraph::make();
        for (const char* name :
             {"trace_ranks_list.json", "trace_ranks_short.json", "trace_wrong_group.json"}) {
            const LoadedCosts loaded = load(name);
            QCOMPARE(costsOf(loaded).collectives.size(), size_t(1));
            QCOMPARE(costsOf(loaded).collectives.front().group_size, int64_t{8});
            QCOMPARE(loaded.of(*graph, "g0")->ns, int64_t{100000});
            QCOMPARE(loaded.has("group-metadata"), std::string(name) == "trace_wrong_group.json");
        }
        QCOMPARE(countRanks("[0, 1]"), int64_t{2});
        QCOMPARE(countRanks("[0, 1, ..., 62, 63]"), int64_t{0});
        QCOMPARE(countRanks("[]"), int64_t{0});
    }

    /// Cases 51 and 70: an operator that runs as several SendRecv kernels is one collective.
    void case70ManyKernelsOfOneOperator() {
        const GraphPtr graph = CostGraph::make();
        CostGraph g;
        const NodeId w = g.gather("f32", 2048); // 4096 bytes of bf16, as 1024 floats are
        const GraphPtr same_bytes = g.finish({w});
        const LoadedCosts loaded = load("trace_sendrecv_gather.json");
        const MeasuredCollective& item = costsOf(loaded).collectives.front();
        QCOMPARE(item.kind, CollectiveKind::AllGather);
        QCOMPARE(item.dtype, DType::Float32);
        QCOMPARE(item.group_size, int64_t{8});
        QCOMPARE(item.time.ns, int64_t{60000}); // two kernels of one call, united
        QVERIFY(contains(item.time.note, "kind by operator"));
        QCOMPARE(loaded.of(*same_bytes, "f32")->ns, int64_t{60000});
    }

    void namesAreNoProof() {
        const LoadedCosts loaded = load("trace_names_only.json");
        QVERIFY(costsOf(loaded).collectives.empty());
        QVERIFY(costsOf(loaded).ordered_collectives.empty());
        QVERIFY(contains(loaded.message("unknown-collectives"), "2 collectives"));
        QVERIFY(contains(loaded.message("trace-summary"), "4 kernels, 2 of them communication"));
    }

    void withoutShapesByOrder() {
        const GraphPtr graph = CostGraph::make();
        const LoadedCosts loaded = load("trace_no_shapes.json");
        QVERIFY(loaded.has("no-shapes"));
        // 4 calls are 2 steps of 2 nodes: 30, 40, 30, 40 µs.
        QCOMPARE(loaded.of(*graph, "mm0")->ns, int64_t{30000});
        QCOMPARE(loaded.of(*graph, "mm1")->ns, int64_t{40000});
        QVERIFY(contains(loaded.of(*graph, "mm1")->note, "call 2 of 2 in order"));
        CostGraph g;
        std::vector<NodeId> three;
        for (const char* name : {"a", "b", "c"})
            three.push_back(g.call(name, "aten.mm.default", {g.left, g.right}, {8, 2}));
        QVERIFY(!loaded.of(*g.finish({three[0], three[1], three[2]}), "a")); // 4 is no multiple of 3
    }

    /// Files of other graphs have other numbers of each operator.
    void stepsMustAgree() {
        const GraphPtr graph = CostGraph::make(); // mm × 2, relu × 1, gathers × 2
        const NodeId mm1 = *graph->find("mm1");
        QCOMPARE(NodePlaces({{"aten.mm", 4}, {"aten.relu", 2}, {"all_gather", 4}}).of(*graph, mm1).steps,
                 size_t(2));
        QCOMPARE(NodePlaces({{"aten.mm", 4}, {"aten.relu", 2}, {"all_gather", 3}}).of(*graph, mm1).steps,
                 size_t(2));
        QCOMPARE(NodePlaces({{"aten.mm", 4}, {"aten.relu", 3}, {"all_gather", 2}}).of(*graph, mm1).steps,
                 size_t(0));
        QCOMPARE(NodePlaces({{"aten.sin", 4}}).of(*graph, mm1).steps, size_t(0));
        QCOMPARE(NodePlaces({{"aten.mm", 4}}).of(*graph, mm1).index, size_t(1));
    }

    void oddNumbers() {
        CostGraph g;
        const LoadedCosts loaded = load("trace_odd_numbers.json");
        QVERIFY2(loaded.ok() && !loaded.has("cut-trace"), loaded.message("cut-trace").c_str());
        QVERIFY(contains(loaded.message("bad-events"), "2 events"));
        const auto& typed = costsOf(loaded).typed;
        QCOMPARE(typed.size(), size_t(1));
        QCOMPARE(typed.begin()->first, std::string("aten.mm(f32[2,2],f32[2,2])"));
        QCOMPARE(typed.begin()->second.ns, int64_t{1});
    }

    void exactTimes() {
        int64_t ns = 0;
        QVERIFY(parseMicros("1764415490123456.789", ns));
        QCOMPARE(ns, int64_t{1764415490123456789});
        QVERIFY(parseMicros("4458676423385.7", ns));
        QCOMPARE(ns, int64_t{4458676423385700});
        QVERIFY(parseMicros("-0.5", ns));
        QCOMPARE(ns, int64_t{-500});
        QVERIFY(parseMicros("1.5e3", ns));
        QCOMPARE(ns, int64_t{1500000});
        for (const char* bad : {"", "x", "1x", "99999999999999999999", "1e300", "NaN", "-", "."})
            QVERIFY2(!parseMicros(bad, ns), bad);
        int64_t id = 0;
        QVERIFY(parseInteger("12715772615376301", id) && id == 12715772615376301);
        QVERIFY(!parseInteger("12715772615376301750999", id));
    }

    void cutAndBroken() {
        const LoadedCosts cut = load("trace_cut.json");
        QVERIFY(cut.ok());
        QVERIFY2(contains(cut.message("cut-trace"), "byte 2,600"), cut.message("cut-trace").c_str());
        const LoadedCosts hex = load("trace_hex.json");
        QVERIFY(hex.ok());
        QVERIFY2(contains(hex.message("cut-trace"), "line 3, column 69") &&
                     contains(hex.message("cut-trace"), "a value was expected"),
                 hex.message("cut-trace").c_str());
    }

    /// Where a block of the file ends must not matter.
    void anyBlockSize() {
        for (const char* name :
             {"trace_whole.json", "trace_odd_numbers.json", "trace_cut.json", "trace_hex.json"}) {
            const std::string text = test::readAll(test::testDataPath(std::string("cost/") + name));
            const auto whole_bytes = bytesOf(text);
            const TraceEvents whole = std::move(readKineto(name, *whole_bytes, {})).value();
            for (size_t block = 1; block < 200; block += block < 20 ? 1 : 13) {
                const auto bytes = bytesOf(text);
                const TraceEvents events = std::move(readKineto(name, *bytes, {}, block)).value();
                QCOMPARE(events.events, whole.events);
                QCOMPARE(events.work.size(), whole.work.size());
                QCOMPARE(events.ranges.size(), whole.ranges.size());
                QCOMPARE(events.texts.size(), whole.texts.size());
                QCOMPARE(events.stopped_byte, whole.stopped_byte);
                QCOMPARE(events.stopped_at.line, whole.stopped_at.line);
                QCOMPARE(events.stopped_at.column, whole.stopped_at.column);
            }
        }
    }

    void cutGzip() {
        const std::string whole = test::readAll(test::testDataPath("cost/trace_whole.json"));
        const std::string path =
            (std::filesystem::temp_directory_path() / "gatherscope_cut_trace.json.gz").string();
        const gzFile file = gzopen(path.c_str(), "wb");
        gzwrite(file, whole.data(), static_cast<unsigned>(whole.size()));
        gzclose(file);
        QVERIFY(LoadedCosts(path).ok());
        QVERIFY(!LoadedCosts(path).has("cut-trace"));
        std::filesystem::resize_file(path, std::filesystem::file_size(path) - 60);
        const LoadedCosts cut(path);
        QVERIFY(cut.ok());
        QVERIFY2(contains(cut.message("cut-trace"), "gzip data ends too early"),
                 cut.message("cut-trace").c_str());
        std::filesystem::remove(path);
    }

    void hostOnly() {
        const GraphPtr graph = CostGraph::make();
        const LoadedCosts loaded = load("trace_gloo.json");
        QVERIFY(contains(loaded.message("no-kernels"), "those of the host"));
        const auto& collectives = costsOf(loaded).collectives;
        QCOMPARE(collectives.size(), size_t(1));
        QCOMPARE(collectives.front().kind, CollectiveKind::AllGather);
        QCOMPARE(collectives.front().time.ns, int64_t{50000});
    }

    void anotherGraph() {
        CostGraph g;
        const NodeId x = g.call("x", "aten.sin.default", {g.left}, {8, 4});
        const LoadedCosts loaded = load("trace_parallel.json");
        QVERIFY(contains(said(loaded.model.value(), *g.finish({x}), "costs-of-another-graph"),
                         "no time for any"));
    }

    /// A cancel is heard between blocks; nothing of the file is kept.
    void cancelled() {
        std::stop_source stop;
        JobContext job;
        job.stop = stop.get_token();
        stop.request_stop();
        const LoadedCosts loaded(test::testDataPath("cost/trace_whole.json"), job);
        QCOMPARE(loaded.errorCode(), std::string("cancelled"));
    }
};

QTEST_GUILESS_MAIN(TestTraceCosts)
#include "tst_trace_costs.moc"
