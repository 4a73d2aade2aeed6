// The command line as users run it: the program itself, its output and its exit codes.
#include "run_cli.h"
#include "support/test_data.h"

#include <QDir>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>
#include <unistd.h>

using Json = nlohmann::json;
using namespace gs;
using test::Run;
using test::runCli;
using test::smallGraph;

class TestCli : public QObject {
    Q_OBJECT

private slots:
    void helpAndVersion() {
        QCOMPARE(runCli({"--help"}).code, 0);
        QCOMPARE(runCli({"--version"}).code, 0);
        QCOMPARE(runCli({"analyze", "--help"}).code, 0);
        QVERIFY(runCli({"analyze", "--help"}).out.contains("--costs"));
    }

    void usageErrors_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QByteArray>("says");
        const QString graph = write("g.json", smallGraph());
        QTest::newRow("nothing") << QStringList{} << QByteArray("Usage");
        QTest::newRow("command") << QStringList{"frobnicate"} << QByteArray("no command");
        QTest::newRow("no file") << QStringList{"analyze"} << QByteArray("a file is missing");
        QTest::newRow("option") << QStringList{"analyze", graph, "--nope"} << QByteArray("nope");
        QTest::newRow("setting") << QStringList{"analyze", graph, "--set", "nope=1"}
                                 << QByteArray("no setting");
        QTest::newRow("range") << QStringList{"analyze", graph, "--set", "contention=0"}
                               << QByteArray("from 1 to 10");
        QTest::newRow("scheduler") << QStringList{"analyze", graph, "--scheduler", "nope"}
                                   << QByteArray("no scheduler");
        QTest::newRow("device") << QStringList{"analyze", graph, "--device", "nope"}
                                << QByteArray("no device");
        QTest::newRow("source") << QStringList{"analyze", graph, "--set", "cost_sources=nope"}
                                << QByteArray("nope");
        QTest::newRow("compared scheduler") << QStringList{"compare", graph, "--schedulers", "two,nope"}
                                            << QByteArray("no scheduler \"two\"");
        QTest::newRow("limit") << QStringList{"compare", graph, "--memory-limit", "-3"}
                               << QByteArray("positive number");
        QTest::newRow("search and schedulers")
            << QStringList{"compare", graph, "--search", "--schedulers", "all"} << QByteArray("leave out");
        QTest::newRow("one variant") << QStringList{"compare", graph, "--diff", "program-order"}
                                     << QByteArray("two variants");
        QTest::newRow("variant's setting")
            << QStringList{"compare", graph, "--diff", "program-order", "just-in-time:nope=1"}
            << QByteArray("no setting");
        QTest::newRow("two graphs") << QStringList{"compare", graph, graph, "--schedulers", "all"}
                                    << QByteArray("one graph");
        const QString bundle = folder_.filePath("g.bundle.json");
        QCOMPARE(runCli({"export", graph, "--format", "bundle", "--out", bundle}).code, 0);
        QTest::newRow("two bundles") << QStringList{"analyze", bundle, bundle} << QByteArray("one at a time");
        QTest::newRow("graph and bundle")
            << QStringList{"analyze", graph, bundle} << QByteArray("one at a time");
        QTest::newRow("two exported")
            << QStringList{"export", graph, graph, "--format", "dot"} << QByteArray("one file");
        QTest::newRow("two against a trace")
            << QStringList{"compare", graph, graph, "--trace", graph} << QByteArray("one graph");
        QTest::newRow("graph number")
            << QStringList{"analyze", graph, "--graph", "x"} << QByteArray("whole number");
    }

    void usageErrors() {
        QFETCH(QStringList, arguments);
        QFETCH(QByteArray, says);
        const Run run = runCli(arguments);
        QCOMPARE(run.code, 2);
        QVERIFY2(run.error.contains(says), run.error.constData());
    }

    void badInput_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("says");
        QTest::addColumn<bool>("still_read");
        const QByteArray good = smallGraph();
        const auto row = [](const char* name, const QByteArray& text, const char* says, bool still_read) {
            QTest::newRow(name) << text << QByteArray(says) << still_read;
        };
        row("empty", {}, "empty", false);
        row("binary",
            QByteArray("\x7f"
                       "ELF\x02\x01\x00\x00\x00\x10\xff\xfe",
                       12),
            "graph", false);
        row("cut gzip", gzipped(good).left(200), "gzip", true);
        row("cut json", good.left(good.indexOf("\"w\"") + 30), "line 5", true);
        row("cycle", smallGraph(R"({"n":"p"},8)", R"({"n":"mm"},8)"), "comes after it", true);
        row("self", smallGraph(R"({"n":"p"},8)", R"({"n":"ag"},8)"), "itself", true);
        row("unknown node", smallGraph(R"({"n":"p"},8)", R"({"n":"q"},8)"), "no node of the graph", true);
        row("duplicate", smallGraph(R"("name":"w")", R"("name":"ag")"), "taken", true);
        row("no nodes", R"({"format":"gatherscope.graph","version":1,"nodes":[]})", "no nodes", false);
        row("no array", R"({"format":"gatherscope.graph","version":1})", "nodes", false);
        row("bad op", smallGraph(R"("op":"output")", R"("op":"outpost")"), "outpost", true);
        row("missing comma",
            smallGraph(R"("op":"placeholder","target":"p")", R"("op":"placeholder" "target":"p")"), "line 3",
            true);
        row("prose", "Dear all, the gathers did not move again.\n", "graph", false);
        row("trace", R"({"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"kernel"}]})", "trace", false);
    }

    void badInput() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, says);
        QFETCH(bool, still_read);
        const Run run = runCli({"analyze", write("bad.json", text), "--json", "-"});
        QCOMPARE(run.code, 3);
        QVERIFY2(run.error.contains(says) ||
                     run.error.contains(QByteArray(says).replace("line ", "bad.json:")),
                 run.error.constData());
        QCOMPARE(!run.out.isEmpty(), still_read);
        if (still_read)
            QVERIFY(Json::parse(run.out.toStdString()).at("graph").at("nodes") > 1);
    }

    void missingFileFolderAndPermission() {
        QVERIFY(runCli({"analyze", folder_.filePath("none.json")}).error.contains("no such file"));
        QVERIFY(QDir(folder_.path()).mkdir("empty"));
        QVERIFY(runCli({"analyze", folder_.filePath("empty")}).error.contains("folder"));
        QCOMPARE(runCli({"analyze", folder_.filePath("empty")}).code, 3);
        const QString locked = write("locked.json", smallGraph());
        QFile::setPermissions(locked, {});
        const Run run = runCli({"analyze", locked});
        if (geteuid() == 0) // root reads everything: then the file must simply open
            QCOMPARE(run.code, 0);
        else
            QVERIFY(run.code == 3 && run.error.contains("ermission"));
    }

    void byteOrderMarkIsNoFault() {
        const Run run = runCli({"analyze", write("mark.json", "\xef\xbb\xbf" + smallGraph())});
        QVERIFY2(run.code == 0, run.error.constData());
    }

    void graphWithoutCollectives() {
        const QByteArray text = R"({"format":"gatherscope.graph","version":1,"name":"plain","nodes":[
{"name":"x","op":"placeholder","target":"x","args":[],"kwargs":{},"val":{"dtype":"float32","shape":[4],"stride":[1],"device":"cpu"}},
{"name":"y","op":"call_function","target":"aten.relu.default","args":[{"n":"x"}],"kwargs":{},"val":{"dtype":"float32","shape":[4],"stride":[1],"device":"cpu"}}
]})";
        const Run run = runCli({"analyze", write("plain.json", text)});
        QCOMPARE(run.code, 0);
        QVERIFY2(run.out.contains("0 of 0 gathers hidden"), run.out.constData());
    }

    void costFaults_data() {
        QTest::addColumn<QByteArray>("nodes");
        QTest::addColumn<QByteArray>("says");
        QTest::newRow("other nodes") << QByteArray(R"({"elsewhere":5,"nowhere":7})")
                                     << QByteArray("none of the 2 names");
        QTest::newRow("negative") << QByteArray(R"({"mm":-5,"ag":100})") << QByteArray("mm");
        QTest::newRow("huge") << QByteArray(R"({"mm":9000000000000000000,"ag":100})") << QByteArray("mm");
        QTest::newRow("text") << QByteArray(R"({"mm":"long","ag":100})") << QByteArray("mm");
    }

    void costFaults() {
        QFETCH(QByteArray, nodes);
        QFETCH(QByteArray, says);
        const QString graph = write("g.json", smallGraph());
        const QString costs = write(
            "c.json", R"({"format":"gatherscope.costs","version":1,"unit":"ns","graph":"small","nodes":)" +
                          nodes + "}");
        const Run run = runCli({"analyze", graph, "--costs", costs, "--json", "-"});
        QVERIFY2(run.error.contains(says), run.error.constData());
        QVERIFY(Json::parse(run.out.toStdString()).at("costs").at("missing") >= 1);
    }

    void hugeShapeDoesNotOverflow() {
        QByteArray text = smallGraph();
        text.replace("[8,64]", "[1000000000,1000000000]").replace("[64,64]", "[1000000000,1000000000]");
        const Run run = runCli({"analyze", write("huge.json", text), "--json", "-"});
        QVERIFY2(run.code == 0, run.error.constData());
        const Json json = Json::parse(run.out.toStdString());
        QVERIFY(json.at("simulation").at("after").at("step_ns") > 0);
        QVERIFY(json.at("schedule").at("decisions").at(0).at("bytes") > 0);
    }

    void namesDoNotSteerTheTerminal() {
        const QByteArray name = "\"w\\u001b[31m\"";
        QByteArray text = smallGraph("\"op\":\"call_function\",\"target\":\"aten.mm",
                                     "\"op\":\"\\u001b[31m\",\"target\":\"aten.mm");
        const Run run = runCli({"analyze", write("esc.json", text), "-v"});
        QVERIFY(!run.error.contains('\x1b'));
        QVERIFY2(run.error.contains("[31m"), run.error.constData());
    }

    void jsonHasTheStatedKeysAndIsRepeatable() {
        const QString graph = write("g.json", smallGraph());
        const Run first = runCli({"analyze", graph, "--json", "-"});
        QCOMPARE(first.code, 0);
        QCOMPARE(first.out, runCli({"analyze", graph, "--json", "-"}).out);
        const auto json = nlohmann::ordered_json::parse(first.out.toStdString());
        QCOMPARE(keys(json), (QStringList{"format", "version", "graph", "settings", "edits", "costs",
                                          "schedule", "simulation", "diagnostics"}));
        QCOMPARE(keys(json.at("graph")),
                 (QStringList{"name", "source", "nodes", "placeholders", "collectives", "waits",
                              "weight_gathers", "groups", "structural_hash"}));
        QCOMPARE(keys(json.at("costs")),
                 (QStringList{"distinct", "measured", "reused", "imported", "interpolated", "analytical",
                              "missing", "extrapolated", "user"}));
        QCOMPARE(keys(json.at("schedule")),
                 (QStringList{"scheduler", "moved", "candidates", "order", "decisions"}));
        QCOMPARE(keys(json.at("schedule").at("decisions").at(0)),
                 (QStringList{"launch", "parameter", "group", "bytes", "cur", "target", "floor", "floor_node",
                              "first_consumer", "comm_ns", "need_ns", "carry_in_ns", "window_ns", "verdict",
                              "reason", "exposed_before_ns", "exposed_after_ns"}));
        QCOMPARE(keys(json.at("simulation")), (QStringList{"before", "after", "lower_bound_ns"}));
    }

    void sameGraphFromThreeForms() {
        for (const std::string name : {"llama3_8b_fsdp64_joint", "lm2_fsdp8_joint"}) {
            const auto json = test::corpusPath("graphs/" + name + ".json");
            const auto readable = test::corpusPath("graphs/" + name + ".readable.txt");
            const auto graph = test::corpusPath("graphs/" + name + ".graph.txt");
            const auto costs = test::corpusPath("costs/" + name + ".roofline.json");
            if (!json || !readable || !graph || !costs)
                continue;
            const Json a = analysis(*json, *costs), b = analysis(*readable, *costs),
                       c = analysis(*graph, *costs);
            for (const char* key : {"collectives", "waits", "weight_gathers"}) {
                QCOMPARE(a.at("graph").at(key).dump(), b.at("graph").at(key).dump());
                QCOMPARE(a.at("graph").at(key).dump(), c.at("graph").at(key).dump());
            }
            QCOMPARE(a.at("graph").at("groups").dump(), b.at("graph").at("groups").dump());
            for (const auto& [group, facts] : a.at("graph").at("groups").items())
                QVERIFY(facts.at("gathers") == c.at("graph").at("groups").at(group).at("gathers"));
            QVERIFY(a.at("schedule").at("order") == b.at("schedule").at("order"));
        }
    }

    void lists() {
        for (const QString what :
             {"schedulers", "settings", "cost-sources", "devices", "readers", "exports"}) {
            const Run run = runCli({"list", what});
            QCOMPARE(run.code, 0);
            QVERIFY(run.out.count('\n') >= 2);
        }
        const Run run = runCli({"list", write("g.json", smallGraph())});
        QCOMPARE(run.code, 0);
        const QRegularExpression row("\\s6\\s+1\\s+1\\s+gatherscope-json\\s"); // nodes, collectives, gathers
        QVERIFY2(QString::fromUtf8(run.out).contains(row), run.out.constData());
    }

    void everyExportIsWritten() {
        const QString graph = write("g.json", smallGraph());
        const Run formats = runCli({"list", "exports"});
        QCOMPARE(formats.code, 0);
        for (const QByteArray& line : formats.out.trimmed().split('\n')) {
            const QString name = QString::fromUtf8(line).section(' ', 0, 0);
            const QString out = folder_.filePath("export-" + name);
            QCOMPARE(runCli({"export", "--format", name, "--out", out, graph}).code, 0);
            QVERIFY2(QFileInfo(out).size() > 20, qPrintable(name));
        }
        QCOMPARE(runCli({"export", "--format", "nope", graph}).code, 2);
    }

    void comparesAllSchedulers() {
        const QString csv = folder_.filePath("rows.csv");
        const Run run = runCli(QStringList{"compare", "--csv", csv} + kSample);
        QVERIFY2(run.code == 0, run.error.constData());
        const Run list = runCli({"list", "schedulers"});
        for (const QByteArray& line : list.out.split('\n')) {
            if (!line.isEmpty() && line[0] != ' ')
                QVERIFY2(run.out.contains(line.left(line.indexOf(' '))), line.constData());
        }
        QVERIFY(run.out.contains(" max_in_flight_gb=0.1 "));
        QCOMPARE(run.out.count("\n*"), 1); // one is marked as the best
        QVERIFY(run.out.contains("best  --scheduler "));
        QFile file(csv);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        QCOMPARE(text.count("\r\n"), run.out.count('\n') - 1); // no line with the best
        QVERIFY(text.startsWith("scheduler,settings,best,hidden,"));
    }

    void compareJson() {
        const Run run =
            runCli(QStringList{"compare", "--schedulers", "program-order,latest-safe-launch", "--json", "-"} +
                   kSample);
        QCOMPARE(run.code, 0);
        const Json json = Json::parse(run.out.toStdString());
        QVERIFY(json.at("format") == "gatherscope.compare");
        QVERIFY(json.at("rows").size() == 3); // both modes of the sweep
        const Json& order = json.at("rows").at(0);
        QVERIFY(order.at("scheduler") == "program-order" && order.at("nodes_displaced") == 0);
        QVERIFY(json.at("diff").is_null() && json.at("search").is_null());
        const Json alone =
            Json::parse(runCli(QStringList{"analyze", "--json", "-"} + kSample).out.toStdString());
        QVERIFY(json.at("rows").at(1).at("step_ns") == alone.at("simulation").at("after").at("step_ns"));
        QVERIFY(json.at("rows").at(1).at("lower_bound_ns") == alone.at("simulation").at("lower_bound_ns"));
    }

    void searchKeepsTheMemoryLimit() {
        const Run run =
            runCli(QStringList{"compare", "--search", "--memory-limit", "75", "--json", "-"} + kSample);
        QVERIFY2(run.code == 0, run.error.constData());
        const Json json = Json::parse(run.out.toStdString());
        QVERIFY(json.at("search").at("end") == "finished");
        QVERIFY(json.at("search").at("within_limit") == true);
        int64_t best = -1, least = -1;
        for (const Json& row : json.at("rows")) {
            if (row.at("peak_held_bytes") > 75 * 1024 * 1024)
                continue;
            const int64_t step = row.at("step_ns");
            least = least < 0 ? step : std::min(least, step);
            if (row.at("best") == true)
                best = step;
        }
        QVERIFY(best > 0);
        QCOMPARE(best, least);
        const Run impossible =
            runCli(QStringList{"compare", "--search", "--memory-limit", "0.001"} + kSample);
        QCOMPARE(impossible.code, 1); // a finding: nothing keeps it
        QVERIFY(impossible.out.contains("nothing keeps the memory limit"));
    }

    void bestOptionsGiveTheBestStep() {
        const Run run = runCli(QStringList{"compare", "--search"} + kSample);
        QCOMPARE(run.code, 0);
        const QString text = QString::fromUtf8(run.out);
        const QStringList options =
            text.mid(text.indexOf("best  ") + 6).trimmed().split(' ', Qt::SkipEmptyParts);
        const Run again = runCli(QStringList{"analyze", "--json", "-"} + options + kSample);
        QVERIFY2(again.code == 0, again.error.constData());
        const Json searched = Json::parse(
            runCli(QStringList{"compare", "--search", "--json", "-"} + kSample).out.toStdString());
        for (const Json& row : searched.at("rows")) {
            if (row.at("best") == true)
                QVERIFY(row.at("step_ns") ==
                        Json::parse(again.out.toStdString()).at("simulation").at("after").at("step_ns"));
        }
    }

    void twoVariantsGatherByGather() {
        const QStringList diff{"compare", "--diff", "program-order", "latest-safe-launch:slack_ns=1000"};
        const Run run = runCli(diff + kSample);
        QVERIFY2(run.code == 0, run.error.constData());
        QVERIFY(run.out.contains("A  program-order"));
        QVERIFY(run.out.contains("B  latest-safe-launch slack_ns=1000"));
        QVERIFY(run.out.contains("gathers differ"));
        QVERIFY(!run.out.contains("best  ")); // only the two were run
        const Json json = Json::parse(runCli(diff + QStringList{"--json", "-"} + kSample).out.toStdString());
        QVERIFY(json.at("rows").size() == 2);
        QVERIFY(json.at("diff").at("changed") == json.at("diff").at("rows").size());
    }

    void compareOfABrokenFile() {
        const Run none = runCli({"compare", folder_.filePath("none.json")});
        QCOMPARE(none.code, 3);
        QVERIFY(none.error.contains("no such file"));
        QByteArray cut = smallGraph();
        const Run run = runCli({"compare", write("cut.json", cut.left(cut.indexOf("\"w\"") + 30))});
        QCOMPARE(run.code, 3); // what could be read is still compared
        QVERIFY(run.out.contains("program-order"));
    }

    void lintFindsAndExits() {
        const QString clean = write("clean.json", smallGraph());
        const QString dead =
            write("dead.json", smallGraph("{\"n\":\"w\"}],\"kwargs\"", "{\"n\":\"x\"}],\"kwargs\""));
        QCOMPARE(runCli({"lint", clean}).code, 0);
        const Run run = runCli({"lint", dead, "--json", "-"});
        QCOMPARE(run.code, 1);
        const Json json = Json::parse(run.out);
        QVERIFY(json["format"] == "gatherscope.lint");
        QVERIFY(json["findings"] == 1);
        QVERIFY(json["counts"]["dead-gather"] == 1);
        QCOMPARE(runCli({"lint", clean, "--strict"}).code, 1); // infos count
        QCOMPARE(runCli({"lint", "nothing-here.json"}).code, 3);
        QVERIFY(runCli({"list", "checks"}).out.contains("gathered-twice"));
    }

    void comparesRanks() {
        const QString a = write("rank0.json", smallGraph());
        const QString same = write("rank1.json", smallGraph());
        const QString other =
            write("rank2.json", smallGraph("\"target\":\"_c10d_functional.all_gather_into_tensor.default\"",
                                           "\"target\":\"aten.relu.default\""));
        const Run fits = runCli({"compare", a, same});
        QCOMPARE(fits.code, 0);
        QVERIFY2(fits.out.startsWith("identical: Both ranks run the same program"), fits.out);
        const Run run = runCli({"compare", a, same, other, "--json", "-"});
        QCOMPARE(run.code, 1);
        const Json json = Json::parse(run.out);
        QVERIFY(json["format"] == "gatherscope.ranks");
        QVERIFY(json["mode"] == "abort");
        QVERIFY(json["differences"][0]["code"] == "rank-missing");
        QVERIFY(json["wait_cycles"][0]["steps"][0]["missing_rank"] == "rank 2");
        QCOMPARE(runCli({"compare", "--ranks", a}).code, 2);
        QCOMPARE(runCli({"compare", a, "nothing-here.json"}).code, 3);
    }

    void verbosePrintsPlacementLines() {
        const Run run = runCli({"analyze", write("g.json", smallGraph()), "-v"});
        QVERIFY2(run.error.contains("FSDP overlap placement: "), run.error.constData());
        QVERIFY(run.error.contains("repositioned "));
    }

private:
    QString write(const QString& name, const QByteArray& text) {
        return test::writeFile(folder_.filePath(name), {text.data(), size_t(text.size())});
    }

    static QByteArray gzipped(const QByteArray& text) {
        // qCompress makes a zlib stream behind four bytes of length; gzip wants its own frame around the
        // deflate data.
        const QByteArray zlib = qCompress(text, 9).mid(4);
        return QByteArray("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10) + zlib.mid(2, zlib.size() - 6) +
               QByteArray(8, '\0');
    }

    static QStringList keys(const nlohmann::ordered_json& object) {
        QStringList names;
        for (const auto& [key, value] : object.items())
            names << QString::fromStdString(key);
        return names;
    }

    static Json analysis(const std::string& graph, const std::string& costs) {
        const Run run = runCli({"analyze", QString::fromStdString(graph), "--costs",
                                QString::fromStdString(costs), "--json", "-"});
        if (run.code != 0)
            qWarning("%s: exit %d: %s", graph.c_str(), run.code, run.error.constData());
        return Json::parse(run.out.toStdString());
    }

    const QStringList kSample{
        QStringLiteral(GATHERSCOPE_SOURCE_DIR "/samples/mlp4_fsdp8_joint.json.gz"), "--costs",
        QStringLiteral(GATHERSCOPE_SOURCE_DIR "/samples/mlp4_fsdp8_joint.roofline.json")};
    QTemporaryDir folder_;
};

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
