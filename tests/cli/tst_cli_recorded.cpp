// The command line on what was recorded: traces of runs and bundles.
#include "run_cli.h"
#include "support/kineto_trace.h"

#include <QFile>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

using namespace gs;
using namespace gs::test;
using Json = nlohmann::json;

class TestCliRecorded : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        AnalysisRequest request;
        request.graph_file = GATHERSCOPE_SOURCE_DIR "/samples/mlp4_fsdp8_joint.json.gz";
        request.cost_files.push_back(GATHERSCOPE_SOURCE_DIR "/samples/mlp4_fsdp8_joint.roofline.json");
        Result<AnalysisPtr> analysed = Analyser().analyse(request, {});
        QVERIFY(analysed.ok());
        analysis_ = analysed.value();
        graph_ = QString::fromStdString(analysis_->request.graph_file);
        for (const std::string& file : analysis_->request.cost_files)
            costs_ << "--costs" << QString::fromStdString(file);
        trace_ = write("trace.json", QByteArray::fromStdString(kinetoOf(*analysis_, {})));
    }

    void aTraceAgainstTheSimulation() {
        const QString csv = folder_.filePath("run.csv"), json = folder_.filePath("run.json");
        const Run run =
            runCli(QStringList{"compare", graph_, "--trace", trace_, "--csv", csv, "--json", json} + costs_);
        QVERIFY2(run.code == 0, run.error.constData());
        const auto count = static_cast<int>(analysis_->after.collectives->size());
        QVERIFY2(run.out.startsWith(QByteArray::number(count) + " of " + QByteArray::number(count) +
                                    " collectives matched, 1 step in the trace"),
                 run.out.constData());
        QCOMPARE(read(csv).count("\r\n"), count + 1);
        const Json stated = Json::parse(read(json).toStdString());
        QVERIFY(stated.at("format") == "gatherscope.measured");
        QVERIFY(stated.at("matched") == count);
        QVERIFY(stated.at("errors").at(0).at("bias_ns") == 0);
    }

    void theAnalysisShowsTheRun() {
        const Run run = runCli(QStringList{"analyze", graph_, "--trace", trace_, "--json", "-"} + costs_);
        QVERIFY2(run.code == 0, run.error.constData());
        const Json json = Json::parse(run.out.toStdString());
        QVERIFY(json.contains("measured"));
        QVERIFY(json.at("measured").at("matched") == analysis_->after.collectives->size());
    }

    void tracesThatSayNothing() {
        const Run twice = runCli({"compare", graph_, "--trace", trace_, "--trace", trace_});
        QCOMPARE(twice.code, 3);
        QVERIFY2(twice.error.contains("given twice"), twice.error.constData());
        const Run none = runCli({"compare", graph_, "--trace", folder_.filePath("none.json")});
        QCOMPARE(none.code, 3);
        QCOMPARE(runCli({"compare", graph_, "--trace", graph_}).code, 3); // a graph is no trace
        QCOMPARE(runCli({"compare", graph_, graph_, "--trace", trace_}).code, 2);
        const Run analysed = runCli({"analyze", graph_, "--trace", graph_});
        QCOMPARE(analysed.code, 3);
        QVERIFY(analysed.out.contains("lower bound")); // the analysis itself is shown
    }

    void twoBundles() {
        const QString a = folder_.filePath("a.bundle.json"), b = folder_.filePath("b.bundle.json");
        QCOMPARE(runCli(QStringList{"export", "--format", "bundle", "--out", a, graph_} + costs_).code, 0);
        QCOMPARE(runCli({"export", "--format", "bundle", "--out", b, a}).code, 0);
        const Run same = runCli({"compare", a, b});
        QVERIFY2(same.code == 0, same.out.constData());
        QCOMPARE(runCli({"export", "--format", "bundle", "--out", b, a, "--set", "contention=3"}).code, 0);
        const Run differ = runCli({"compare", a, b, "--json", "-"});
        QCOMPARE(differ.code, 1);
        const Json json = Json::parse(differ.out.toStdString());
        QVERIFY(json.at("same") == false);
        QVERIFY(json.at("changes").at(0).at("name") == "contention");
        // In either order a file that is no bundle is named.
        for (const QStringList& files : {QStringList{a, graph_}, QStringList{graph_, a}}) {
            const Run mixed = runCli(QStringList{"compare"} + files);
            QCOMPARE(mixed.code, 3);
            QVERIFY2(mixed.error.contains(graph_.toUtf8() + ": this is no bundle"), mixed.error.constData());
        }
    }

    /// A schedule that does not keep to a rank which could not be read may hang the job.
    void ranksThatCannotBeRead() {
        const QString broken = write("broken.json", "{"), out = folder_.filePath("schedule.json");
        for (const QString& file : {broken, folder_.filePath("none.json")}) {
            const Run analysed = runCli({"analyze", graph_, "--rank-file", file});
            QCOMPARE(analysed.code, 3);
            QVERIFY2(analysed.error.contains(file.toUtf8()), analysed.error.constData());
            const Run written =
                runCli({"export", graph_, "--rank-file", file, "--format", "schedule", "--out", out});
            QCOMPARE(written.code, 3);
            QVERIFY(!QFile::exists(out));
            QCOMPARE(runCli({"compare", graph_, "--rank-file", file}).code, 3);
            QCOMPARE(runCli({"lint", graph_, "--rank-file", file}).code, 3);
        }
    }

    void aFullDiskIsNoticed() {
        QProcess process;
        process.setStandardOutputFile("/dev/full");
        process.start(GATHERSCOPE_CLI, {"analyze", graph_});
        QVERIFY(process.waitForFinished(60'000));
        QCOMPARE(process.exitCode(), 3);
        QVERIFY(process.readAllStandardError().contains("standard output could not be written"));
    }

    void picturesByGraphviz() {
        if (QStandardPaths::findExecutable("dot").isEmpty()) {
            qInfo("NOT RUN: export --render (Graphviz is not installed)");
            return;
        }
        for (const auto& [kind, begin] :
             {std::pair("svg", "<?xml"), std::pair("pdf", "%PDF"), std::pair("png", "\x89PNG")}) {
            const QString out = folder_.filePath(QString("picture.") + kind);
            const Run run = runCli({"export", "--format", "dot", "--render", kind, "--out", out, graph_});
            QVERIFY2(run.code == 0, run.error.constData());
            QVERIFY2(read(out).startsWith(begin), kind);
        }
        QCOMPARE(runCli({"export", "--format", "dot", "--render", "bmp", graph_}).code, 2);
        QCOMPARE(runCli({"export", "--format", "schedule", "--render", "svg", graph_}).code, 2);
    }

private:
    QString write(const QString& name, const QByteArray& text) {
        return writeFile(folder_.filePath(name), {text.data(), size_t(text.size())});
    }

    static QByteArray read(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    AnalysisPtr analysis_;
    QString graph_, trace_;
    QStringList costs_;
    QTemporaryDir folder_;
};

QTEST_GUILESS_MAIN(TestCliRecorded)
#include "tst_cli_recorded.moc"
