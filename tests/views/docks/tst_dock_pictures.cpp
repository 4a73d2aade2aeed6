// Every dock in light and dark at the sizes of the design. GATHERSCOPE_PICTURES=DIR keeps the pictures for a
// person to look at; QT_SCALE_FACTOR=2 makes them as on a dense display.
#include "dock_test.h"
#include "views/docks/costs_view.h"
#include "views/docks/data_table.h"
#include "views/docks/diagnostics_view.h"
#include "views/docks/gathers_view.h"
#include "views/docks/settings_view.h"
#include "views/docks/why_view.h"

#include "support/test_data.h"

#include <QDir>

using namespace gs;

namespace {

AnalysisPtr bigAnalysis() {
    const auto graph = test::corpusPath("graphs/llama3_8b_fsdp64_joint.json");
    const auto costs = test::corpusPath("costs/llama3_8b_fsdp64_joint.commlight.json");
    if (!graph || !costs)
        return test::sampleAnalysis();
    AnalysisRequest request;
    request.graph_file = *graph;
    request.cost_files = {*costs};
    Analyser analyser;
    Result<AnalysisPtr> result = analyser.analyse(request, {});
    return result ? result.value() : nullptr;
}

/// The third gather with that verdict: in the middle of things.
Selection pick(const Analysis& analysis, Verdict verdict) {
    Selection found;
    int count = 0;
    for (const Decision& decision : analysis.after.schedule->decisions) {
        if (decision.verdict == verdict && (count++ < 3 || (verdict == Verdict::Hidden && count < 63)))
            found = {Selection::Kind::Gather,
                     QString::fromStdString(std::string(analysis.after.graph->name(decision.launch)))};
    }
    return found;
}

} // namespace

class TestDockPictures : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { analysis_ = bigAnalysis(); }
    void pictures_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void pictures();

private:
    void picture(View& view, const QString& name, QSize size, const Selection& selection,
                 const AnalysisPtr& analysis);

    test::IsolatedSettings settings_;
    AnalysisPtr analysis_;
};

void TestDockPictures::picture(View& view, const QString& name, QSize size, const Selection& selection,
                               const AnalysisPtr& analysis) {
    view.setSnapshot(analysis);
    view.setSelection(selection);
    test::showAt(view, size.width(), size.height());
    QTest::qWait(20);
    const QImage image = view.grab().toImage();
    QCOMPARE(image.size(), size * view.devicePixelRatio());
    QVERIFY(image.pixelColor(image.width() / 2, image.height() - 2).value() > 0);
    const QString folder = qEnvironmentVariable("GATHERSCOPE_PICTURES");
    if (!folder.isEmpty())
        QVERIFY(image.save(QDir(folder).filePath(
            QStringLiteral("%1-%2.png").arg(name, Theme::current().dark ? "dark" : "light"))));
}

void TestDockPictures::pictures() {
    QFETCH(bool, dark);
    Theme::apply(dark);
    const Selection hidden = pick(*analysis_, Verdict::Hidden);
    const Selection limited = pick(*analysis_, Verdict::ComputeLimited);
    test::SampleOptions options;
    options.edit = [](Analysis& analysis) {
        analysis.diagnostics.add({Severity::Info,
                                  "no-wait",
                                  {"sample.json", 16, 1},
                                  "unwaited_gather",
                                  "nothing waits for it",
                                  "remove it, or wait for it"});
        analysis.diagnostics.add({Severity::Error,
                                  "unknown-input",
                                  {"sample.json", 1234, 5},
                                  "mm_3",
                                  "argument \"view_9\" is not defined before its use",
                                  "dump the graph again"});
        analysis.diagnostics.add(
            {Severity::Warning, "missing-cost", {}, "mystery", "no source knows its time", ""});
    };
    const AnalysisPtr sample = test::sampleAnalysis(options);
    {
        GathersView gathers;
        picture(gathers, "gathers", {560, 400}, hidden, analysis_);
        GathersView small;
        small.table()->sortByColumn(GathersModel::Window, Qt::DescendingOrder);
        small.table()->setColumnShown(GathersModel::VerdictText, true);
        picture(small, "gathers-sample", {760, 400}, pick(*sample, Verdict::Hidden), sample);
        WhyView why;
        const Selection w1{Selection::Kind::Gather,
                           QString::fromStdString(std::string(analysis_->after.graph->name(
                               test::launchOf(*analysis_, "layers.2.feed_forward.w1.weight"))))};
        picture(why, "why", {420, 400}, w1, analysis_);
        WhyView tall;
        picture(tall, "why-tall", {420, 640}, w1, analysis_);
        WhyView carried;
        picture(carried, "why-carried", {420, 640}, hidden, analysis_);
        WhyView why_limited;
        picture(why_limited, "why-limited", {420, 640}, limited, analysis_);
        WhyView other;
        picture(other, "why-other", {420, 400}, {Selection::Kind::Gather, "activation_gather"}, sample);
        WhyView empty;
        picture(empty, "why-empty", {420, 400}, {}, sample);
        CostsView costs;
        picture(costs, "costs", {560, 400}, {}, analysis_);
        CostsView sample_costs;
        picture(sample_costs, "costs-sample", {560, 400}, {Selection::Kind::Node, "mm"}, sample);
        SettingsView settings;
        picture(settings, "settings", {420, 640}, {}, sample);
        DiagnosticsView diagnostics;
        picture(diagnostics, "diagnostics", {560, 300}, {}, sample);
    }
}

QTEST_MAIN(TestDockPictures)
#include "tst_dock_pictures.moc"
