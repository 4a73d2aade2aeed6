// `gatherscope-cli profile` as users run it, with a backend that takes no time.
#include "cost/profile_store.h"
#include "run_cli.h"
#include "support/profile_graph.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>
#include <sqlite3.h>
#include <utility>

using namespace gs;
using test::Run;

class TestProfile : public QObject {
    Q_OBJECT

private:
    QTemporaryDir dir_;
    QString graph_;
    QProcessEnvironment environment_ = QProcessEnvironment::systemEnvironment();

    QString write(const QString& name, const std::string& text) {
        return test::writeFile(dir_.filePath(name), text);
    }

    Run profile(const QStringList& more, const QString& fault = {}, const QString& wrapper = {}) {
        QProcessEnvironment environment = environment_;
        environment.insert("GATHERSCOPE_RANK", GATHERSCOPE_RANK_FAULTS);
        environment.insert("GATHERSCOPE_FAULT", fault);
        QStringList arguments{"profile", graph_, "--backend", "fake"};
        arguments << more;
        QProcess process;
        process.setProcessEnvironment(environment);
        if (wrapper.isEmpty())
            return test::runProcess(process, GATHERSCOPE_CLI, arguments, 30'000);
        // "$0" and "$@" of the shell are the program and its arguments
        return test::runProcess(process, "/bin/sh", QStringList{"-c", wrapper, GATHERSCOPE_CLI} + arguments,
                                30'000);
    }

    size_t profilesIn(const QString& store) {
        const auto opened = ProfileStore::openReadOnly(store.toStdString());
        return opened ? opened->list().value().size() : 0;
    }

private slots:
    void initTestCase() { graph_ = write("graph.json", test::profileGraphText()); }

    void theWholeLoop() {
        const QString store = dir_.filePath("a.db"), json = dir_.filePath("a.json");
        const Run run = profile({"--ranks", "2", "--store", store, "--json", json});
        QVERIFY2(run.code == 0, run.error.constData());
        QVERIFY(run.out.contains("rank-synchronized profiling done (4 cost entries reconciled)"));
        QVERIFY(run.out.contains("ESTLINE|compute|mm f32[64, 64] × [64, 64]|"));
        QVERIFY(run.out.contains("ESTLINE|collective|all_gather f32 16.0 KiB × 8 ranks|"));
        QVERIFY(run.out.contains("contention factor 1.49") || run.out.contains("contention factor 1.50"));
        QVERIFY(run.out.contains("costs before"));
        QVERIFY2(run.error.contains("rank 1 of 2: fake on"), run.error.constData());
        QVERIFY(run.error.contains("stored as profile 1"));
        QFile file(json);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto read = nlohmann::json::parse(file.readAll().toStdString());
        QCOMPARE(read["entries"].size(), size_t(4));
        QCOMPARE(read["ranks"].get<int>(), 2);
        const auto opened = ProfileStore::openReadOnly(store.toStdString());
        QCOMPARE(opened->read(1)->entries.size(), size_t(4));
        QCOMPARE(opened->read(1)->contention.size(), size_t(1));
    }

    /// With a graph for each rank the figures are of a schedule that all of them can keep; without one there
    /// is nothing to measure for.
    void otherGraphsBind_data() {
        QTest::addColumn<QString>("mode");
        for (const char* mode : {"identical", "slot", "pinned", "abort"})
            QTest::newRow(mode) << QString(mode);
    }

    void otherGraphsBind() {
        QFETCH(QString, mode);
        const test::ProfileGraph other = test::otherRank(mode.toStdString());
        const Run run = profile({write("rank1.json", test::profileGraphText(other)), "--ranks", "2"});
        if (mode == "abort") {
            QVERIFY(run.code != 0);
            QVERIFY2(run.error.contains("do not issue the same number of gathers"), run.error.constData());
            QVERIFY(!run.error.contains("rank 0 of 2") && !run.out.contains("gathers hidden"));
            return;
        }
        QVERIFY2(run.code == 0, run.error.constData());
        QVERIFY(run.out.contains("gathers hidden"));
        QCOMPARE(run.out.contains(("ranks: " + mode).toUtf8()), mode != "identical");
    }

    void theSecondRunReuses() {
        const QString store = dir_.filePath("b.db");
        QCOMPARE(profile({"--ranks", "2", "--store", store}).code, 0);
        const Run again = profile({"--ranks", "2", "--store", store});
        QVERIFY2(again.code == 0, again.error.constData());
        QVERIFY2(again.error.contains("4 keys are reused from the store, 0 are measured"),
                 again.error.constData());
        QVERIFY(!again.error.contains("stored as"));
        QCOMPARE(profilesIn(store), size_t(1));
        // Scaled collectives hang on the number of ranks, compute does not; one of it runs beside a gather.
        const Run wider = profile({"--ranks", "4", "--store", store});
        QVERIFY2(wider.error.contains("1 keys are reused from the store, 3 are measured"),
                 wider.error.constData());
        QVERIFY(wider.out.contains("(4 cost entries reconciled)"));
        const Run forced = profile({"--ranks", "2", "--store", store, "--again"});
        QVERIFY(forced.error.contains("stored as profile 3"));
        QCOMPARE(profilesIn(store), size_t(3));
    }

    /// The newest profile stands for all that is known: measuring a part anew hides nothing.
    void aPartKeepsTheRest() {
        const QString store = dir_.filePath("parts.db");
        const Run nothing = profile({"--ranks", "2", "--store", store, "--what", "contention"});
        QVERIFY2(nothing.error.contains("nothing was measured"), nothing.error.constData());
        QVERIFY(!QFile::exists(store) || profilesIn(store) == 0);
        QCOMPARE(profile({"--ranks", "2", "--store", store}).code, 0);
        for (const char* part : {"compute", "collectives", "contention"}) {
            const Run run = profile({"--ranks", "2", "--store", store, "--what", part, "--again"});
            QVERIFY2(run.code == 0, run.error.constData());
            const auto opened = ProfileStore::openReadOnly(store.toStdString());
            const int64_t newest = opened->list()->front().id;
            QCOMPARE(opened->read(newest)->entries.size(), size_t(4));
            QCOMPARE(opened->read(newest)->contention.size(), size_t(1));
        }
    }

    void withoutAStoreNothingIsKept() {
        const Run run = profile({"--ranks", "2", "--what", "compute"});
        QVERIFY2(run.code == 0, run.error.constData());
        QVERIFY(run.out.contains("(2 cost entries reconciled)"));
        QVERIFY(!run.error.contains("stored"));
    }

    void aFailedRankChangesNothing() {
        const QString store = dir_.filePath("c.db");
        QCOMPARE(profile({"--ranks", "2", "--store", store, "--what", "compute"}).code, 0);
        const Run run = profile({"--ranks", "2", "--store", store, "--again"}, "kill-collective@1");
        QCOMPARE(run.code, 5);
        QVERIFY2(run.error.contains("rank 1 was ended by signal 9"), run.error.constData());
        QVERIFY(run.ms < 10'000);
        QVERIFY(run.out.isEmpty());
        QCOMPARE(profilesIn(store), size_t(1));
    }

    void aSilentRankIsKilled() {
        const Run run = profile({"--ranks", "2", "--watchdog", "3"}, "stop@1");
        QCOMPARE(run.code, 5);
        QVERIFY2(run.error.contains("rank 1 has not been heard for 3 s"), run.error.constData());
        QVERIFY(run.ms < 10'000);
    }

    void storeLockedByAnother() {
        const QString store = dir_.filePath("d.db");
        QCOMPARE(profile({"--ranks", "2", "--store", store, "--what", "compute"}).code, 0);
        sqlite3* other = nullptr;
        QCOMPARE(sqlite3_open(store.toUtf8().constData(), &other), SQLITE_OK);
        QCOMPARE(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
        const Run run = profile({"--ranks", "2", "--store", store, "--again"});
        sqlite3_close(other);
        QCOMPARE(run.code, 5);
        QVERIFY2(run.error.contains("locked") || run.error.contains("another process"),
                 run.error.constData());
        QVERIFY(run.ms < 10'000);
        QCOMPARE(profilesIn(store), size_t(1));
    }

    void diskFull() {
        // A limit on the size of files is what a full disk looks like to a program; the ranks' own files are
        // not what this is about.
        const QString mpirun = QStandardPaths::findExecutable("mpirun");
        QDir(dir_.path()).mkdir("bin");
        QFile wrapper(write("bin/mpirun",
                            "#!/bin/sh\nulimit -S -f unlimited\nexec " + mpirun.toStdString() + " \"$@\"\n"));
        QVERIFY(wrapper.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
        const QString small = graph_;
        graph_ =
            GATHERSCOPE_SOURCE_DIR "/samples/mlp4_fsdp8_joint.json.gz"; // its costs are more than the limit
        const QString store = dir_.filePath("e.db");
        QCOMPARE(profile({"--ranks", "2", "--store", store}).code, 0);
        environment_.insert("PATH", dir_.filePath("bin") + ":" + environment_.value("PATH"));
        const QString json = dir_.filePath("e.json");
        const Run run = profile({"--ranks", "2", "--store", store, "--again", "--json", json}, {},
                                "trap '' XFSZ; ulimit -S -f 66; exec \"$0\" \"$@\"");
        environment_ = QProcessEnvironment::systemEnvironment();
        graph_ = small;
        QCOMPARE(run.code, 5);
        QVERIFY2(run.error.contains("writing the profile store"), run.error.constData());
        QVERIFY(run.error.contains("rank 1 of 2")); // it had measured
        QFile kept(json);
        QVERIFY(kept.open(QIODevice::ReadOnly));
        QVERIFY(!nlohmann::json::parse(kept.readAll().toStdString())["entries"].empty());
        QCOMPARE(profilesIn(store), size_t(1));
    }

    void partsMissing() {
        const Run absent = profile({"--ranks", "2", "--backend", "absent"});
        QCOMPARE(absent.code, 4);
        QVERIFY(absent.error.contains("its library was not found"));
        const Run dead = profile({"--ranks", "2", "--backend", "dead"});
        QCOMPARE(dead.code, 4);
        QVERIFY(dead.error.contains("no device answers"));
        environment_.insert("PATH", dir_.path());
        const Run mpirun = profile({"--ranks", "2"});
        environment_ = QProcessEnvironment::systemEnvironment();
        QCOMPARE(mpirun.code, 4);
        QVERIFY2(mpirun.error.contains("mpirun was not found"), mpirun.error.constData());
        QVERIFY(mpirun.error.contains("apt install openmpi-bin"));
    }

    void usage_data() {
        QTest::addColumn<QStringList>("more");
        QTest::addColumn<QByteArray>("says");
        const auto row = [](const char* name, const QStringList& more, const char* says) {
            QTest::newRow(name) << more << QByteArray(says);
        };
        row("ranks", {"--ranks", "0"}, "--ranks takes a whole number from 1");
        row("many ranks", {"--ranks", "1000000"}, "--ranks takes a whole number from 1 to 1024");
        row("setting", {"--ranks", "2", "--set", "memory_factor=x"}, "memory_factor");
        row("what", {"--what", "weather"}, "--what takes compute");
        row("files", {"--ranks", "3", "second.json"}, "2 graph files for 3 ranks");
        row("backend", {"--backend", "nope"}, "no backend \"nope\"; known are fake");
    }

    void usage() {
        QFETCH(QStringList, more);
        QFETCH(QByteArray, says);
        const Run run = profile(more);
        QCOMPARE(run.code, 2);
        QVERIFY2(run.error.contains(says), run.error.constData());
    }

    /// Before anything is measured the codes are those of the other commands.
    void unreadable_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QStringList>("more");
        QTest::newRow("missing") << dir_.filePath("nowhere.json") << QStringList();
        QTest::newRow("no graph") << write("no.json", "{}") << QStringList();
        QTest::newRow("stage") << graph_ << QStringList{"--stage", "nope"};
        QTest::newRow("graph") << graph_ << QStringList{"--graph", "7"};
        QTest::newRow("store") << graph_ << QStringList{"--store", dir_.filePath("no/such/folder/x.db")};
        QTest::newRow("store, a folder") << graph_ << QStringList{"--store", "."};
        QTest::newRow("store, no database") << graph_ << QStringList{"--store", graph_};
        QTest::newRow("store, a device") << graph_ << QStringList{"--store", "/dev/null"};
    }

    void unreadable() {
        QFETCH(QString, file);
        QFETCH(QStringList, more);
        const QString graph = std::exchange(graph_, file);
        const Run run = profile(QStringList{"--ranks", "2"} + more);
        graph_ = graph;
        QVERIFY2(run.code == 3, run.error.constData());
        QVERIFY(run.error.startsWith("gatherscope-cli: ") && !run.error.contains("rank 0 of 2"));
    }

    void groupsOfImpossibleRanks_data() {
        QTest::addColumn<QString>("ranks");
        QTest::newRow("twice") << "0,0";
        QTest::newRow("negative") << "0,-1";
        QTest::newRow("beyond") << "0,9";
    }

    void groupsOfImpossibleRanks() {
        QFETCH(QString, ranks);
        test::ProfileGraph two;
        two.group = 2;
        const std::string text = test::profileGraphText(two);
        const QString with =
            QString::fromStdString(text).replace("\"ranks\":[0,1]", "\"ranks\":[" + ranks + "]");
        QVERIFY(with.toStdString() != text);
        const QString graph = std::exchange(graph_, write("group.json", with.toStdString()));
        const Run run = profile({"--ranks", "2", "--time-limit", "10", "--json", "-"});
        graph_ = graph;
        QVERIFY2(run.code == 0, run.error.constData());
        QVERIFY(run.out.contains("timed on ranks 0 to 1"));
    }

    void contentionIsMeasuredWhereItIsNotKnown() {
        const QString store = dir_.filePath("f.db");
        QCOMPARE(profile({"--ranks", "2", "--store", store, "--what", "compute,collectives"}).code, 0);
        const Run run = profile({"--ranks", "2", "--store", store});
        QVERIFY2(run.error.contains("stored as profile 2"), run.error.constData());
        QVERIFY(run.out.contains("contention factor 1.49") || run.out.contains("contention factor 1.50"));
        const Run third = profile({"--ranks", "2", "--store", store});
        QVERIFY2(third.error.contains("4 keys are reused from the store, 0 are"), third.error.constData());
        QVERIFY(!third.error.contains("stored as"));
    }

    /// Of three sizes one is known: the others are measured, and what is known stays.
    void contentionIsKnownBySize() {
        const QString store = dir_.filePath("h.db"), small = graph_;
        QCOMPARE(profile({"--ranks", "2", "--store", store}).code, 0);
        test::ProfileGraph more;
        more.more_sizes = 2;
        graph_ = write("sizes.json", test::profileGraphText(more));
        const Run costs = profile({"--ranks", "2", "--store", store, "--what", "compute,collectives"});
        const Run run = profile({"--ranks", "2", "--store", store});
        const Run again = profile({"--ranks", "2", "--store", store});
        graph_ = small;
        QVERIFY2(costs.error.contains("4 keys are reused from the store, 2 are"), costs.error.constData());
        // Two gathers, and what they run beside.
        QVERIFY2(run.error.contains("3 keys are reused from the store, 3 are"), run.error.constData());
        QVERIFY2(run.out.contains("over 3 sizes"), run.out.constData());
        QVERIFY2(again.error.contains("6 keys are reused from the store, 0 are"), again.error.constData());
        QVERIFY(again.out.contains("over 3 sizes"));
        QVERIFY(!again.error.contains("stored as"));
    }

    void whatCannotContendIsKnown() {
        const QString store = dir_.filePath("i.db");
        const QStringList arguments{"--ranks", "2", "--store", store};
        for (const bool first : {true, false}) {
            const Run run = profile(arguments, "alone@all");
            QVERIFY2(run.code == 0, run.error.constData());
            QVERIFY2(run.out.contains("could not be measured beside compute: rank 0: it has one queue"),
                     run.out.constData());
            QCOMPARE(run.error.contains("4 keys are reused from the store, 0 are"), !first);
            QCOMPARE(run.error.contains("warning"), first);
        }
        QCOMPARE(profilesIn(store), size_t(1));
        const Run anew = profile(arguments + QStringList{"--again"});
        QVERIFY(anew.out.contains("contention factor 1.5") || anew.out.contains("contention factor 1.49"));
        const Run then = profile(arguments);
        QVERIFY(then.out.contains("contention factor 1."));
        QVERIFY(!then.out.contains("could not be measured"));
    }

    void coldCostsAreNoHotOnes() {
        const QString store = dir_.filePath("g.db");
        QCOMPARE(profile({"--ranks", "2", "--store", store}).code, 0);
        const Run cold = profile({"--ranks", "2", "--store", store, "--cache-cold"});
        QVERIFY2(cold.error.contains("stored as profile 2") && !cold.error.contains("reused"),
                 cold.error.constData());
        for (const QStringList& more : {QStringList{"--cache-cold"}, QStringList{}}) {
            const Run again = profile(QStringList{"--ranks", "2", "--store", store} + more);
            QVERIFY2(again.error.contains("4 keys are reused from the store, 0 are"),
                     again.error.constData());
        }
        QCOMPARE(profilesIn(store), size_t(2));
    }

    void backendsWithoutTheRankProgram() {
        QProcessEnvironment environment = environment_;
        environment.insert("GATHERSCOPE_RANK", dir_.filePath("nowhere"));
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(GATHERSCOPE_CLI, {"list", "backends"});
        QVERIFY(process.waitForFinished(10'000));
        QCOMPARE(process.exitCode(), 4);
    }

    void backendsAreListed() {
        QProcessEnvironment environment = environment_;
        environment.insert("GATHERSCOPE_RANK", GATHERSCOPE_RANK_FAULTS);
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(GATHERSCOPE_CLI, {"list", "backends"});
        QVERIFY(process.waitForFinished(10'000));
        const QByteArray out = process.readAllStandardOutput();
        QVERIFY(out.contains("fake device"));
        QVERIFY(out.contains("not here: no device answers"));
    }
};

QTEST_GUILESS_MAIN(TestProfile)
#include "tst_profile.moc"
