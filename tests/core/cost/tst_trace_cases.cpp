// Public traces and reports: what their about.md says a tool should say.
#include "cost/readers/byte_source.h"
#include "cost/readers/collective_names.h"
#include "cost/readers/kineto.h"
#include "cost/readers/trace_link.h"
#include "import/importer.h"
#include "support/cost_reading.h"
#include "support/test_data.h"

#include <QTest>
#include <fmt/format.h>

using namespace gs;
using test::contains;
using test::LoadedCosts;

namespace {

#define CASE_OR_RETURN(variable, relative)                                                                   \
    const auto variable = test::casePath(relative);                                                          \
    if (!variable)                                                                                           \
    return

struct Trace {
    TraceEvents events;
    LinkedTrace linked;

    explicit Trace(const std::string& path) {
        auto bytes = openBytes(path);
        events = std::move(readKineto(path, *bytes.value(), {})).value();
        linked = std::move(linkTrace(events, {})).value();
    }
    std::string kernelOf(const CollectiveCall& call) const {
        return std::string(events.texts.view(call.kernel));
    }
    const CollectiveCall* first(CollectiveKind kind) const {
        for (const CollectiveCall& call : linked.collectives) {
            if (call.kind == kind)
                return &call;
        }
        return nullptr;
    }
};

using Names = std::map<std::string, size_t>;

} // namespace

class TestTraceCases : public QObject {
    Q_OBJECT

private slots:
    void case50Metadata() {
        CASE_OR_RETURN(path, "50-kineto-ddp-pg-metadata/input.json");
        const Trace trace(*path);
        const TraceSummary& summary = trace.linked.summary;
        QCOMPARE(summary.events, size_t(7097));
        QCOMPARE(summary.kernels, size_t(451));
        QCOMPARE(summary.comm_kernels, size_t(5));
        QCOMPARE(summary.comm_names, (Names{{"ncclKernel_AllReduce_RING_LL_Sum_float", 3},
                                            {"ncclKernel_Broadcast_RING_LL_Sum_int8_t", 2}}));
        // One event each: not the cpu op, the annotations and the kernel.
        QCOMPARE(summary.comm_kinds, (Names{{"all_reduce", 3}, {"broadcast", 2}}));
        QCOMPARE(summary.comm_streams, std::vector<std::string>{"device 0, stream 40"});
        QVERIFY(std::count(summary.compute_streams.begin(), summary.compute_streams.end(),
                           "device 0, stream 7") == 1);
        QVERIFY(summary.comm_ns > 0 && summary.overlap_ns > 0 && summary.overlap_ns <= summary.comm_ns);
        QCOMPARE(summary.group_conflicts, size_t(0));
        QCOMPARE(summary.rank, 0);
        const CollectiveCall* reduce = trace.first(CollectiveKind::AllReduce);
        QVERIFY(reduce);
        QCOMPARE(reduce->source, KindSource::Metadata);
        QCOMPARE(reduce->input_bytes, int64_t{2049000 * 4});
        QCOMPARE(reduce->group_size, int64_t{2});
        QCOMPARE(reduce->group, std::string("0"));
        QCOMPARE(trace.first(CollectiveKind::Broadcast)->ns, int64_t{30975}); // dur 30.975 µs
        QCOMPARE(trace.first(CollectiveKind::Broadcast)->input_bytes, int64_t{53120 * 4});
        const LoadedCosts loaded(*path);
        QVERIFY(loaded.ok());
        QVERIFY(loaded.has("no-gathers"));
        QVERIFY2(contains(loaded.message("trace-summary"), "3 × ncclKernel_AllReduce_RING_LL_Sum_float"),
                 loaded.message("trace-summary").c_str());
        CASE_OR_RETURN(full, "50-kineto-ddp-pg-metadata/input_full.json.gz");
        const LoadedCosts compressed(*full);
        QVERIFY2(compressed.ok(), compressed.errorCode().c_str());
        QVERIFY(!compressed.has("cut-trace"));
    }

    /// The window holds the launch of the gather, not its kernel; the four SendRecv kernels in it were
    /// launched before the window and must not be taken for it.
    void case51GatherWithoutItsKernel() {
        CASE_OR_RETURN(path, "51-kineto-allgather-without-metadata/input.json");
        const Trace trace(*path);
        const TraceSummary& summary = trace.linked.summary;
        QCOMPARE(summary.events, size_t(8114));
        QCOMPARE(summary.kernels, size_t(43));
        QCOMPARE(summary.comm_names, (Names{{"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", 4}}));
        QCOMPARE(summary.comm_kinds, (Names{{"unknown", 4}}));
        QCOMPARE(summary.launched_only, (Names{{"all_gather", 2}, {"all_reduce", 1}, {"all_to_all", 2}}));
        QCOMPARE(summary.without_launch, size_t(43));
        QVERIFY(!summary.has_metadata);
        const LoadedCosts loaded(*path);
        QVERIFY(contains(loaded.message("kernels-outside"), "2 × all_gather"));
        QVERIFY(contains(loaded.message("unknown-collectives"), "4 collectives"));
    }

    /// Ten SendRecv kernels; by their launches two of rank 0 are all-gathers, which no name says. What only
    /// has "gather" in its name is no communication.
    void case52SampledRanks() {
        for (const char* rank : {"0", "1"}) {
            CASE_OR_RETURN(path, fmt::format("52-kineto-two-ranks-sendrecv/input_rank{}.json", rank));
            const Trace trace(*path);
            const TraceSummary& summary = trace.linked.summary;
            QCOMPARE(summary.comm_names, (Names{{"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", 10}}));
            for (const CollectiveCall& call : trace.linked.collectives)
                QVERIFY(call.source == KindSource::Operator || call.kind == CollectiveKind::None);
            size_t all = 0;
            for (const auto& [kind, count] : summary.comm_kinds)
                all += count;
            QCOMPARE(all, size_t(10));
            if (*rank == '1')
                continue;
            QCOMPARE(summary.comm_kinds, (Names{{"all_gather", 2}, {"all_reduce", 4}, {"all_to_all", 4}}));
            const CollectiveCall* gather = trace.first(CollectiveKind::AllGather);
            QVERIFY(contains(trace.kernelOf(*gather), "SendRecv"));
            QCOMPARE(gather->group_size, int64_t{64}); // 1,073,741,824 of 16,777,216 elements
            QVERIFY(LoadedCosts(*path).ok());          // 50 launches without a kernel do no harm
        }
    }

    void case54CutFlows() {
        CASE_OR_RETURN(path, "54-kineto-ddp-rank1-pid1/input.json");
        const Trace trace(*path);
        QCOMPARE(trace.linked.summary.events, size_t(1373));
        QCOMPARE(trace.linked.summary.kernels, size_t(169));
        QCOMPARE(trace.linked.summary.comm_names, (Names{{"ncclKernel_AllReduce_RING_LL_Sum_float", 5}}));
        QCOMPARE(trace.linked.summary.rank, 1);
        QCOMPARE(trace.linked.summary.comm_streams, std::vector<std::string>{"device 1, stream 14"});
    }

    void case57ExecutionTraces() {
        for (const char* name : {"input_et.json", "input_chakra_small.json", "input_full_et.json.gz"}) {
            CASE_OR_RETURN(path, std::string("57-execution-trace-et-chakra/") + name);
            const LoadedCosts loaded(*path);
            QCOMPARE(loaded.errorCode(), std::string("not-a-cost-file"));
            QVERIFY2(contains(loaded.model.error().message, "execution trace"),
                     loaded.model.error().message.c_str());
        }
    }

    void case58InvalidJson() {
        CASE_OR_RETURN(path, "58-nccl-profiler-plugin-invalid-json/input.json");
        const LoadedCosts loaded(*path);
        QCOMPARE(loaded.errorCode(), std::string("not-a-cost-file"));
        const Error& error = loaded.model.error();
        QVERIFY2(contains(error.message, "NCCL's example profiler plugin"), error.message.c_str());
        QVERIFY2(error.where.line == 7 && error.where.column > 1, error.message.c_str()); // 0x262ca50
    }

    void case59AnnotationOnly() {
        CASE_OR_RETURN(path, "59-kineto-doc-annotation-and-cudagraph/input.json");
        const Trace trace(*path);
        QCOMPARE(trace.linked.collectives.size(), size_t(1));
        const CollectiveCall& gather = trace.linked.collectives.front();
        QCOMPARE(gather.kind, CollectiveKind::AllGather);
        QCOMPARE(gather.source, KindSource::Annotation);
        QCOMPARE(gather.ns, int64_t{72354});
        const LoadedCosts loaded(*path);
        QVERIFY(contains(loaded.message("annotations-only"), "no kernel, no sizes and no group"));
        QVERIFY(loaded.has("no-kernels"));
    }

    void documentsAreNoCosts() {
        for (const char* name :
             {"56-nsys-schema-doc/input.md", "69-nccl-watchdog-order-mismatch-log/input.md",
              "70-cupti-skew-kernel-before-launch/input.md", "71-misleading-kernel-names/input.md",
              "08-op-list-no-graph/input.txt"}) {
            const auto path = test::casePath(name);
            if (!path)
                continue;
            const LoadedCosts loaded(*path);
            QCOMPARE(loaded.errorCode(), std::string("not-a-cost-file"));
            QVERIFY(!loaded.model.error().hint.empty());
        }
    }

    /// Case 71's list, and what its words mean.
    void case71KernelNames_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("shown");
        QTest::addColumn<int>("kind");
        const auto row = [](const char* name, const char* shown, CollectiveKind kind) {
            QTest::newRow(name) << QString(name) << QString(shown) << static_cast<int>(kind);
        };
        using Kind = CollectiveKind;
        row("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "AllGather",
            Kind::AllGather);
        row("ncclDevKernel_AllGather_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", "AllGather",
            Kind::AllGather);
        row("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ReduceScatter",
            Kind::ReduceScatter);
        row("ncclDevKernel_AllReduce_Sum_f32_TREE_LL128(...)", "AllReduce", Kind::AllReduce);
        row("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "SendRecv", Kind::None);
        row("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "Generic", Kind::None);
        row("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)", "AllGather", Kind::AllGather);
        row("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "AllReduce",
            Kind::AllReduce);
        row("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "SendRecv",
            Kind::None);
        row("_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE", "SendRecv", Kind::None);
        row("ncclKernelAllGatherCtranStreamedRd", "AllGather", Kind::AllGather);
        row("void multimem_all_reduce_kernel<c10::BFloat16, 16>(...)", "AllReduce", Kind::AllReduce);
        row("vllm::cross_device_reduce_1stage", "AllReduce", Kind::AllReduce);
        row("void at::native::_scatter_gather_elementwise_kernel<128>()", "", Kind::None);
    }
    void case71KernelNames() {
        QFETCH(QString, name);
        QFETCH(QString, shown);
        QFETCH(int, kind);
        const std::string text = name.toStdString();
        const KernelClass found = classifyKernel(text);
        QCOMPARE(found.communication, !shown.isEmpty());
        QCOMPARE(std::string(found.shown), shown.toStdString());
        QCOMPARE(static_cast<int>(found.kind), kind);
    }

    /// Every name of the list is known as communication, as a kernel or as a range.
    void case71NamesInTheList() {
        CASE_OR_RETURN(path, "71-misleading-kernel-names/input.md");
        size_t names = 0;
        bool listed = false;
        for (const std::string& line : test::readLines(*path)) {
            if (listed) {
                const CollectiveKind range = collectiveOfRange(line);
                QVERIFY2(range != CollectiveKind::None || classifyKernel(line).communication, line.c_str());
                ++names;
            }
            listed = listed || contains(line, "Names seen in the wild");
        }
        QCOMPARE(names, size_t(16));
    }

    /// Estimates of case 16 join the post-grad graph of the same compilation by order and kernel.
    void case16RuntimeEstimates() {
        CASE_OR_RETURN(log, "16-torch-trace-graph-exec-order/input_rank0.log");
        CASE_OR_RETURN(
            path, "16-torch-trace-graph-exec-order/input_rank0.inductor_runtime_and_tensor_meta.0_1.json");
        Diagnostics diagnostics;
        const auto imported = importGraph(*log, 11, -1, diagnostics, {});
        QVERIFY(imported.ok());
        const Graph& graph = *imported->graph;
        const LoadedCosts loaded(*path);
        QVERIFY(loaded.ok());
        std::map<std::string, std::vector<int64_t>> priced;
        for (NodeId id = 0; id < graph.size(); ++id) {
            const auto cost = loaded.model.value()->estimate(graph, CollectiveTable(graph), id);
            if (cost && !isStructuralZero(graph.node(id).kind)) {
                priced[std::string(graph.targetText(id))].push_back(cost->ns);
                QCOMPARE(cost->provenance, Provenance::Imported);
            }
        }
        QCOMPARE(priced["aten.mm.default"], (std::vector<int64_t>{6885842, 6885842}));
        QCOMPARE(priced["_c10d_functional.all_gather_into_tensor.default"], std::vector<int64_t>{18335});
        QCOMPARE(priced["_c10d_functional.reduce_scatter_tensor.default"], std::vector<int64_t>{29471});
        Diagnostics checked;
        loaded.model.value()->check(graph, checked);
        const auto& all = checked.all();
        QVERIFY(std::any_of(all.begin(), all.end(), [](const Diagnostic& item) {
            return item.code == "nodes-without-cost" && contains(item.hint, "fused kernels");
        }));
        for (const char* schedule :
             {"input_rank0.inductor_collective_schedule.0_1.json", "input_rank0.graph_execution.x.json"}) {
            const LoadedCosts none(
                *test::casePath(std::string("16-torch-trace-graph-exec-order/") + schedule));
            QCOMPARE(none.errorCode(), std::string("not-a-cost-file"));
        }
        // A graph is no cost file.
        QVERIFY(contains(LoadedCosts(*log).model.error().message, "this is a graph"));
    }
};

QTEST_GUILESS_MAIN(TestTraceCases)
#include "tst_trace_cases.moc"
