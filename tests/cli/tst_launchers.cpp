// The ways to start ranks: mpirun with a host file, and Slurm's srun where a Slurm answers
// (tests/rank/one_node_slurm makes one of this machine).
#include "run_cli.h"
#include "support/profile_graph.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace gs;
using test::Run;

class TestLaunchers : public QObject {
    Q_OBJECT

private:
    QTemporaryDir dir_;
    QString graph_;

    QString write(const QString& name, const std::string& text) {
        return test::writeFile(dir_.filePath(name), text);
    }

    Run profile(const QStringList& more, const QString& fault = {}) {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("GATHERSCOPE_RANK", GATHERSCOPE_RANK_FAULTS);
        environment.insert("GATHERSCOPE_FAULT", fault);
        QProcess process;
        process.setProcessEnvironment(environment);
        return test::runProcess(process, GATHERSCOPE_CLI,
                                QStringList{"profile", graph_, "--backend", "fake", "--ranks", "2"} + more,
                                60'000);
    }

    /// Two tasks at once, within the time that a test may wait.
    static bool slurmAnswers() {
        const QString srun = QStandardPaths::findExecutable("srun");
        if (srun.isEmpty())
            return false;
        QProcess process;
        process.start(srun, {"-n", "2", "--immediate=10", "true"});
        const bool ended = process.waitForFinished(20'000);
        if (!ended)
            process.kill();
        process.waitForFinished(1000);
        return ended && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
    }

private slots:
    void initTestCase() { graph_ = write("graph.json", test::profileGraphText()); }

    void hostFile() {
        const Run run = profile({"--hostfile", write("hosts", "localhost slots=2\n")});
        QVERIFY2(run.code == 0, run.error.constData());
        QVERIFY(run.error.contains("rank 1 of 2: fake on"));
        QVERIFY(run.out.contains("(4 cost entries reconciled)"));
    }

    void hostFileWithTooFewSlots() {
        const Run run = profile({"--hostfile", write("few", "localhost slots=1\n")});
        QCOMPARE(run.code, 5);
        QVERIFY2(run.error.contains("slots"), run.error.constData());
        QVERIFY(!run.error.contains("rank 0 of 2"));
    }

    void srun() {
        if (!slurmAnswers()) {
            std::printf(
                "NOT RUN: ranks under srun (no Slurm answers; tests/rank/one_node_slurm starts one)\n");
            return;
        }
        const QString store = dir_.filePath("s.db");
        const Run run = profile({"--srun", "--store", store});
        QVERIFY2(run.code == 0, run.error.constData());
        QVERIFY(run.error.contains("rank 0 of 2: fake on") && run.error.contains("rank 1 of 2: fake on"));
        QVERIFY(run.out.contains("(4 cost entries reconciled)"));
        QVERIFY(run.out.contains("contention factor 1."));
        // What rank 0 hears on stdin comes through srun, too.
        const Run again = profile({"--srun", "--store", store});
        QVERIFY2(again.error.contains("4 keys are reused from the store, 0 are"), again.error.constData());
        const Run killed = profile({"--srun"}, "kill-collective@1");
        QCOMPARE(killed.code, 5);
        QVERIFY2(killed.error.contains("rank 1 ended: Killed"), killed.error.constData());
        QVERIFY(killed.ms < 15'000);
    }
};

QTEST_GUILESS_MAIN(TestLaunchers)
#include "tst_launchers.moc"
