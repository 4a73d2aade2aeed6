// An analysis with a profile store: what runs again when, and what the measured contention changes.
#include "analysis/analysis.h"
#include "cost/profile_store.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <memory>

using namespace gs;

namespace {

bool reused(const Analysis& analysis, const std::string& stage) {
    for (const StageTime& time : analysis.times) {
        if (time.stage == stage)
            return time.reused;
    }
    return false;
}

} // namespace

class TestMeasuredAnalysis : public QObject {
    Q_OBJECT
private slots:
    void init();
    void runsAgain();
    void measuredContention();
    void contentionBelowOne();

private:
    AnalysisPtr run();
    Profile profile(int64_t ns) const;

    QTemporaryDir folder_;
    std::string store_;
    std::unique_ptr<Analyser> analyser_;
    AnalysisRequest request_;
    AnalysisPtr modelled_;            ///< without the store
    const CostEntry* cost_ = nullptr; ///< one that the model knows; null = no graph at hand, which was said
};

AnalysisPtr TestMeasuredAnalysis::run() {
    const auto result = analyser_->analyse(request_, {});
    if (!result)
        qFatal("%s", result.error().message.c_str());
    return result.value();
}

Profile TestMeasuredAnalysis::profile(int64_t ns) const {
    Profile made;
    made.device = "a device";
    made.entries = {{cost_->key, cost_->kind, cost_->label, ns, 10, 1, -1, 1, Provenance::Measured, ""}};
    made.contention = {{"gather", "mm", 8192, 1000, 2000, 500, 600}};
    return made;
}

void TestMeasuredAnalysis::init() {
    const auto graphs = test::corpusGraphs();
    if (graphs.empty())
        return;
    const std::string wanted = "aot_mlp_fsdp8_fwd";
    const bool there = std::find(graphs.begin(), graphs.end(), wanted) != graphs.end();
    request_ = {};
    request_.graph_file = *test::corpusPath("graphs/" + (there ? wanted : graphs.front()) + ".json");
    analyser_ = std::make_unique<Analyser>();
    modelled_ = run();
    const auto entries = modelled_->after.costs->entries();
    const auto found = std::find_if(entries.begin(), entries.end(), [](const CostEntry& entry) {
        return entry.provenance == Provenance::Analytical;
    });
    QVERIFY(found != entries.end());
    cost_ = &*found;
    store_ = folder_.filePath("store.db").toStdString();
    QVERIFY(request_.settings.set(Setting::ProfileStore, store_).ok());
}

void TestMeasuredAnalysis::runsAgain() {
    if (!cost_)
        return;
    auto store = ProfileStore::open(store_);
    QVERIFY(store.ok() && store->add(profile(4242)).ok());
    const NodeId node = cost_->nodes.front();
    AnalysisPtr analysis = run();
    QVERIFY(!reused(*analysis, "costs"));
    QCOMPARE(analysis->after.costs->ns(node), int64_t(4242));
    QCOMPARE(analysis->after.costs->entry(node)->provenance, Provenance::Measured);
    QCOMPARE(analysis->after.costs->count(Provenance::Missing),
             modelled_->after.costs->count(Provenance::Missing));
    analysis = run();
    QVERIFY(reused(*analysis, "costs") && reused(*analysis, "schedule"));

    QVERIFY(store->add(profile(4343)).ok()); // the connection is still open: it stands in the log only
    QCOMPARE(run()->after.costs->ns(node), int64_t(4343));
    request_.cost_pins = {{cost_->key, "analytical"}};
    QCOMPARE(run()->after.costs->ns(node), cost_->ns);
}

void TestMeasuredAnalysis::measuredContention() {
    if (!cost_)
        return;
    QVERIFY(ProfileStore::open(store_)->add(profile(4242)).ok());
    QCOMPARE(run()->request.settings.number(Setting::Contention), 1.5);
    QVERIFY(request_.settings.set(Setting::MeasuredContention, "true").ok());
    const AnalysisPtr analysis = run();
    QCOMPARE(analysis->request.settings.number(Setting::Contention), 2.0);
    QCOMPARE(analysis->request.settings.number(Setting::ComputeSlowdown), 1.2);
    QVERIFY(!reused(*analysis, "schedule") && !reused(*analysis, "simulate"));
    for (const Decision& decision : analysis->after.schedule->decisions) {
        if (decision.verdict != Verdict::NotCandidate)
            QCOMPARE(decision.need_ns, decision.comm_ns * 2.0 + 5000);
    }
}

/// Measured on a busy machine: transfers "faster" beside compute would make the windows too short.
void TestMeasuredAnalysis::contentionBelowOne() {
    if (!cost_)
        return;
    Profile noisy = profile(4242);
    noisy.contention = {{"gather", "mm", 8192, 1000, 750, 500, 600}};
    QVERIFY(ProfileStore::open(store_)->add(noisy).ok());
    const auto warned = [](const AnalysisPtr& analysis) {
        const auto& all = analysis->diagnostics.all();
        return std::any_of(all.begin(), all.end(), [](const Diagnostic& item) {
            return item.code == "contention-below-one" && item.severity == Severity::Warning;
        });
    };
    QVERIFY(!warned(run())); // not asked for
    QVERIFY(request_.settings.set(Setting::MeasuredContention, "true").ok());
    for (int round = 0; round < 2; ++round) { // the second time from the caches
        const AnalysisPtr analysis = run();
        QCOMPARE(analysis->request.settings.number(Setting::Contention), 1.0);
        QCOMPARE(analysis->request.settings.number(Setting::ComputeSlowdown), 1.2);
        QVERIFY(warned(analysis));
    }
}

QTEST_GUILESS_MAIN(TestMeasuredAnalysis)
#include "tst_measured_analysis.moc"
