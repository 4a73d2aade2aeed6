// A trace of a run held against the simulation: synthetic traces with known errors, real ones of other
// programs.
#include "explain/measured_run.h"
#include "export/measured_text.h"
#include "support/sample_analysis.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace gs;
using Json = nlohmann::json;

namespace QTest {
template <>
char* toString(const std::string& text) {
    return qstrdup(text.c_str());
}
} // namespace QTest

namespace {

/// How a run differs from its simulation.
struct Perturbation {
    std::function<int64_t(const Collective&, int64_t)> duration = [](const Collective&, int64_t ns) {
        return ns;
    };
    int64_t clock_ns = 1'700'000'000'000'000; ///< of the trace, at the first step's begin
    int steps = 1;
    int32_t left_out = -1; ///< collective that the trace lacks
    bool named_groups = true;
    int rank = 0;
};

std::string micros(int64_t ns) {
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::string_view profilerName(CollectiveKind kind) {
    return kind == CollectiveKind::ReduceScatter ? "_reduce_scatter_base"
           : kind == CollectiveKind::AllReduce   ? "allreduce"
                                                 : "_allgather_base";
}

/// The simulated step as a profiler would have recorded it.
std::string kinetoOf(const Analysis& analysis, const Perturbation& change) {
    const Program& program = analysis.after;
    std::string events;
    const auto add = [&](const std::string& event) { events += (events.empty() ? "\n" : ",\n") + event; };
    int64_t correlation = 1;
    for (int step = 0; step < change.steps; ++step) {
        const int64_t begin = change.clock_ns + step * (program.timeline->step_ns + 1'000'000);
        for (NodeId id = 0; id < program.graph->size(); ++id) {
            const int64_t start = program.timeline->start_ns[id], end = program.timeline->end_ns[id];
            if (end > start && program.graph->node(id).kind == NodeKind::Compute)
                add(fmt::format(
                    "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":{},"
                    "\"dur\":{},\"args\":{{\"device\":0,\"stream\":7,\"correlation\":{}}}}}",
                    micros(begin + start), micros(end - start), correlation++));
        }
        for (const Transfer& transfer : program.timeline->transfers) {
            const Collective& item = (*program.collectives)[static_cast<size_t>(transfer.collective)];
            if (transfer.collective == change.left_out)
                continue;
            const int64_t bytes = dtypeBytes(item.dtype);
            add(fmt::format(
                "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_Generic\",\"pid\":0,\"tid\":20,"
                "\"ts\":{},"
                "\"dur\":{},\"args\":{{\"device\":0,\"stream\":20,\"correlation\":{},\"Collective "
                "name\":\"{}\","
                "\"In msg nelems\":{},\"Out msg nelems\":{},\"Group size\":{},\"dtype\":\"BFloat16\"{}}}}}",
                micros(begin + transfer.start_ns),
                micros(change.duration(item, transfer.end_ns - transfer.start_ns)), correlation++,
                profilerName(item.kind), item.input_bytes / bytes, item.output_bytes / bytes, item.group_size,
                change.named_groups
                    ? fmt::format(",\"Process Group Name\":\"{}\"",
                                  program.graph->text(program.graph->groups()[item.group].name))
                    : std::string()));
        }
    }
    return fmt::format("{{\"distributedInfo\":{{\"rank\":{},\"world_size\":8}},\"traceEvents\":[{}\n]}}\n",
                       change.rank, events);
}

} // namespace

class TestMeasuredRun : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void perfectPrediction();
    void knownErrors();
    void severalSteps();
    void gapsAndUnnamedGroups();
    void ranks();
    void otherPrograms();
    void outputs();

private:
    MeasuredRun measured(const std::vector<Perturbation>& changes);
    std::string write(const Perturbation& change);

    QTemporaryDir folder_;
    AnalysisPtr analysis_;
    int files_ = 0;
};

void TestMeasuredRun::initTestCase() {
    analysis_ = test::sampleAnalysis();
    QVERIFY(analysis_->after.collectives->size() > 10);
}

std::string TestMeasuredRun::write(const Perturbation& change) {
    const std::string path = fmt::format("{}/trace{}.json", folder_.path().toStdString(), files_++);
    std::ofstream(path) << kinetoOf(*analysis_, change);
    return path;
}

MeasuredRun TestMeasuredRun::measured(const std::vector<Perturbation>& changes) {
    std::vector<std::string> paths;
    for (const Perturbation& change : changes)
        paths.push_back(write(change));
    Result<MeasuredRun> run = measureRun(*analysis_, paths);
    if (!run)
        qWarning("%s", run.error().message.c_str());
    return run ? run.value() : MeasuredRun();
}

void TestMeasuredRun::perfectPrediction() {
    const MeasuredRun run = measured({{}});
    QCOMPARE(run.matched, analysis_->after.collectives->size());
    QCOMPARE(run.unmatched, size_t(0));
    QCOMPARE(run.steps, size_t(1));
    QVERIFY(run.single_rank);
    for (const MeasuredTransfer& item : run.transfers) {
        const Transfer& predicted =
            analysis_->after.timeline->transfers[static_cast<size_t>(item.collective)];
        QCOMPARE(item.start_ns, predicted.start_ns);
        QCOMPARE(item.ns, predicted.end_ns - predicted.start_ns);
        QCOMPARE(item.skew_ns, int64_t(-1));
    }
    QCOMPARE(run.errors.front().count, run.matched);
    QCOMPARE(run.errors.front().bias_ns, int64_t(0));
    QCOMPARE(run.errors.front().spread_ns, int64_t(0));
    QCOMPARE(run.errors.front().worst_ns, int64_t(0));
    // What no compute covers is what the simulation calls exposed, and the idle ends of transfers.
    QVERIFY(run.errors.front().measured_exposed_ns >= 0);
    QVERIFY(!run.compute.empty());
}

void TestMeasuredRun::knownErrors() {
    Perturbation change;
    change.duration = [](const Collective& item, int64_t ns) {
        return item.kind == CollectiveKind::AllGather ? ns * 3 / 2 : ns + 7000;
    };
    const MeasuredRun run = measured({change});
    QCOMPARE(run.matched, analysis_->after.collectives->size());
    int64_t sum = 0, longest = 0;
    size_t count = 0;
    for (const Transfer& transfer : analysis_->after.timeline->transfers) {
        if (!(*analysis_->after.collectives)[static_cast<size_t>(transfer.collective)].isGather())
            continue;
        const int64_t ns = transfer.end_ns - transfer.start_ns;
        sum += ns * 3 / 2 - ns;
        longest = std::max(longest, ns * 3 / 2 - ns);
        ++count;
    }
    const auto row = [&](CollectiveKind kind) {
        const auto found = std::find_if(run.errors.begin(), run.errors.end(),
                                        [&](const MeasuredErrors& errors) { return errors.kind == kind; });
        return found == run.errors.end() ? MeasuredErrors() : *found;
    };
    QCOMPARE(row(CollectiveKind::AllGather).count, count);
    QCOMPARE(row(CollectiveKind::AllGather).bias_ns, sum / int64_t(count));
    QCOMPARE(row(CollectiveKind::AllGather).worst_ns, longest);
    QCOMPARE(row(CollectiveKind::ReduceScatter).bias_ns, int64_t(7000));
    QCOMPARE(row(CollectiveKind::ReduceScatter).spread_ns, int64_t(0));
    QCOMPARE(row(CollectiveKind::None).count, run.matched);
}

void TestMeasuredRun::severalSteps() {
    Perturbation change;
    change.steps = 3;
    const MeasuredRun run = measured({change});
    QCOMPARE(run.steps, size_t(3));
    QCOMPARE(run.calls, 3 * analysis_->after.collectives->size());
    QCOMPARE(run.unmatched, size_t(0));
    QCOMPARE(run.errors.front().bias_ns, int64_t(0));
    for (const MeasuredTransfer& item : run.transfers)
        QCOMPARE(item.start_ns,
                 analysis_->after.timeline->transfers[static_cast<size_t>(item.collective)].start_ns);
}

void TestMeasuredRun::gapsAndUnnamedGroups() {
    Perturbation change;
    change.left_out = 3;
    change.named_groups = false;
    const MeasuredRun run = measured({change});
    QCOMPARE(run.matched + 1, analysis_->after.collectives->size());
    QCOMPARE(run.errors.front().count, run.matched);
    QVERIFY(!run.diagnostics.all().empty());
    QCOMPARE(run.diagnostics.all().front().code, std::string("unmatched-collectives"));
}

void TestMeasuredRun::ranks() {
    Perturbation slow, quick;
    slow.duration = [](const Collective&, int64_t ns) { return ns + 50'000; };
    slow.clock_ns = 5'000'000'000'000;
    slow.rank = 1;
    const MeasuredRun run = measured({slow, quick});
    QVERIFY(!run.single_rank);
    QCOMPARE(run.errors.front().bias_ns, int64_t(0));
    for (const MeasuredTransfer& item : run.transfers)
        QCOMPARE(item.skew_ns, int64_t(50'000));
}

void TestMeasuredRun::otherPrograms() {
    const std::string none = folder_.path().toStdString() + "/none.json";
    std::ofstream(none)
        << "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":1,"
           "\"ts\":1,\"dur\":1,\"args\":{\"stream\":1,\"device\":0,\"correlation\":1}}]}";
    QCOMPARE(measureRun(*analysis_, {none}).error().code, std::string("no-collectives"));
    QVERIFY(!measureRun(*analysis_, {folder_.path().toStdString() + "/missing.json"}).ok());
    // Real traces of other programs: an error or remarks, never a false match of every collective.
    for (const char* name : {"50-kineto-ddp-pg-metadata", "51-kineto-allgather-without-metadata",
                             "54-kineto-ddp-rank1-pid1", "70-cupti-skew-kernel-before-launch"}) {
        const auto folder = test::casePath(name);
        if (!folder)
            continue;
        for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
            const std::string file = entry.path().string();
            if (file.find("trace") == std::string::npos && file.find("input") == std::string::npos)
                continue;
            const Result<MeasuredRun> run = measureRun(*analysis_, {file});
            if (run)
                QVERIFY(run->matched < analysis_->after.collectives->size());
            else
                QVERIFY(!run.error().message.empty());
        }
    }
}

void TestMeasuredRun::outputs() {
    const MeasuredRun run = measured({{}});
    const std::string text = measuredText(*analysis_, run);
    QVERIFY(text.find("all_gather") != std::string::npos);
    QVERIFY(text.find("skew") != std::string::npos);
    const std::string csv = measuredCsv(*analysis_, run);
    QCOMPARE(size_t(std::count(csv.begin(), csv.end(), '\n')), analysis_->after.collectives->size() + 1);
    const Json json = Json::parse(measuredJson(*analysis_, run));
    QCOMPARE(json.at("transfers").size(), run.matched);
    QVERIFY(json.at("includes_skew") == true);
}

QTEST_GUILESS_MAIN(TestMeasuredRun)
#include "tst_measured_run.moc"
