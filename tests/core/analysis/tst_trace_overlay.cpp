// A trace as part of the request: what reruns for it, and that everything else is as without it.
#include "explain/measured_run.h"
#include "export/analysis_json.h"
#include "support/kineto_trace.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace gs;

namespace {

/// Names of the stages that ran anew.
std::string ran(const Analysis& analysis) {
    std::string names;
    for (const StageTime& time : analysis.times)
        names += time.reused ? "" : time.stage + " ";
    return names;
}

} // namespace

class TestTraceOverlay : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        request_.graph_file = *test::corpusPath("graphs/mlp4_fsdp8_joint.json");
        if (const auto costs = test::corpusPath("costs/mlp4_fsdp8_joint.roofline.json"))
            request_.cost_files = {*costs};
        plain_ = analyse(request_);
        QVERIFY(plain_ && plain_->after.collectives->size() > 0);
        QVERIFY(!plain_->measured && !plain_->measured_error);
    }

    void onlyTheOverlayReruns() {
        AnalysisRequest request = request_;
        request.trace_files = {write({})};
        const AnalysisPtr with = analyse(request);
        QVERIFY(with && with->measured);
        QCOMPARE(ran(*with), std::string("traces measured "));
        QCOMPARE(with->after.timeline, plain_->after.timeline);
        QCOMPARE(with->measured->matched, with->after.collectives->size());
        QCOMPARE(with->measured->errors.front().worst_ns, int64_t(0));
        QCOMPARE(ran(*analyse(request)), std::string());
        // Another simulation: the trace is not read again.
        QVERIFY(request.settings.set(Setting::SimulatedContention, "1.7").ok());
        const AnalysisPtr slower = analyse(request);
        QCOMPARE(ran(*slower), std::string("simulate measured "));
        // Another trace, and the ranks of a run.
        test::Perturbation slow;
        slow.duration = [](const Collective&, int64_t ns) { return ns + 5'000; };
        request = request_;
        request.trace_files = {write(slow)};
        QCOMPARE(analyse(request)->measured->errors.front().bias_ns, int64_t(5'000));
        request.trace_files.push_back(write({}));
        const AnalysisPtr ranks = analyse(request);
        QVERIFY(!ranks->measured->single_rank);
        QCOMPARE(ranks->measured->errors.front().bias_ns, int64_t(0));
        QCOMPARE(ran(*analyse(request_)), std::string());
    }

    void jsonChangesOnlyWithATrace() {
        const std::string before = writeAnalysisJson(*plain_);
        AnalysisRequest request = request_;
        request.trace_files = {write({})};
        const nlohmann::json with = nlohmann::json::parse(writeAnalysisJson(*analyse(request)));
        QCOMPARE(with.at("measured").at("transfers").size(), plain_->after.collectives->size());
        QCOMPARE(with.at("measured").at("errors").at(0).at("bias_ns").get<int>(), 0);
        QVERIFY(before == writeAnalysisJson(*analyse(request_)));
        QVERIFY(before.find("\"measured\": {") == std::string::npos);
    }

    void whatCannotBeLaidOverIsSaid() {
        const std::string none = folder_.filePath("none.json").toStdString();
        std::ofstream(none) << "{\"traceEvents\":[]}";
        for (const std::string& file : {none, folder_.filePath("missing.json").toStdString()}) {
            AnalysisRequest request = request_;
            request.trace_files = {file};
            const AnalysisPtr analysis = analyse(request);
            QVERIFY(analysis && !analysis->measured && analysis->measured_error);
            QVERIFY(analysis->after.timeline);
            QVERIFY(analysis->diagnostics.hasErrors());
            QCOMPARE(analysis->diagnostics.all().back().code, analysis->measured_error->code);
        }
    }

private:
    AnalysisPtr analyse(const AnalysisRequest& request) {
        const auto analysis = analyser_.analyse(request, {});
        return analysis ? analysis.value() : nullptr;
    }
    std::string write(const test::Perturbation& change) {
        const std::string path = folder_.filePath(QString("trace%1.json").arg(files_++)).toStdString();
        std::ofstream(path) << test::kinetoOf(*plain_, change);
        return path;
    }

    QTemporaryDir folder_;
    int files_ = 0;
    Analyser analyser_;
    AnalysisRequest request_;
    AnalysisPtr plain_;
};

QTEST_GUILESS_MAIN(TestTraceOverlay)
#include "tst_trace_overlay.moc"
