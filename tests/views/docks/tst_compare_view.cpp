// The comparison: model, clicks, keys, the search's line, both pins, states, many rows.
#include "compare_fixture.h"
#include "dock_test.h"
#include "views/docks/chip.h"
#include "views/docks/compare_bar.h"
#include "views/docks/compare_view.h"
#include "views/docks/data_table.h"
#include "views/docks/filter_field.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QDir>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>

using namespace gs;
using gs::test::entry;
using gs::test::share;
using gs::test::someDiff;
using gs::test::someState;
using Kind = CompareCommand::Kind;

namespace {

/// What the view asked for.
class Commands {
public:
    explicit Commands(View& view) {
        QObject::connect(&view, &View::compareRequested, &view,
                         [this](const CompareCommand& command) { all.push_back(command); });
        QObject::connect(&view, &View::requestRequested, &view,
                         [this](const AnalysisRequest& request, const QString& text) {
                             looked_at.push_back(variantKey(request));
                             texts << text;
                         });
    }
    std::vector<CompareCommand> all;
    std::vector<std::string> looked_at;
    QStringList texts;
};

int rowOf(const CompareView& view, uint64_t id) {
    for (int row = 0; row < view.table()->model()->rowCount(); ++row) {
        const auto* filter = qobject_cast<const QSortFilterProxyModel*>(view.table()->model());
        if (view.model()->entry(filter->mapToSource(filter->index(row, 0)).row()).id == id)
            return row;
    }
    return -1;
}

void click(const CompareView& view, uint64_t id, int column) {
    const QModelIndex index = view.table()->model()->index(rowOf(view, id), column);
    QTest::mouseClick(view.table()->viewport(), Qt::LeftButton, {}, view.table()->visualRect(index).center());
}

QString cell(const CompareView& view, uint64_t id, int column) {
    return view.table()->model()->index(rowOf(view, id), column).data().toString();
}

void keepPicture(QWidget& widget, const QString& name) {
    const QString folder = qEnvironmentVariable("GATHERSCOPE_PICTURES");
    if (!folder.isEmpty())
        QVERIFY(widget.grab().save(QDir(folder).filePath(
            QStringLiteral("compare-%1-%2.png").arg(name, Theme::current().dark ? "dark" : "light"))));
}

} // namespace

class TestCompareView : public QObject {
    Q_OBJECT
private slots:
    void init() {
        QSettings().clear();
        Theme::apply(false);
    }
    void modelIsSound();
    void cells();
    void clicksAsk();
    void keysAsk();
    void menuAsks();
    void sortedByStepAndFiltered();
    void searchLine();
    void progressAndCancel();
    void results();
    void twoPins();
    void copying();
    void rowsComeAndTheCursorStays();
    void emptyAndFailedRows();
    void manyRows();
    void pictures_data();
    void pictures();

private:
    test::IsolatedSettings settings_;
};

void TestCompareView::modelIsSound() {
    CompareModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    CompareFilter filter(&model);
    QAbstractItemModelTester filter_tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
    filter.sort(CompareModel::Step);
    CompareState state = someState();
    model.setState(share(state));
    state.entries.push_back(entry(6, "just-in-time", 46000, 3000));
    model.setState(share(state));
    QCOMPARE(model.rowCount(), 6);
    filter.setText(QStringLiteral("just"));
    QCOMPARE(filter.rowCount(), 2);
    state.entries.erase(state.entries.begin() + 1);
    model.setState(share(state));
    QCOMPARE(model.rowOf(2), -1);
    QCOMPARE(model.rowOf(3), 1);
    model.setState(nullptr);
    QCOMPARE(model.rowCount(), 0);

    CompareDiffModel diff;
    QAbstractItemModelTester diff_tester(&diff, QAbstractItemModelTester::FailureReportingMode::QtTest);
    CompareDiffFilter differing(&diff);
    QAbstractItemModelTester differing_tester(&differing,
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
    diff.setDiff(someDiff());
    QVERIFY(diff.rowCount() > 0);
    QCOMPARE(static_cast<size_t>(differing.rowCount()), diff.diff()->changed);
    differing.setDifferingOnly(false);
    QCOMPARE(differing.rowCount(), diff.rowCount());
    diff.setDiff(nullptr);
}

void TestCompareView::cells() {
    CompareView view;
    view.setCompare(share(someState()));
    // The model's own roles are none of those that the delegate draws.
    for (int row = 0; row < view.table()->model()->rowCount(); ++row) {
        for (int column = 0; column < view.table()->model()->columnCount(); ++column)
            QVERIFY(!view.table()->model()->index(row, column).data(ChangeBarRole).isValid());
    }
    QCOMPARE(cell(view, 1, CompareModel::Change), QStringLiteral("baseline"));
    QCOMPARE(cell(view, 2, CompareModel::Change), QStringLiteral("−9.1 %"));
    QCOMPARE(cell(view, 2, CompareModel::Step), QStringLiteral("48.20 ms"));
    QCOMPARE(cell(view, 2, CompareModel::Exposed), QStringLiteral("6.20 ms"));
    QCOMPARE(cell(view, 2, CompareModel::ExposedSum), QStringLiteral("7.75 ms"));
    QCOMPARE(cell(view, 2, CompareModel::Gap), QStringLiteral("+9.5 %"));
    QCOMPARE(cell(view, 2, CompareModel::Peak), QStringLiteral("3,170 MiB"));
    QCOMPARE(cell(view, 2, CompareModel::Hidden), QStringLiteral("243 / 291"));
    QCOMPARE(cell(view, 2, CompareModel::Run), QStringLiteral("2.5 ms"));
    QCOMPARE(cell(view, 3, CompareModel::Variant), QStringLiteral("Overlap scheduler"));
    QCOMPARE(cell(view, 4, CompareModel::Variant),
             QStringLiteral("Overlap scheduler · In-flight limit 0.1 GiB"));
    QCOMPARE(cell(view, 5, CompareModel::Variant),
             QStringLiteral("Just in time · Slack 10,000 ns · Buckets coalesced"));
    // Against another baseline other settings differ, and other numbers.
    CompareState state = someState();
    state.baseline = 4;
    view.setCompare(share(state));
    QCOMPARE(cell(view, 4, CompareModel::Variant), QStringLiteral("Overlap scheduler"));
    QCOMPARE(cell(view, 3, CompareModel::Variant),
             QStringLiteral("Overlap scheduler · In-flight limit 2 GiB"));
    QCOMPARE(cell(view, 2, CompareModel::Change), QStringLiteral("+0.8 %"));
    QCOMPARE(view.model()->best(), uint64_t{3});
    // Within a limit another one is the best.
    state.search = SearchOutcome{SearchEnd::Finished, 4, true, 5, {int64_t{2500} * 1024 * 1024, 60}};
    view.setCompare(share(state));
    QCOMPARE(view.model()->best(), uint64_t{4});
}

void TestCompareView::clicksAsk() {
    CompareView view;
    view.setCompare(share(someState()));
    test::showAt(view, 1240, 320);
    Commands asked(view);
    click(view, 3, CompareModel::Variant);
    click(view, 3, CompareModel::Step);
    click(view, 2, CompareModel::Step); // it is shown already
    const std::string overlap = variantKey(someState().entries[2]->row.request);
    QCOMPARE(asked.looked_at, (std::vector<std::string>{overlap, overlap}));
    QCOMPARE(asked.texts.front(), QStringLiteral("Look at Overlap scheduler"));
    click(view, 4, CompareModel::Base);
    click(view, 4, CompareModel::PinA);
    click(view, 5, CompareModel::PinB);
    QCOMPARE(asked.all.size(), size_t{3});
    const std::vector<std::pair<Kind, uint64_t>> expected = {
        {Kind::MakeBaseline, 4}, {Kind::PinA, 4}, {Kind::PinB, 5}};
    for (size_t i = 0; i < expected.size(); ++i) {
        QCOMPARE(asked.all[i].kind, expected[i].first);
        QCOMPARE(asked.all[i].entry, expected[i].second);
    }
    QTest::mouseClick(view.bar()->runAllButton(), Qt::LeftButton);
    QCOMPARE(asked.all.back().kind, Kind::RunAll);
}

void TestCompareView::keysAsk() {
    CompareView view;
    view.setCompare(share(someState()));
    test::showAt(view, 1240, 320);
    Commands asked(view);
    view.setFocus();
    QVERIFY(view.table()->hasFocus());
    QCOMPARE(view.table()->currentIndex().row(), 0); // the shortest step
    QTest::keyClick(view.table(), Qt::Key_J);
    QCOMPARE(asked.all.size(), size_t{0}); // walking changes nothing
    const std::vector<std::pair<Qt::Key, Kind>> keys = {{Qt::Key_B, Kind::MakeBaseline},
                                                        {Qt::Key_1, Kind::PinA},
                                                        {Qt::Key_2, Kind::PinB},
                                                        {Qt::Key_Delete, Kind::Remove}};
    QTest::keyClick(view.table(), Qt::Key_Return);
    QCOMPARE(asked.looked_at, std::vector<std::string>{variantKey(someState().entries[4]->row.request)});
    for (const auto& [key, kind] : keys) {
        QTest::keyClick(view.table(), key);
        QCOMPARE(asked.all.back().kind, kind);
        QCOMPARE(asked.all.back().entry, uint64_t{5});
    }
    QCOMPARE(asked.all.size(), keys.size());
}

void TestCompareView::menuAsks() {
    CompareView view;
    view.setCompare(share(someState()));
    test::showAt(view, 1240, 320);
    Commands asked(view);
    view.table()->selectRow(0);
    const std::unique_ptr<QMenu> menu(view.table()->makeMenu());
    for (QAction* action : menu->actions().mid(0, 6))
        action->trigger();
    QCOMPARE(asked.looked_at.size(), size_t{1});
    QCOMPARE(asked.all.size(), size_t{5});
    QCOMPARE(asked.all[0].kind, Kind::MakeBaseline);
    QCOMPARE(asked.all[0].entry, uint64_t{3});
    QCOMPARE(asked.all[4].kind, Kind::RemoveAll);
}

void TestCompareView::sortedByStepAndFiltered() {
    CompareView view;
    view.setCompare(share(someState()));
    test::showAt(view, 1240, 320);
    QCOMPARE(rowOf(view, 3), 0);
    QCOMPARE(rowOf(view, 1), 4);
    view.table()->sortByColumn(CompareModel::Peak, Qt::AscendingOrder);
    QCOMPARE(rowOf(view, 1), 0);
    view.bar()->filterField()->setFocus();
    QTest::keyClicks(view.bar()->filterField(), "in-flight");
    QTRY_COMPARE(view.table()->model()->rowCount(), 1);
    QCOMPARE(rowOf(view, 4), 0);
    QTest::keyClick(view.bar()->filterField(), Qt::Key_Escape);
    QTRY_COMPARE(view.table()->model()->rowCount(), 5);
}

void TestCompareView::searchLine() {
    CompareView view;
    view.setCompare(share(someState()));
    test::showAt(view, 1240, 320);
    Commands asked(view);
    QVERIFY(!view.bar()->startButton()->isVisible());
    QTest::mouseClick(view.bar()->searchButton(), Qt::LeftButton);
    QVERIFY(view.bar()->startButton()->isVisible());
    QVERIFY(view.bar()->memoryLimit()->hasFocus());
    QCOMPARE(view.bar()->memoryLimit()->text(), QStringLiteral("no limit"));
    view.bar()->memoryLimit()->setValue(2048);
    view.bar()->timeLimit()->setValue(7);
    QTest::mouseClick(view.bar()->startButton(), Qt::LeftButton);
    QCOMPARE(asked.all.size(), size_t{1});
    QCOMPARE(asked.all[0].kind, Kind::Search);
    QCOMPARE(asked.all[0].limits.peak_bytes, int64_t{2048} * 1024 * 1024);
    QCOMPARE(asked.all[0].limits.seconds, 7.0);
    QVERIFY(!view.bar()->startButton()->isVisible());
    CompareView later; // remembered
    QCOMPARE(later.bar()->memoryLimit()->value(), 2048);
    QCOMPARE(later.bar()->timeLimit()->value(), 7);
}

void TestCompareView::progressAndCancel() {
    CompareView view;
    CompareState state = someState();
    state.job = CompareState::Job::Search;
    state.stage = QStringLiteral("23 tried");
    state.fraction = 0.4;
    view.setCompare(share(state));
    test::showAt(view, 1240, 320);
    Commands asked(view);
    QVERIFY(view.busy());
    QVERIFY(view.bar()->message().contains(QStringLiteral("23 tried")));
    QVERIFY(!view.bar()->runAllButton()->isEnabled());
    QTest::mouseClick(view.bar()->cancelButton(), Qt::LeftButton);
    QCOMPARE(asked.all.size(), size_t{1});
    QCOMPARE(asked.all[0].kind, Kind::Cancel);
    state.stopping = true;
    view.setCompare(share(state));
    QVERIFY(!view.bar()->cancelButton()->isEnabled());
    state.job = CompareState::Job::None;
    view.setCompare(share(state));
    QVERIFY(!view.busy());
    QVERIFY(view.bar()->runAllButton()->isEnabled());
    QVERIFY(!view.bar()->cancelButton()->isVisible());
}

void TestCompareView::results() {
    CompareView view;
    CompareState state = someState();
    state.search = SearchOutcome{SearchEnd::OutOfTime, 3, true, 213, {int64_t{4} << 30, 60}};
    view.setCompare(share(state));
    test::showAt(view, 1240, 320);
    Commands asked(view);
    const QString message = view.bar()->message();
    QVERIFY2(
        message.startsWith(QStringLiteral("Best within 4.0 GiB: Overlap scheduler, step 45.1 ms (+2.5 %")),
        qPrintable(message));
    QVERIFY(message.contains(QStringLiteral("213 variants")) &&
            message.contains(QStringLiteral("time was over")));
    QTest::mouseClick(view.bar()->useButton(), Qt::LeftButton);
    QCOMPARE(asked.looked_at, std::vector<std::string>{variantKey(someState().entries[2]->row.request)});
    state.current = 3; // it is shown: nothing left to do
    view.setCompare(share(state));
    QVERIFY(!view.bar()->useButton()->isVisible());
    state.search->within_limit = false;
    view.setCompare(share(state));
    QVERIFY(view.bar()->message().startsWith(QStringLiteral("Nothing keeps to 4.0 GiB")));
    state.error = Error{"no-file", "the graph is gone", {}, "Open it again."};
    view.setCompare(share(state));
    QCOMPARE(view.bar()->message(), QStringLiteral("the graph is gone Open it again."));
}

void TestCompareView::twoPins() {
    CompareView view;
    CompareState state = someState();
    state.pin_a = 1;
    view.setCompare(share(state));
    test::showAt(view, 1240, 520);
    QVERIFY(!view.diffTable()->isVisible()); // one is not enough
    state.pin_b = 2;
    state.comparing = true;
    view.setCompare(share(state));
    QVERIFY(view.diffTable()->isVisible());
    QVERIFY(view.busy());
    state.comparing = false;
    state.diff = someDiff();
    view.setCompare(share(state));
    QVERIFY(view.diffTitle().startsWith(QStringLiteral("A Program order  →  B Latest safe launch")));
    QCOMPARE(static_cast<size_t>(view.diffTable()->model()->rowCount()), state.diff->changed);
    QCOMPARE(view.differingChip()->count(), static_cast<int>(state.diff->changed));
    QTest::mouseClick(view.differingChip(), Qt::LeftButton);
    QCOMPARE(static_cast<size_t>(view.diffTable()->model()->rowCount()), state.diff->rows.size());

    // The selection goes both ways.
    test::Asked asked(view);
    const QModelIndex third = view.diffTable()->model()->index(2, CompareDiffModel::Gather);
    QTest::mouseClick(view.diffTable()->viewport(), Qt::LeftButton, {},
                      view.diffTable()->visualRect(third).center());
    QCOMPARE(asked.selections.size(), size_t{1});
    QCOMPARE(asked.selections[0].kind, Selection::Kind::Gather);
    QCOMPARE(view.diffTable()->currentIndex().row(), 2);
    view.setSelection({Selection::Kind::Gather, QString::fromStdString(state.diff->rows[0].name)});
    QCOMPARE(view.diffTable()->currentIndex().row(), 0);
    QCOMPARE(asked.selections.size(), size_t{1});
    state.pin_b = 0;
    view.setCompare(share(state));
    QVERIFY(!view.diffTable()->isVisible());
}

void TestCompareView::copying() {
    CompareView view;
    view.setCompare(share(someState()));
    const QStringList lines = view.table()->asText(QLatin1Char(','), true).split(QLatin1Char('\n'));
    QCOMPARE(lines.size(), 7); // heading, five rows, the end
    QVERIFY(lines[0].startsWith(QStringLiteral("base,A,B,variant,hidden,exposed,")));
    QVERIFY2(lines[1].startsWith(QStringLiteral(",,,Overlap scheduler,246 / 291,3.10 ms,")),
             qPrintable(lines[1]));
    QVERIFY(lines[1].contains(QStringLiteral("\"3,900 MiB\"")) ||
            lines[1].contains(QStringLiteral("3,900 MiB")));
    QVERIFY(lines[5].startsWith(QStringLiteral("baseline,,,Program order")));
}

void TestCompareView::rowsComeAndTheCursorStays() {
    CompareView view;
    CompareState state = someState();
    view.setCompare(share(state));
    test::showAt(view, 1240, 320);
    view.table()->selectRow(rowOf(view, 2));
    QSignalSpy resets(view.model(), &QAbstractItemModel::modelReset);
    state.entries.push_back(entry(6, "just-in-time", 44100, 3000));
    view.setCompare(share(state));
    QCOMPARE(resets.count(), 0);
    QCOMPARE(rowOf(view, 6), 0);
    QCOMPARE(view.table()->currentIndex().row(), rowOf(view, 2));
}

void TestCompareView::emptyAndFailedRows() {
    CompareView view;
    test::showAt(view, 900, 320);
    QVERIFY(!view.bar()->runAllButton()->isEnabled());
    QVERIFY(!view.bar()->searchButton()->isEnabled());
    QTest::keyClick(view.table(), Qt::Key_Return); // nothing to ask for
    CompareState state = someState();
    auto broken = std::make_shared<CompareEntry>(*entry(7, "just-in-time", 1, 0));
    broken->row.error = Error{"x", "no device of this name", {}, ""};
    state.entries.push_back(broken);
    view.setCompare(share(state));
    QCOMPARE(rowOf(view, 7), 5); // below all that have a step
    QCOMPARE(cell(view, 7, CompareModel::Step), QStringLiteral("–"));
    QVERIFY(cell(view, 7, CompareModel::Variant).contains(QStringLiteral("no device")));
    QCOMPARE(view.model()->best(), uint64_t{3});
}

void TestCompareView::manyRows() {
    CompareView view;
    test::showAt(view, 1240, 320);
    CompareState state = someState();
    QElapsedTimer timer;
    timer.start();
    for (uint64_t id = 10; id < 510; ++id) {
        state.entries.push_back(
            entry(id, "overlap-scheduler", static_cast<int64_t>(45000 + id * 7 % 5000), 100));
        if (id % 50 == 0)
            view.setCompare(share(state));
    }
    view.setCompare(share(state));
    QCOMPARE(view.table()->model()->rowCount(), 505);
    view.grab();
    qInfo("505 rows in ten steps: %lld ms", timer.elapsed());
}

void TestCompareView::pictures_data() {
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
}

/// GATHERSCOPE_PICTURES=DIR keeps them for a person to look at.
void TestCompareView::pictures() {
    QFETCH(bool, dark);
    Theme::apply(dark);
    const auto picture = [](const CompareState& state, const QString& name, QSize size,
                            bool searching = false) {
        CompareView view;
        view.setCompare(share(state));
        if (searching)
            view.bar()->toggleSearch(true);
        test::showAt(view, size.width(), size.height());
        QTest::qWait(20);
        const QImage image = view.grab().toImage();
        QCOMPARE(image.size(), size * view.devicePixelRatio());
        keepPicture(view, name);
    };
    CompareState state = someState();
    picture({}, QStringLiteral("empty"), {1240, 300});
    picture(state, QStringLiteral("limits"), {1240, 300}, true);
    state.job = CompareState::Job::Search;
    state.stage = QStringLiteral("23 tried");
    state.fraction = 0.4;
    picture(state, QStringLiteral("running"), {1240, 300});
    state.job = CompareState::Job::None;
    state.search = SearchOutcome{SearchEnd::Finished, 3, true, 213, {int64_t{4} << 30, 60}};
    picture(state, QStringLiteral("result"), {1240, 300});
    state.search.reset();
    auto broken = std::make_shared<CompareEntry>(*entry(7, "just-in-time", 1, 0));
    broken->row.error = Error{"x", "there is no device \"h300\"", {}, ""};
    state.entries.push_back(broken);
    state.error = Error{"no-file", "/data/llama.json: no such file.", {}, "Check the path."};
    picture(state, QStringLiteral("error"), {1240, 300});
    state = someState();
    state.pin_a = 1;
    state.pin_b = 2;
    state.diff = someDiff();
    picture(state, QStringLiteral("pinned"), {1240, 520});
    picture(state, QStringLiteral("narrow"), {560, 400});
    for (uint64_t id = 10; id < 510; ++id)
        state.entries.push_back(entry(id, "overlap-scheduler", static_cast<int64_t>(45000 + id * 7 % 5000),
                                      100, {{"contention", "2"}, {"max_in_flight_gb", "0.1"}}));
    state.pin_b = 0;
    picture(state, QStringLiteral("many"), {1240, 300});
}

QTEST_MAIN(TestCompareView)
#include "tst_compare_view.moc"
