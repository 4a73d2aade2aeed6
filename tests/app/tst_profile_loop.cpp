// The Re-profile dialog with real ranks, a real store and the real core: measured, looked at, taken over,
// undone; and ranks that die, are cancelled, or a store that another process holds.
#include "app/banner.h"
#include "app/main_window.h"
#include "app/preferences.h"
#include "app/profile/profile_dialog.h"
#include "app/profile/profile_pages.h"
#include "app/profile/profile_setup.h"
#include "app/profile/worker_profile_job.h"
#include "cost/profile_store.h"
#include "fake_analysis.h"
#include "support/profile_graph.h"
#include "views/profile/profile_diff.h"
#include "views/theme.h"

#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <sqlite3.h>

using namespace gs;
using State = ProfileDialog::State;

namespace {

constexpr int kPatienceMs = 60'000; ///< ranks share few cores with whatever else runs

} // namespace

class TestProfileLoop : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void takenOverAndUndone();
    void knownKeysAreNotMeasuredAgain();
    void rankThatDiesLeavesTheWindowAlive();
    void cancelled();
    void lockedStoreThenAnotherFile();
    void noRankProgram();

private:
    ProfileDialog* open(MainWindow& window, const QString& program = QStringLiteral(GATHERSCOPE_RANK_FAULTS));
    ProfileDialog* measured(MainWindow& window);
    std::unique_ptr<MainWindow> makeWindow();
    QString store() const { return folder_->filePath(QStringLiteral("profiles/p.db")); }

    std::unique_ptr<test::WarningGuard> warnings_;
    std::unique_ptr<QTemporaryDir> folder_;
};

void TestProfileLoop::initTestCase() {
    if (QStandardPaths::findExecutable(QStringLiteral("mpirun")).isEmpty())
        qFatal("mpirun is not there");
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("GatherscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("GatherscopeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    Theme::apply(false);
}

void TestProfileLoop::init() {
    qunsetenv("GATHERSCOPE_FAULT");
    warnings_ = std::make_unique<test::WarningGuard>();
    folder_ = std::make_unique<QTemporaryDir>();
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope,
                       folder_->filePath(QStringLiteral("settings")));
    QFile file(folder_->filePath(QStringLiteral("graph.json")));
    const std::string text = test::profileGraphText();
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text.data(), qint64(text.size())) > 0);
}

void TestProfileLoop::cleanup() {
    QCOMPARE(warnings_->take(), QStringList());
    warnings_.reset();
}

std::unique_ptr<MainWindow> TestProfileLoop::makeWindow() {
    auto window = std::make_unique<MainWindow>(makeAnalyseFunction(), test::fakeViews());
    window->show();
    window->openFiles({folder_->filePath(QStringLiteral("graph.json"))}, {});
    [&] { QTRY_VERIFY_WITH_TIMEOUT(window->document().snapshot() && !window->busy(), kPatienceMs); }();
    return window;
}

ProfileDialog* TestProfileLoop::open(MainWindow& window, const QString& program) {
    window.setProfileJobFactory([program](const SnapshotPtr& snapshot) {
        return std::make_unique<WorkerProfileJob>(snapshot, program);
    });
    ProfileDialog* dialog = window.showProfile();
    [&] { QTRY_VERIFY_WITH_TIMEOUT(dialog->state() != State::Probing, kPatienceMs); }();
    dialog->setup().storeField()->setText(store());
    dialog->setup().ranks()->setValue(2);
    return dialog;
}

ProfileDialog* TestProfileLoop::measured(MainWindow& window) {
    ProfileDialog* dialog = open(window);
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    [&] { QTRY_COMPARE_WITH_TIMEOUT(dialog->state(), State::Diff, kPatienceMs); }();
    return dialog;
}

void TestProfileLoop::takenOverAndUndone() {
    const auto window = makeWindow();
    const AnalysisPtr before = window->document().snapshot();
    ProfileDialog* dialog = measured(*window);
    // Nothing has happened yet: neither to the window nor to the user's files.
    QCOMPARE(window->document().snapshot(), before);
    QCOMPARE(window->document().undoStack()->count(), 0);
    QVERIFY(!QFile::exists(store()));
    QVERIFY(dialog->diff().changes()->model()->rowCount() > 0);
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(window->document().snapshot() != before, kPatienceMs);
    QTRY_VERIFY(!window->findChild<ProfileDialog*>());
    const AnalysisPtr after = window->document().snapshot();
    QVERIFY(after->after.costs->count(Provenance::Measured) > 0);
    QCOMPARE(window->document().undoStack()->count(), 1);
    const auto opened = ProfileStore::openReadOnly(store().toStdString());
    QVERIFY(opened.ok());
    QCOMPARE(opened->list()->size(), 1U);
    window->action(QStringLiteral("undo"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(window->document().snapshot() != after && !window->busy(), kPatienceMs);
    QVERIFY(window->document().snapshot()->request.settings == before->request.settings);
    QCOMPARE(window->document().snapshot()->after.timeline->step_ns, before->after.timeline->step_ns);
}

void TestProfileLoop::knownKeysAreNotMeasuredAgain() {
    const auto window = makeWindow();
    ProfileDialog* dialog = measured(*window);
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!window->findChild<ProfileDialog*>() && !window->busy(), kPatienceMs);
    dialog = open(*window);
    QTRY_VERIFY_WITH_TIMEOUT(dialog->setup().planText().contains(QStringLiteral("not measured again")),
                             kPatienceMs);
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(dialog->state(), State::Diff, kPatienceMs);
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!window->findChild<ProfileDialog*>(), kPatienceMs);
    QCOMPARE(ProfileStore::openReadOnly(store().toStdString())->list()->size(), 1U);
}

void TestProfileLoop::rankThatDiesLeavesTheWindowAlive() {
    const auto window = makeWindow();
    const AnalysisPtr before = window->document().snapshot();
    ProfileDialog* dialog = open(*window);
    qputenv("GATHERSCOPE_FAULT", "kill-compute@1");
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(dialog->state(), State::Failed, kPatienceMs);
    QVERIFY2(dialog->outcome().text().contains(QStringLiteral("Rank 1 failed")),
             qPrintable(dialog->outcome().text()));
    QVERIFY2(dialog->outcome().text().contains(QStringLiteral("aten.")),
             qPrintable(dialog->outcome().text()));
    QVERIFY(!QFile::exists(store()));
    QTest::keyClick(dialog, Qt::Key_Escape);
    QTRY_VERIFY(!window->findChild<ProfileDialog*>());
    QCOMPARE(window->document().snapshot(), before);
    window->document().setSetting(QStringLiteral("contention"), QStringLiteral("1.7"));
    QTRY_VERIFY_WITH_TIMEOUT(window->document().snapshot() != before, kPatienceMs);
}

void TestProfileLoop::cancelled() {
    const auto window = makeWindow();
    ProfileDialog* dialog = open(*window);
    qputenv("GATHERSCOPE_FAULT", "slow@1");
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(dialog->run().model()->fraction() > 0, kPatienceMs);
    QTest::mouseClick(dialog->closeButton(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(dialog->state(), State::Cancelled, kPatienceMs);
    QVERIFY(!QFile::exists(store()));
}

void TestProfileLoop::lockedStoreThenAnotherFile() {
    QVERIFY(QDir().mkpath(QFileInfo(store()).path()));
    QVERIFY(ProfileStore::open(store().toStdString()).ok());
    const auto window = makeWindow();
    ProfileDialog* dialog = measured(*window);
    sqlite3* other = nullptr;
    QCOMPARE(sqlite3_open(store().toUtf8().constData(), &other), SQLITE_OK);
    QCOMPARE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(dialog->state(), State::Diff, kPatienceMs);
    QVERIFY2(!dialog->banner().message().isEmpty(), "it does not say that the store is locked");
    QCOMPARE(window->document().undoStack()->count(), 0);
    sqlite3_close(other);
    QTest::mouseClick(dialog->primaryButton(), Qt::LeftButton); // now it goes
    QTRY_VERIFY_WITH_TIMEOUT(!window->findChild<ProfileDialog*>(), kPatienceMs);
    QCOMPARE(ProfileStore::openReadOnly(store().toStdString())->list()->size(), 1U);
    QCOMPARE(window->document().undoStack()->count(), 1);
}

void TestProfileLoop::noRankProgram() {
    const auto window = makeWindow();
    ProfileDialog* dialog = open(*window, folder_->filePath(QStringLiteral("not-there")));
    QCOMPARE(dialog->state(), State::Missing);
    QVERIFY(!dialog->missing().text().isEmpty());
}

QTEST_MAIN(TestProfileLoop)
#include "tst_profile_loop.moc"
