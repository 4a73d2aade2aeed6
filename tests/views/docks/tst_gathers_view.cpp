// The gathers table: model, filters, sorting, keys, copying, columns, selection.
#include "dock_test.h"
#include "views/docks/chip.h"
#include "views/docks/data_table.h"
#include "views/docks/filter_field.h"
#include "views/docks/gathers_view.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMenu>
#include <QSignalSpy>

using namespace gs;

namespace {

QString cell(const GathersView& view, int row, int column) {
    const QAbstractItemModel* model = view.table()->model();
    return model->index(row, column).data().toString();
}

QPoint middleOf(const GathersView& view, int row) {
    return view.table()->visualRect(view.table()->model()->index(row, GathersModel::Parameter)).center();
}

} // namespace

class TestGathersView : public QObject {
    Q_OBJECT
private slots:
    void init() {
        QSettings().clear();
        Theme::apply(false);
    }
    void modelIsSound();
    void cells();
    void chips();
    void textFilter();
    void sorting();
    void selectionBothWays();
    void keys();
    void copying();
    void columnsAreRemembered();
    void sliderStepKeepsPlace();
    void emptyStates();
    void tenThousandRows();
    void changesByHandFromTheMenu();

private:
    test::IsolatedSettings settings_;
};

void TestGathersView::modelIsSound() {
    GathersModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    GathersFilter filter;
    filter.setModel(&model);
    QAbstractItemModelTester filter_tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setSnapshot(test::sampleAnalysis());
    QCOMPARE(model.rowCount(), 24);
    model.setSnapshot(test::sampleAnalysis()); // same gathers: data change only
    filter.setChip(GathersFilter::Moved, true);
    filter.sort(GathersModel::Need, Qt::DescendingOrder);
    test::SampleOptions more;
    more.layers = 4;
    model.setSnapshot(test::sampleAnalysis(more));
    QCOMPARE(model.rowCount(), 31);
    model.setSnapshot(nullptr);
    QCOMPARE(model.rowCount(), 0);
}

void TestGathersView::cells() {
    GathersView view;
    const AnalysisPtr analysis = test::sampleAnalysis();
    view.setSnapshot(analysis);
    int row = 0;
    while (cell(view, row, GathersModel::Parameter) != QLatin1String("layers.2.ffn.w1"))
        ++row;
    QCOMPARE(cell(view, row, GathersModel::Layer), QStringLiteral("2"));
    QCOMPARE(cell(view, row, GathersModel::Group), QStringLiteral("fsdp · 8"));
    QCOMPARE(cell(view, row, GathersModel::Bytes), QStringLiteral("112.0 MiB"));
    QCOMPARE(cell(view, row, GathersModel::Need), QStringLiteral("1,772 µs"));
    QCOMPARE(cell(view, row, GathersModel::VerdictText), QStringLiteral("hidden"));
    QCOMPARE(cell(view, row, GathersModel::Reason), QStringLiteral("nothing binds"));
    QCOMPARE(cell(view, row, GathersModel::Name), QStringLiteral("all_gather_into_tensor_18"));
    const Decision& d = *analysis->decisionFor(test::launchOf(*analysis, "layers.2.feed_forward.w1.weight"));
    QCOMPARE(cell(view, row, GathersModel::Place), QStringLiteral("%1 → %2").arg(d.cur).arg(d.target));
    const QModelIndex state = view.table()->model()->index(row, GathersModel::State);
    QCOMPARE(state.data(MarkRole).toInt(), int(Mark::Hidden));
    QCOMPARE(state.data(Qt::AccessibleTextRole).toString(), QStringLiteral("hidden"));
    // A gather that is no candidate has no need: a dash, never a zero.
    row = 0;
    while (cell(view, row, GathersModel::Name) != QLatin1String("unused_gather"))
        ++row;
    QCOMPARE(cell(view, row, GathersModel::Need), QStringLiteral("–"));
    QCOMPARE(cell(view, row, GathersModel::Reason), QStringLiteral("no consumer"));
}

void TestGathersView::chips() {
    GathersView view;
    view.setSnapshot(test::sampleAnalysis());
    test::showAt(view, 560, 400);
    const int all = view.table()->model()->rowCount();
    const int hidden = view.chip(GathersFilter::Hidden)->count();
    const int limited = view.chip(GathersFilter::ComputeLimited)->count();
    const int other = view.chip(GathersFilter::NotCandidate)->count();
    QCOMPARE(hidden + limited + other, all);
    QCOMPARE(other, 3);
    QTest::mouseClick(view.chip(GathersFilter::ComputeLimited), Qt::LeftButton);
    QCOMPARE(view.table()->model()->rowCount(), limited);
    QTest::mouseClick(view.chip(GathersFilter::NotCandidate), Qt::LeftButton);
    QCOMPARE(view.table()->model()->rowCount(), limited + other);
    QTest::mouseClick(view.chip(GathersFilter::Moved), Qt::LeftButton); // narrows
    QVERIFY(view.table()->model()->rowCount() <= limited);
    for (GathersFilter::Chip chip :
         {GathersFilter::ComputeLimited, GathersFilter::NotCandidate, GathersFilter::Moved})
        QTest::mouseClick(view.chip(chip), Qt::LeftButton);
    QCOMPARE(view.table()->model()->rowCount(), all);
    QTest::keyClick(view.chip(GathersFilter::Exposed), Qt::Key_Space);
    QCOMPARE(view.table()->model()->rowCount(), view.chip(GathersFilter::Exposed)->count());
}

void TestGathersView::textFilter() {
    GathersView view;
    view.setSnapshot(test::sampleAnalysis());
    test::showAt(view, 560, 400);
    view.table()->setFocus();
    QTest::keyClick(view.table(), Qt::Key_Slash);
    QVERIFY(view.filterField()->hasFocus());
    QTest::keyClicks(view.filterField(), "FFN layers.1");
    QCOMPARE(view.table()->model()->rowCount(), 24); // not before the typing rests
    QTRY_COMPARE(view.table()->model()->rowCount(), 4);
    QTest::keyClick(view.filterField(), Qt::Key_Escape);
    QTRY_COMPARE(view.table()->model()->rowCount(), 24);
    QTest::keyClick(view.filterField(), Qt::Key_Escape);
    QVERIFY(view.table()->hasFocus());
    QTest::keyClick(view.table(), Qt::Key_Slash);
    QTest::keyClicks(view.filterField(), "a/b");
    QCOMPARE(view.filterField()->text(), QStringLiteral("a/b")); // the shortcut does not eat it
}

void TestGathersView::sorting() {
    GathersView view;
    test::SampleOptions many;
    many.layers = 12;
    view.setSnapshot(test::sampleAnalysis(many));
    test::showAt(view, 560, 400);
    const QString first = cell(view, 0, GathersModel::Name);
    QHeaderView* header = view.table()->horizontalHeader();
    const auto click = [&](int column) {
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {},
                          {header->sectionViewportPosition(column) + header->sectionSize(column) / 2, 8});
    };
    click(GathersModel::Bytes);
    QCOMPARE(cell(view, 0, GathersModel::Bytes), QStringLiteral("8.0 KiB")); // by number, not by text
    click(GathersModel::Bytes);
    QCOMPARE(cell(view, 0, GathersModel::Bytes), QStringLiteral("512.0 MiB"));
    click(GathersModel::Bytes);
    QCOMPARE(cell(view, 0, GathersModel::Name), first); // program order again
    click(GathersModel::Parameter);
    QStringList order;
    for (int row = 0; row < view.table()->model()->rowCount(); ++row)
        order << cell(view, row, GathersModel::Parameter);
    QVERIFY(order.indexOf("layers.9.ffn.w1") < order.indexOf("layers.10.ffn.w1"));
}

void TestGathersView::selectionBothWays() {
    GathersView view;
    const AnalysisPtr analysis = test::sampleAnalysis();
    view.setSnapshot(analysis);
    test::Asked asked(view);
    test::showAt(view, 560, 400);
    QTest::mouseClick(view.table()->viewport(), Qt::LeftButton, {}, middleOf(view, 4));
    QCOMPARE(asked.selections.size(), size_t{1});
    QVERIFY(asked.selections[0].kind == Selection::Kind::Gather);
    QCOMPARE(asked.selections[0].name, cell(view, 4, GathersModel::Name));
    // From outside: shown, scrolled to, not asked for again.
    view.setSelection({Selection::Kind::Gather, "all_gather_into_tensor_20"});
    const QModelIndex current = view.table()->currentIndex();
    QCOMPARE(cell(view, current.row(), GathersModel::Name), QStringLiteral("all_gather_into_tensor_20"));
    QVERIFY(view.table()->viewport()->rect().intersects(view.table()->visualRect(current)));
    QCOMPARE(asked.selections.size(), size_t{1});
    // A wait stands for its gather; a node of no gather clears; a filtered gather is not shown, nothing is
    // asked.
    view.setSelection({Selection::Kind::Node, "wait_tensor_3"});
    QCOMPARE(cell(view, view.table()->currentIndex().row(), GathersModel::Name),
             QStringLiteral("all_gather_into_tensor_3"));
    view.setSelection({Selection::Kind::Node, "mm"});
    QVERIFY(!view.table()->currentIndex().isValid());
    view.setSelection({Selection::Kind::Node, "no such node"});
    QVERIFY(!view.table()->currentIndex().isValid());
    QCOMPARE(asked.selections.size(), size_t{1});
}

void TestGathersView::keys() {
    GathersView view;
    view.setSnapshot(test::sampleAnalysis());
    test::Asked asked(view);
    test::showAt(view, 560, 400);
    view.table()->setFocus();
    QTest::keyClick(view.table(), Qt::Key_J);
    QCOMPARE(view.table()->currentIndex().row(), 0);
    QTest::keyClick(view.table(), Qt::Key_J);
    QTest::keyClick(view.table(), Qt::Key_J);
    QCOMPARE(view.table()->currentIndex().row(), 2);
    QTest::keyClick(view.table(), Qt::Key_K);
    QCOMPARE(view.table()->currentIndex().row(), 1);
    QCOMPARE(asked.selections.back().name, cell(view, 1, GathersModel::Name));
    view.step(-5);
    QCOMPARE(view.table()->currentIndex().row(), 0);
    view.step(500);
    QCOMPARE(view.table()->currentIndex().row(), 23);
}

void TestGathersView::copying() {
    GathersView view;
    view.setSnapshot(test::sampleAnalysis());
    test::showAt(view, 560, 400);
    view.table()->selectRow(3);
    QTest::keyClick(view.table(), Qt::Key_C, Qt::ControlModifier);
    const QStringList lines = QGuiApplication::clipboard()->text().split('\n');
    QCOMPARE(lines[0], QStringLiteral("parameter\tbytes\tcur → target\tneed\twindow\texposed"));
    QCOMPARE(lines[1].split('\t').size(), 6);
    QCOMPARE(lines[1].split('\t')[0], cell(view, 3, GathersModel::Parameter));
    QCOMPARE(lines.size(), 3); // header, row, end
    const QString csv = view.table()->asText(',', true);
    QCOMPARE(csv.count('\n'), 25);
    QVERIFY(csv.contains("\"1,772 µs\"")); // quoted for its comma
    std::unique_ptr<QMenu> menu(view.table()->makeMenu());
    QVERIFY(menu->actions().size() >= 4);
}

void TestGathersView::columnsAreRemembered() {
    {
        GathersView view;
        test::showAt(view, 560, 400);
        QVERIFY(view.table()->isColumnHidden(GathersModel::Reason));
        view.table()->setColumnShown(GathersModel::Reason, true);
        view.table()->setColumnShown(GathersModel::Need, false);
        view.table()->setColumnWidth(GathersModel::Bytes, 123);
    }
    GathersView again;
    QVERIFY(!again.table()->isColumnHidden(GathersModel::Reason));
    QVERIFY(again.table()->isColumnHidden(GathersModel::Need));
    QCOMPARE(again.table()->columnWidth(GathersModel::Bytes), 123);
    again.table()->resetColumns();
    QVERIFY(again.table()->isColumnHidden(GathersModel::Reason));
    GathersView fresh;
    QVERIFY(!fresh.table()->isColumnHidden(GathersModel::Need));
}

void TestGathersView::sliderStepKeepsPlace() {
    GathersView view;
    test::SampleOptions options;
    options.layers = 10;
    view.setSnapshot(test::sampleAnalysis(options));
    test::showAt(view, 560, 400);
    view.setSelection({Selection::Kind::Gather, "all_gather_into_tensor_50"});
    const QModelIndex before = view.table()->currentIndex();
    QVERIFY(before.isValid());
    QSignalSpy resets(view.table()->model(), &QAbstractItemModel::modelReset);
    QVERIFY(options.settings.set(Setting::Contention, "3").ok());
    test::Asked asked(view);
    view.setSnapshot(test::sampleAnalysis(options));
    QCOMPARE(resets.count(), 0);
    QCOMPARE(view.table()->currentIndex().row(), before.row());
    QCOMPARE(cell(view, before.row(), GathersModel::Need), QStringLiteral("1,525 µs"));
    QVERIFY(asked.selections.empty());
}

void TestGathersView::emptyStates() {
    GathersView view;
    test::showAt(view, 560, 400);
    view.setSnapshot(test::sampleAnalysis());
    view.setSelection({Selection::Kind::Gather, "all_gather_into_tensor_3"});
    view.setSnapshot(nullptr);
    QCOMPARE(view.table()->model()->rowCount(), 0);
    QVERIFY(!view.grab().isNull());
}

void TestGathersView::tenThousandRows() {
    test::SampleOptions options;
    options.layers = 1430;
    const AnalysisPtr big = test::sampleAnalysis(options);
    GathersView view;
    test::showAt(view, 560, 400);
    QElapsedTimer timer;
    timer.start();
    view.setSnapshot(big);
    QCOMPARE(view.table()->model()->rowCount(), 10013);
    const qint64 first = timer.restart();
    view.grab();
    const qint64 paint = timer.restart();
    view.setSnapshot(big);
    view.setSelection({Selection::Kind::Gather, "all_gather_into_tensor_9000"});
    view.grab();
    const qint64 step = timer.elapsed();
    qInfo("10,000 rows: first %lld ms, paint %lld ms, update and paint %lld ms", first, paint, step);
}

void TestGathersView::changesByHandFromTheMenu() {
    GathersView view;
    const AnalysisPtr analysis = test::sampleAnalysis();
    view.setSnapshot(analysis);
    test::showAt(view, 560, 400);
    QSignalSpy edits(&view, &View::editRequested);
    const auto action = [&](const char* text) {
        for (QAction* each : view.table()->findChild<QMenu*>()->actions()) {
            if (each->text().startsWith(QLatin1String(text)))
                return each;
        }
        return static_cast<QAction*>(nullptr);
    };
    {
        std::unique_ptr<QMenu> menu(view.table()->makeMenu()); // nothing is selected
        QVERIFY(!action("Pin here") && action("Clear all") && !action("Clear all")->isEnabled());
    }
    view.step(1);
    view.step(1);
    const QString name = view.table()
                             ->model()
                             ->index(view.table()->currentIndex().row(), GathersModel::Name)
                             .data()
                             .toString();
    std::unique_ptr<QMenu> menu(view.table()->makeMenu());
    QVERIFY(action("Pin here") && action("Bucket with the next gather"));
    action("Forbid moving")->trigger();
    QCOMPARE(edits.size(), 1);
    const auto edit = edits[0][0].value<Edit>();
    QVERIFY(edit.kind == Edit::Kind::Forbid);
    QCOMPARE(QString::fromStdString(edit.node), name);
}

QTEST_MAIN(TestGathersView)
#include "tst_gathers_view.moc"
