// The window as a person uses it, with views that only hold what they are given.
#include "app/banner.h"
#include "app/command_palette.h"
#include "app/header_bar.h"
#include "app/help_overlay.h"
#include "app/main_window.h"
#include "app/message_page.h"
#include "app/undo.h"
#include "drop_files.h"
#include "fake_analysis.h"
#include "views/shell/samples_page.h"
#include "views/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QRadioButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace gs;
using gs::test::FakeCore;

class TestMainWindow : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void everyViewHoldsTheSamePointer();
    void oneSelectionForAll();
    void startsWithSamples();
    void sampleOpensByKeyboard();
    void errorPageSaysWhatAndWhere();
    void errorKeepsTheOldPicture();
    void loadingCancels();
    void closeDuringLoad();
    void dropGraphAndCosts();
    void dropOnNothingAsksForAGraph();
    void statusLineSaysItAll();
    void statusLinksOpenDocks();
    void changesByHandAreListedAndTakenBack();
    void headerSaysWhatIsOpen();
    void popupChangesTheSetting();
    void viewsAskForSettings();
    void undoByKey();
    void stepThroughGathers();
    void everyActionCanBeTriggered();
    void paletteFindsAndRuns();
    void helpOpensAndCloses();
    void recentFiles();
    void recentFilesBringTheRequestBack();
    void fileChangeOffersReload();

private:
    std::unique_ptr<MainWindow> make();
    std::unique_ptr<MainWindow> opened();
    QString file(const QString& name, const QByteArray& content = "{}");

    std::unique_ptr<test::WarningGuard> warnings_;
    std::unique_ptr<QTemporaryDir> folder_;
    std::shared_ptr<FakeCore> core_;
};

void TestMainWindow::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("GatherscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("GatherscopeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    Theme::apply(false);
}

void TestMainWindow::init() {
    warnings_ = std::make_unique<test::WarningGuard>();
    folder_ = std::make_unique<QTemporaryDir>();
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope,
                       folder_->filePath(QStringLiteral("settings")));
    core_ = std::make_shared<FakeCore>();
}

void TestMainWindow::cleanup() {
    QCOMPARE(warnings_->take(), QStringList());
    warnings_.reset();
}

std::unique_ptr<MainWindow> TestMainWindow::make() {
    auto window = std::make_unique<MainWindow>(test::fakeAnalyse(core_), test::fakeViews());
    window->show();
    window->activateWindow();
    [&] { QVERIFY(QTest::qWaitForWindowActive(window.get())); }();
    return window;
}

std::unique_ptr<MainWindow> TestMainWindow::opened() {
    auto window = make();
    window->openFiles({file(QStringLiteral("graph.json"))}, {});
    [&] { QTRY_COMPARE(window->page(), MainWindow::Page::Panels); }();
    return window;
}

QString TestMainWindow::file(const QString& name, const QByteArray& content) {
    const QString path = folder_->filePath(name);
    QFile out(path);
    if (out.open(QIODevice::WriteOnly))
        out.write(content);
    return path;
}

void TestMainWindow::everyViewHoldsTheSamePointer() {
    const auto window = opened();
    QCOMPARE(window->workspace().views().size(), size_t(7));
    for (int round = 0; round < 3; ++round) {
        const SnapshotPtr before = window->document().snapshot();
        window->document().setSetting(QStringLiteral("contention"), QString::number(2 + round));
        QTRY_VERIFY(window->document().snapshot() != before);
        for (const View* view : window->workspace().views())
            QCOMPARE(view->snapshot(), window->document().snapshot());
        QTest::qWait(80);
    }
    window->showEmpty();
    for (const View* view : window->workspace().views())
        QVERIFY(!view->snapshot());
    QCOMPARE(window->page(), MainWindow::Page::Message);
}

void TestMainWindow::oneSelectionForAll() {
    const auto window = opened();
    const Selection selection{Selection::Kind::Gather, QStringLiteral("ag_2")};
    emit window->workspace().views()[3]->selectionRequested(selection);
    for (const View* view : window->workspace().views())
        QCOMPARE(view->selection(), selection);
}

void TestMainWindow::startsWithSamples() {
    const auto window = make();
    QCOMPARE(window->page(), MainWindow::Page::Samples);
    QVERIFY(window->statusLine().text().isEmpty());
    const QList<Sample> samples = readSamples(samplesFolder());
    QVERIFY(!samples.isEmpty());
    QCOMPARE(window->findChild<QListView*>(QStringLiteral("samples"))->model()->rowCount(), samples.size());
}

void TestMainWindow::sampleOpensByKeyboard() {
    const auto window = make();
    auto* list = window->findChild<QListView*>(QStringLiteral("samples"));
    QTRY_VERIFY(list->hasFocus());
    QTest::keyClick(list, Qt::Key_Right);
    QCOMPARE(list->currentIndex().row(), 1);
    QTest::keyClick(list, Qt::Key_Return);
    QTRY_COMPARE(window->page(), MainWindow::Page::Panels);
    QCOMPARE(window->document().snapshot()->request.graph_file,
             readSamples(samplesFolder())[1].graph.toStdString());
    // Samples over an open graph: Escape goes back.
    window->showSamples();
    QCOMPARE(window->page(), MainWindow::Page::Samples);
    QTest::keyClick(window.get(), Qt::Key_Escape);
    QCOMPARE(window->page(), MainWindow::Page::Panels);
    // A click opens once, and only once.
    window->showSamples();
    const int before = core_->started;
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                      list->visualRect(list->model()->index(0, 0)).center());
    QTRY_COMPARE(window->page(), MainWindow::Page::Panels);
    QTRY_VERIFY(!window->document().busy());
    QCOMPARE(core_->started - before, 1);
}

void TestMainWindow::errorPageSaysWhatAndWhere() {
    const auto window = make();
    window->openFiles({file(QStringLiteral("bad.txt"))}, {});
    QTRY_COMPARE(window->page(), MainWindow::Page::Message);
    QStringList texts;
    for (const QLabel* label : window->messagePage().findChildren<QLabel*>())
        texts.append(label->text());
    const QString all = texts.join(QLatin1Char('\n'));
    QVERIFY2(all.contains(QStringLiteral("bad.txt could not be opened")), qPrintable(all));
    QVERIFY2(all.contains(QStringLiteral("bad.txt, line 3, column 7")), qPrintable(all));
    QVERIFY2(all.contains(QStringLiteral("Open a graph.")), qPrintable(all));
}

void TestMainWindow::errorKeepsTheOldPicture() {
    const auto window = opened();
    const SnapshotPtr old = window->document().snapshot();
    window->openFiles({file(QStringLiteral("bad.txt"))}, {});
    QTRY_VERIFY(!window->banner().message().isEmpty());
    QCOMPARE(window->page(), MainWindow::Page::Panels);
    QCOMPARE(window->document().snapshot(), old);
    QVERIFY(window->banner().message().contains(QStringLiteral("No reader knows")));
    QTest::keyClick(window.get(), Qt::Key_Escape);
    QVERIFY(window->banner().message().isEmpty());
}

void TestMainWindow::loadingCancels() {
    core_->delay_ms = 10'000;
    const auto window = make();
    window->openFiles({file(QStringLiteral("slow.json"))}, {});
    QCOMPARE(window->page(), MainWindow::Page::Loading);
    QTRY_COMPARE(window->loadingPage().stage(), QStringLiteral("waiting"));
    QTest::mouseClick(window->loadingPage().findChild<QPushButton*>(), Qt::LeftButton);
    QCOMPARE(window->page(), MainWindow::Page::Message);
    QTRY_COMPARE(core_->running.load(), 0);
}

void TestMainWindow::closeDuringLoad() {
    core_->delay_ms = 10'000;
    auto window = make();
    window->openFiles({file(QStringLiteral("slow.json"))}, {});
    QTRY_VERIFY(core_->running > 0);
    QVERIFY(window->close());
    window.reset();
    QCOMPARE(core_->running.load(), 0);
}

void TestMainWindow::dropGraphAndCosts() {
    const auto window = make();
    const QString graph = file(QStringLiteral("g.json"), R"({"format":"gatherscope.graph"})");
    const QString costs = file(QStringLiteral("g.fast.json"), R"({"format":"gatherscope.costs"})");
    const QString more = file(QStringLiteral("trace.json"), R"({"traceEvents":[]})");
    QVERIFY(test::dropFiles(*window, {costs, graph}));
    QTRY_VERIFY(window->document().snapshot());
    QCOMPARE(window->document().request().graph_file, graph.toStdString());
    QCOMPARE(window->document().request().cost_files, std::vector{costs.toStdString()});
    // A trace may be meant as costs or as a run to lay over: the banner asks.
    const auto choose = [&](const char* text) {
        QVERIFY(test::dropFiles(*window, {more}));
        QVERIFY(window->banner().message().contains(QStringLiteral("trace.json")));
        for (auto* button : window->banner().findChildren<QPushButton*>())
            if (button->text() == QLatin1String(text))
                button->click();
        QVERIFY(window->banner().message().isEmpty());
    };
    choose("Lay over");
    QTRY_COMPARE(window->document().snapshot()->request.trace_files, std::vector{more.toStdString()});
    QTRY_VERIFY(window->action(QStringLiteral("removeTrace"))->isEnabled());
    window->action(QStringLiteral("removeTrace"))->trigger();
    QTRY_VERIFY(window->document().snapshot()->request.trace_files.empty());
    QCOMPARE(window->document().request().cost_files, std::vector{costs.toStdString()});
    choose("Use as costs");
    QTRY_COMPARE(window->document().snapshot()->request.cost_files,
                 (std::vector{more.toStdString(), costs.toStdString()}));
    QVERIFY(window->document().undoStack()->canUndo());
}

void TestMainWindow::dropOnNothingAsksForAGraph() {
    const auto window = make();
    QVERIFY(
        test::dropFiles(*window, {file(QStringLiteral("costs.json"), R"({"format":"gatherscope.costs"})")}));
    QVERIFY(window->banner().message().contains(QStringLiteral("graph")));
    QVERIFY(!window->document().busy());
}

void TestMainWindow::statusLineSaysItAll() {
    const auto window = opened();
    const QString text = window->statusLine().text();
    QVERIFY2(text.startsWith(
                 QStringLiteral("5 of 6 gathers hidden · exposed 150.0 µs of 1.00 ms · step 1.50 ms (")),
             qPrintable(text));
    QVERIFY2(
        text.endsWith(QStringLiteral("lower bound 995.0 µs · peak gathered 448.0 MiB · 0 costs missing")),
        qPrintable(text));
    window->action(QStringLiteral("copySummary"))->trigger();
    QCOMPARE(QApplication::clipboard()->text(), text);
}

void TestMainWindow::statusLinksOpenDocks() {
    const auto window = opened();
    auto* costs = window->workspace().findChild<QDockWidget*>(QStringLiteral("costs"));
    costs->hide();
    QTest::mouseClick(window->statusLine().button(StatusLine::Part::Missing), Qt::LeftButton);
    QVERIFY(costs->isVisible());
    auto* timeline = window->workspace().findChild<QDockWidget*>(QStringLiteral("timeline"));
    timeline->hide();
    QTest::mouseClick(window->statusLine().button(StatusLine::Part::Step), Qt::LeftButton);
    QVERIFY(timeline->isVisible());
    for (int i = 0; i < StatusLine::kParts; ++i)
        window->statusLine().button(static_cast<StatusLine::Part>(i))->click();
}

void TestMainWindow::changesByHandAreListedAndTakenBack() {
    const auto window = opened();
    auto* part = window->statusLine().button(StatusLine::Part::Edits);
    QVERIFY(!part->isVisible());
    Document& document = window->document();
    document.addEdit({Edit::Kind::Forbid, "g1", {}, {}});
    document.addEdit({Edit::Kind::Bucket, {}, {}, {"g2", "g3"}});
    QTRY_COMPARE(part->text(), QStringLiteral("2 changes by hand"));
    QVERIFY(part->isVisible());
    part->click();
    auto* menu = window->findChild<QMenu*>(QStringLiteral("edits"));
    QVERIFY(menu);
    QCOMPARE(menu->actions().at(0)->text(), QStringLiteral("Take back: g1 held in its place"));
    QCOMPARE(menu->actions().at(1)->text(), QStringLiteral("Take back: bucket of g2 and 1 more"));
    menu->actions().at(0)->trigger();
    menu->close();
    QTRY_COMPARE(part->text(), QStringLiteral("1 change by hand"));
    window->action(QStringLiteral("takeBackEdits"))->trigger();
    QTRY_VERIFY(!part->isVisible());
    window->action(QStringLiteral("undo"))->trigger();
    QTRY_COMPARE(part->text(), QStringLiteral("1 change by hand"));
}

void TestMainWindow::headerSaysWhatIsOpen() {
    QCOMPARE(graphSubtitle(*test::fakeAnalysis({})->before.graph), QStringLiteral("26 nodes · 8 ranks · fx"));
    AnalysisRequest request;
    request.graph_file = "x/llama.json.gz";
    QCOMPARE(costsText(request), QStringLiteral("h100"));
    request.cost_files = {"x/llama.roofline.json"};
    QCOMPARE(costsText(request), QStringLiteral("roofline"));
    request.cost_overrides["mm"] = 1;
    QVERIFY(costsText(request).startsWith(QStringLiteral("roofline + 1 edit")));
    request.cost_files.push_back("y.json");
    QVERIFY(costsText(request).startsWith(QStringLiteral("2 files")));
}

void TestMainWindow::popupChangesTheSetting() {
    const auto window = opened();
    auto* popup = window->header().openPopup(QStringLiteral("contention"));
    QVERIFY(popup);
    auto* spin = popup->findChild<QDoubleSpinBox*>();
    QCOMPARE(spin->value(), 1.5);
    spin->setValue(2.5);
    QTRY_COMPARE(window->document().snapshot()->request.settings.number(Setting::Contention), 2.5);
    popup->close();
    popup = window->header().openPopup(QStringLiteral("slack"));
    spin = popup->findChild<QDoubleSpinBox*>();
    QCOMPARE(spin->value(), 5.0);
    spin->setValue(7.5);
    QTRY_COMPARE(window->document().snapshot()->request.settings.number(Setting::SlackNs), 7500.0);
    popup->close();
    popup = window->header().openPopup(QStringLiteral("scheduler"));
    const auto buttons = popup->findChildren<QRadioButton*>();
    QVERIFY(buttons.size() > 1);
    for (QRadioButton* button : buttons) {
        if (!button->isChecked()) {
            button->click();
            QTRY_COMPARE(QString::fromStdString(
                             window->document().snapshot()->request.settings.text(Setting::Scheduler)),
                         button->text());
            break;
        }
    }
    popup->close();
    QCOMPARE(window->document().undoStack()->count(), 3);
}

void TestMainWindow::viewsAskForSettings() {
    const auto window = opened();
    emit window->workspace().views()[0]->settingRequested(QStringLiteral("contention"), QStringLiteral("4"));
    emit window->workspace().views()[0]->costEditRequested(QStringLiteral("mm"), 5);
    QTRY_COMPARE(window->document().snapshot()->request.cost_overrides.size(), size_t(1));
    QCOMPARE(window->document().snapshot()->request.settings.number(Setting::Contention), 4.0);
}

void TestMainWindow::undoByKey() {
    const auto window = opened();
    QVERIFY(!window->action(QStringLiteral("undo"))->isEnabled());
    window->document().setSetting(QStringLiteral("contention"), QStringLiteral("4"));
    QTRY_COMPARE(window->document().snapshot()->request.settings.number(Setting::Contention), 4.0);
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(window->document().snapshot()->request.settings.number(Setting::Contention), 1.5);
    QTest::keyClick(window.get(), Qt::Key_Y, Qt::ControlModifier);
    QTRY_COMPARE(window->document().snapshot()->request.settings.number(Setting::Contention), 4.0);
}

void TestMainWindow::stepThroughGathers() {
    const auto window = opened();
    QTest::keyClick(window.get(), Qt::Key_J);
    QCOMPARE(window->document().selection().name, QStringLiteral("ag_0"));
    for (int i = 0; i < 9; ++i)
        QTest::keyClick(window.get(), Qt::Key_J);
    QCOMPARE(window->document().selection().name, QStringLiteral("ag_5"));
    QTest::keyClick(window.get(), Qt::Key_K);
    QCOMPARE(window->document().selection().name, QStringLiteral("ag_4"));
}

void TestMainWindow::everyActionCanBeTriggered() {
    const auto window = opened();
    const QList<QAction*> actions = namedActions(window.get());
    QVERIFY(actions.size() > 25);
    QSet<QKeySequence> shortcuts;
    for (const QAction* action : actions) {
        QVERIFY2(!action->objectName().isEmpty(), qPrintable(action->text()));
        for (const QKeySequence& keys : action->shortcuts()) {
            QVERIFY2(!shortcuts.contains(keys), qPrintable(action->text()));
            shortcuts.insert(keys);
        }
    }
    for (QAction* action : actions) {
        // Exporters want a whole analysis, not one of a few fields: tst_shell triggers each with the real
        // core.
        const bool exports = action->objectName().startsWith(QLatin1String("export"));
        if (action->objectName() == QLatin1String("quit") || exports)
            continue;
        action->trigger();
        QTest::qWait(5);
        for (QWidget* top : QApplication::topLevelWidgets())
            if (top != window.get() && top->isVisible() && !top->inherits("QDockWidget"))
                top->close();
        if (!window->document().snapshot() && !window->document().busy())
            window->openFiles({file(QStringLiteral("graph.json"))}, {});
        QTRY_VERIFY(!window->document().busy());
    }
    window->action(QStringLiteral("quit"))->trigger();
    QVERIFY(!window->isVisible());
}

void TestMainWindow::paletteFindsAndRuns() {
    QVERIFY(matchScore(QStringLiteral("undo"), QStringLiteral("Undo")) >
            matchScore(QStringLiteral("un"), QStringLiteral("Go to Run")));
    QVERIFY(matchScore(QStringLiteral("rl"), QStringLiteral("Reset layout")) > 0);
    QCOMPARE(matchScore(QStringLiteral("xyz"), QStringLiteral("Reset layout")), 0);
    const auto window = opened();
    QTest::keyClick(window.get(), Qt::Key_K, Qt::ControlModifier);
    CommandPalette& palette = window->palette();
    QVERIFY(palette.isVisible());
    QVERIFY(palette.shown().contains(QStringLiteral("Reset layout")));
    auto* edit = palette.findChild<QLineEdit*>();
    QTest::keyClicks(edit, QStringLiteral("next gath"));
    QCOMPARE(palette.shown().front(), QStringLiteral("Next gather"));
    QTest::keyClick(edit, Qt::Key_Return);
    QVERIFY(!palette.isVisible());
    QCOMPARE(window->document().selection().name, QStringLiteral("ag_0"));
    palette.open();
    QTest::keyClick(edit, Qt::Key_Escape);
    QVERIFY(!palette.isVisible());
}

void TestMainWindow::helpOpensAndCloses() {
    const auto window = opened();
    QTest::keyClick(window.get(), Qt::Key_F1);
    QVERIFY(window->help().isVisible());
    QCOMPARE(window->help().size(), window->size());
    QTest::keyClick(&window->help(), Qt::Key_Escape);
    QVERIFY(!window->help().isVisible());
}

void TestMainWindow::recentFiles() {
    const QString costs = file(QStringLiteral("c.json"));
    const QString first = file(QStringLiteral("first.json"));
    const QString second = file(QStringLiteral("second.json"));
    const auto window = make();
    window->openFiles({first}, {costs});
    QTRY_VERIFY(window->document().snapshot());
    window->openFiles({second}, {});
    QTRY_COMPARE(window->document().request().graph_file, second.toStdString());
    const QList<RecentFile> expected = {{second, {}}, {first, {costs}}};
    QTRY_COMPARE(Preferences::recentFiles(), expected);
    // A failed opening is not remembered.
    window->openFiles({file(QStringLiteral("bad.json"))}, {});
    QTRY_VERIFY(!window->banner().message().isEmpty());
    QCOMPARE(Preferences::recentFiles(), expected);
    for (int i = 0; i < 20; ++i)
        Preferences::addRecentFile({QString::number(i), {}});
    QCOMPARE(Preferences::recentFiles().size(), Preferences::kMaxRecent);
    Preferences::clearRecentFiles();
    QVERIFY(Preferences::recentFiles().isEmpty());
}

void TestMainWindow::recentFilesBringTheRequestBack() {
    AnalysisRequest request;
    {
        const auto window = make();
        window->openFiles({file(QStringLiteral("graph.json"))}, {file(QStringLiteral("c.json"))});
        QTRY_VERIFY(window->document().snapshot());
        Document& document = window->document();
        document.addCostFile(file(QStringLiteral("more.json")));
        document.layTracesOver({file(QStringLiteral("run.json"))});
        document.addRankFiles({file(QStringLiteral("rank1.json"))});
        document.setSetting(QStringLiteral("contention"), QStringLiteral("2.5"));
        QTRY_VERIFY(!document.busy() && sameRequest(document.request(), document.snapshot()->request));
        request = document.request();
    }
    const QList<RecentFile> recent = Preferences::recentFiles();
    QVERIFY(recent.size() == 1 && sameRequest(requestOf(recent[0]), request));
    const auto window = make();
    window->openRecent(recent[0]);
    QTRY_VERIFY(window->document().snapshot());
    QVERIFY(sameRequest(window->document().snapshot()->request, request));
}

void TestMainWindow::fileChangeOffersReload() {
    const auto window = opened();
    const SnapshotPtr old = window->document().snapshot();
    file(QStringLiteral("graph.json"), "{\"changed\": true}");
    QTRY_VERIFY(window->banner().message().contains(QStringLiteral("changed on disk")));
    const auto buttons = window->banner().findChildren<QPushButton*>();
    buttons.front()->click();
    QTRY_VERIFY(window->document().snapshot() != old);
}

QTEST_MAIN(TestMainWindow)
#include "tst_main_window.moc"
