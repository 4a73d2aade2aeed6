// The parts around the window with the real core: command line, file kinds, samples, pictures.
#include "app/banner.h"
#include "app/command_line.h"
#include "app/export/export_dialog.h"
#include "app/file_kind.h"
#include "app/grab.h"
#include "app/main_window.h"
#include "export/exporter.h"
#include "fake_analysis.h"
#include "support/test_data.h"
#include "views/docks/chip.h"
#include "views/docks/filter_field.h"
#include "views/docks/gathers_view.h"
#include "views/theme.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QImage>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace gs;

class TestShell : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init() { warnings_ = std::make_unique<test::WarningGuard>(); }
    void cleanup();
    void commandLine();
    void commandLineErrors_data();
    void commandLineErrors();
    void fileKinds();
    void samplesAreWhatTheySay();
    void samplesIndexIsChecked();
    void realViews();
    void bigGraphStaysFluid();
    void picturesAreEqual();

private:
    QString file(const QString& name, const QByteArray& content);

    QTemporaryDir folder_;
    std::unique_ptr<test::WarningGuard> warnings_;
};

void TestShell::initTestCase() {
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope,
                       folder_.filePath(QStringLiteral("settings")));
    Theme::apply(false);
}

void TestShell::cleanup() {
    QCOMPARE(warnings_->take(), QStringList());
}

QString TestShell::file(const QString& name, const QByteArray& content) {
    const QString path = folder_.filePath(name);
    QFile out(path);
    if (out.open(QIODevice::WriteOnly))
        out.write(content);
    return path;
}

void TestShell::commandLine() {
    const QString graph = file(QStringLiteral("g.json"), R"({"format":"gatherscope.graph"})");
    const QString costs = file(QStringLiteral("c.json"), R"({"format":"gatherscope.costs"})");
    const auto line = parseCommandLine({costs, graph, "--costs", "d.json", "--set", "contention=2.5",
                                        "--scheduler", "program-order", "--graph=1", "--theme", "dark",
                                        "--grab=out", "--size", "800x600", "--scale", "2"});
    QVERIFY2(line.ok(), line.ok() ? "" : line.error().message.c_str());
    QCOMPARE(line->graphs, QStringList(graph));
    QCOMPARE(line->costs, (QStringList{costs, QDir::current().absoluteFilePath(QStringLiteral("d.json"))}));
    QCOMPARE(line->settings.number(Setting::Contention), 2.5);
    QCOMPARE(line->settings.text(Setting::Scheduler), std::string("program-order"));
    QCOMPARE(line->theme, ThemeChoice::Dark);
    QCOMPARE(line->grab_folder, QStringLiteral("out"));
    QCOMPARE(line->size, QSize(800, 600));
    QCOMPARE(line->scale, 2.0);
    const AnalysisRequest request = requestOf(line.value(), graph);
    QCOMPARE(request.graph_index, 1);
    const auto picked = parseCommandLine({graph, "--rank", "1", "--stage", "post_grad"});
    QCOMPARE(requestOf(picked.value(), graph).rank, 1);
    QCOMPARE(requestOf(picked.value(), graph).stage, std::string("post_grad"));
    QCOMPARE(request.cost_files.size(), size_t(2));
    QVERIFY(parseCommandLine({"--help"})->help);
    QVERIFY(parseCommandLine({"--version"})->version);
    QVERIFY(commandLineHelp().contains(QStringLiteral("--grab <DIR>")));
}

void TestShell::commandLineErrors_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("part");
    QTest::newRow("unknown option") << QStringList{"--colour", "red"} << "colour";
    QTest::newRow("no value") << QStringList{"--costs"} << "costs";
    QTest::newRow("setting without value") << QStringList{"--set", "contention"} << "NAME=VALUE";
    QTest::newRow("unknown setting") << QStringList{"--set", "speed=9"} << "speed";
    QTest::newRow("out of range") << QStringList{"--set", "contention=0"} << "contention";
    QTest::newRow("theme") << QStringList{"--theme", "pink"} << "pink";
    QTest::newRow("size") << QStringList{"--size", "big"} << "big";
    QTest::newRow("scale") << QStringList{"--scale", "0"} << "scale";
    QTest::newRow("graph") << QStringList{"--graph", "-3"} << "graph";
    QTest::newRow("grab without a graph") << QStringList{"--grab", "out"} << "graph";
}

void TestShell::commandLineErrors() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, part);
    const auto line = parseCommandLine(arguments);
    QVERIFY(!line.ok());
    const QString message = QString::fromStdString(line.error().message);
    QVERIFY2(message.contains(part), qPrintable(message));
}

void TestShell::fileKinds() {
    QVERIFY(mayHoldSeveralGraphs(folder_.path()));
    QVERIFY(mayHoldSeveralGraphs(file(QStringLiteral("log"), "V1201 10:00:00 a.py:1] {}")));
    QVERIFY(!mayHoldSeveralGraphs(file(QStringLiteral("json"), "\n {\"format\": \"gatherscope.graph\"}")));
    QVERIFY(!mayHoldSeveralGraphs(folder_.filePath(QStringLiteral("missing"))));
    QCOMPARE(fileKind(file(QStringLiteral("a"), R"({"format": "gatherscope.costs"})")), FileKind::Costs);
    QCOMPARE(fileKind(file(QStringLiteral("b"), R"({"schemaVersion": 1, "traceEvents": []})")),
             FileKind::Costs);
    QCOMPARE(fileKind(file(QStringLiteral("c"), "class GraphModule(torch.nn.Module):")), FileKind::Graph);
    QCOMPARE(fileKind(file(QStringLiteral("d"), "")), FileKind::Graph);
    QCOMPARE(fileKind(QStringLiteral("/nowhere")), FileKind::Graph);
    for (const Sample& sample : readSamples(samplesFolder())) {
        QCOMPARE(fileKind(sample.graph), FileKind::Graph);
        for (const QString& costs : sample.costs)
            QCOMPARE(fileKind(costs), FileKind::Costs);
    }
}

void TestShell::samplesAreWhatTheySay() {
    const QList<Sample> samples = readSamples(samplesFolder());
    QVERIFY(!samples.isEmpty());
    MainWindow window(makeAnalyseFunction());
    for (const Sample& sample : samples) {
        window.openSample(sample);
        QTRY_VERIFY_WITH_TIMEOUT(!window.document().busy(), 30'000);
        const SnapshotPtr snapshot = window.document().snapshot();
        QVERIFY2(snapshot && snapshot->request.graph_file == sample.graph.toStdString(),
                 qPrintable(sample.title));
        QCOMPARE(static_cast<int>(snapshot->source.graph->size()), sample.nodes);
        QCOMPARE(static_cast<int>(CollectiveTable(*snapshot->source.graph).weightGatherCount()),
                 sample.gathers);
        QVERIFY(!sample.story.isEmpty());
    }
}

void TestShell::samplesIndexIsChecked() {
    QVERIFY(readSamples({}).isEmpty());
    QVERIFY(readSamples(folder_.path()).isEmpty());
    file(QStringLiteral("there.json"), "{}");
    file(QStringLiteral("index.json"),
         R"([{"title":"A","graph":"there.json","settings":{"contention":2,"carry":false}},
             {"title":"B","graph":"gone.json"}, {"graph":"there.json"}, 7])");
    const QList<Sample> samples = readSamples(folder_.path());
    QCOMPARE(samples.size(), 1);
    QCOMPARE(samples[0].settings.value(QStringLiteral("contention")), QStringLiteral("2"));
    QCOMPARE(samples[0].settings.value(QStringLiteral("carry")), QStringLiteral("false"));
}

/// Everything the shell does, with the views of the registry in it.
void TestShell::realViews() {
    MainWindow window(makeAnalyseFunction());
    window.show();
    window.openSample(readSamples(samplesFolder()).front());
    QTRY_VERIFY_WITH_TIMEOUT(window.document().snapshot(), 30'000);
    for (const View* view : window.workspace().views())
        QCOMPARE(view->snapshot(), window.document().snapshot());
    for (const char* id :
         {"gathers", "costs", "settings", "ranks", "diagnostics", "why", "graph", "timeline"})
        QVERIFY2(window.workspace().show(QString::fromLatin1(id)), id);
    QTest::keyClick(&window, Qt::Key_J);
    QTest::keyClick(&window, Qt::Key_J);
    const Selection chosen = window.document().selection();
    QCOMPARE(chosen.kind, Selection::Kind::Gather);
    for (const View* view : window.workspace().views())
        QCOMPARE(view->selection(), chosen);
    auto* gathers = qobject_cast<GathersView*>(window.workspace().view(QStringLiteral("gathers")));
    QVERIFY(gathers);
    window.statusLine().button(StatusLine::Part::Hidden)->click();
    QVERIFY(gathers->chip(GathersFilter::Hidden)->isChecked());
    window.statusLine().button(StatusLine::Part::Exposed)->click();
    QVERIFY(!gathers->chip(GathersFilter::Hidden)->isChecked());
    QVERIFY(gathers->chip(GathersFilter::Exposed)->isChecked());
    window.statusLine().button(StatusLine::Part::Missing)->click();
    window.action(QStringLiteral("filter"))->trigger();
    QCOMPARE(QApplication::focusWidget(), gathers->filterField());
    // Every export has a command that opens the dialog with it.
    for (const Exporter& exporter : exporters()) {
        const QString id = QString::fromUtf8(exporter.name.data());
        QAction* action = window.action(QStringLiteral("export-") + id);
        QVERIFY(action && action->isEnabled());
        action->trigger();
        auto* dialog = window.findChild<ExportDialog*>();
        QVERIFY(dialog);
        QCOMPARE(dialog->current()->id, id);
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->busy(), 10'000);
        const QString path = folder_.filePath(id);
        dialog->saveTo(path);
        QTRY_VERIFY_WITH_TIMEOUT(QFileInfo(path).size() > 0 && dialog->message().contains(path), 10'000);
        delete dialog;
    }
    const QString schedulers[] = {QStringLiteral("program-order"), QStringLiteral("just-in-time"),
                                  QStringLiteral("latest-safe-launch")};
    for (const QString& name : schedulers) {
        window.document().setSetting(QStringLiteral("scheduler"), name);
        QTest::qWait(70);
        window.document().setSetting(QStringLiteral("bucket_mode"), QStringLiteral("coalesced"));
        QTRY_VERIFY_WITH_TIMEOUT(!window.document().busy(), 10'000);
        QVERIFY(window.grab().width() > 0);
        window.document().undoStack()->undo();
    }
    for (const bool dark : {true, false}) {
        window.applyTheme(dark ? ThemeChoice::Dark : ThemeChoice::Light);
        QVERIFY(window.grab().width() > 0);
    }
    window.showEmpty();
    QVERIFY(window.grab().width() > 0);
}

/// The window's own share of a settings change: everything but the core.
void TestShell::bigGraphStaysFluid() {
    const auto graph = test::corpusPath("graphs/llama3_405b_fsdp64_joint.json");
    const auto costs = test::corpusPath("costs/llama3_405b_fsdp64_joint.roofline.json");
    if (!graph || !costs)
        return;
    double core_ms = 0;
    AnalyseFunction analyse = makeAnalyseFunction();
    MainWindow window(
        [&](const AnalysisRequest& request, const JobContext& job) {
            QElapsedTimer timer;
            timer.start();
            auto result = analyse(request, job);
            core_ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
            return result;
        },
        test::fakeViews());
    window.show();
    window.openFiles({QString::fromStdString(*graph)}, {QString::fromStdString(*costs)});
    QTRY_VERIFY_WITH_TIMEOUT(window.document().snapshot(), 60'000);
    window.document().select({Selection::Kind::Gather, QStringLiteral("nowhere")});
    double own_ms = 1e9;
    for (int i = 0; i < 5; ++i) {
        QTest::qWait(100);
        QSignalSpy arrived(&window.document(), &Document::snapshotChanged);
        QElapsedTimer timer;
        timer.start();
        window.document().setSetting(QStringLiteral("contention"), QString::number(2 + i * 0.1));
        while (arrived.isEmpty())
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        own_ms = std::min(own_ms, static_cast<double>(timer.nsecsElapsed()) / 1e6 - core_ms);
    }
    std::printf("settings change on %s: core %.1f ms, window %.1f ms\n", "36,891 nodes", core_ms, own_ms);
}

/// Of any channel of any pixel.
static int greatestDifference(const QImage& a, const QImage& b) {
    if (a == b)
        return 0;
    int most = 0;
    for (int y = 0; y < a.height(); ++y) {
        for (int x = 0; x < a.width(); ++x) {
            const QRgb p = a.pixel(x, y), q = b.pixel(x, y);
            most = std::max({most, std::abs(qRed(p) - qRed(q)), std::abs(qGreen(p) - qGreen(q)),
                             std::abs(qBlue(p) - qBlue(q)), std::abs(qAlpha(p) - qAlpha(q))});
        }
    }
    return most;
}

void TestShell::picturesAreEqual() {
    const QList<Sample> samples = readSamples(samplesFolder());
    const QString graph = QFileInfo(samples[1].graph).baseName();
    QStringList names;
    for (int round = 0; round < 2; ++round) {
        CommandLine line;
        line.graphs = {samples[1].graph};
        line.costs = samples[1].costs;
        line.size = {1280, 720};
        line.grab_folder = folder_.filePath(QString::number(round));
        QCOMPARE(runGrab(line), int(kExitDone));
        const QDir dir(line.grab_folder);
        names = dir.entryList(QDir::Files, QDir::Name);
        QVERIFY(names.contains(graph + QStringLiteral("-window-dark.png")));
        QVERIFY(names.contains(QStringLiteral("state-error-light.png")));
        QCOMPARE(names.size() % 2, 0);
        QCOMPARE(QImage(dir.filePath(QStringLiteral("state-samples-light.png"))).size(), QSize(1280, 720));
    }
    for (const QString& name : names) {
        const QImage one(folder_.filePath("0/" + name)), two(folder_.filePath("1/" + name));
        QCOMPARE(one.size(), two.size());
        // Letters of SVG previews are the exception that grab.h names.
        const int most = name.contains(QLatin1String("-svg-")) ? 8 : 0;
        QVERIFY2(greatestDifference(one, two) <= most, qPrintable(name));
    }
    CommandLine bad;
    bad.graphs = {folder_.filePath(QStringLiteral("missing.json"))};
    bad.grab_folder = folder_.filePath(QStringLiteral("2"));
    QCOMPARE(runGrab(bad), int(kExitUnreadable));
}

QTEST_MAIN(TestShell)
#include "tst_shell.moc"
