// The Re-profile dialog in each of its states, with a job that says what the test tells it to.
#include "app/banner.h"
#include "app/main_window.h"
#include "app/preferences.h"
#include "app/profile/profile_dialog.h"
#include "app/profile/profile_pages.h"
#include "app/profile/profile_setup.h"
#include "app/profile/worker_profile_job.h"
#include "fake_analysis.h"
#include "fake_profile_job.h"
#include "support/sample_analysis.h"
#include "support/time_limit.h"
#include "views/docks/chip.h"
#include "views/docks/data_table.h"
#include "views/profile/profile_diff.h"
#include "views/theme.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <sqlite3.h>

using namespace gs;
using gs::test::FakeProfileJob;
using State = ProfileDialog::State;

class TestProfileDialog : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void looksForDevicesFirst();
    void missingPartsAreNamed();
    void readyOffersWhatWorks();
    void choicesAreAskedForAndRemembered();
    void nothingToMeasureCannotStart();
    void storesThatCannotTakeItInAreSaidBefore();
    void storesAreLookedAt();
    void ranksAreShownWhileTheyRun();
    void thousandsOfMessagesStayFluid();
    void cancelEndsTheRanks();
    void failureNamesRankAndKey();
    void diffSaysOldAndNew();
    void contentionIsAChoice();
    void previewThatFailsKeepsTheProfile();
    void takeOverStoresOnce();
    void storeErrorsLoseNothing();
    void discardChangesNothing();
    void windowOpensIt();

private:
    std::unique_ptr<ProfileDialog> make();
    std::unique_ptr<ProfileDialog> ready();
    std::unique_ptr<ProfileDialog> running();
    std::unique_ptr<ProfileDialog> diff();
    static Profile profile();

    std::unique_ptr<test::WarningGuard> warnings_;
    std::unique_ptr<QTemporaryDir> folder_;
    AnalysisPtr before_;
    AnalysisPtr after_;
    FakeProfileJob* job_ = nullptr; ///< of the dialog that was made last
};

void TestProfileDialog::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("GatherscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("GatherscopeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    Theme::apply(false);
    before_ = test::sampleAnalysis();
    test::SampleOptions options;
    for (const CostEntry& entry : before_->after.costs->entries())
        if (entry.provenance != Provenance::Missing && options.cost_overrides.size() < 4)
            options.cost_overrides[entry.key] = entry.ns * 2 + 1000;
    options.settings.set(Setting::MeasuredContention, "true");
    after_ = test::sampleAnalysis(options);
}

void TestProfileDialog::init() {
    warnings_ = std::make_unique<test::WarningGuard>();
    folder_ = std::make_unique<QTemporaryDir>();
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope,
                       folder_->filePath(QStringLiteral("settings")));
}

void TestProfileDialog::cleanup() {
    QCOMPARE(warnings_->take(), QStringList());
    warnings_.reset();
}

Profile TestProfileDialog::profile() {
    Profile profile;
    profile.device = "Test Processor, 2 cores";
    profile.backend = "host";
    profile.ranks = 2;
    profile.mode = "identical";
    profile.entries.resize(3);
    profile.contention = {{"gather", "mm", 1 << 20, 1000, 1340, 2000, 2100}};
    return profile;
}

std::unique_ptr<ProfileDialog> TestProfileDialog::make() {
    auto job = std::make_unique<FakeProfileJob>();
    job_ = job.get();
    auto dialog = std::make_unique<ProfileDialog>(before_, std::move(job));
    dialog->show();
    [&] { QVERIFY(QTest::qWaitForWindowExposed(dialog.get())); }();
    return dialog;
}

std::unique_ptr<ProfileDialog> TestProfileDialog::ready() {
    auto dialog = make();
    emit job_->probed(test::fakeReport());
    dialog->setup().storeField()->setText(folder_->filePath(QStringLiteral("p.db")));
    return dialog;
}

std::unique_ptr<ProfileDialog> TestProfileDialog::running() {
    auto dialog = ready();
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    return dialog;
}

std::unique_ptr<ProfileDialog> TestProfileDialog::diff() {
    auto dialog = running();
    emit job_->measured(profile());
    emit job_->previewed(after_);
    return dialog;
}

void TestProfileDialog::looksForDevicesFirst() {
    const auto dialog = make();
    QCOMPARE(dialog->state(), State::Probing);
    QCOMPARE(job_->probes, 1);
    QVERIFY(!dialog->primaryButton()->isVisible());
    QTest::keyClick(dialog.get(), Qt::Key_Escape);
    QVERIFY(!dialog->isVisible());
}

void TestProfileDialog::missingPartsAreNamed() {
    const auto dialog = make();
    ProbeReport report = test::fakeReport();
    report.mpirun.clear();
    emit job_->probed(report);
    QCOMPARE(dialog->state(), State::Missing);
    QString text = dialog->missing().text();
    for (const char* part : {"mpirun", "apt install openmpi-bin", "No CUDA driver was found.", "host works"})
        QVERIFY2(text.contains(QLatin1String(part)), qPrintable(text));
    report.backends.clear();
    report.program = Error{"no-rank-program", "gatherscope-rank is not there", {}, "build it"};
    emit job_->probed(report);
    text = dialog->missing().text();
    for (const char* part : {"gatherscope-rank is not there.", "Build it.", "GPU, NCCL or libtorch"})
        QVERIFY2(text.contains(QLatin1String(part)), qPrintable(text));
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QCOMPARE(dialog->state(), State::Probing);
    QCOMPARE(job_->probes, 2);
    emit job_->probed(test::fakeReport());
    QCOMPARE(dialog->state(), State::Ready);
}

void TestProfileDialog::readyOffersWhatWorks() {
    const auto dialog = ready();
    QCOMPARE(dialog->state(), State::Ready);
    QVERIFY(!dialog->setup().backendButton(QStringLiteral("cuda"))->isEnabled());
    QVERIFY(dialog->setup().backendButton(QStringLiteral("host"))->isEnabled());
    QCOMPARE(dialog->setup().device(), std::string("Test Processor, 2 cores"));
    QTRY_COMPARE(dialog->setup().planText(), QStringLiteral("226 keys will be measured."));
}

void TestProfileDialog::choicesAreAskedForAndRemembered() {
    auto dialog = ready();
    dialog->setup().ranks()->setValue(3);
    dialog->setup().againBox()->click();
    QTest::keyClick(dialog.get(), Qt::Key_Return);
    QCOMPARE(dialog->state(), State::Running);
    QCOMPARE(job_->starts, 1);
    QCOMPARE(job_->started.worker.ranks, 3);
    QCOMPARE(job_->started.worker.backend, std::string("host"));
    QCOMPARE(job_->started.worker.plan.iterations, 10);
    QVERIFY(job_->started.again);
    QCOMPARE(job_->started.worker.files, std::vector{before_->request.graph_file});
    dialog = make();
    emit job_->probed(test::fakeReport());
    QCOMPARE(dialog->setup().ranks()->value(), 3);
    QCOMPARE(dialog->setup().store(), folder_->filePath(QStringLiteral("p.db")));
}

void TestProfileDialog::nothingToMeasureCannotStart() {
    const auto dialog = ready();
    for (QCheckBox* box : dialog->setup().findChildren<QCheckBox*>())
        if (box->isChecked())
            box->click();
    QVERIFY(!dialog->primaryButton()->isEnabled());
    QCOMPARE(dialog->setup().planText(), QStringLiteral("Choose something to measure."));
    dialog->setup().findChildren<QCheckBox*>().front()->click();
    QVERIFY(dialog->primaryButton()->isEnabled());
    dialog->setup().storeField()->clear();
    QVERIFY(!dialog->primaryButton()->isEnabled());
}

void TestProfileDialog::storesThatCannotTakeItInAreSaidBefore() {
    const auto dialog = ready();
    QTRY_VERIFY(dialog->setup().planText().contains(QStringLiteral("226")));
    job_->plan_error = Error{"not-a-profile-store", "p is a folder, no profile store", {}, "name a file"};
    dialog->setup().storeField()->setText(folder_->path());
    QTRY_COMPARE(dialog->setup().planText(), QStringLiteral("P is a folder, no profile store. Name a file."));
    QVERIFY(!dialog->primaryButton()->isEnabled());
    QTest::keyClick(dialog.get(), Qt::Key_Return);
    QCOMPARE(job_->starts, 0);
    // Who writes now may have ended when it is needed.
    job_->plan_error.reset();
    job_->store_busy = Error{"store-locked", "the profile store p.db is locked by process 42", {}, ""};
    dialog->setup().storeField()->setText(folder_->filePath(QStringLiteral("q.db")));
    QVERIFY(dialog->primaryButton()->isEnabled());
    QTRY_VERIFY(dialog->setup().planText().contains(QStringLiteral("locked by process 42")));
    QVERIFY(dialog->setup().planText().startsWith(QStringLiteral("226 keys")));
    QVERIFY(dialog->primaryButton()->isEnabled());
    job_->store_busy.reset();
    dialog->setup().againBox()->click();
    QTRY_COMPARE(dialog->setup().planText(), QStringLiteral("226 keys will be measured."));
}

/// By the real job: a folder, a file of another kind, a store that another connection writes into.
void TestProfileDialog::storesAreLookedAt() {
    WorkerProfileJob job(before_);
    QSignalSpy failed(&job, &ProfileJob::planFailed), busy(&job, &ProfileJob::storeBusy),
        planned(&job, &ProfileJob::planned), stored(&job, &ProfileJob::stored);
    MeasureRequest request;
    request.worker.backend = "host";
    request.worker.ranks = 2;
    const auto plan = [&](const QString& store) {
        request.store = store.toStdString();
        job.plan(request);
    };
    plan(folder_->path());
    QTRY_COMPARE(failed.count(), 1);
    QCOMPARE(failed[0][0].value<Error>().code, std::string("not-a-profile-store"));
    const QString text = folder_->filePath(QStringLiteral("notes.txt"));
    QFile file(text);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(5000, 'x'));
    file.close();
    plan(text);
    QTRY_COMPARE(failed.count(), 2);
    QCOMPARE(failed[1][0].value<Error>().code, std::string("not-a-profile-store"));
    const QString store = folder_->filePath(QStringLiteral("stores/p.db"));
    plan(store); // its folder is made
    QTRY_COMPARE(planned.count(), 1);
    QVERIFY(!QFileInfo::exists(store));
    Profile measured;
    measured.entries.push_back({"key", "compute", "op", 1000, 1, 10, 1, 1, Provenance::Measured, ""});
    job.store(measured, store.toStdString());
    QTRY_COMPARE(stored.count(), 1);
    sqlite3* other = nullptr;
    QCOMPARE(sqlite3_open(qPrintable(store), &other), SQLITE_OK);
    QCOMPARE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    plan(store);
    QTRY_COMPARE(planned.count(), 2);
    QCOMPARE(busy.count(), 1);
    QCOMPARE(busy[0][0].value<Error>().code, std::string("store-locked"));
    sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
    sqlite3_close(other);
    plan(store);
    QTRY_COMPARE(planned.count(), 3);
    QCOMPARE(busy.count(), 1);
    QCOMPARE(failed.count(), 2);
}

void TestProfileDialog::ranksAreShownWhileTheyRun() {
    const auto dialog = running();
    const QAbstractItemModelTester tester(dialog->run().model());
    HelloMessage hello;
    hello.device = "Test Processor";
    hello.host = "here";
    emit job_->hello(0, hello);
    QTRY_VERIFY(dialog->run().title().contains(QStringLiteral("1 of 2")));
    emit job_->hello(1, hello);
    for (int rank : {0, 1})
        emit job_->progress(rank, {rank + 4, 10, "key", "mm [64, 64]", "compute", 3'000'000'000});
    RankProgressModel* model = dialog->run().model();
    QTRY_COMPARE(model->index(1, RankProgressModel::Count).data().toString(), QStringLiteral("6 of 10"));
    QCOMPARE(model->index(0, RankProgressModel::Key).data().toString(), QStringLiteral("mm [64, 64]"));
    QCOMPARE(model->index(0, RankProgressModel::Left).data().toString(), QStringLiteral("3 s"));
    QCOMPARE(model->fraction(), 0.5); // of the slower one
    emit job_->warning(1, {"x", "no kernel for that", ""});
    QCOMPARE(dialog->run().warnings(), QStringList(QStringLiteral("rank 1: No kernel for that.")));
    emit job_->hello(7, hello); // a rank that there is not
}

void TestProfileDialog::thousandsOfMessagesStayFluid() {
    const auto dialog = running();
    QElapsedTimer timer;
    timer.start();
    for (int i = 0; i < 20'000; ++i) {
        emit job_->progress(i % 2, {i / 20, 1000, "key", "mm", "compute", -1});
        emit job_->entry({});
        if (i % 20 == 0)
            emit job_->warning(0, {"x", "something", ""});
    }
    QCoreApplication::processEvents();
    QVERIFY2(timer.elapsed() < test::timeLimit(2000), qPrintable(QString::number(timer.elapsed())));
    QTRY_COMPARE(dialog->run().model()->fraction(), 1.0);
}

void TestProfileDialog::cancelEndsTheRanks() {
    const auto dialog = running();
    QTest::keyClick(dialog.get(), Qt::Key_Escape);
    QCOMPARE(job_->cancels, 1);
    QVERIFY(dialog->isVisible()); // until the ranks have ended
    emit job_->failed({{"cancelled", "the measurement was cancelled", {}, ""}, -1, {}});
    QCOMPARE(dialog->state(), State::Cancelled);
    QVERIFY(dialog->outcome().text().contains(QStringLiteral("Costs and schedule are as they were.")));
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QCOMPARE(dialog->state(), State::Ready);
}

void TestProfileDialog::failureNamesRankAndKey() {
    const auto dialog = running();
    QSignalSpy taken(dialog.get(), &ProfileDialog::takenOver);
    emit job_->failed(
        {{"rank-died", "rank 1 was ended by signal 9, at aten.mm", {}, "see the log"}, 1, "aten.mm"});
    QCOMPARE(dialog->state(), State::Failed);
    const QString text = dialog->outcome().text();
    for (const char* part : {"Rank 1 failed", "signal 9", "at aten.mm", "See the log.", "as they were"})
        QVERIFY2(text.contains(QLatin1String(part)), qPrintable(text));
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QCOMPARE(dialog->state(), State::Running);
    QCOMPARE(job_->starts, 2);
    emit job_->failed({{"launcher-failed", "the ranks did not start", {}, ""}, -1, {}});
    QVERIFY(dialog->outcome().text().startsWith(QStringLiteral("The measurement failed")));
    QTest::mouseClick(dialog->backButton(), Qt::LeftButton);
    QCOMPARE(dialog->state(), State::Ready);
    QCOMPARE(taken.count(), 0);
}

void TestProfileDialog::diffSaysOldAndNew() {
    const auto dialog = diff();
    QCOMPARE(dialog->state(), State::Diff);
    ProfileDiff& page = dialog->diff();
    const QAbstractItemModelTester tester(page.changes()->model());
    const Timeline& old_line = *before_->after.timeline;
    QVERIFY(page.summaryText().contains(QStringLiteral("Gathers hidden")));
    QVERIFY2(page.summaryText().contains(QString::number(double(old_line.step_ns) / 1e6, 'f', 1).left(3)),
             qPrintable(page.summaryText()));
    const auto changes = costChanges(*before_, *after_);
    QCOMPARE(page.changes()->model()->rowCount(), int(changes.size()));
    QCOMPARE(
        std::count_if(changes.begin(), changes.end(), [](const CostChange& c) { return direction(c) > 0; }),
        qsizetype(page.changes()->slowerChip()->count()));
    QVERIFY(page.changes()->slowerChip()->count() > 0);
    // The greatest change of the step stands first; the table sorts by any column.
    QCOMPARE(page.changes()->model()->change(0).key, changes.front().key);
    QTest::mouseClick(page.changes()->slowerChip(), Qt::LeftButton);
    QCOMPARE(page.changes()->table()->model()->rowCount(), page.changes()->slowerChip()->count());
    page.changes()->table()->sortByColumn(CostChangesModel::Ratio, Qt::AscendingOrder);
    double last = 0;
    for (int row = 0; row < page.changes()->table()->model()->rowCount(); ++row) {
        const double ratio =
            page.changes()->table()->model()->index(row, CostChangesModel::Ratio).data(SortRole).toDouble();
        QVERIFY(ratio >= last);
        last = ratio;
    }
    QTest::mouseClick(page.changes()->slowerChip(), Qt::LeftButton);
    QTest::mouseClick(page.changes()->otherChip(), Qt::LeftButton);
    QCOMPARE(page.changes()->table()->model()->rowCount(), page.changes()->otherChip()->count());
}

void TestProfileDialog::contentionIsAChoice() {
    const auto dialog = diff();
    QCOMPARE(job_->previews, std::vector<bool>({true}));
    QVERIFY(dialog->diff().usesContention());
    dialog->diff().contentionBox()->click();
    QCOMPARE(job_->previews, std::vector<bool>({true, false}));
    QVERIFY(!dialog->primaryButton()->isEnabled()); // what it shows is not what one would get
    emit job_->previewed(before_);
    QVERIFY(dialog->primaryButton()->isEnabled());
    QVERIFY(!dialog->diff().usesContention());
    // A profile that measured none offers none.
    Profile plain = profile();
    plain.contention.clear();
    emit job_->measured(plain);
    QVERIFY(!job_->previews.back());
    emit job_->previewed(before_);
    QVERIFY(!dialog->diff().contentionBox()->isVisible());
}

void TestProfileDialog::previewThatFailsKeepsTheProfile() {
    const auto dialog = running();
    emit job_->measured(profile());
    QCOMPARE(dialog->state(), State::Analysing);
    emit job_->previewFailed({"internal", "the analysis broke off", {}, ""});
    QCOMPARE(dialog->state(), State::Failed);
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QCOMPARE(job_->starts, 1); // nothing is measured again
    QCOMPARE(job_->previews.size(), size_t(2));
    emit job_->previewed(after_);
    QCOMPARE(dialog->state(), State::Diff);
    dialog->diff().contentionBox()->click();
    emit job_->previewFailed({"internal", "the analysis broke off", {}, ""});
    QCOMPARE(dialog->state(), State::Diff);
    QVERIFY(dialog->banner().message().contains(QStringLiteral("broke off")));
    QVERIFY(dialog->diff().usesContention()); // as shown
    QVERIFY(dialog->primaryButton()->isEnabled());
}

void TestProfileDialog::takeOverStoresOnce() {
    const auto dialog = diff();
    QSignalSpy taken(dialog.get(), &ProfileDialog::takenOver);
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QCOMPARE(dialog->state(), State::Storing);
    QVERIFY(!dialog->primaryButton()->isEnabled());
    QTest::keyClick(dialog.get(), Qt::Key_Escape);
    QVERIFY(dialog->isVisible());
    QCOMPARE(job_->stores, std::vector{folder_->filePath(QStringLiteral("p.db")).toStdString()});
    emit job_->stored(7);
    QCOMPARE(taken.count(), 1);
    QCOMPARE(taken[0], QVariantList({folder_->filePath(QStringLiteral("p.db")), qlonglong(7), true}));
    QVERIFY(!dialog->isVisible());
    // What the store has already is not stored again.
    const auto again = running();
    QSignalSpy retaken(again.get(), &ProfileDialog::takenOver);
    Profile known = profile();
    known.id = 7;
    emit job_->measured(known);
    emit job_->previewed(after_);
    QTest::mouseClick(again->primaryButton(), Qt::LeftButton);
    QVERIFY(job_->stores.empty());
    QCOMPARE(retaken.count(), 1);
}

void TestProfileDialog::storeErrorsLoseNothing() {
    const auto dialog = diff();
    QSignalSpy taken(dialog.get(), &ProfileDialog::takenOver);
    for (const char* code : {"store-locked", "store-full", "newer-profile-store"}) {
        QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
        emit job_->storeFailed({code, std::string("it is ") + code, {}, "do something"});
        QCOMPARE(dialog->state(), State::Diff);
        QVERIFY2(dialog->banner().message().contains(QLatin1String(code)),
                 qPrintable(dialog->banner().message()));
        QVERIFY(dialog->banner().message().contains(QStringLiteral("Do something.")));
    }
    QCOMPARE(taken.count(), 0);
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    emit job_->stored(1);
    QCOMPARE(taken.count(), 1);
    QCOMPARE(job_->stores.size(), size_t(4));
}

void TestProfileDialog::discardChangesNothing() {
    const auto dialog = diff();
    QSignalSpy taken(dialog.get(), &ProfileDialog::takenOver);
    QCOMPARE(dialog->closeButton()->text(), QStringLiteral("Discard"));
    QTest::mouseClick(dialog->closeButton(), Qt::LeftButton);
    QVERIFY(!dialog->isVisible());
    QCOMPARE(taken.count(), 0);
    QVERIFY(job_->stores.empty());
    QVERIFY(!QFile::exists(folder_->filePath(QStringLiteral("p.db"))));
}

void TestProfileDialog::windowOpensIt() {
    MainWindow window(test::fakeAnalyse(std::make_shared<test::FakeCore>()), test::fakeViews());
    window.show();
    window.setProfileJobFactory([](const SnapshotPtr&) { return std::make_unique<FakeProfileJob>(); });
    QVERIFY(!window.action(QStringLiteral("profile"))->isEnabled());
    QVERIFY(!window.showProfile());
    window.openFiles({folder_->filePath(QStringLiteral("graph.json"))}, {});
    QTRY_COMPARE(window.page(), MainWindow::Page::Panels);
    window.action(QStringLiteral("profile"))->trigger();
    auto* dialog = window.findChild<ProfileDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    emit dialog->job().probed(test::fakeReport());
    emit dialog->takenOver(QStringLiteral("store.db"), 3, true);
    const Settings& settings = window.document().request().settings;
    QCOMPARE(settings.text(Setting::ProfileStore), std::string("store.db"));
    QCOMPARE(settings.text(Setting::ProfileChoice), std::string("3"));
    QVERIFY(settings.flag(Setting::MeasuredContention));
    QCOMPARE(window.document().undoStack()->undoText(), QStringLiteral("Take over profile 3"));
    window.document().undoStack()->undo();
    QVERIFY(window.document().request().settings.isDefault(Setting::ProfileStore));
    dialog->reject();
    QTRY_VERIFY(!window.findChild<ProfileDialog*>());
}

QTEST_MAIN(TestProfileDialog)
#include "tst_profile_dialog.moc"
