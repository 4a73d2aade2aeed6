// `gatherscope-cli profile --benchmark-inputs`: operators of the user's own, among them one that communicates
// inside. Its ranks check at each call that all of them make the same one.
#include "run_cli.h"
#include "support/profile_graph.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

using namespace gs;

namespace {

constexpr const char* kHead = R"({"format": "gatherscope.benchmark_inputs", "version": 1, "ops": )";

struct Run {
    int code = -1;
    QByteArray error;
    nlohmann::json entry; ///< of my.route
    nlohmann::json json;
};

} // namespace

class TestProfileInputs : public QObject {
    Q_OBJECT

private:
    QTemporaryDir dir_;
    QString graph_, other_, rows_;

    QString write(const QString& name, const std::string& text) {
        return test::writeFile(dir_.filePath(name), text);
    }

    Run profile(int ranks, const QStringList& more, const QString& fault = {}) {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("GATHERSCOPE_RANK", GATHERSCOPE_RANK_FAULTS);
        environment.insert("GATHERSCOPE_FAULT", fault);
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(GATHERSCOPE_CLI, QStringList{"profile", graph_, "--backend", "fake", "--ranks",
                                                   QString::number(ranks), "--json", "-"} +
                                           more);
        Run run;
        if (!process.waitForFinished(30'000) || process.exitStatus() != QProcess::NormalExit)
            return run;
        run.code = process.exitCode();
        run.error = process.readAllStandardError();
        run.json = nlohmann::json::parse(process.readAllStandardOutput().toStdString(), nullptr, false);
        if (!run.json.is_object())
            return run;
        for (const auto& entry : run.json["entries"]) {
            if (entry["key"].get<std::string>().starts_with("my.route"))
                run.entry = entry;
        }
        return run;
    }

private slots:
    void initTestCase() {
        test::ProfileGraph graph;
        graph.operation = "my.route.default";
        graph_ = write("graph.json", test::profileGraphText(graph));
        other_ = write("other.json", test::profileGraphText());
        rows_ = write("rows.json", std::string(kHead) + R"({"my.route": {"internal_collective": true}}})");
    }

    void allRanksMakeTheSameCalls_data() {
        QTest::addColumn<int>("ranks");
        QTest::newRow("2") << 2;
        QTest::newRow("4") << 4;
    }

    void allRanksMakeTheSameCalls() {
        QFETCH(int, ranks);
        const Run run = profile(ranks, {"--benchmark-inputs", rows_, "--iterations", "7"});
        QVERIFY2(run.code == 0, run.error.constData());
        QVERIFY(!run.entry.is_null());
        QVERIFY2(run.entry["provenance"] == "measured", run.entry.dump().c_str());
        QCOMPARE(run.entry["samples"].get<int>(), 7);
        QVERIFY(!run.error.contains("different numbers"));
        // Beside a gather it would run as often as it fits, on each rank.
        QCOMPARE(run.json["contention"].size(), size_t(1));
        QVERIFY(run.json["contention"][0]["beside"].get<std::string>().starts_with("fused{"));
    }

    void filesThatCannotBeRead() {
        for (const QString& file : {dir_.path(), dir_.filePath("none.json")}) {
            const Run run = profile(2, {"--benchmark-inputs", file});
            QCOMPARE(run.code, 3);
            QVERIFY2(run.error.contains(file.toUtf8()), run.error.constData());
        }
    }

    void neverAlone() {
        const Run run = profile(1, {"--benchmark-inputs", rows_, "--what", "compute"});
        QVERIFY2(run.code == 0, run.error.constData());
        QVERIFY2(run.entry["note"].get<std::string>().find("never timed on one rank alone") !=
                     std::string::npos,
                 run.entry.dump().c_str());
        QVERIFY(run.entry["provenance"] != "measured");
        const Run unknown = profile(1, {"--what", "compute"}); // without the row it is like any other
        QVERIFY2(unknown.entry["provenance"] == "measured", unknown.entry.dump().c_str());
    }

    void noRankRunsWhatOthersDoNot_data() {
        QTest::addColumn<QString>("fault");
        QTest::addColumn<QString>("says");
        QTest::newRow("refused") << "unfit@1"
                                 << "rank 1: it wants 80.0 GiB";
        QTest::newRow("other graph") << ""
                                     << "only some ranks have it, and it communicates";
    }

    void noRankRunsWhatOthersDoNot() {
        QFETCH(QString, fault);
        QFETCH(QString, says);
        QStringList more{"--benchmark-inputs", rows_};
        if (fault.isEmpty())
            more.prepend(other_);
        const Run run = profile(2, more, fault);
        QVERIFY2(run.code == 0, run.error.constData());
        QVERIFY(run.entry["provenance"] != "measured");
        QVERIFY2(QString::fromStdString(run.entry["note"].get<std::string>()).contains(says),
                 run.entry.dump().c_str());
    }

    void aFailureInsideEndsAll() {
        const Run run = profile(2, {"--benchmark-inputs", rows_}, "throw@1");
        QCOMPARE(run.code, 5);
        QVERIFY2(run.error.contains("rank 1") && run.error.contains("no kernel image"),
                 run.error.constData());
    }

    void laterFilesWin() {
        const QString plain = write("plain.json", std::string(kHead) + R"({"my.route": {}}})");
        const Run run =
            profile(1, {"--benchmark-inputs", rows_, "--benchmark-inputs", plain, "--what", "compute"});
        QVERIFY2(run.entry["provenance"] == "measured", run.entry.dump().c_str());
    }

    void badFiles_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("says");
        const QString head = QString(kHead);
        QTest::newRow("syntax") << head + "{\n \"a.b\": }}"
                                << QStringList{"syntax error", "(line 2, column 9)"};
        QTest::newRow("field") << head + "{\n \"a.b\": {},\n \"c.d\": {\"colour\": 1}}}"
                               << QStringList{"\"c.d\"", "\"colour\"", "(line 3, column 2)"};
        QTest::newRow("format") << "{}" << QStringList{"gatherscope.benchmark_inputs"};
        QTest::newRow("missing") << "" << QStringList{"no such file"};
    }

    void badFiles() {
        QFETCH(QString, text);
        QFETCH(QStringList, says);
        const QString file =
            text.isEmpty() ? dir_.filePath("nowhere.json") : write("bad.json", text.toStdString());
        const Run run = profile(2, {"--benchmark-inputs", file});
        QCOMPARE(run.code, 3);
        for (const QString& part : says + QStringList{file})
            QVERIFY2(run.error.contains(part.toUtf8()), run.error.constData());
        QVERIFY(!run.error.contains("rank 0 of 2"));
    }
};

QTEST_GUILESS_MAIN(TestProfileInputs)
#include "tst_profile_inputs.moc"
