// An analysis with a profile store: what runs again when, and what the measured contention changes.
#include "analysis/analysis.h"
#include "cost/profile_store.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>

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
    void measuredAnalysis();
};

void TestMeasuredAnalysis::measuredAnalysis() {
    const auto graphs = test::corpusGraphs();
    if (graphs.empty())
        return; // corpusGraphs said so
    const auto find = [&](const std::string& name) { return std::find(graphs.begin(), graphs.end(), name); };
    const std::string name = find("aot_mlp_fsdp8_fwd") != graphs.end() ? "aot_mlp_fsdp8_fwd" : graphs.front();
    AnalysisRequest request;
    request.graph_file = *test::corpusPath("graphs/" + name + ".json");
    Analyser analyser;
    const auto run = [&] {
        const auto result = analyser.analyse(request, {});
        if (!result)
            qFatal("%s", result.error().message.c_str());
        return result.value();
    };
    const AnalysisPtr modelled = run();
    const CostEntry* first = nullptr;
    for (const CostEntry& entry : modelled->after.costs->entries()) {
        if (entry.provenance == Provenance::Analytical)
            first = first ? first : &entry;
    }
    QVERIFY(first);

    QTemporaryDir folder;
    const std::string path = folder.filePath("store.db").toStdString();
    auto store = ProfileStore::open(path);
    QVERIFY(store.ok());
    Profile profile;
    profile.device = "a device";
    profile.entries = {{first->key, first->kind, first->label, 4242, 10, 1, -1, 1, Provenance::Measured, ""}};
    profile.contention = {{"gather", "mm", 8192, 1000, 2000, 500, 600}};
    QVERIFY(store->add(profile).ok());
    QVERIFY(request.settings.set(Setting::ProfileStore, path).ok());
    const NodeId node = first->nodes.front();

    AnalysisPtr analysis = run();
    QVERIFY(!reused(*analysis, "costs"));
    QCOMPARE(analysis->after.costs->ns(node), int64_t(4242));
    QCOMPARE(analysis->after.costs->entry(node)->provenance, Provenance::Measured);
    QCOMPARE(analysis->after.costs->count(Provenance::Missing),
             modelled->after.costs->count(Provenance::Missing));
    analysis = run();
    QVERIFY(reused(*analysis, "costs") && reused(*analysis, "schedule"));

    profile.entries[0].ns = 4343; // the store's own connection is still open: it stands in the log only
    QVERIFY(store->add(profile).ok());
    QCOMPARE(run()->after.costs->ns(node), int64_t(4343));

    request.cost_pins = {{first->key, "analytical"}};
    analysis = run();
    QCOMPARE(analysis->after.costs->ns(node), first->ns);
    request.cost_pins = {};

    QCOMPARE(analysis->request.settings.number(Setting::Contention), 1.5);
    QVERIFY(request.settings.set(Setting::MeasuredContention, "true").ok());
    analysis = run();
    QCOMPARE(analysis->request.settings.number(Setting::Contention), 2.0);
    QCOMPARE(analysis->request.settings.number(Setting::ComputeSlowdown), 1.2);
    QVERIFY(!reused(*analysis, "schedule") && !reused(*analysis, "simulate"));
    for (const Decision& decision : analysis->after.schedule->decisions) {
        if (decision.verdict != Verdict::NotCandidate)
            QCOMPARE(decision.need_ns, decision.comm_ns * 2.0 + 5000);
    }
}

QTEST_GUILESS_MAIN(TestMeasuredAnalysis)
#include "tst_measured_analysis.moc"
