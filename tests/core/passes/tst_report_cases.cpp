// The public cases that are reports in words (60–72): their programs in texts of our own with the numbers of
// the report, and what their about.md says that a tool must say. The reports themselves are read where they
// are at hand.
#include "analysis/rank_files.h"
#include "core/import/open_graph.h"
#include "cost/readers/collective_names.h"
#include "explain/rank_compare.h"
#include "passes/lint/lint.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <fmt/format.h>

using namespace gs;
using namespace gs::test;

namespace {

const std::string kGather = "torch.ops._c10d_functional.all_gather_into_tensor.default";
const std::string kScatter = "torch.ops._c10d_functional.reduce_scatter_tensor.default";
const std::string kReduce = "torch.ops._c10d_functional.all_reduce.default";
const std::string kWait = "torch.ops._c10d_functional.wait_tensor.default";

Diagnostics lintOf(const Graph& graph, const Settings& settings = {}) {
    Diagnostics diagnostics;
    const CollectiveTable table(graph);
    lint({graph, table, settings, findDevicePreset(settings.text(Setting::Device))}, diagnostics);
    return diagnostics;
}

/// The messages of a code, one a line.
std::string said(const Diagnostics& diagnostics, std::string_view code) {
    std::string text;
    for (const Diagnostic& item : diagnostics.all())
        text += item.code == code ? item.message + "\n" : "";
    return text;
}

const Diagnostic* find(const Diagnostics& diagnostics, std::string_view code) {
    for (const Diagnostic& item : diagnostics.all()) {
        if (item.code == code)
            return &item;
    }
    return nullptr;
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

#define VERIFY_SAID(text, part) QVERIFY2(has(text, part), (text).c_str())

/// "def forward(self, ARGUMENTS):" with statements, one a line.
std::string function(const std::string& arguments, const std::vector<std::string>& statements) {
    std::string text = "def forward(self, " + arguments + "):\n";
    for (const std::string& line : statements)
        text += "    " + line + "\n";
    return text;
}

GraphPtr graphOf(const std::string& text) {
    const Opened opened = openText(text);
    return opened.result.ok() ? opened.result.value().graph : nullptr;
}

RankComparisonPtr compare(const std::vector<GraphPtr>& graphs) {
    std::vector<RankProgram> programs;
    for (size_t i = 0; i < graphs.size(); ++i) {
        RankProgram made;
        made.rank = static_cast<int32_t>(i);
        made.label = fmt::format("rank {}", i);
        made.graphs.push_back({"graph", {}, graphs[i]});
        programs.push_back(std::move(made));
    }
    return compareRanks(std::move(programs));
}

/// A report is no graph, and is not taken for an empty one.
void checkReport(const std::string& relative) {
    const auto path = casePath(relative);
    if (!path)
        return;
    const Opened opened = open(*path);
    QVERIFY(!opened.result.ok());
    QCOMPARE(opened.result.error().code, std::string("not-a-graph"));
    QVERIFY(!opened.result.error().hint.empty());
}

} // namespace

class TstReportCases : public QObject {
    Q_OBJECT
private slots:
    void case60WaitForAnotherBuffer();
    void case61OrderAcrossGroups();
    void case63WideDtypeOnTheWire();
    void case65LaunchedAndNeverWaited();
    void case67MemoryHeldByCollectives();
    void case68UnevenAndEmptyShards();
    void case68RanksWithAndWithoutPads();
    void case69WatchdogNumbers();
    void case69WatchdogOfARank();
    void case72LaunchAndWaitInTwoGraphs();
};

/// Also that waits are not matched by their order, which would say that all is well.
void TstReportCases::case60WaitForAnotherBuffer() {
    const auto path = casePath("60-unwaited-collective-buffer-alias/input.md");
    if (!path)
        return;
    const Opened opened = open(*path);
    QVERIFY(opened.result.ok());
    const Diagnostics found = lintOf(opened.graph());
    QVERIFY(find(found, "wait-other-buffer"));
    QCOMPARE(find(found, "wait-other-buffer")->severity, Severity::Error);
    VERIFY_SAID(said(found, "wait-other-buffer"), "nothing waits for \"buf289\", which \"all_reduce_\"");
    VERIFY_SAID(said(found, "wait-other-buffer"),
                "\"triton_poi_fused_wait_tensor_9\", which no collective writes");
    VERIFY_SAID(said(found, "used-unwaited"),
                "\"triton_poi_fused_wait_tensor_9\" reads the result of \"all_reduce_\"");
}

/// 62 of 64 ranks issue the all_to_all of mesh_shard first, ranks 6 and 7 the all_reduce of mesh_replicate.
void TstReportCases::case61OrderAcrossGroups() {
    checkReport("61-cross-group-order-deadlock/input.md");
    const auto rank = [](bool shard_first, bool sync) {
        const std::string shard =
            "a = torch.ops._c10d_functional.all_to_all_single.default(x, [2, 2], [2, 2], 'mesh_shard')";
        const std::string replicate = "r = " + kReduce + "(y, 'sum', 'mesh_replicate')";
        std::vector<std::string> lines{shard_first ? shard : replicate};
        if (sync)
            lines.insert(lines.end(), {fmt::format("w0 = {}({})", kWait, shard_first ? "a" : "r"),
                                       "tolist = torch.ops.aten._local_scalar_dense.default(w0)"});
        lines.push_back(shard_first ? replicate : shard);
        lines.insert(lines.end(), {"wa = " + kWait + "(a)", "wr = " + kWait + "(r)", "return (wa, wr)"});
        return graphOf(function("x: \"f32[4]\", y: \"f32[4]\"", lines));
    };
    for (const bool sync : {false, true}) {
        std::vector<GraphPtr> ranks(64, rank(true, sync));
        ranks[6] = ranks[7] = rank(false, sync);
        const auto made = compare(ranks);
        QCOMPARE(made->classes[0].ranks.size(), size_t{62});
        QCOMPARE(made->classes[1].text, std::string("ranks 6–7"));
        // each group alone agrees on all ranks; the difference is between the groups
        for (const RankGroup& group : made->groups)
            QCOMPARE(group.differing, size_t{0});
        QCOMPARE(made->differences.size(), size_t{1});
        QCOMPARE(made->differences[0].code, std::string("rank-order-across"));
        QCOMPARE(made->differences[0].severity, sync ? Severity::Error : Severity::Warning);
        QCOMPARE(made->cycles.at(0).certain, sync);
        QVERIFY(made->cycles.at(0).closed);
        VERIFY_SAID(made->cycles[0].steps[0].collective.text, "mesh_shard");
    }
}

/// torchao's flag was ignored: a weight of [128, 256] per rank goes over the wire in bf16 and becomes fp8
/// behind.
void TstReportCases::case63WideDtypeOnTheWire() {
    checkReport("63-fp8-flag-ignored-bf16-gather/input.md");
    const GraphPtr graph = graphOf(function(
        "x: \"f8e4m3fn[16, 256]\", p: \"bf16[128, 256]\", s: \"f32[]\"",
        {"ag: \"bf16[512, 256]\" = " + kGather + "(p, 4, '0')", "w: \"bf16[512, 256]\" = " + kWait + "(ag)",
         "c: \"f8e4m3fn[512, 256]\" = torch.ops.prims.convert_element_type.default(w, torch.float8_e4m3fn)",
         "t: \"f8e4m3fn[256, 512]\" = torch.ops.aten.t.default(c)",
         "mm: \"bf16[16, 512]\" = torch.ops.aten._scaled_mm.default(x, t, s, s)", "return (mm,)"}));
    QVERIFY(graph);
    const CollectiveTable table(*graph); // dtype and bytes of each gather
    QCOMPARE(table[0].dtype, DType::BFloat16);
    QCOMPARE(table[0].output_bytes, int64_t{512 * 256 * 2});
    const std::string message = said(lintOf(*graph), "wire-dtype");
    VERIFY_SAID(message, "in bf16");
    VERIFY_SAID(message, "f8e4m3fn");
    VERIFY_SAID(message, "128.0 KiB less on the wire");
    // in traces both names are all-gathers
    for (const char* name :
         {"_c10d_functional::all_gather_into_tensor", "c10d::allgather_into_tensor_coalesced_"})
        QCOMPARE(plainKind(collectiveOfRange(name)), CollectiveKind::AllGather);
}

/// The waits moved to another graph; FX keeps the launches because they write `out`.
void TstReportCases::case65LaunchedAndNeverWaited() {
    checkReport("65-dead-bucketed-gathers/input.md");
    const GraphPtr graph = graphOf(
        function("a: \"bf16[64]\", b: \"bf16[64]\", x: \"bf16[64]\"",
                 {"buf: \"bf16[512]\" = torch.ops.aten.empty.memory_format([512], dtype = torch.bfloat16)",
                  "plain: \"bf16[512]\" = " + kGather + "(a, 8, '0');  plain = None",
                  "bucket: \"bf16[512]\" = torch.ops._c10d_functional.all_gather_into_tensor_out.default(b, "
                  "8, '0', out = "
                  "buf);  bucket = None",
                  "y: \"bf16[64]\" = torch.ops.aten.relu.default(x)", "return (y,)"}));
    QVERIFY(graph);
    const Diagnostics found = lintOf(*graph);
    std::vector<std::string> named;
    for (const Diagnostic& item : found.all()) {
        if (item.code != "never-waited")
            continue;
        named.push_back(item.node);
        VERIFY_SAID(item.message, "nothing waits for");
        VERIFY_SAID(item.message, "nothing uses its result: dead communication");
    }
    QCOMPARE(named, (std::vector<std::string>{"plain", "bucket"}));
}

/// Reduce-scatter inputs of all layers live at once: bytes held grow with the layers; waiting one by one they
/// do not.
void TstReportCases::case67MemoryHeldByCollectives() {
    checkReport("67-gather-and-rs-memory-held/input.md");
    const auto held = [](int layers, bool all_first, const Settings& settings) {
        std::vector<std::string> lines, waits;
        std::string returned;
        for (int i = 0; i < layers; ++i) {
            lines.push_back(fmt::format("g{0}: \"f32[16384, 1024]\" = torch.ops.aten.mul.Tensor(x, {0})", i));
            lines.push_back(fmt::format("rs{0}: \"f32[2048, 1024]\" = {1}(g{0}, 'avg', 8, '0');  g{0} = None",
                                        i, kScatter));
            auto& to = all_first ? waits : lines;
            to.push_back(fmt::format("w{0}: \"f32[2048, 1024]\" = {1}(rs{0});  rs{0} = None", i, kWait));
            returned += fmt::format("w{}, ", i);
        }
        lines.insert(lines.end(), waits.begin(), waits.end());
        lines.push_back("return (" + returned + ")");
        return lintOf(*graphOf(function("x: \"f32[16384, 1024]\"", lines)), settings);
    };
    // inputs of 64 MiB, held from launch to wait
    VERIFY_SAID(said(held(4, true, {}), "memory-held"), "256.0 MiB");
    VERIFY_SAID(said(held(8, true, {}), "memory-held"), "512.0 MiB");
    VERIFY_SAID(said(held(8, false, {}), "memory-held"), "64.0 MiB"); // O(1) in layers
    Settings settings;
    QVERIFY(settings.set(Setting::HeldLimitMib, "300").ok());
    QCOMPARE(find(held(8, true, settings), "memory-held")->severity, Severity::Warning);
    QCOMPARE(find(held(4, true, settings), "memory-held")->severity, Severity::Info);
    // gathers in flight: limit_all_gathers means 2
    std::vector<std::string> lines;
    for (int i = 0; i < 3; ++i)
        lines.push_back(fmt::format("ag{0}: \"bf16[8192]\" = {1}(p{0}, 8, '0')", i, kGather));
    for (int i = 0; i < 3; ++i) {
        lines.push_back(fmt::format("w{0}: \"bf16[8192]\" = {1}(ag{0})", i, kWait));
        lines.push_back(fmt::format("m{0}: \"bf16[8192]\" = torch.ops.aten.relu.default(w{0})", i));
    }
    lines.push_back("return (m0, m1, m2)");
    const Diagnostics gathers =
        lintOf(*graphOf(function("p0: \"bf16[1024]\", p1: \"bf16[1024]\", p2: \"bf16[1024]\"", lines)));
    VERIFY_SAID(said(gathers, "memory-held"), "at most 3 gathers");
}

namespace {

/// 96 rows over 5 ranks: ranks 0–3 hold 20, rank 4 holds 16 and pads by 4; every result is cut to 96 rows.
GraphPtr unevenGraph(int rows, bool with_pad) {
    const std::string shard = with_pad ? "pad" : "p";
    std::vector<std::string> lines;
    if (with_pad)
        lines.push_back(fmt::format(
            "pad: \"f32[20, 16]\" = torch.ops.aten.constant_pad_nd.default(p, [0, 0, 0, {}], 0.0)",
            20 - rows));
    lines.insert(lines.end(), {"ag: \"f32[100, 16]\" = " + kGather + "(" + shard + ", 5, '0')",
                               "w: \"f32[100, 16]\" = " + kWait + "(ag)",
                               "full: \"f32[96, 16]\" = torch.ops.aten.slice.Tensor(w, 0, 0, 96)",
                               "mm: \"f32[8, 16]\" = torch.ops.aten.mm.default(x, full)", "return (mm,)"});
    return graphOf(function(fmt::format("x: \"f32[8, 96]\", p: \"f32[{}, 16]\"", rows), lines));
}

} // namespace

void TstReportCases::case68UnevenAndEmptyShards() {
    checkReport("68-uneven-and-empty-shards/input.md");
    for (const int rows : {16, 0}) {
        const GraphPtr graph = unevenGraph(rows, true);
        QVERIFY(graph);
        QCOMPARE(graph->value(graph->find("p").value()).bytes(), int64_t{rows} * 16 * 4); // 0 is a size
        const CollectiveTable table(*graph);
        QVERIFY(table[0].weight_gather);
        QCOMPARE(table[0].parameters, std::vector<NodeId>{graph->find("p").value()});
        QCOMPARE(table[0].output_bytes, int64_t{100 * 16 * 4}); // of the result's annotation
        // the parameter is the slice, not the wait: what first uses it is the matmul
        QCOMPARE(table[0].consumers, std::vector<NodeId>{graph->find("mm").value()});
        const Diagnostics found = lintOf(*graph);
        VERIFY_SAID(said(found, "uneven-shards"), "padded");
        QCOMPARE(find(found, "empty-shard") != nullptr, rows == 0);
        QVERIFY(!find(found, "shard-size"));
    }
}

void TstReportCases::case68RanksWithAndWithoutPads() {
    const GraphPtr whole = unevenGraph(20, false);
    const auto made = compare({whole, whole, whole, whole, unevenGraph(16, true)});
    QCOMPARE(made->mode, RankMode::Slot);
    QVERIFY2(!made->hasFindings() && made->cycles.empty(), made->verdict.c_str());
    // and a rank with nothing takes part with padding alone
    QVERIFY(!compare({whole, unevenGraph(0, true)})->hasFindings());
}

/// SeqNum is the n-th collective of its group since the job began: placed in a graph by kind, size and
/// number.
void TstReportCases::case69WatchdogNumbers() {
    const auto line = [](int number, const char* op, int in, int out, const char* group = "") {
        return fmt::format(
            "[rank7]:[E901 05:20:03.123992144 ProcessGroupNCCL.cpp:632] {}[Rank 7] Watchdog caught "
            "collective operation timeout: WorkNCCL(SeqNum={}, OpType={}, NumelIn={}, NumelOut={}, "
            "Timeout(ms)=600000) ran for 600020 milliseconds before timing out.\n",
            group, number, op, in, out);
    };
    const std::string graph = function(
        "p: \"bf16[64]\", q: \"bf16[64]\", x: \"f32[]\", y: \"f32[]\"",
        {"ag: \"bf16[512]\" = " + kGather + "(p, 8, '0')", "r: \"f32[]\" = " + kReduce + "(x, 'sum', '0')",
         "ag2: \"bf16[512]\" = " + kGather + "(q, 8, '0')", "r2: \"f32[]\" = " + kReduce + "(y, 'sum', '1')",
         "w = " + kWait + "(ag)", "w2 = " + kWait + "(ag2)", "wr = " + kWait + "(r)",
         "wr2 = " + kWait + "(r2)", "return (w, w2, wr, wr2)"});
    struct Row {
        std::string log, node, part;
    };
    for (const Row& row :
         {// gathers of one size: number 6 of steps of 3 is the third of its step
          Row{line(6, "_ALLGATHER_BASE", 64, 512), "ag2", "it is number 3, \"ag2\""},
          Row{line(4, "_ALLGATHER_BASE", 64, 512), "ag", "it is one of 2 of that kind and size"},
          Row{line(5, "_ALLGATHER_BASE", 64, 512), "", "it is one of 2"}, // the second is a reduce
          Row{line(460631, "ALLREDUCE", 1, 1, "[PG ID 1 PG GUID 1(dp) Rank 7] "), "r2", "it is \"r2\""},
          Row{line(460631, "ALLREDUCE", 1, 1), "", "it is one of 2"}, // of two groups
          Row{line(3, "ALLREDUCE", 4096, 4096), "", "no collective of this graph has that kind and size"},
          Row{line(3, "BROADCAST", 1, 1), "", "eager code"}}) {
        const Opened opened = openText(row.log + graph); // such lines between graphs do no harm
        QVERIFY(opened.result.ok());
        QCOMPARE(opened.graph().size(), size_t{13});
        const Diagnostic* item = opened.find("watchdog-timeout");
        QVERIFY2(item, row.log.c_str());
        QCOMPARE(item->where.line, 1u);
        QCOMPARE(item->node, row.node);
        VERIFY_SAID(item->message, row.part);
        VERIFY_SAID(item->message, "rank 7 waited in vain for collective");
    }
    // cut in the middle of a line: nothing is made up
    const std::string whole = line(6, "_ALLGATHER_BASE", 64, 512);
    for (size_t length = 0; length < whole.size(); ++length) {
        for (const WatchdogTimeout& item : watchdogTimeouts(whole.substr(0, length)))
            QCOMPARE(item.number, int64_t{6});
    }
}

/// A log of the watchdog among the files of the ranks, as people have it.
void TstReportCases::case69WatchdogOfARank() {
    const auto path = casePath("69-nccl-watchdog-order-mismatch-log/input.md");
    if (!path)
        return;
    checkReport("69-nccl-watchdog-order-mismatch-log/input.md"); // alone it is named for what it is
    const std::vector<WatchdogTimeout> timeouts = watchdogTimeouts(readAll(*path));
    QCOMPARE(timeouts.size(), size_t{1});
    QCOMPARE(timeouts[0].rank, 7);
    QCOMPARE(timeouts[0].number, int64_t{460631});
    QCOMPARE(timeouts[0].op, std::string("ALLREDUCE"));
    QCOMPARE(timeouts[0].elements_in, int64_t{1});
    QCOMPARE(timeouts[0].line, 3u);
    const QTemporaryDir folder;
    std::vector<std::string> files;
    for (const char* rank : {"6", "7"}) {
        const QString name = folder.filePath(QString("graph_rank%1.txt").arg(rank));
        QFile file(name);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(
            function("x: \"f32[1]\", p: \"bf16[64]\"",
                     {"ag: \"bf16[512]\" = " + kGather + "(p, 8, '0')",
                      "r: \"f32[1]\" = " + kReduce + "(x, 'sum', '0')", "w = " + kWait + "(ag)",
                      "wr = " + kWait + "(r)", "return (w, wr)"})));
        files.push_back(name.toStdString());
    }
    files.push_back(*path);
    const RanksResult made = compareRankFiles(files, "none", {});
    QVERIFY2(!made.error, made.error ? made.error->message.c_str() : "");
    QCOMPARE(made.comparison->ranks.size(), size_t{2});
    QCOMPARE(made.comparison->differences.size(), size_t{1});
    const RankDifference& item = made.comparison->differences[0];
    QCOMPARE(item.code, std::string("watchdog-timeout"));
    QCOMPARE(item.a.rank, 1);
    VERIFY_SAID(item.message,
                "rank 7 waited in vain for collective 460,631 of its group (ALLREDUCE, 1 element");
    VERIFY_SAID(item.message, "it is \"r\"");
}

void TstReportCases::case72LaunchAndWaitInTwoGraphs() {
    const std::string first = function(
        "x: \"f32[64]\"", {"pending: \"f32[64]\" = " + kReduce + "(x, 'sum', '0')",
                           "y: \"f32[64]\" = torch.ops.aten.relu.default(x)", "return (y, pending)"});
    const std::string second = function("other: \"f32[8]\", pending: \"f32[64]\"",
                                        {"w: \"f32[64]\" = " + kWait + "(pending)", "return (w,)"});
    const GraphPtr a = graphOf(first), b = graphOf(second);
    QVERIFY(a && b);
    // graph A: launched here, returned un-waited, not dead; graph B: waits for an input
    const Diagnostics of_a = lintOf(*a), of_b = lintOf(*b);
    VERIFY_SAID(said(of_a, "leaves-in-flight"), "returns the result of \"pending\" without waiting for it");
    QVERIFY(!find(of_a, "never-waited") && !find(of_a, "dead-collective"));
    VERIFY_SAID(said(of_b, "in-flight-at-entry"), "\"pending\"");
    // both in one file: output 1 of A is input "pending" of B
    const auto of = [](const char* label, const GraphPtr& graph) {
        return LintGraph{label, graph, std::make_shared<CollectiveTable>(*graph)};
    };
    Diagnostics across;
    lintAcross(std::vector{of("A", a), of("B", b)}, across);
    VERIFY_SAID(said(across, "launch-wait-split"),
                "returned un-waited as output 1; B waits for it as its input \"pending\"");
    QCOMPARE(openText(first + "\n" + second).result.value().entries.size(), size_t{2});
    const auto path = casePath("72-graph-break-between-launch-and-wait/input.md");
    if (!path)
        return;
    const Opened report = open(*path); // the lines before the break are a part of a graph
    QVERIFY(report.result.ok() && report.find("fragment"));
    QCOMPARE(CollectiveTable(report.graph()).size(), size_t{1});
}

QTEST_GUILESS_MAIN(TstReportCases)
#include "tst_report_cases.moc"
