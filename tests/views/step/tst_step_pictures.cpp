// Pictures of the step-through on real graphs, the largest one included.
// GATHERSCOPE_PICTURES=DIR keeps them for a person to look at.
#include "step_test.h"
#include "views/step/step_canvas.h"

#include <QBuffer>
#include <QDir>
#include <QElapsedTimer>
#include <QPainter>
#include <QSvgGenerator>

using namespace gs;

class TestStepPictures : public QObject {
    Q_OBJECT
private slots:
    void init() { Theme::apply(false); }
    void largest();
    void vectorPicture();
    void states();
    void pictures_data();
    void pictures();

private:
    test::IsolatedSettings settings_;
};

void TestStepPictures::largest() {
    const AnalysisPtr analysis = test::analyse("llama3_405b_fsdp64_joint", "commlight");
    if (!analysis)
        return;
    StepView view;
    view.setSnapshot(analysis);
    QElapsedTimer timer;
    timer.start();
    test::showAt(view, 1400, 400);
    qInfo("prepared and shown in %lld ms", static_cast<long long>(timer.elapsed()));
    const int steps = int(view.data().size());
    QVERIFY(steps > 800);
    timer.restart();
    for (int i = 0; i < 20; ++i) {
        view.goTo(i * steps / 20);
        QVERIFY(!view.grab().isNull());
    }
    qInfo("a step painted in %lld ms", static_cast<long long>(timer.elapsed() / 20));
    // Only what is visible is drawn.
    QVERIFY(view.canvas()->scene().rects.size() < 3000);
}

/// As the window saves it: texts stay texts.
void TestStepPictures::vectorPicture() {
    test::Shown shown;
    shown.view.goTo(4);
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(shown.view.size());
    generator.setViewBox(shown.view.rect());
    QPainter painter(&generator);
    shown.view.render(&painter);
    painter.end();
    QVERIFY(buffer.data().contains("claimed by") && buffer.data().contains("pointer"));
    const QString folder = qEnvironmentVariable("GATHERSCOPE_PICTURES");
    QFile file(QDir(folder).filePath(QStringLiteral("step.svg")));
    if (!folder.isEmpty())
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(buffer.data()) > 0);
}

/// Under way, beside another scheduler, with nothing to show.
void TestStepPictures::states() {
    const QString folder = qEnvironmentVariable("GATHERSCOPE_PICTURES");
    StepView view;
    view.setAutoFillBackground(true);
    QPalette palette = view.palette();
    palette.setColor(QPalette::Window, Theme::current().panel);
    view.setPalette(palette);
    test::showAt(view, 1200, 420);
    const auto save = [&](const char* name) {
        QTest::qWait(1);
        const QPixmap picture = view.grab();
        QVERIFY(!picture.isNull());
        if (!folder.isEmpty())
            QVERIFY(picture.save(QDir(folder).filePath(QStringLiteral("step-state-%1.png").arg(name))));
    };
    save("empty");
    test::SampleOptions options;
    options.layers = 6;
    view.setSnapshot(test::sampleAnalysis(options));
    view.goTo(3);
    for (int i = 0; i < 3; ++i)
        view.walk(1);
    QVERIFY(view.fill() < 1);
    save("walking");
    options.scheduler = "just-in-time";
    view.setSnapshot(test::sampleAnalysis(options));
    save("other");
}

void TestStepPictures::pictures_data() {
    QTest::addColumn<QString>("graph");
    QTest::addColumn<QString>("costs");
    QTest::newRow("8b") << "llama3_8b_fsdp64_joint"
                        << "commlight";
    QTest::newRow("mlp4") << "mlp4_fsdp8_joint"
                          << "roofline";
}

void TestStepPictures::pictures() {
    QFETCH(QString, graph);
    QFETCH(QString, costs);
    const QString folder = qEnvironmentVariable("GATHERSCOPE_PICTURES");
    const AnalysisPtr analysis = test::analyse(graph.toStdString(), costs.toStdString());
    if (!analysis)
        return;
    for (const bool dark : folder.isEmpty() ? std::vector{false} : std::vector{false, true}) {
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

QTEST_MAIN(TestStepPictures)
#include "tst_step_pictures.moc"
