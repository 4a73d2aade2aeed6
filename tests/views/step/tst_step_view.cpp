// The step-through: what it says and draws for a step, and everything a person can do with it.
// GATHERSCOPE_PICTURES=DIR keeps pictures for a person to look at.
#include "../docks/dock_test.h"
#include "views/step/step_canvas.h"
#include "views/step/step_controls.h"
#include "views/step/step_text.h"
#include "views/step/step_view.h"

#include "support/test_data.h"

#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QSlider>

using namespace gs;

namespace {

AnalysisPtr analyse(const std::string& name, const std::string& costs) {
    const auto graph = test::corpusPath("graphs/" + name + ".json");
    const auto table = test::corpusPath("costs/" + name + "." + costs + ".json");
    if (!graph || !table)
        return nullptr;
    AnalysisRequest request;
    request.graph_file = *graph;
    request.cost_files = {*table};
    Analyser analyser;
    Result<AnalysisPtr> result = analyser.analyse(request, {});
    return result ? result.value() : nullptr;
}

} // namespace

class TestStepView : public QObject {
    Q_OBJECT
private slots:
    void init() { Theme::apply(false); }
    void pictures_data();
    void pictures();

private:
    test::IsolatedSettings settings_;
};

void TestStepView::pictures_data() {
    QTest::addColumn<QString>("graph");
    QTest::addColumn<QString>("costs");
    QTest::newRow("8b") << "llama3_8b_fsdp64_joint"
                        << "commlight";
    QTest::newRow("mlp4") << "mlp4_fsdp8_joint"
                          << "roofline";
}

void TestStepView::pictures() {
    QFETCH(QString, graph);
    QFETCH(QString, costs);
    const QString folder = qEnvironmentVariable("GATHERSCOPE_PICTURES");
    const AnalysisPtr analysis = analyse(graph.toStdString(), costs.toStdString());
    if (!analysis)
        return;
    for (const bool dark : {false, true}) {
        Theme::apply(dark);
        for (const QSize size : {QSize(1380, 390), QSize(1600, 900), QSize(760, 420)}) {
            StepView view;
            view.setAutoFillBackground(true);
            QPalette palette = view.palette();
            palette.setColor(QPalette::Window, Theme::current().panel);
            view.setPalette(palette);
            view.setSnapshot(analysis);
            test::showAt(view, size.width(), size.height());
            const int steps = static_cast<int>(view.data().size());
            for (const int step : {0, 1, 2, 3, steps / 3, steps - 40, steps - 2, steps - 1}) {
                if (step < 0 || step >= steps)
                    continue;
                view.goTo(step);
                QTest::qWait(1); // the layout follows the texts
                QVERIFY(!view.grab().isNull());
                if (!folder.isEmpty())
                    QVERIFY(view.grab().save(
                        QDir(folder).filePath(QStringLiteral("step-%1-%2-%3-%4.png")
                                                  .arg(QLatin1String(QTest::currentDataTag()))
                                                  .arg(size.width())
                                                  .arg(step)
                                                  .arg(dark ? "dark" : "light"))));
            }
        }
    }
}

QTEST_MAIN(TestStepView)
#include "tst_step_view.moc"
