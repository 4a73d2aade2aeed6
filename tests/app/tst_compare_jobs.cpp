// What was tried on the open graph: rows that accumulate, baseline, pins, jobs and their end.
#include "app/document.h"
#include "app/undo.h"
#include "fake_analysis.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <set>

using namespace gs;
using gs::test::FakeCore;
using Kind = CompareCommand::Kind;
using Origin = CompareEntry::Origin;

namespace {

AnalysisRequest request(const char* file) {
    AnalysisRequest r;
    r.graph_file = file;
    return r;
}

} // namespace

class TestCompareJobs : public QObject {
    Q_OBJECT
private slots:
    void init() {
        warnings_ = std::make_unique<test::WarningGuard>();
        core_ = std::make_shared<FakeCore>();
        search_core_ = std::make_shared<FakeCore>();
    }
    void cleanup() { QCOMPARE(warnings_->take(), QStringList()); }
    void opensWithProgramOrderAndItself();
    void changesBecomeRows();
    void dragLeavesOneRow();
    void lookingAtARowIsUndoable();
    void baseline();
    void baselineFollowsTheWorldUntilChosen();
    void runAllSchedulers();
    void searchEndsWithABest();
    void cancelKeepsRows();
    void failingJob();
    void throwingJob();
    void twoPins();
    void pinsGoAgain();
    void costsThatChangedOnDisk();
    void removing();
    void anotherGraphBeginsAnew();
    void searchRunsBesideTheWindow();
    void destroyedWhileSearching();

private:
    /// A document with a graph open, whose comparison has a core of its own.
    std::unique_ptr<Document> opened() {
        auto document = std::make_unique<Document>(test::fakeAnalyse(core_));
        document->compare().setAnalyseFactory([core = search_core_] { return test::fakeAnalyse(core); });
        document->open(request("a.json"));
        [&] { QTRY_VERIFY(document->snapshot()); }();
        return document;
    }
    static CompareState state(Document& document) { return *document.compare().state(); }
    static const CompareEntry* current(Document& document) {
        return document.compare().state()->find(document.compare().state()->current);
    }
    /// Sets it and waits until the window shows it.
    static void set(Document& document, const char* name, const char* value) {
        document.setSetting(QString::fromLatin1(name), QString::fromLatin1(value));
        QTRY_VERIFY(!document.busy() && sameRequest(document.request(), document.snapshot()->request));
    }

    std::unique_ptr<test::WarningGuard> warnings_;
    std::shared_ptr<FakeCore> core_, search_core_;
};

void TestCompareJobs::opensWithProgramOrderAndItself() {
    const auto document = opened();
    const CompareState now = state(*document);
    QCOMPARE(now.entries.size(), size_t{2});
    QCOMPARE(now.entries[0]->origin, Origin::ProgramOrder);
    QCOMPARE(now.baseline, now.entries[0]->id);
    QCOMPARE(now.current, now.entries[1]->id);
    QCOMPARE(now.entries[1]->row.step_ns, document->snapshot()->after.timeline->step_ns);
    QVERIFY(!document->compare().busy());
}

void TestCompareJobs::changesBecomeRows() {
    const auto document = opened();
    const uint64_t first = state(*document).current;
    set(*document, "scheduler", "just-in-time");
    set(*document, "bucket_mode", "coalesced");
    CompareState now = state(*document);
    QCOMPARE(now.entries.size(), size_t{4});
    QCOMPARE(now.current, now.entries.back()->id);
    document->undoStack()->undo(); // an equal request has its row already
    document->undoStack()->undo();
    QTRY_COMPARE(state(*document).current, first);
    QCOMPARE(state(*document).entries.size(), size_t{4});
    set(*document, "forward_depth", "3"); // no matter to this scheduler
    QCOMPARE(state(*document).current, first);
}

void TestCompareJobs::dragLeavesOneRow() {
    const auto document = opened();
    const size_t before = state(*document).entries.size();
    for (int i = 1; i <= 5; ++i)
        set(*document, "slack_ns", qPrintable(QString::number(5000 + i * 100)));
    QCOMPARE(state(*document).entries.size(), before + 1);
    QCOMPARE(current(*document)->row.request.settings.text(Setting::SlackNs), std::string("5500"));
    QTest::qWait(static_cast<int>(CompareJobs::kDragGapMs) + 50);
    set(*document, "slack_ns", "7000");
    QCOMPARE(state(*document).entries.size(), before + 2);
}

void TestCompareJobs::lookingAtARowIsUndoable() {
    const auto document = opened();
    set(*document, "scheduler", "just-in-time");
    const CompareState now = state(*document);
    const CompareEntryPtr order = now.entries[0];
    document->setRequest(order->row.request, QStringLiteral("Look at it")); // as the view asks
    QTRY_COMPARE(state(*document).current, order->id);
    QCOMPARE(state(*document).entries.size(), now.entries.size());
    document->undoStack()->undo();
    QTRY_COMPARE(state(*document).current, now.current);
}

void TestCompareJobs::baseline() {
    const auto document = opened();
    set(*document, "scheduler", "just-in-time");
    const CompareState now = state(*document);
    document->compare().command({Kind::MakeBaseline, now.current, {}});
    QCOMPARE(state(*document).baseline, now.current);
    set(*document, "scheduler", "program-order");
    QCOMPARE(state(*document).baseline, now.current); // it stays
    document->compare().command({Kind::MakeBaseline, 9999, {}});
    QCOMPARE(state(*document).baseline, now.current); // no such row
}

void TestCompareJobs::baselineFollowsTheWorldUntilChosen() {
    const auto document = opened();
    const uint64_t first = state(*document).baseline;
    set(*document, "compute_slowdown", "1.2");
    CompareState now = state(*document);
    QVERIFY(now.baseline != first);
    QVERIFY(!now.find(first)); // the old program order is of another world
    QCOMPARE(now.find(now.baseline)->row.request.settings.text(Setting::ComputeSlowdown), std::string("1.2"));
    document->compare().command({Kind::MakeBaseline, now.current, {}});
    set(*document, "compute_slowdown", "1.4");
    QCOMPARE(state(*document).baseline, now.current);
}

void TestCompareJobs::runAllSchedulers() {
    const auto document = opened();
    QSignalSpy states(&document->compare(), &CompareJobs::stateChanged);
    const size_t variants = variantsOfAllSchedulers(document->request()).size();
    search_core_->delay_ms = 5;
    document->compare().command({Kind::RunAll, 0, {}});
    QCOMPARE(state(*document).job, CompareState::Job::RunAll);
    QTRY_COMPARE(state(*document).job, CompareState::Job::None);
    const CompareState now = state(*document);
    QCOMPARE(now.entries.size(), variants); // program order and the shown one are among them
    std::set<std::string> names;
    for (const CompareEntryPtr& entry : now.entries)
        names.insert(entry->row.request.settings.text(Setting::Scheduler));
    QVERIFY(names.count("parameter-prefetch") && names.count("overlap-scheduler"));
    QCOMPARE(search_core_->started.load(), static_cast<int>(variants));
    QCOMPARE(core_->started.load(), 1); // the window's own analyser was left alone
    bool progress = false;
    for (const auto& call : states)
        progress |= call[0].value<CompareStatePtr>()->fraction > 0;
    QVERIFY(progress);
    set(*document, "compute_slowdown", "1.2"); // a row that was asked for stays
    QVERIFY(state(*document).find(now.baseline));
}

void TestCompareJobs::searchEndsWithABest() {
    const auto document = opened();
    document->compare().command({Kind::Search, 0, {-1, 20}});
    QTRY_VERIFY(state(*document).search);
    QTRY_COMPARE(state(*document).job, CompareState::Job::None);
    const CompareState now = state(*document);
    QCOMPARE(now.search->end, SearchEnd::Finished);
    QVERIFY(now.search->within_limit && now.search->tried > 20);
    const CompareEntry* best = now.find(now.search->best);
    QVERIFY(best);
    for (const CompareEntryPtr& entry : now.entries)
        QVERIFY(best->row.step_ns <= entry->row.step_ns);
    document->setRequest(best->row.request, QStringLiteral("Look at it"));
    QTRY_COMPARE(state(*document).current, best->id);
}

void TestCompareJobs::cancelKeepsRows() {
    const auto document = opened();
    search_core_->delay_ms = 30;
    document->compare().command({Kind::Search, 0, {-1, 60}});
    QTRY_VERIFY(state(*document).entries.size() >= 5);
    const size_t before = state(*document).entries.size();
    document->compare().command({Kind::Cancel, 0, {}});
    QVERIFY(state(*document).stopping);
    QTRY_COMPARE(state(*document).job, CompareState::Job::None);
    QVERIFY(state(*document).entries.size() >= before);
    QCOMPARE(state(*document).search->end, SearchEnd::Cancelled);
    QVERIFY(state(*document).find(state(*document).search->best));
    QVERIFY(!state(*document).error);
}

void TestCompareJobs::failingJob() {
    const auto document = opened();
    search_core_->fail = true;
    document->compare().command({Kind::Search, 0, {}});
    QTRY_VERIFY(state(*document).error);
    QTRY_COMPARE(state(*document).job, CompareState::Job::None);
    document->compare().command({Kind::RunAll, 0, {}}); // a failing variant is a row that says so
    QTRY_COMPARE(state(*document).job, CompareState::Job::None);
    QVERIFY(!state(*document).error);
    QVERIFY(state(*document).entries.back()->row.error);
}

void TestCompareJobs::throwingJob() {
    const auto document = opened();
    document->compare().setAnalyseFactory([]() -> AnalyseFunction { throw std::runtime_error("boom"); });
    document->compare().command({Kind::RunAll, 0, {}});
    QTRY_VERIFY(state(*document).error);
    QVERIFY(state(*document).error->message.find("boom") != std::string::npos);
    QTRY_COMPARE(state(*document).job, CompareState::Job::None);
}

void TestCompareJobs::twoPins() {
    const auto document = opened();
    const CompareState now = state(*document);
    document->compare().command({Kind::PinA, now.baseline, {}});
    QVERIFY(!state(*document).comparing);
    document->compare().command({Kind::PinB, now.current, {}});
    QVERIFY(state(*document).comparing);
    QTRY_VERIFY(state(*document).diff);
    QTRY_VERIFY(!state(*document).comparing);
    QCOMPARE(state(*document).diff->rows.size(), size_t{6}); // one per gather of the fake
    QCOMPARE(search_core_->started.load(), 1);               // what is shown needed no analysis
    // The same row on the other pin leaves the first.
    document->compare().command({Kind::PinA, now.current, {}});
    QCOMPARE(state(*document).pin_a, now.current);
    QCOMPARE(state(*document).pin_b, uint64_t{0});
    QVERIFY(!state(*document).diff);
}

void TestCompareJobs::pinsGoAgain() {
    const auto document = opened();
    const uint64_t id = state(*document).current;
    document->compare().command({Kind::PinA, id, {}});
    document->compare().command({Kind::PinA, id, {}});
    QCOMPARE(state(*document).pin_a, uint64_t{0});
}

void TestCompareJobs::costsThatChangedOnDisk() {
    QTemporaryDir folder;
    const QString costs = folder.filePath(QStringLiteral("costs.json"));
    const auto write = [&](const QByteArray& content) {
        QFile file(costs);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    };
    write("{}");
    const auto document = opened();
    document->addCostFile(costs);
    QTRY_VERIFY(!document->busy() && document->snapshot()->request.cost_files.size() == 1);
    const uint64_t first = state(*document).current;
    set(*document, "scheduler", "just-in-time");
    const uint64_t second = state(*document).current;
    set(*document, "scheduler", "overlap-scheduler");
    document->compare().command({Kind::PinA, first, {}});
    document->compare().command({Kind::PinB, state(*document).current, {}});
    QTRY_VERIFY(state(*document).diff && !state(*document).comparing);
    const int analyses = search_core_->started.load();
    document->reload(); // nothing has changed
    QTRY_VERIFY(!document->busy());
    for (const CompareEntryPtr& entry : state(*document).entries)
        QVERIFY(!entry->stale);
    QCOMPARE(search_core_->started.load(), analyses);
    write("{\"costs\": []}");
    document->reload();
    QTRY_VERIFY(state(*document).find(second)->stale);
    QVERIFY(!current(*document)->stale);
    QVERIFY(!state(*document).find(state(*document).baseline)->stale || state(*document).baseline == first);
    // What is pinned is made again.
    QTRY_VERIFY(state(*document).diff && !state(*document).comparing);
    QVERIFY(!state(*document).find(first)->stale);
    QCOMPARE(search_core_->started.load(), analyses + 1); // the other one is shown
    // Looked at again, a row is made again.
    set(*document, "scheduler", "just-in-time");
    QCOMPARE(state(*document).current, second);
    QVERIFY(!state(*document).find(second)->stale);
}

void TestCompareJobs::removing() {
    const auto document = opened();
    set(*document, "scheduler", "just-in-time");
    set(*document, "scheduler", "overlap-scheduler");
    CompareState now = state(*document);
    const uint64_t sweep = now.entries[1]->id;
    document->compare().command({Kind::Remove, now.current, {}});
    document->compare().command({Kind::Remove, now.baseline, {}});
    QCOMPARE(state(*document).entries.size(), now.entries.size()); // both are in use
    document->compare().command({Kind::Remove, sweep, {}});
    QVERIFY(!state(*document).find(sweep));
    document->compare().command({Kind::RemoveAll, 0, {}});
    QCOMPARE(state(*document).entries.size(), size_t{2});
}

void TestCompareJobs::anotherGraphBeginsAnew() {
    const auto document = opened();
    set(*document, "scheduler", "just-in-time");
    const CompareState old = state(*document);
    document->reload();
    QTRY_VERIFY(!document->busy());
    QCOMPARE(state(*document).entries.size(), old.entries.size()); // the same graph
    document->compare().command({Kind::PinA, old.current, {}});
    document->open(request("b.json"));
    QTRY_COMPARE(document->snapshot()->request.graph_file, std::string("b.json"));
    const CompareState now = state(*document);
    QCOMPARE(now.entries.size(), size_t{2});
    QCOMPARE(now.pin_a, uint64_t{0});
    for (const CompareEntryPtr& entry : now.entries)
        QVERIFY(!old.find(entry->id)); // ids never come back
    document->close();
    QVERIFY(state(*document).entries.empty());
    document->compare().command({Kind::RunAll, 0, {}}); // nothing is open
    QVERIFY(!document->compare().busy());
}

void TestCompareJobs::searchRunsBesideTheWindow() {
    const auto document = opened();
    search_core_->delay_ms = 40;
    document->compare().command({Kind::Search, 0, {-1, 60}});
    QTRY_VERIFY(search_core_->running > 0);
    set(*document, "scheduler", "just-in-time"); // the window answers meanwhile
    QCOMPARE(state(*document).job, CompareState::Job::Search);
    QCOMPARE(current(*document)->row.request.settings.text(Setting::Scheduler), std::string("just-in-time"));
    QCOMPARE(search_core_->most_running.load(), 1);
    document->close();
    QTRY_COMPARE(search_core_->running.load(), 0);
}

void TestCompareJobs::destroyedWhileSearching() {
    {
        const auto document = opened();
        search_core_->delay_ms = 10'000;
        document->compare().command({Kind::Search, 0, {-1, 60}});
        QTRY_VERIFY(search_core_->running > 0);
    }
    QCOMPARE(search_core_->running.load(), 0);
    QCOMPARE(search_core_->stopped.load(), 1);
}

QTEST_MAIN(TestCompareJobs)
#include "tst_compare_jobs.moc"
