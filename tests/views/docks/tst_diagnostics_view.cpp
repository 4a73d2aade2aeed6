// Findings and log: order, icons with words, leading to nodes.
#include "dock_test.h"
#include "views/docks/data_table.h"
#include "views/docks/diagnostics_view.h"

#include <QAbstractItemModelTester>
#include <QPlainTextEdit>

using namespace gs;

namespace {

AnalysisPtr withFindings() {
    test::SampleOptions options;
    options.edit = [](Analysis& analysis) {
        analysis.diagnostics.add(
            {Severity::Info, "no-wait", {}, "unwaited_gather", "nothing waits for it", ""});
        analysis.diagnostics.add({Severity::Error,
                                  "unknown-input",
                                  {"sample.json", 1234, 5},
                                  "mm_3",
                                  "an input is unknown",
                                  "fix the file"});
        analysis.diagnostics.add({Severity::Warning, "odd", {}, "", "a general remark", ""});
        PassReport report;
        report.pass = "lower-redistribute";
        report.summary = "2 of 3 redistributes lowered";
        report.lines = {{"mm_1", true, "all_gather made"}, {"mm_2", false, "placement is Partial"}};
        report.diagnostics.add({Severity::Warning, "odd", {}, "", "a general remark", ""});
        analysis.reports.push_back(report);
    };
    return test::sampleAnalysis(options);
}

QString cell(const DiagnosticsView& view, int row, int column) {
    return view.table()->model()->index(row, column).data().toString();
}

} // namespace

class TestDiagnosticsView : public QObject {
    Q_OBJECT
private slots:
    void init() {
        QSettings().clear();
        Theme::apply(false);
    }
    void rows();
    void leadsToNode();
    void log();

private:
    test::IsolatedSettings settings_;
};

void TestDiagnosticsView::rows() {
    DiagnosticsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setSnapshot(withFindings());
    model.setSnapshot(nullptr);
    DiagnosticsView view;
    view.setSnapshot(withFindings());
    QCOMPARE(view.table()->model()->rowCount(), 6); // the remark that is in both lists is shown once
    QCOMPARE(cell(view, 0, DiagnosticsModel::Severity), QStringLiteral("error"));
    QCOMPARE(cell(view, 0, DiagnosticsModel::Line), QStringLiteral("1,234"));
    QCOMPARE(cell(view, 0, DiagnosticsModel::Hint), QStringLiteral("fix the file"));
    QCOMPARE(view.table()->model()->index(0, 0).data(MarkRole).toInt(), int(Mark::Error));
    QCOMPARE(cell(view, 1, DiagnosticsModel::Severity), QStringLiteral("warning"));
    QCOMPARE(cell(view, 3, DiagnosticsModel::Message), QStringLiteral("2 of 3 redistributes lowered"));
    QCOMPARE(cell(view, 4, DiagnosticsModel::Message), QStringLiteral("done: all_gather made"));
    QCOMPARE(cell(view, 5, DiagnosticsModel::Message), QStringLiteral("skipped: placement is Partial"));
}

void TestDiagnosticsView::leadsToNode() {
    DiagnosticsView view;
    view.setSnapshot(withFindings());
    test::showAt(view, 560, 300);
    test::Asked asked(view);
    const auto dclick = [&](int row) {
        const QModelIndex index = view.table()->model()->index(row, DiagnosticsModel::Message);
        const QPoint at = view.table()->visualRect(index).center();
        QTest::mouseClick(view.table()->viewport(), Qt::LeftButton, {}, at);
        QTest::mouseDClick(view.table()->viewport(), Qt::LeftButton, {}, at);
    };
    dclick(0);
    QCOMPARE(asked.selections.size(), size_t{1});
    QVERIFY((asked.selections[0] == Selection{Selection::Kind::Node, "mm_3"}));
    dclick(1); // about no node
    QCOMPARE(asked.selections.size(), size_t{1});
    view.table()->selectRow(5);
    view.table()->setFocus();
    QTest::keyClick(view.table(), Qt::Key_Return);
    QCOMPARE(asked.selections.back().name, QStringLiteral("mm_2"));
}

void TestDiagnosticsView::log() {
    DiagnosticsView view;
    view.setSnapshot(withFindings());
    QVERIFY(view.log()->toPlainText().startsWith("INFO repositioned "));
    view.setSnapshot(nullptr);
    QVERIFY(view.log()->toPlainText().isEmpty());
}

QTEST_MAIN(TestDiagnosticsView)
#include "tst_diagnostics_view.moc"
