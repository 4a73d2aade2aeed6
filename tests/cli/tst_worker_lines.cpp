// Lines of several ranks, whole, cut and mixed.
#include "app/worker/worker_lines.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <set>
#include <unistd.h>

using namespace gs;

namespace {

QByteArray line(int rank, const std::string& text) {
    return QByteArray::fromStdString(encodeMessage({rank, ByeMessage{text}}));
}
QByteArray tag(int rank) {
    return "[1," + QByteArray::number(rank) + "]<stdout>:";
}
std::string reason(const RankMessage& message) {
    const auto* bye = std::get_if<ByeMessage>(&message.body);
    return bye ? bye->reason : "";
}

} // namespace

class TestWorkerLines : public QObject {
    Q_OBJECT

private slots:
    void marks_data() {
        QTest::addColumn<QByteArray>("before");
        QTest::newRow("none") << QByteArray();
        QTest::newRow("mpirun") << tag(2);
        QTest::newRow("srun") << QByteArray("2: ");
        QTest::newRow("srun, many") << QByteArray("  2: ");
    }

    void marks() {
        QFETCH(QByteArray, before);
        WorkerLines lines;
        const auto out = lines.take(before + line(2, "done"));
        QCOMPARE(out.size(), size_t(1));
        QCOMPARE(out[0].rank, 2);
        QCOMPARE(reason(out[0]), "done");
    }

    void byteByByte() {
        WorkerLines lines;
        std::vector<RankMessage> out;
        for (const char c : tag(0) + line(0, "a{}\"b\\") + tag(1) + line(1, "c")) {
            for (const RankMessage& message : lines.take(QByteArray(1, c)))
                out.push_back(message);
        }
        QCOMPARE(out.size(), size_t(2));
        QCOMPARE(reason(out[0]), "a{}\"b\\");
        QCOMPARE(out[1].rank, 1);
    }

    void piecesOfTwoRanksMix() {
        const QByteArray a = line(0, std::string(3000, 'a')), b = line(1, std::string(3000, 'b'));
        WorkerLines lines;
        std::vector<RankMessage> out;
        const auto add = [&](int rank, const QByteArray& piece) {
            for (const RankMessage& message :
                 lines.take(tag(rank) + piece + (piece.endsWith('\n') ? "" : "\n")))
                out.push_back(message);
        };
        add(0, a.left(1000));
        add(1, b.left(2000));
        add(0, a.mid(1000, 1500));
        add(1, b.mid(2000));
        add(0, a.mid(2500));
        QCOMPARE(out.size(), size_t(2));
        QCOMPARE(reason(out[0]), std::string(3000, 'b'));
        QCOMPARE(reason(out[1]), std::string(3000, 'a'));
    }

    /// As OpenMPI 4.1 writes them: no newline between the fragments, other ranks' on the same line.
    void fragmentsInTheMiddleOfALine_data() {
        QTest::addColumn<int>("step");
        for (const int step : {1, 7, 4096, 1 << 20})
            QTest::addRow("%d bytes at a time", step) << step;
    }

    void fragmentsInTheMiddleOfALine() {
        QFETCH(int, step);
        const QByteArray a = line(0, std::string(9000, 'a')) + line(0, "next"),
                         b = line(1, "[1,0]<stdout>:{");
        QByteArray stream;
        stream += tag(0) + a.left(4096) + tag(0) + a.mid(4096, 4096) + tag(1) + b.left(20);
        stream += tag(0) + a.mid(8192).replace('\n', "\n" + tag(0)).chopped(tag(0).size());
        stream += tag(1) + b.mid(20);
        WorkerLines lines;
        std::vector<RankMessage> out;
        for (qsizetype at = 0; at < stream.size(); at += step) {
            for (const RankMessage& message : lines.take(stream.mid(at, step)))
                out.push_back(message);
        }
        QCOMPARE(out.size(), size_t(3));
        QCOMPARE(reason(out[0]), std::string(9000, 'a'));
        QCOMPARE(reason(out[1]), "next");
        QCOMPARE(out[2].rank, 1);
        QCOMPARE(reason(out[2]), "[1,0]<stdout>:{");
    }

    void realMpirun() {
        const QString mpirun = QStandardPaths::findExecutable("mpirun");
        if (mpirun.isEmpty()) {
            qInfo("NOT RUN: mpirun is not installed");
            return;
        }
        QTemporaryDir folder;
        QFile file(folder.filePath("message"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QByteArray message = line(0, std::string(20'000, '['));
        file.write(message.replace("\"rank\":0", "\"rank\":RANK"));
        file.close();
        QProcess process;
        QStringList arguments = {"--tag-output", "--oversubscribe", "-n", "3"};
        if (geteuid() == 0)
            arguments << "--allow-run-as-root";
        arguments << "sh"
                  << "-c"
                  << "sed \"s/RANK/$OMPI_COMM_WORLD_RANK/\" \"$0\"" << file.fileName();
        process.start(mpirun, arguments);
        QVERIFY(process.waitForFinished(30'000));
        WorkerLines lines;
        const auto out = lines.take(process.readAllStandardOutput());
        QCOMPARE(out.size(), size_t(3));
        std::set<int> ranks;
        for (const RankMessage& each : out) {
            QCOMPARE(reason(each), std::string(20'000, '['));
            ranks.insert(each.rank);
        }
        QCOMPARE(ranks, (std::set<int>{0, 1, 2}));
    }

    void whatIsNoMessageIsAWarning() {
        WorkerLines lines;
        const auto out = lines.take("NCCL INFO hello\n" + tag(1) + line(0, "x") + tag(1) + line(1, "y"));
        QCOMPARE(out.size(), size_t(3));
        QVERIFY(std::holds_alternative<WarningMessage>(out[0].body));
        QVERIFY(std::holds_alternative<WarningMessage>(out[1].body)); // another rank's mark
        QCOMPARE(reason(out[2]), "y");
    }

    void aCutMessageDoesNotSwallowTheNext() {
        WorkerLines lines;
        const auto out = lines.take(tag(1) + line(1, "lost").left(20) + "\n" + tag(1) + line(1, "kept"));
        QCOMPARE(out.size(), size_t(2));
        QVERIFY(std::holds_alternative<WarningMessage>(out[0].body));
        QCOMPARE(reason(out[1]), "kept");
    }
};

QTEST_GUILESS_MAIN(TestWorkerLines)
#include "tst_worker_lines.moc"
