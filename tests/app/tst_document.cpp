// Jobs, the one signal, undo and selection of the document, with a core that takes its time.
#include "app/document.h"
#include "app/undo.h"
#include "fake_analysis.h"

#include <QSignalSpy>
#include <QTest>

using namespace gs;
using gs::test::FakeCore;

namespace {

AnalysisRequest request(const char* file) {
    AnalysisRequest r;
    r.graph_file = file;
    return r;
}

int64_t editedCost(const Document& document, const std::string& key) {
    const auto& edits = document.snapshot()->request.cost_overrides;
    const auto it = edits.find(key);
    return it == edits.end() ? -1 : it->second;
}

double stepMs(const Document& document) {
    return static_cast<double>(document.snapshot()->after.timeline->step_ns) / 1e6;
}

} // namespace

class TestDocument : public QObject {
    Q_OBJECT
private slots:
    void init() {
        warnings_ = std::make_unique<test::WarningGuard>();
        core_ = std::make_shared<FakeCore>();
    }
    void cleanup() { QCOMPARE(warnings_->take(), QStringList()); }
    void opensOffTheGuiThread();
    void dragMakesFewAnalysesAndEndsAtTheLastValue();
    void staleResultIsDropped();
    void failedOpeningKeepsTheOldSnapshot();
    void failedChangeGoesBack();
    void badValueIsRefused();
    void undoAndRedo();
    void dragIsOneStep();
    void dragBackIsNoStep();
    void costEdits();
    void cancelOpening();
    void cancelChange();
    void selectionComesBack();
    void destroyedWhileLoading();
    void exceptionBecomesAnError();
    void changeIsIgnoredWhileOpening();
    void closeEmptiesAll();
    void reloadAfterFailure();

private:
    std::unique_ptr<Document> opened() {
        auto document = std::make_unique<Document>(test::fakeAnalyse(core_));
        document->open(request("a.json"));
        [&] { QTRY_VERIFY(document->snapshot()); }();
        return document;
    }

    std::unique_ptr<test::WarningGuard> warnings_;
    std::shared_ptr<FakeCore> core_;
};

void TestDocument::opensOffTheGuiThread() {
    core_->delay_ms = 60;
    Document document(test::fakeAnalyse(core_));
    QSignalSpy snapshots(&document, &Document::snapshotChanged);
    QSignalSpy busy(&document, &Document::busyChanged);
    QSignalSpy progress(&document, &Document::progressed);
    document.open(request("a.json")); // returns at once: the job runs elsewhere
    QVERIFY(document.busy());
    QVERIFY(document.opening());
    QTRY_COMPARE(snapshots.count(), 1);
    QCOMPARE(snapshots[0][0].value<SnapshotPtr>(), document.snapshot());
    QVERIFY(!document.opening());
    QCOMPARE(busy.count(), 2);
    QVERIFY(progress.count() > 0);
    QCOMPARE(progress[0][0].toString(), QStringLiteral("waiting"));
}

void TestDocument::dragMakesFewAnalysesAndEndsAtTheLastValue() {
    const auto document = opened();
    QSignalSpy snapshots(document.get(), &Document::snapshotChanged);
    QTest::qWait(100);
    const int before = core_->started;
    // 40 moves in about 200 ms.
    for (int i = 1; i <= 40; ++i) {
        document->setSetting(QStringLiteral("contention"), QString::number(2 + i * 0.05));
        QTest::qWait(5);
    }
    QTRY_COMPARE(stepMs(*document), 4.0);
    const int analyses = core_->started - before;
    QVERIFY2(analyses >= 2 && analyses <= 10, qPrintable(QString::number(analyses)));
    QVERIFY(snapshots.count() <= analyses);
    QCOMPARE(core_->most_running.load(), 1);
}

void TestDocument::staleResultIsDropped() {
    core_->delay_ms = 120;
    core_->ignore_stop = true;
    Document document(test::fakeAnalyse(core_));
    QSignalSpy snapshots(&document, &Document::snapshotChanged);
    document.open(request("old.json"));
    QTest::qWait(20);
    document.open(request("new.json"));
    QTRY_COMPARE(snapshots.count(), 1);
    QCOMPARE(document.snapshot()->request.graph_file, std::string("new.json"));
    QTest::qWait(200);
    QCOMPARE(snapshots.count(), 1);
    QCOMPARE(core_->started.load(), 2);
    QCOMPARE(core_->most_running.load(), 1);
}

void TestDocument::failedOpeningKeepsTheOldSnapshot() {
    const auto document = opened();
    const SnapshotPtr old = document->snapshot();
    QSignalSpy failures(document.get(), &Document::failed);
    document->open(request("bad.json"));
    QTRY_COMPARE(failures.count(), 1);
    QCOMPARE(document->snapshot(), old);
    QCOMPARE(document->request().graph_file, std::string("a.json"));
    QCOMPARE(document->failedOpening()->graph_file, std::string("bad.json"));
    QVERIFY(!document->busy());
}

void TestDocument::failedChangeGoesBack() {
    const auto document = opened();
    const SnapshotPtr old = document->snapshot();
    QSignalSpy failures(document.get(), &Document::failed);
    core_->fail = true;
    document->setSetting(QStringLiteral("contention"), QStringLiteral("3"));
    QTRY_COMPARE(failures.count(), 1);
    QCOMPARE(document->snapshot(), old);
    QVERIFY(sameRequest(document->request(), old->request));
    QVERIFY(!document->undoStack()->canUndo());
    QVERIFY(!document->busy());
}

void TestDocument::badValueIsRefused() {
    const auto document = opened();
    QSignalSpy failures(document.get(), &Document::failed);
    document->setSetting(QStringLiteral("contention"), QStringLiteral("much"));
    document->setSetting(QStringLiteral("no_such_setting"), QStringLiteral("1"));
    QCOMPARE(failures.count(), 2);
    QVERIFY(!document->undoStack()->canUndo());
}

void TestDocument::undoAndRedo() {
    const auto document = opened();
    document->setSetting(QStringLiteral("contention"), QStringLiteral("3"));
    QTRY_COMPARE(stepMs(*document), 3.0);
    document->setSetting(QStringLiteral("bucket_mode"), QStringLiteral("coalesced"));
    QTRY_VERIFY(document->snapshot()->after.graph->find("bucket_0"));
    document->undoStack()->undo();
    QTRY_VERIFY(!document->snapshot()->after.graph->find("bucket_0"));
    QCOMPARE(stepMs(*document), 3.0);
    document->undoStack()->undo();
    QTRY_COMPARE(stepMs(*document), 1.5);
    QVERIFY(!document->undoStack()->canUndo());
    document->undoStack()->redo();
    QTRY_COMPARE(stepMs(*document), 3.0);
}

void TestDocument::dragIsOneStep() {
    const auto document = opened();
    for (int i = 1; i <= 10; ++i) {
        document->setSetting(QStringLiteral("contention"), QString::number(2 + i * 0.1));
        QTest::qWait(10);
    }
    QCOMPARE(document->undoStack()->count(), 1);
    QTest::qWait(static_cast<int>(ChangeRequest::kMergeGapMs) + 50);
    document->setSetting(QStringLiteral("contention"), QStringLiteral("4"));
    document->setSetting(QStringLiteral("slack_ns"), QStringLiteral("6000"));
    QCOMPARE(document->undoStack()->count(), 3);
}

void TestDocument::dragBackIsNoStep() {
    const auto document = opened();
    document->setSetting(QStringLiteral("contention"), QStringLiteral("2"));
    document->setSetting(QStringLiteral("contention"), QStringLiteral("1.5"));
    QCOMPARE(document->undoStack()->count(), 0);
    QTRY_VERIFY(!document->busy());
    QTRY_COMPARE(stepMs(*document), 1.5);
}

void TestDocument::costEdits() {
    const auto document = opened();
    document->editCost(QStringLiteral("mm"), 1000);
    document->editCost(QStringLiteral("mm"), 2000);
    QTRY_COMPARE(editedCost(*document, "mm"), 2000);
    QCOMPARE(document->undoStack()->count(), 2);
    document->editCost(QStringLiteral("mm"), -1);
    QTRY_VERIFY(document->snapshot()->request.cost_overrides.empty());
    document->undoStack()->undo();
    document->undoStack()->undo();
    QTRY_COMPARE(editedCost(*document, "mm"), 1000);
    document->addCostFile(QStringLiteral("b.json"));
    document->addCostFile(QStringLiteral("c.json"));
    QTRY_COMPARE(document->snapshot()->request.cost_files, (std::vector<std::string>{"c.json", "b.json"}));
    document->removeCostFile(QStringLiteral("c.json"));
    QTRY_COMPARE(document->snapshot()->request.cost_files, (std::vector<std::string>{"b.json"}));
    document->addRankFiles({QStringLiteral("rank1.json"), QStringLiteral("rank2.json")});
    QTRY_COMPARE(document->snapshot()->request.rank_files,
                 (std::vector<std::string>{"rank1.json", "rank2.json"}));
    document->addRankFiles({});
    QTRY_VERIFY(document->snapshot()->request.rank_files.empty());
    document->undoStack()->undo();
    QTRY_COMPARE(document->snapshot()->request.rank_files.size(), size_t(2));
    document->layTracesOver({QStringLiteral("run.json")});
    QTRY_COMPARE(document->snapshot()->request.trace_files, (std::vector<std::string>{"run.json"}));
    document->layTracesOver({});
    QTRY_VERIFY(document->snapshot()->request.trace_files.empty());
    document->undoStack()->undo();
    QTRY_COMPARE(document->snapshot()->request.trace_files, (std::vector<std::string>{"run.json"}));
}

void TestDocument::cancelOpening() {
    const auto document = opened();
    core_->delay_ms = 5000;
    document->open(request("slow.json"));
    QTest::qWait(20);
    document->cancel();
    QVERIFY(!document->busy());
    QVERIFY(!document->opening());
    QTRY_COMPARE(core_->running.load(), 0);
    QCOMPARE(core_->stopped.load(), 1);
    QCOMPARE(document->snapshot()->request.graph_file, std::string("a.json"));
}

void TestDocument::cancelChange() {
    const auto document = opened();
    core_->delay_ms = 5000;
    document->setSetting(QStringLiteral("contention"), QStringLiteral("3"));
    QTRY_VERIFY(core_->running > 0);
    document->cancel();
    QVERIFY(sameRequest(document->request(), document->snapshot()->request));
    QVERIFY(!document->undoStack()->canUndo());
    QTRY_COMPARE(core_->running.load(), 0);
    QVERIFY(!document->busy());
}

void TestDocument::selectionComesBack() {
    const auto document = opened();
    QSignalSpy selections(document.get(), &Document::selectionChanged);
    document->select({Selection::Kind::Gather, QStringLiteral("ag_1")});
    QCOMPARE(document->selection().name, QStringLiteral("ag_1"));
    document->setSetting(QStringLiteral("bucket_mode"), QStringLiteral("coalesced"));
    QTRY_COMPARE(document->selection().name, QStringLiteral("bucket_0"));
    QCOMPARE(document->selection().kind, Selection::Kind::Gather);
    document->undoStack()->undo();
    QTRY_COMPARE(document->selection().name, QStringLiteral("ag_1"));
    document->select({Selection::Kind::Node, QStringLiteral("nowhere")});
    QCOMPARE(document->selection(), Selection());
    QCOMPARE(selections.count(), 4);
}

void TestDocument::destroyedWhileLoading() {
    core_->delay_ms = 10'000;
    {
        Document document(test::fakeAnalyse(core_));
        document.open(request("a.json"));
        QTRY_VERIFY(core_->running > 0);
    }
    QCOMPARE(core_->running.load(), 0);
    QCOMPARE(core_->stopped.load(), 1);
}

void TestDocument::exceptionBecomesAnError() {
    Document document([](const AnalysisRequest&, const JobContext&) -> Result<AnalysisPtr> {
        throw std::runtime_error("boom");
    });
    QSignalSpy failures(&document, &Document::failed);
    document.open(request("a.json"));
    QTRY_COMPARE(failures.count(), 1);
    const auto error = failures[0][0].value<Error>();
    QCOMPARE(error.code, std::string("internal"));
    QVERIFY(error.message.find("boom") != std::string::npos);
}

void TestDocument::changeIsIgnoredWhileOpening() {
    const auto document = opened();
    core_->delay_ms = 80;
    document->open(request("b.json"));
    document->setSetting(QStringLiteral("contention"), QStringLiteral("3"));
    QTRY_COMPARE(document->snapshot()->request.graph_file, std::string("b.json"));
    QCOMPARE(stepMs(*document), 1.5);
    QVERIFY(!document->undoStack()->canUndo());
}

void TestDocument::closeEmptiesAll() {
    const auto document = opened();
    document->setSetting(QStringLiteral("contention"), QStringLiteral("3"));
    document->select({Selection::Kind::Gather, QStringLiteral("ag_1")});
    QSignalSpy snapshots(document.get(), &Document::snapshotChanged);
    document->close();
    QCOMPARE(snapshots.count(), 1);
    QVERIFY(!document->snapshot());
    QCOMPARE(document->selection(), Selection());
    QVERIFY(!document->undoStack()->canUndo());
    QTest::qWait(100);
    QCOMPARE(snapshots.count(), 1);
}

void TestDocument::reloadAfterFailure() {
    Document document(test::fakeAnalyse(core_));
    core_->fail = true;
    QSignalSpy failures(&document, &Document::failed);
    document.open(request("a.json"));
    QTRY_COMPARE(failures.count(), 1);
    core_->fail = false;
    document.reload();
    QTRY_VERIFY(document.snapshot());
    const SnapshotPtr first = document.snapshot();
    document.reload();
    QTRY_VERIFY(document.snapshot() != first);
}

QTEST_MAIN(TestDocument)
#include "tst_document.moc"
