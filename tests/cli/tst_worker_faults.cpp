// WorkerClient against ranks that fail in every way: each ends soon, names the culprit, leaves nothing
// behind.
#include "app/worker/worker_client.h"
#include "run_cli.h"
#include "support/profile_graph.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <set>

using namespace gs;

namespace {

struct Outcome {
    std::optional<Profile> profile;
    std::optional<WorkerFailure> failure;
    std::vector<WarningMessage> warnings;
    std::set<int> greeted;
    std::set<qint64> pids;
    std::map<int, int> progress;
    qint64 ms = 0;
};

/// Processes of gatherscope-rank-faults that this test started and that still live.
QList<qint64> ranksAlive() {
    QList<qint64> alive;
    const QByteArray name = QByteArray("gatherscope-rank-faults").left(15); // as /proc cuts it
    for (const QString& entry : QDir("/proc").entryList(QDir::Dirs)) {
        QFile comm("/proc/" + entry + "/comm"), environment("/proc/" + entry + "/environ");
        if (entry.toLongLong() == 0 || !comm.open(QIODevice::ReadOnly) || comm.readAll().trimmed() != name)
            continue;
        const QByteArray mark = "GATHERSCOPE_TEST_RUN=" + qgetenv("GATHERSCOPE_TEST_RUN");
        QFile state("/proc/" + entry + "/stat");
        const bool zombie = state.open(QIODevice::ReadOnly) && state.readAll().contains(") Z ");
        if (!zombie && environment.open(QIODevice::ReadOnly) && environment.readAll().contains(mark))
            alive << entry.toLongLong();
    }
    return alive;
}

} // namespace

class TestWorkerFaults : public QObject {
    Q_OBJECT

private:
    QTemporaryDir dir_;
    QString graph_;

    QString write(const QString& name, const std::string& text) {
        return test::writeFile(dir_.filePath(name), text);
    }

    WorkerRequest request(int ranks = 2) const {
        WorkerRequest request;
        request.files = {graph_.toStdString()};
        request.backend = "fake";
        request.ranks = ranks;
        request.program = GATHERSCOPE_RANK_FAULTS;
        request.watchdog_ms = 3000;
        return request;
    }

    /// Runs to the end; `begun` is called when the first rank speaks.
    Outcome run(const WorkerRequest& request, const QByteArray& fault = {},
                const std::function<void(WorkerClient&)>& begun = {}) {
        qputenv("GATHERSCOPE_FAULT", fault);
        Outcome outcome;
        WorkerClient client;
        bool ended = false;
        connect(&client, &WorkerClient::finished, this, [&](const Profile& profile) {
            outcome.profile = profile;
            ended = true;
        });
        connect(&client, &WorkerClient::failed, this, [&](const WorkerFailure& failure) {
            outcome.failure = failure;
            ended = true;
        });
        connect(&client, &WorkerClient::warning, this,
                [&](int, const WarningMessage& message) { outcome.warnings.push_back(message); });
        connect(&client, &WorkerClient::hello, this, [&](int rank, const HelloMessage& message) {
            outcome.greeted.insert(rank);
            outcome.pids.insert(message.pid);
        });
        bool told = false;
        connect(&client, &WorkerClient::progress, this, [&](int rank, const ProgressMessage&) {
            ++outcome.progress[rank];
            if (begun && !told)
                begun(client);
            told = true;
        });
        QElapsedTimer timer;
        timer.start();
        client.start(request);
        if (!QTest::qWaitFor([&] { return ended; }, 15'000))
            qFatal("it neither finished nor failed");
        outcome.ms = timer.elapsed();
        return outcome;
    }

private slots:
    void initTestCase() {
        qputenv("GATHERSCOPE_TEST_RUN", QByteArray::number(QCoreApplication::applicationPid()));
        graph_ = write("graph.json", test::profileGraphText());
    }

    void cleanup() {
        QVERIFY2(QTest::qWaitFor([] { return ranksAlive().isEmpty(); }, 3000), "ranks are left over");
    }

    void allWell_data() {
        QTest::addColumn<int>("ranks");
        for (const int ranks : {1, 2, 4})
            QTest::addRow("%d", ranks) << ranks;
    }

    void allWell() {
        QFETCH(int, ranks);
        const Outcome outcome = run(request(ranks));
        QVERIFY2(!outcome.failure, outcome.failure ? outcome.failure->error.message.c_str() : "");
        QCOMPARE(outcome.greeted.size(), size_t(ranks));
        QCOMPARE(outcome.profile->ranks, ranks);
        QCOMPARE(outcome.profile->device, "fake device");
        QCOMPARE(outcome.profile->mode, "identical");
        QCOMPARE(outcome.profile->entries.size(), size_t(4)); // mm, fused, gather, scatter
        QCOMPARE(outcome.profile->contention.size(), size_t(ranks > 1 ? 1 : 0));
        for (int r = 1; r < ranks; ++r)
            QCOMPARE(outcome.progress.at(r), outcome.progress.at(0));
        QVERIFY(outcome.warnings.empty());
    }

    void faults_data() {
        QTest::addColumn<QByteArray>("fault");
        QTest::addColumn<int>("rank");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("key");
        const auto row = [](const char* fault, int rank, const char* code, const char* key) {
            QTest::newRow(fault) << QByteArray(fault) << rank << QString(code) << QString(key);
        };
        row("kill-start@1", 1, "rank-died", "");
        row("kill-start@0", 0, "rank-died", "");
        row("kill-compute@1", 1, "rank-died", "fused{");
        row("kill-compute@0", 0, "rank-died", "fused{");
        row("kill-collective@1", 1, "rank-died", "latency all_gather");
        row("exit@1", 1, "rank-died", "fused{");
        row("stop@1", 1, "no-heartbeat", "fused{");
        row("stop@0", 0, "no-heartbeat", "fused{");
        row("version@1", 1, "other-version", "");
    }

    void faults() {
        QFETCH(QByteArray, fault);
        QFETCH(int, rank);
        QFETCH(QString, code);
        QFETCH(QString, key);
        const Outcome outcome = run(request(), fault);
        QVERIFY(!outcome.profile);
        QVERIFY(outcome.failure);
        const std::string& message = outcome.failure->error.message;
        QVERIFY2(outcome.ms < 10'000, qPrintable(QString::number(outcome.ms)));
        QCOMPARE(QString::fromStdString(outcome.failure->error.code), code);
        QVERIFY2(outcome.failure->rank == rank, message.c_str());
        QVERIFY2(message.find("rank " + std::to_string(rank)) != std::string::npos, message.c_str());
        QVERIFY2(QString::fromStdString(outcome.failure->key).startsWith(key), outcome.failure->key.c_str());
        QVERIFY2(message.find(key.toStdString()) != std::string::npos, message.c_str());
    }

    void degraded_data() {
        QTest::addColumn<QByteArray>("fault");
        QTest::addColumn<QString>("reason");
        QTest::newRow("throws") << QByteArray("throw@1") << "rank 1: it threw: no kernel image";
        QTest::newRow("would not fit")
            << QByteArray("unfit@1") << "rank 1: it wants 80.0 GiB, 2.0 GiB are free";
    }

    void degraded() {
        QFETCH(QByteArray, fault);
        QFETCH(QString, reason);
        const Outcome outcome = run(request(), fault);
        QVERIFY2(outcome.profile, outcome.failure ? outcome.failure->error.message.c_str() : "");
        int analytical = 0;
        for (const ProfileEntry& entry : outcome.profile->entries) {
            analytical += entry.provenance == Provenance::Analytical ? 1 : 0;
            if (entry.key.starts_with("aten.mm"))
                QVERIFY2(QString::fromStdString(entry.note).contains(reason), entry.note.c_str());
        }
        QCOMPARE(analytical, 1);
    }

    void otherGraphs_data() {
        QTest::addColumn<QString>("mode");
        for (const char* mode : {"identical", "slot", "pinned", "abort"})
            QTest::newRow(mode) << QString(mode);
    }

    void otherGraphs() {
        QFETCH(QString, mode);
        const test::ProfileGraph other = test::otherRank(mode.toStdString());
        WorkerRequest asked = request();
        asked.files.push_back(write("rank1.json", test::profileGraphText(other)).toStdString());
        const Outcome outcome = run(asked);
        if (mode == "abort") {
            QVERIFY(outcome.failure);
            QCOMPARE(outcome.failure->error.code, "rank-abort");
            const std::string& message = outcome.failure->error.message;
            QVERIFY2(message.find("rank 0: ") != std::string::npos, message.c_str());
            QVERIFY2(message.find("rank 1: ") != std::string::npos, message.c_str());
            return;
        }
        QVERIFY2(outcome.profile, outcome.failure ? outcome.failure->error.message.c_str() : "");
        QCOMPARE(QString::fromStdString(outcome.profile->mode), mode);
        QCOMPARE(outcome.warnings.size(), size_t(mode == "identical" ? 0 : 1));
        if (mode != "identical")
            QVERIFY(outcome.warnings[0].message.find("First difference") != std::string::npos);
    }

    void badGraphOnOneRank() {
        WorkerRequest asked = request();
        asked.files.push_back(write("broken.json", "{").toStdString());
        const Outcome outcome = run(asked);
        QVERIFY(outcome.failure);
        QCOMPARE(outcome.failure->rank, 1);
        QVERIFY(outcome.failure->error.message.find("rank 1 failed at reading the graph") == 0);
    }

    void cancelled() {
        const Outcome outcome = run(request(), "slow@1", [](WorkerClient& client) { client.cancel(); });
        QVERIFY(outcome.failure);
        QCOMPARE(outcome.failure->error.code, "cancelled");
        QVERIFY2(outcome.ms < 6000, qPrintable(QString::number(outcome.ms)));
    }

    void signalToOneRank() {
        const Outcome outcome = run(request(), "slow@1", [](WorkerClient& client) {
            static_cast<void>(client);
            kill(static_cast<pid_t>(ranksAlive().last()), SIGTERM);
        });
        QVERIFY(outcome.failure);
        QCOMPARE(outcome.failure->error.code, "stopped");
        QVERIFY(outcome.failure->error.message.find("stops: signal 15") != std::string::npos);
        QVERIFY(outcome.failure->rank >= 0);
    }

    void launcherKilled() {
        qputenv("GATHERSCOPE_FAULT", "slow@1");
        qputenv("GATHERSCOPE_RANK", GATHERSCOPE_RANK_FAULTS);
        QProcess cli;
        cli.start(GATHERSCOPE_CLI, {"profile", graph_, "--backend", "fake", "--ranks", "2"});
        QVERIFY(QTest::qWaitFor([] { return ranksAlive().size() == 2; }, 5000));
        kill(static_cast<pid_t>(cli.processId()), SIGKILL);
        QVERIFY(cli.waitForFinished(3000));
        QVERIFY2(QTest::qWaitFor([] { return ranksAlive().isEmpty(); }, 6000),
                 "ranks outlive their launcher");
        qunsetenv("GATHERSCOPE_RANK");
    }

    void mpirunMissing() {
        const QByteArray path = qgetenv("PATH");
        qputenv("PATH", dir_.path().toUtf8());
        const Outcome outcome = run(request());
        qputenv("PATH", path);
        QVERIFY(outcome.failure);
        QCOMPARE(outcome.failure->error.code, "no-launcher");
        QVERIFY(outcome.failure->error.hint.find("openmpi") != std::string::npos);
    }

    void launcherThatFails() {
        WorkerRequest asked = request();
        asked.hostfile = dir_.filePath("no-such-hosts");
        const Outcome outcome = run(asked);
        QVERIFY(outcome.failure);
        QCOMPARE(outcome.failure->error.code, "launcher-failed");
        QVERIFY(!outcome.failure->error.hint.empty());
    }

    void oneClientManyRuns() {
        WorkerClient client;
        QSignalSpy finished(&client, &WorkerClient::finished);
        qunsetenv("GATHERSCOPE_FAULT");
        for (int i = 1; i <= 2; ++i) {
            client.start(request());
            client.start(request()); // one at a time: the second is not heard
            QVERIFY(QTest::qWaitFor([&] { return !client.running(); }, 8000));
            QCOMPARE(finished.size(), i);
        }
    }

    void destroyedWhileItRuns() {
        qputenv("GATHERSCOPE_FAULT", "slow@0");
        {
            WorkerClient client;
            client.start(request());
            QVERIFY(QTest::qWaitFor([] { return ranksAlive().size() == 2; }, 5000));
        }
        QVERIFY(QTest::qWaitFor([] { return ranksAlive().isEmpty(); }, 2000));
    }

    void probeTellsWhatIsThere() {
        const auto backends = probeBackends(GATHERSCOPE_RANK_FAULTS);
        QVERIFY(backends.ok());
        QCOMPARE(backends->size(), size_t(3));
        QCOMPARE(backends.value()[0].devices.front().name, "fake device");
        QCOMPARE(backends.value()[1].why_not, "no device answers");
        QCOMPARE(backends.value()[2].why_not, "its library was not found");
        QVERIFY(!probeBackends("/bin/true").ok());
    }
};

QTEST_GUILESS_MAIN(TestWorkerFaults)
#include "tst_worker_faults.moc"
