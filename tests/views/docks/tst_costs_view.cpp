// Costs: what stands on top, editing in place, taking an edit back, filters, selection.
#include "cost/profile_store.h"
#include "dock_test.h"
#include "views/docks/chip.h"
#include "views/docks/costs_view.h"
#include "views/docks/data_table.h"
#include "views/docks/filter_field.h"
#include "views/profile/cost_changes_table.h"
#include "views/profile/profile_comparison.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTemporaryDir>

using namespace gs;

namespace {

int rowWith(const CostsView& view, const QString& label) {
    const QAbstractItemModel* model = view.table()->model();
    for (int row = 0; row < model->rowCount(); ++row) {
        if (model->index(row, CostsModel::Label).data().toString().contains(label))
            return row;
    }
    return -1;
}

QString cell(const CostsView& view, int row, int column) {
    return view.table()->model()->index(row, column).data().toString();
}

/// A store of two profiles: of the keys a, b, c and d, and of a, b, c and e.
std::string storeOfTwo(const QTemporaryDir& folder) {
    const std::string path = folder.filePath(QStringLiteral("p.db")).toStdString();
    const auto profile = [](std::vector<std::pair<const char*, int64_t>> times) {
        Profile made;
        made.device = "NVIDIA H200";
        for (const auto& [key, ns] : times) {
            ProfileEntry entry;
            entry.key = key;
            entry.kind = "compute";
            entry.label = std::string("op ") + key;
            entry.ns = ns;
            entry.calls = 2;
            made.entries.push_back(entry);
        }
        return made;
    };
    {
        auto store = ProfileStore::open(path);
        (void)store->add(profile({{"a", 1000}, {"b", 4000}, {"c", 500}, {"d", 100}}));
        (void)store->add(profile({{"a", 2000}, {"b", 3000}, {"c", 500}, {"e", 700}}));
    }
    return path;
}

} // namespace

class TestCostsView : public QObject {
    Q_OBJECT
private slots:
    void init() {
        QSettings().clear();
        Theme::apply(false);
    }
    void times_data();
    void times();
    void modelIsSound();
    void missingOnTop();
    void editInPlace();
    void takeBack();
    void filters();
    void pins();
    void againstTheModel();
    void selection();
    void profilesAgainstEachOther();

private:
    test::IsolatedSettings settings_;
};

void TestCostsView::times_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("ns");
    QTest::newRow("plain") << "1159.1" << qint64(1159100);
    QTest::newRow("separator") << "1,159.1 µs" << qint64(1159100);
    QTest::newRow("us") << "2us" << qint64(2000);
    QTest::newRow("ms") << "1.5 ms" << qint64(1500000);
    QTest::newRow("ns") << "350ns" << qint64(350);
    QTest::newRow("zero") << "0" << qint64(0);
    QTest::newRow("negative") << "-1" << qint64(-1);
    QTest::newRow("word") << "fast" << qint64(-1);
    QTest::newRow("empty") << "" << qint64(-1);
    QTest::newRow("huge") << "1e9" << qint64(-1);
    QTest::newRow("too long") << "99999999999999 s" << qint64(-1);
}

void TestCostsView::times() {
    QFETCH(QString, text);
    QTEST(parseTime(text), "ns");
}

void TestCostsView::modelIsSound() {
    CostsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setSnapshot(test::sampleAnalysis());
    QVERIFY(model.rowCount() > 5);
    model.setSnapshot(test::sampleAnalysis());
    test::SampleOptions one;
    one.layers = 1;
    model.setSnapshot(test::sampleAnalysis(one));
    model.setSnapshot(nullptr);
    QCOMPARE(model.rowCount(), 0);
    QCOMPARE(model.rowOf(0), -1);
}

void TestCostsView::missingOnTop() {
    CostsView view;
    view.setSnapshot(test::sampleAnalysis());
    test::showAt(view, 560, 400);
    QVERIFY(cell(view, 0, CostsModel::Label).contains("mystery"));
    QCOMPARE(cell(view, 0, CostsModel::PerCall), QStringLiteral("missing")); // never 0
    QCOMPARE(cell(view, 0, CostsModel::Share), QStringLiteral("–"));
    QCOMPARE(view.missingChip()->count(), 1);
    const int attention = rowWith(view, "flash_attention");
    QCOMPARE(cell(view, attention, CostsModel::Calls), QStringLiteral("3"));
    QCOMPARE(cell(view, attention, CostsModel::PerCall), QStringLiteral("2,216.0 µs"));
    QCOMPARE(cell(view, attention, CostsModel::Total), QStringLiteral("6,648.0 µs"));
    QCOMPARE(cell(view, attention, CostsModel::Source), QStringLiteral("measured"));
    double compute = 0;
    for (int row = 0; row < view.table()->model()->rowCount(); ++row) {
        if (cell(view, row, CostsModel::Kind) == QLatin1String("compute"))
            compute += view.table()->model()->index(row, CostsModel::Share).data(BarRole).toDouble();
    }
    QVERIFY(std::abs(compute - 1) < 1e-9);
}

void TestCostsView::editInPlace() {
    CostsView view;
    view.setSnapshot(test::sampleAnalysis());
    test::showAt(view, 560, 400);
    test::Asked asked(view);
    const int row = rowWith(view, "flash_attention");
    const QModelIndex label = view.table()->model()->index(row, CostsModel::Label);
    const QPoint at = view.table()->visualRect(label).center();
    QTest::mouseClick(view.table()->viewport(), Qt::LeftButton, {}, at);
    QTest::mouseDClick(view.table()->viewport(), Qt::LeftButton, {}, at);
    auto* editor = view.table()->viewport()->findChild<QLineEdit*>();
    QVERIFY(editor);
    QCOMPARE(editor->text(), QStringLiteral("2,216.000"));
    editor->selectAll();
    QTest::keyClicks(editor, "1190");
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(asked.costs.size(), size_t{1});
    QVERIFY(asked.costs[0].first.startsWith("aten._scaled_dot_product_flash_attention"));
    QCOMPARE(asked.costs[0].second, qint64(1190000));
    QCOMPARE(cell(view, row, CostsModel::PerCall), QStringLiteral("2,216.0 µs")); // until the snapshot comes
    // By keyboard, with nonsense: nothing is asked.
    QTRY_VERIFY(!view.table()->viewport()->findChild<QLineEdit*>());
    view.table()->setFocus();
    QTest::keyClick(view.table(), Qt::Key_Return);
    editor = view.table()->viewport()->findChild<QLineEdit*>();
    QVERIFY(editor);
    QTest::keyClicks(editor, "soon");
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_VERIFY(!view.table()->viewport()->findChild<QLineEdit*>());
    QCOMPARE(asked.costs.size(), size_t{1});
}

void TestCostsView::takeBack() {
    CostsView view;
    const AnalysisPtr plain = test::sampleAnalysis();
    view.setSnapshot(plain);
    test::showAt(view, 560, 400);
    QVERIFY(!view.editedChip()->isVisibleTo(&view));
    const NodeId mystery = *plain->after.graph->find("mystery");
    test::SampleOptions options;
    options.cost_overrides = {{plain->after.costs->entry(mystery)->key, 77000}};
    view.setSnapshot(test::sampleAnalysis(options));
    QCOMPARE(view.missingChip()->count(), 0);
    QCOMPARE(view.editedChip()->count(), 1);
    const int row = rowWith(view, "mystery");
    QCOMPARE(cell(view, row, CostsModel::PerCall), QStringLiteral("77.0 µs"));
    QCOMPARE(cell(view, row, CostsModel::Source), QStringLiteral("user"));
    QVERIFY(view.table()->model()->index(row, CostsModel::PerCall).data(EditedRole).toBool());
    test::Asked asked(view);
    view.table()->selectRow(row);
    view.table()->setFocus();
    QTest::keyClick(view.table(), Qt::Key_Delete);
    QCOMPARE(asked.costs.size(), size_t{1});
    QCOMPARE(asked.costs[0].second, qint64(-1));
    // A row that was not edited has nothing to take back.
    view.table()->selectRow(rowWith(view, "flash_attention"));
    QTest::keyClick(view.table(), Qt::Key_Delete);
    QCOMPARE(asked.costs.size(), size_t{1});
}

void TestCostsView::pins() {
    CostsView view;
    test::SampleOptions options;
    options.edit = [](Analysis& analysis) {
        for (const CostEntry& entry : analysis.after.costs->entries()) {
            if (entry.label.find("flash_attention") != std::string::npos)
                analysis.request.cost_pins[entry.key] = "measured";
        }
    };
    view.setSnapshot(test::sampleAnalysis(options));
    test::showAt(view, 560, 400);
    const int row = rowWith(view, "flash_attention");
    const QModelIndex source = view.table()->model()->index(row, CostsModel::Source);
    QVERIFY(source.data(EditedRole).toBool()); // marked
    std::vector<AnalysisRequest> asked;
    connect(&view, &View::requestRequested, this,
            [&](const AnalysisRequest& request) { asked.push_back(request); });
    const auto choose = [&](const QString& title, const QString& checked) {
        QMenu menu;
        emit view.table()->menuOpening(&menu, source);
        const auto* pins = menu.findChild<QMenu*>("pins");
        for (QAction* action : pins->actions()) {
            if (action->isChecked())
                QCOMPARE(action->text(), checked);
            if (action->text() == title)
                action->trigger();
        }
    };
    choose("analytical", "measured");
    QCOMPARE(asked.size(), 1U);
    QCOMPARE(asked[0].cost_pins.begin()->second, std::string("analytical"));
    choose("As the chain says", "measured");
    QCOMPARE(asked.size(), 2U);
    QVERIFY(asked[1].cost_pins.empty());
}

void TestCostsView::againstTheModel() {
    CostsView view;
    test::SampleOptions options;
    options.edit = [](Analysis& analysis) { // the sample has no model: give one row its number
        auto table = std::make_shared<CostTable>(*analysis.after.costs);
        for (const CostEntry& entry : table->entries()) {
            auto& changed = const_cast<CostEntry&>(entry);
            if (entry.label.find("flash_attention") != std::string::npos) {
                changed.analytical_ns = 1'108'000;
                changed.samples = 10;
                changed.spread_ns = 4000;
                changed.rank_skew_ns = 1500;
            }
        }
        analysis.after.costs = table;
    };
    view.setSnapshot(test::sampleAnalysis(options));
    test::showAt(view, 720, 400);
    const int row = rowWith(view, "flash_attention");
    QCOMPARE(cell(view, row, CostsModel::Ratio), QStringLiteral("×2.00"));
    QCOMPARE(cell(view, row, CostsModel::Samples), QStringLiteral("10"));
    QCOMPARE(cell(view, row, CostsModel::Spread), QStringLiteral("4.0 µs"));
    QCOMPARE(cell(view, row, CostsModel::Skew), QStringLiteral("1.5 µs"));
    QCOMPARE(cell(view, rowWith(view, "mystery"), CostsModel::Ratio), QStringLiteral("–"));
    QVERIFY(view.againstModelChip()->count() > 0);
    QVERIFY(view.table()->isColumnHidden(CostsModel::Ratio));
    view.againstModelChip()->click();
    QVERIFY(!view.table()->isColumnHidden(CostsModel::Ratio));
    QVERIFY(!view.table()->isColumnHidden(CostsModel::Analytical));
    if (qEnvironmentVariableIsSet("GATHERSCOPE_PICTURES"))
        view.grab().save(qEnvironmentVariable("GATHERSCOPE_PICTURES") + "/costs.png");
    view.againstModelChip()->click();
    QVERIFY(view.table()->isColumnHidden(CostsModel::Ratio));
}

void TestCostsView::filters() {
    CostsView view;
    view.setSnapshot(test::sampleAnalysis());
    test::showAt(view, 560, 400);
    const int all = view.table()->model()->rowCount();
    QTest::mouseClick(view.missingChip(), Qt::LeftButton);
    QCOMPARE(view.table()->model()->rowCount(), 1);
    QTest::mouseClick(view.missingChip(), Qt::LeftButton);
    QTest::keyClicks(view.filterField(), "mm analytical");
    QTRY_VERIFY(view.table()->model()->rowCount() < all);
    for (int row = 0; row < view.table()->model()->rowCount(); ++row)
        QVERIFY(cell(view, row, CostsModel::Label).contains("mm"));
}

void TestCostsView::selection() {
    CostsView view;
    const AnalysisPtr analysis = test::sampleAnalysis();
    view.setSnapshot(analysis);
    test::showAt(view, 560, 400);
    test::Asked asked(view);
    view.setSelection({Selection::Kind::Node, "_scaled_dot_product_flash_attention_2"});
    QVERIFY(cell(view, view.table()->currentIndex().row(), CostsModel::Label).contains("flash_attention"));
    QVERIFY(asked.selections.empty());
    view.table()->selectRow(rowWith(view, "all_gather bf16 112.0 MiB"));
    QCOMPARE(asked.selections.size(), size_t{1});
    QVERIFY(asked.selections[0].kind == Selection::Kind::Gather); // its first launch
    view.setSelection({Selection::Kind::Node, "tokens"});         // costs nothing by definition
    QVERIFY(!view.table()->currentIndex().isValid());
}

void TestCostsView::profilesAgainstEachOther() {
    const QTemporaryDir folder;
    const std::string path = storeOfTwo(folder);
    CostsView view;
    test::showAt(view, 900, 420);
    view.setSnapshot(test::sampleAnalysis());
    QVERIFY(!view.compareButton()->isVisible()); // without a store there are no profiles
    test::SampleOptions options;
    options.edit = [&](Analysis& analysis) {
        analysis.request.settings.set(Setting::ProfileStore, path);
        analysis.request.settings.set(Setting::ProfileChoice, "1");
    };
    const AnalysisPtr measured = test::sampleAnalysis(options);
    view.setSnapshot(measured);
    QVERIFY(view.compareButton()->isVisible());
    QMenu* menu = view.compareButton()->menu();
    emit menu->aboutToShow();
    QCOMPARE(menu->actions().size(), 2);
    QVERIFY(menu->actions()[0]->text().startsWith(QStringLiteral("2 · NVIDIA H200")));
    QVERIFY(!menu->actions()[1]->isEnabled() &&
            menu->actions()[1]->text().contains(QStringLiteral("in use")));
    menu->actions()[0]->trigger();
    ProfileComparison& comparison = *view.comparison();
    QVERIFY(comparison.isVisible() && !view.table()->isVisible());
    // 2 × (1000 + 4000 + 500) against 2 × (2000 + 3000 + 500)
    QVERIFY2(comparison.words().contains(QStringLiteral("11.0 µs → 11.0 µs")),
             qPrintable(comparison.words()));
    CostChangesTable& changes = *comparison.changes();
    const QAbstractItemModel* rows = changes.table()->model();
    QAbstractItemModelTester tester(changes.model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(rows->rowCount(), 5);
    QCOMPARE(changes.slowerChip()->count(), 1);
    QCOMPARE(changes.fasterChip()->count(), 1);
    QCOMPARE(changes.otherChip()->count(), 2);
    changes.table()->sortByColumn(CostChangesModel::Ratio, Qt::DescendingOrder);
    QCOMPARE(rows->index(0, CostChangesModel::Label).data().toString(), QStringLiteral("op a"));
    QCOMPARE(rows->index(0, CostChangesModel::Ratio).data().toString(), QStringLiteral("×2.00"));
    QCOMPARE(rows->index(0, CostChangesModel::Ratio).data(ChangeBarRole).toDouble(), 1.0);
    QCOMPARE(rows->headerData(CostChangesModel::Old, Qt::Horizontal).toString(), QStringLiteral("A"));
    QTest::mouseClick(changes.slowerChip(), Qt::LeftButton);
    QTest::mouseClick(changes.otherChip(), Qt::LeftButton);
    QCOMPARE(rows->rowCount(), 3);
    view.setSnapshot(measured); // an analysis more does not close it
    QVERIFY(comparison.isVisible());
    QTest::mouseClick(comparison.closeButton(), Qt::LeftButton);
    QVERIFY(!comparison.isVisible() && view.table()->isVisible());
    view.compareWith(7);
    QVERIFY2(comparison.words().contains(QStringLiteral("7")), qPrintable(comparison.words()));
    QVERIFY(!changes.isVisible());
    view.setSnapshot(nullptr);
    QVERIFY(!comparison.isVisible());
}

QTEST_MAIN(TestCostsView)
#include "tst_costs_view.moc"
