// Inputs with several graphs, as a person opens them: drops, clicks and keys on the real window, with the
// real core and logs that the test writes.
#include "app/banner.h"
#include "app/header_bar.h"
#include "app/header_chip.h"
#include "app/main_window.h"
#include "app/message_page.h"
#include "drop_files.h"
#include "fake_analysis.h"
#include "support/time_limit.h"
#include "trace_logs.h"
#include "views/docks/data_table.h"
#include "views/docks/filter_field.h"
#include "views/shell/graph_picker.h"
#include "views/theme.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QCheckBox>
#include <QDir>
#include <QElapsedTimer>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

using namespace gs;
using namespace gs::test;

class TestGraphPicker : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void threeClicksToTheDecisions();
    void byKeyboard();
    void rankKeepsTheStage();
    void oneGraphOpensDirectly();
    void requestWithAChoiceOpensDirectly();
    void emptyFolder();
    void folderWithoutGraphs();
    void faultsAreRows();
    void hugeList();
    void filterLeavesNone();
    void cancelWhileListing();
    void closeWhileListing();
    void pickAfterCancelOrFailure();
    void pickIsUndone();
    void headerOpensThePicker();
    void recentFilesKnowTheChoice();
    void choiceSurvivesNewFiles();
    void comparesTheRanks();
    void escapeAndSamplesClose();

private:
    std::unique_ptr<MainWindow> make();
    /// With the folder of two ranks and three stages dropped on it, and its first picture there.
    std::unique_ptr<MainWindow> dropped();
    QString write(const QString& name, const QByteArray& content);
    QString traceFolder(int ranks = 2, int compilations = 1);
    void drop(MainWindow& window, const QString& path);
    void click(QWidget* widget, const QPoint& at);
    void clickRow(DataTable* table, int row);
    static QString cell(const DataTable* table, int row, int column);

    std::unique_ptr<test::WarningGuard> warnings_;
    std::unique_ptr<QTemporaryDir> folder_;
    int clicks_ = 0; ///< of the mouse; a drop is one
};

void TestGraphPicker::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("GatherscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("GatherscopeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    Theme::apply(false);
}

void TestGraphPicker::init() {
    warnings_ = std::make_unique<test::WarningGuard>();
    folder_ = std::make_unique<QTemporaryDir>();
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope,
                       folder_->filePath(QStringLiteral("settings")));
    clicks_ = 0;
}

void TestGraphPicker::cleanup() {
    QCOMPARE(warnings_->take(), QStringList());
    warnings_.reset();
}

std::unique_ptr<MainWindow> TestGraphPicker::make() {
    auto window = std::make_unique<MainWindow>(makeAnalyseFunction(), test::fakeViews());
    window->show();
    window->activateWindow();
    [&] { QVERIFY(QTest::qWaitForWindowActive(window.get())); }();
    return window;
}

std::unique_ptr<MainWindow> TestGraphPicker::dropped() {
    auto window = make();
    drop(*window, traceFolder());
    [&] {
        QTRY_VERIFY(window->picker().isVisible());
        QTRY_VERIFY(!window->busy());
        QVERIFY(window->document().snapshot());
    }();
    return window;
}

QString TestGraphPicker::write(const QString& name, const QByteArray& content) {
    const QString path = folder_->filePath(name);
    QDir().mkpath(QFileInfo(path).absolutePath());
    QFile out(path);
    if (out.open(QIODevice::WriteOnly))
        out.write(content);
    return path;
}

QString TestGraphPicker::traceFolder(int ranks, int compilations) {
    for (int rank = 0; rank < ranks; ++rank)
        write(logName(rank), logText(rank, compilations));
    return folder_->filePath(QStringLiteral("trace"));
}

void TestGraphPicker::drop(MainWindow& window, const QString& path) {
    QVERIFY(test::dropFiles(window, {path}));
    ++clicks_;
}

void TestGraphPicker::click(QWidget* widget, const QPoint& at) {
    QTest::mouseClick(widget, Qt::LeftButton, {}, at);
    ++clicks_;
}

void TestGraphPicker::clickRow(DataTable* table, int row) {
    const QRect rect = table->visualRect(table->model()->index(row, 0));
    QVERIFY(table->viewport()->rect().contains(rect.center()));
    click(table->viewport(), rect.center());
}

QString TestGraphPicker::cell(const DataTable* table, int row, int column) {
    return table->model()->index(row, column).data().toString();
}

void TestGraphPicker::threeClicksToTheDecisions() {
    const auto window = make();
    drop(*window, traceFolder());
    GraphPicker& picker = window->picker();
    QTRY_VERIFY(picker.isVisible());
    QCOMPARE(picker.rankTable()->model()->rowCount(), 2);
    QCOMPARE(cell(picker.rankTable(), 1, 0), QStringLiteral("rank 1"));
    QCOMPARE(picker.graphTable()->model()->rowCount(), 3);
    clickRow(picker.rankTable(), 1);
    const int row = 1;
    QCOMPARE(cell(picker.graphTable(), row, GraphListModel::Stage), QStringLiteral("aot_forward_graph"));
    QCOMPARE(cell(picker.graphTable(), row, GraphListModel::CompileId), QStringLiteral("0/0"));
    QCOMPARE(cell(picker.graphTable(), row, GraphListModel::Nodes), QStringLiteral("14"));
    QCOMPARE(cell(picker.graphTable(), row, GraphListModel::Gathers), QStringLiteral("3"));
    clickRow(picker.graphTable(), row);
    QTRY_VERIFY(window->document().snapshot() && window->document().snapshot()->request.rank == 1);
    const SnapshotPtr snapshot = window->document().snapshot();
    QCOMPARE(snapshot->request.stage, std::string("aot_forward_graph"));
    QCOMPARE(snapshot->after.schedule->decisions.size(), size_t(3));
    QCOMPARE(window->page(), MainWindow::Page::Panels);
    QCOMPARE(clicks_, 3);
    QTRY_COMPARE(cell(picker.graphTable(), row, GraphListModel::Note), QStringLiteral("shown"));
    for (const View* view : window->workspace().views())
        QCOMPARE(view->snapshot(), snapshot);
}

void TestGraphPicker::byKeyboard() {
    const auto window = dropped();
    GraphPicker& picker = window->picker();
    // The likeliest graph is there already, and its row is chosen.
    QCOMPARE(window->document().snapshot()->request.stage, std::string("after_post_grad_graph"));
    QCOMPARE(window->document().snapshot()->request.rank, 0);
    QVERIFY(picker.graphTable()->hasFocus());
    QCOMPARE(picker.current(), 2);
    QCOMPARE(cell(picker.graphTable(), 2, GraphListModel::Note), QStringLiteral("shown, recommended"));
    QTest::keyClick(picker.graphTable(), Qt::Key_Left);
    QVERIFY(picker.rankTable()->hasFocus());
    QTest::keyClick(picker.rankTable(), Qt::Key_Down);
    QTest::keyClick(picker.rankTable(), Qt::Key_Right);
    QTest::keyClick(picker.graphTable(), Qt::Key_Up);
    QTest::keyClick(picker.graphTable(), Qt::Key_Up);
    QVERIFY(!window->busy());
    QTest::keyClick(picker.graphTable(), Qt::Key_Return);
    QVERIFY(!picker.isVisible());
    QTRY_COMPARE(window->document().snapshot()->request.stage, std::string("dynamo_output_graph"));
    QCOMPARE(window->document().snapshot()->request.rank, 1);
    QCOMPARE(window->document().snapshot()->after.schedule->decisions.size(), size_t(2));
}

void TestGraphPicker::rankKeepsTheStage() {
    const auto window = dropped();
    GraphPicker& picker = window->picker();
    clickRow(picker.graphTable(), 1);
    clickRow(picker.rankTable(), 1);
    QCOMPARE(cell(picker.graphTable(), picker.graphTable()->currentIndex().row(), GraphListModel::Stage),
             QStringLiteral("aot_forward_graph"));
    QVERIFY(picker.openButton()->isEnabled());
    picker.openButton()->click();
    QTRY_COMPARE(window->document().snapshot()->request.rank, 1);
    QVERIFY(!picker.isVisible());
}

void TestGraphPicker::oneGraphOpensDirectly() {
    const auto window = make();
    drop(*window, write(QStringLiteral("one.log"), stageText(kStages[2], 0, 0, 2)));
    QTRY_COMPARE(window->page(), MainWindow::Page::Panels);
    QVERIFY(!window->picker().isVisible());
    QVERIFY(!window->action(QStringLiteral("pickGraph"))->isEnabled());
    QVERIFY(!window->header().findChild<HeaderChip*>(QStringLiteral("graphHeaderChip"))->isVisible());
    QCOMPARE(window->document().snapshot()->request.stage, std::string());
}

void TestGraphPicker::requestWithAChoiceOpensDirectly() {
    const auto window = make();
    AnalysisRequest request;
    request.graph_file = traceFolder().toStdString();
    request.rank = 1;
    window->open(request);
    QTRY_COMPARE(window->page(), MainWindow::Page::Panels);
    QVERIFY(!window->picker().isVisible());
    QCOMPARE(window->document().snapshot()->source.entries[window->document().snapshot()->source.chosen].rank,
             1);
}

void TestGraphPicker::emptyFolder() {
    const auto window = make();
    QDir(folder_->path()).mkdir(QStringLiteral("empty"));
    drop(*window, folder_->filePath(QStringLiteral("empty")));
    QTRY_COMPARE(window->page(), MainWindow::Page::Message);
    QVERIFY(!window->picker().isVisible());
    QStringList texts;
    for (const QLabel* label : window->messagePage().findChildren<QLabel*>())
        texts << label->text();
    const QString all = texts.join(QLatin1Char('\n'));
    QVERIFY2(all.contains(QStringLiteral("empty could not be opened")), qPrintable(all));
    QVERIFY2(all.contains(QStringLiteral("holds no file that can be a graph")), qPrintable(all));
}

void TestGraphPicker::folderWithoutGraphs() {
    write(QStringLiteral("none/notes.txt"), "nothing to see\n");
    write(QStringLiteral("none/torch_trace_rank_0_x.log"),
          "V1201 10:00:00.0 1 a.py:1] {\"str\": [\"a\", 0]}\n");
    write(QStringLiteral("none/torch_trace_rank_1_x.log.gz"), QByteArray("\x1f\x8b\x08\x00", 4));
    const auto window = dropped();
    const SnapshotPtr old = window->document().snapshot();
    drop(*window, folder_->filePath(QStringLiteral("none")));
    QTRY_VERIFY(!window->banner().message().isEmpty());
    const QString message = window->banner().message();
    QVERIFY2(message.contains(QStringLiteral("torch_trace_rank_0_x.log: this log holds no graph")),
             qPrintable(message));
    QVERIFY2(message.contains(QStringLiteral("torch_trace_rank_1_x.log.gz: the gzip data ends too early")),
             qPrintable(message));
    QCOMPARE(window->document().snapshot(), old);
    QVERIFY(!window->picker().isVisible());
}

void TestGraphPicker::faultsAreRows() {
    write(logName(1) + QStringLiteral(".gz"), QByteArray("\x1f\x8b\x08\x00", 4));
    write(logName(3), {});
    const auto window = dropped();
    GraphPicker& picker = window->picker();
    QCOMPARE(picker.rankTable()->model()->rowCount(), 3); // 0, 1 and the empty 3
    clickRow(picker.rankTable(), 1);
    QCOMPARE(picker.graphTable()->model()->rowCount(), 4);
    QCOMPARE(cell(picker.graphTable(), 0, GraphListModel::Note),
             QStringLiteral("the gzip data ends too early"));
    QVERIFY(cell(picker.graphTable(), 0, GraphListModel::Where).endsWith(QStringLiteral(".log.gz")));
    const SnapshotPtr before = window->document().snapshot();
    clickRow(picker.graphTable(), 0);
    QVERIFY(!picker.openButton()->isEnabled());
    QVERIFY(!window->busy());
    clickRow(picker.rankTable(), 2);
    QCOMPARE(picker.graphTable()->model()->rowCount(), 1);
    QCOMPARE(cell(picker.graphTable(), 0, GraphListModel::Note), QStringLiteral("the file is empty"));
    QTest::keyClick(picker.graphTable(), Qt::Key_Return);
    QVERIFY(picker.isVisible());
    QCOMPARE(window->document().snapshot(), before);
}

void TestGraphPicker::hugeList() {
    const auto window = make();
    QElapsedTimer timer;
    timer.start();
    drop(*window, traceFolder(2, 334)); // 2 × 3 × 334 graphs
    GraphPicker& picker = window->picker();
    QTRY_VERIFY_WITH_TIMEOUT(picker.isVisible(), 20'000);
    DataTable* table = picker.graphTable();
    QCOMPARE(table->model()->rowCount(), 1002);
    const QAbstractItemModelTester tester(table->model());
    QTRY_VERIFY_WITH_TIMEOUT(!window->busy(), 20'000);
    timer.restart();
    picker.filterField()->setText(QStringLiteral("aot 333/0"));
    QTRY_COMPARE(table->model()->rowCount(), 1);
    QVERIFY2(timer.elapsed() < test::timeLimit(1500), qPrintable(QString::number(timer.elapsed())));
    clickRow(table, 0);
    QTRY_COMPARE(window->document().snapshot()->request.graph_index, 333 * 3 + 1);
    picker.filterField()->clear();
    QTRY_COMPARE(table->model()->rowCount(), 1002);
    QCOMPARE(picker.current(), 333 * 3 + 1); // still chosen, and in view
    QVERIFY(table->viewport()->rect().intersects(table->visualRect(table->currentIndex())));
    table->sortByColumn(GraphListModel::Nodes, Qt::DescendingOrder);
    QCOMPARE(cell(table, 0, GraphListModel::Nodes), QStringLiteral("18"));
    // The list takes a part of the window, never all of it.
    QVERIFY(picker.height() < window->height() / 2);
}

void TestGraphPicker::filterLeavesNone() {
    const auto window = dropped();
    GraphPicker& picker = window->picker();
    QTest::keyClick(picker.graphTable(), Qt::Key_Slash);
    QTRY_VERIFY(picker.filterField()->hasFocus());
    QTest::keyClicks(picker.filterField(), QStringLiteral("nothing"));
    QTRY_COMPARE(picker.graphTable()->model()->rowCount(), 0);
    QVERIFY(!picker.openButton()->isEnabled());
    QTest::keyClick(picker.filterField(), Qt::Key_Escape);
    QTRY_COMPARE(picker.graphTable()->model()->rowCount(), 3);
    QVERIFY(picker.isVisible());
    QVERIFY(picker.openButton()->isEnabled());
}

void TestGraphPicker::cancelWhileListing() {
    const auto window = make();
    drop(*window, traceFolder(40, 60));
    QVERIFY(window->busy());
    QCOMPARE(window->page(), MainWindow::Page::Loading);
    QTest::mouseClick(window->loadingPage().findChild<QPushButton*>(), Qt::LeftButton);
    QVERIFY(!window->busy());
    QCOMPARE(window->page(), MainWindow::Page::Message);
    QTest::qWait(300);
    QVERIFY(!window->picker().isVisible());
    QVERIFY(!window->document().snapshot());
    // The next one works, and what it finds is its own.
    drop(*window, write(QStringLiteral("one.log"), stageText(kStages[2], 0, 0, 2)));
    QTRY_COMPARE(window->page(), MainWindow::Page::Panels);
    QVERIFY(!window->picker().isVisible());
}

void TestGraphPicker::closeWhileListing() {
    auto window = make();
    drop(*window, traceFolder(20, 60));
    QVERIFY(window->busy());
    QElapsedTimer timer;
    timer.start();
    QVERIFY(window->close());
    window.reset();
    QVERIFY2(timer.elapsed() < test::timeLimit(2000), qPrintable(QString::number(timer.elapsed())));
}

void TestGraphPicker::pickAfterCancelOrFailure() {
    const auto core = std::make_shared<test::FakeCore>();
    core->delay_ms = 10'000;
    MainWindow window(test::fakeAnalyse(core), test::fakeViews());
    window.show();
    drop(window, traceFolder());
    QTRY_VERIFY(window.picker().isVisible());
    QTRY_COMPARE(core->running.load(), 1);
    window.action(QStringLiteral("cancel"))->trigger();
    QVERIFY(!window.busy());
    QCOMPARE(window.page(), MainWindow::Page::Message);
    core->delay_ms = 0;
    core->fail = true;
    clickRow(window.picker().graphTable(), 1);
    QTRY_VERIFY(window.document().failedOpening());
    QVERIFY(window.picker().isVisible());
    core->fail = false;
    clickRow(window.picker().graphTable(), 0);
    QTRY_COMPARE(window.page(), MainWindow::Page::Panels);
    QCOMPARE(window.document().snapshot()->request.stage, std::string("dynamo_output_graph"));
    // What failed beside it since is no hindrance.
    window.openRecent({write(QStringLiteral("bad.json"), "{}"), {}, {}});
    QTRY_VERIFY(window.document().failedOpening());
    QVERIFY(!window.picker().isVisible());
}

void TestGraphPicker::pickIsUndone() {
    const auto window = dropped();
    window->document().addEdit({Edit::Kind::Forbid, "ag_2", {}, {}});
    QTRY_COMPARE(window->document().snapshot()->request.edits.size(), size_t(1));
    window->document().setSetting(QStringLiteral("contention"), QStringLiteral("2.5"));
    QTRY_COMPARE(window->document().snapshot()->request.settings.number(Setting::Contention), 2.5);
    clickRow(window->picker().graphTable(), 0);
    QTRY_COMPARE(window->document().snapshot()->request.stage, std::string("dynamo_output_graph"));
    QVERIFY(window->document().snapshot()->request.edits.empty());
    QCOMPARE(window->document().snapshot()->request.settings.number(Setting::Contention), 2.5);
    QVERIFY(
        window->action(QStringLiteral("undo"))->text().contains(QStringLiteral("dynamo_output_graph [0/0]")));
    window->action(QStringLiteral("undo"))->trigger();
    QTRY_COMPARE(window->document().snapshot()->request.stage, std::string("after_post_grad_graph"));
    QCOMPARE(window->document().snapshot()->request.edits.size(), size_t(1));
    QCOMPARE(cell(window->picker().graphTable(), 2, GraphListModel::Note),
             QStringLiteral("shown, recommended"));
}

void TestGraphPicker::headerOpensThePicker() {
    const auto window = dropped();
    auto* chip = window->header().findChild<HeaderChip*>(QStringLiteral("graphHeaderChip"));
    QVERIFY(chip->isVisible());
    QCOMPARE(chip->accessibleName(), QStringLiteral("Rank 0, after_post_grad_graph [0/0]"));
    QVERIFY(chip->value().startsWith(QStringLiteral("after_post_grad_graph")));
    window->resize(980, 640);
    QTRY_COMPARE(chip->value(), QStringLiteral("Rank 0 ▾"));
    window->resize(1440, 900);
    window->picker().openButton()->click();
    QVERIFY(!window->picker().isVisible());
    QTest::mouseClick(chip, Qt::LeftButton);
    QVERIFY(window->picker().isVisible());
    clickRow(window->picker().rankTable(), 1);
    QTest::keyClick(window->picker().rankTable(), Qt::Key_Return);
    QTest::keyClick(window->picker().graphTable(), Qt::Key_Return);
    QTRY_COMPARE(chip->accessibleName(), QStringLiteral("Rank 1, after_post_grad_graph [0/0]"));
    QTest::keyClick(window.get(), Qt::Key_G, Qt::ControlModifier);
    QVERIFY(window->picker().isVisible());
    QCOMPARE(window->picker().rankTable()->currentIndex().row(), 1);
    QTest::mouseClick(chip, Qt::LeftButton);
    QVERIFY(!window->picker().isVisible());
}

void TestGraphPicker::recentFilesKnowTheChoice() {
    {
        const auto window = dropped();
        clickRow(window->picker().rankTable(), 1);
        clickRow(window->picker().graphTable(), 1);
        QTRY_COMPARE(window->document().snapshot()->request.rank, 1);
    }
    const QList<RecentFile> recent = Preferences::recentFiles();
    QCOMPARE(recent.size(), 1);
    QCOMPARE(recent[0].pick, (GraphPick{-1, 1, QStringLiteral("aot_forward_graph")}));
    const auto window = make();
    window->openRecent(recent[0]);
    QTRY_COMPARE(window->page(), MainWindow::Page::Panels);
    QVERIFY(!window->picker().isVisible());
    QCOMPARE(window->document().snapshot()->request.stage, std::string("aot_forward_graph"));
    // Nothing was listed: the list comes when it is asked for, and knows what is open.
    window->showPicker();
    QTRY_VERIFY(window->picker().isVisible());
    QCOMPARE(window->picker().current(), 4);
    QCOMPARE(cell(window->picker().graphTable(), 1, GraphListModel::Note), QStringLiteral("shown"));
}

void TestGraphPicker::choiceSurvivesNewFiles() {
    const auto window = dropped();
    clickRow(window->picker().rankTable(), 1);
    clickRow(window->picker().graphTable(), 1);
    QTRY_COMPARE(window->document().snapshot()->request.rank, 1);
    // Another graph of rank 0, in front of what was picked.
    write(QStringLiteral("trace/dedicated_log_torch_trace_rank_0_aa.log"), logText(0, 3));
    const SnapshotPtr old = window->document().snapshot();
    window->action(QStringLiteral("reload"))->trigger();
    QTRY_VERIFY(window->document().snapshot() != old);
    const ImportedGraph& source = window->document().snapshot()->source;
    QCOMPARE(source.entries.size(), size_t(15));
    QCOMPARE(source.entries[source.chosen].rank, 1);
    QCOMPARE(source.entries[source.chosen].stage, std::string("aot_forward_graph"));
    window->action(QStringLiteral("pickGraph"))->trigger(); // closes the old list
    window->action(QStringLiteral("pickGraph"))->trigger();
    QTRY_COMPARE(window->picker().listing()->list.graphs.size(), size_t(15));
}

void TestGraphPicker::comparesTheRanks() {
    const auto window = dropped();
    QVERIFY(!window->document().snapshot()->ranks);
    QTest::mouseClick(window->picker().compareBox(), Qt::LeftButton, {}, QPoint(8, 8));
    QTRY_VERIFY(window->document().snapshot()->ranks);
    QCOMPARE(window->document().snapshot()->ranks->ranks.size(), size_t(2));
    clickRow(window->picker().graphTable(), 0);
    QTRY_COMPARE(window->document().snapshot()->request.stage, std::string("dynamo_output_graph"));
    QVERIFY(window->document().snapshot()->ranks);
    QTest::mouseClick(window->picker().compareBox(), Qt::LeftButton, {}, QPoint(8, 8));
    QTRY_VERIFY(!window->document().snapshot()->ranks);
}

void TestGraphPicker::escapeAndSamplesClose() {
    const auto window = dropped();
    QTest::keyClick(window->picker().graphTable(), Qt::Key_Escape);
    QVERIFY(!window->picker().isVisible());
    QVERIFY(window->document().snapshot());
    window->showPicker();
    QVERIFY(window->picker().isVisible());
    QTest::keyClick(window.get(), Qt::Key_Escape);
    QVERIFY(!window->picker().isVisible());
    window->showPicker();
    QVERIFY(window->picker().isVisible());
    window->showSamples();
    QVERIFY(!window->picker().isVisible());
    window->showPicker();
    QVERIFY(window->picker().isVisible());
    QCOMPARE(window->page(), MainWindow::Page::Panels);
    window->showEmpty();
    QVERIFY(!window->picker().isVisible());
    QVERIFY(!window->picker().listing());
}

QTEST_MAIN(TestGraphPicker)
#include "tst_graph_picker.moc"
