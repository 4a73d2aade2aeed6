// Measured costs on the command line: profiles of a store, pins and overrides.
#include "cost/profile_store.h"
#include "run_cli.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

using namespace gs;
using test::Run;
using test::runCli;
using Json = nlohmann::json;

namespace {

const QString kProduct = "aten.mm.default(bf16[64,64;64,1], bf16[64,64;64,1]) -> bf16[64,64;64,1]";

Profile profile(const std::string& device, int64_t product_ns) {
    Profile made;
    made.unix_time_s = 1'760'000'000;
    made.device = device;
    made.backend = "host";
    made.ranks = 2;
    made.graph_name = "small";
    made.entries = {
        {kProduct.toStdString(), "compute", "mm", product_ns, 10, 3, 1, 2, Provenance::Measured, ""}};
    made.contention = {{"gather", "mm", 8192, 1000, 1250, 500, 550}};
    return made;
}

} // namespace

class TestCliProfiles : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void list();
    void compare();
    void faults_data();
    void faults();
    void measuredCosts();
    void pinsAndOverrides();
    void contention();

private:
    Json analyze(const QStringList& more) const;
    std::pair<int64_t, QString> product(const QStringList& more) const;
    QTemporaryDir folder_;
    QString graph_, store_;
};

void TestCliProfiles::initTestCase() {
    graph_ = folder_.filePath("g.json");
    QFile file(graph_);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(test::smallGraph());
    store_ = folder_.filePath("store.db");
    auto store = ProfileStore::open(store_.toStdString());
    QVERIFY(store.ok());
    QVERIFY(store->add(profile("one CPU", 4000)).ok());
    QVERIFY(store->add(profile("another CPU", 3000)).ok());
}

Json TestCliProfiles::analyze(const QStringList& more) const {
    const Run run = runCli(QStringList{"analyze", graph_, "--json", "-"} + more);
    if (run.code != 0)
        qFatal("analyze: %s", run.error.constData());
    return Json::parse(run.out.toStdString());
}

/// Time and provenance of the matrix product.
std::pair<int64_t, QString> TestCliProfiles::product(const QStringList& more) const {
    const QString out = folder_.filePath("costs.csv");
    const Run run = runCli(QStringList{"export", "--format", "costs-csv", "--out", out, graph_} + more);
    QFile file(out);
    if (run.code != 0 || !file.open(QIODevice::ReadOnly))
        qFatal("export: %s", run.error.constData());
    for (const QString& line : QString::fromUtf8(file.readAll()).split('\n')) {
        const auto match = QRegularExpression("\",([0-9]+),[0-9]+,[0-9]+,([a-z]+),").match(line);
        if (line.contains(kProduct) && match.hasMatch())
            return {match.captured(1).toLongLong(), match.captured(2)};
    }
    return {-1, {}};
}

void TestCliProfiles::list() {
    const Run run = runCli({"list", "profiles", "--store", store_});
    QVERIFY2(run.code == 0, run.error.constData());
    const QList<QByteArray> lines = run.out.trimmed().split('\n');
    QCOMPARE(lines.size(), 3);
    QVERIFY2(lines[1].contains("another CPU") && lines[1].contains("×1.25") &&
                 lines[1].contains("2025-10-09"),
             run.out.constData());
    QVERIFY(lines[2].contains("one CPU"));
}

void TestCliProfiles::compare() {
    const Run run = runCli({"compare", "--profiles", "1", "latest", "--store", store_});
    QVERIFY2(run.code == 0, run.error.constData());
    for (const char* part : {"A  profile 1: one CPU", "B  profile 2: another CPU", "4.0", "3.0", "0.750",
                             "1 in both, 0 only in A, 0 only in B", "(−25", "×1.25"})
        QVERIFY2(run.out.contains(part), run.out.constData());
    QCOMPARE(runCli({"compare", "--profiles", "one CPU", "another CPU", "--store", store_}).code, 0);
}

void TestCliProfiles::faults_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const QStringList& arguments, int code, const char* says) {
        QTest::newRow(name) << arguments << code << QByteArray(says);
    };
    const QString nowhere = folder_.filePath("nowhere.db");
    row("list without a store", {"list", "profiles"}, 2, "--store");
    row("no such store", {"list", "profiles", "--store", nowhere}, 3, "no profile store");
    row("not a store", {"list", "profiles", "--store", graph_}, 3, "no profile store");
    row("one profile", {"compare", "--profiles", "1", "--store", store_}, 2, "needs --store");
    row("no store", {"compare", "--profiles", "1", "2"}, 2, "needs --store");
    row("no such profile", {"compare", "--profiles", "1", "7", "--store", store_}, 3, "has no profile 7");
    row("analysis without it", {"analyze", graph_, "--set", "profile_store=" + nowhere}, 3,
        "no profile store");
    row("override", {"analyze", graph_, "--override-cost", "key"}, 2, "KEY=VALUE");
    row("override's number", {"analyze", graph_, "--override-cost", "key=fast"}, 2, "whole nanoseconds");
    row("pin", {"analyze", graph_, "--pin-cost", "key"}, 2, "KEY=VALUE");
    row("pin's source", {"analyze", graph_, "--pin-cost", "key=dream"}, 2, "a pin names \"dream\"");
}

void TestCliProfiles::faults() {
    QFETCH(QStringList, arguments);
    QFETCH(int, code);
    QFETCH(QByteArray, says);
    const Run run = runCli(arguments);
    QVERIFY2(run.error.contains(says), run.error.constData());
    QCOMPARE(run.code, code);
}

void TestCliProfiles::measuredCosts() {
    using Cost = std::pair<int64_t, QString>;
    const QString store = "profile_store=" + store_;
    QCOMPARE(product({"--set", store}), Cost(3000, "measured"));
    QCOMPARE(product({"--set", store, "--set", "profile=one CPU"}), Cost(4000, "measured"));
    QCOMPARE(product({"--set", store, "--set", "profile=1"}), Cost(4000, "measured"));
    QCOMPARE(product({}).second, QString("analytical"));
}

void TestCliProfiles::pinsAndOverrides() {
    using Cost = std::pair<int64_t, QString>;
    const QString store = "profile_store=" + store_;
    QCOMPARE(product({"--set", store, "--pin-cost", kProduct + "=analytical"}), product({}));
    QCOMPARE(product({"--set", store, "--override-cost", kProduct + "=77"}), Cost(77, "user"));
    for (const QStringList& option :
         {QStringList{"--override-cost", "mistyped=77"}, QStringList{"--pin-cost", "mistyped=analytical"}}) {
        const Run run = runCli(QStringList{"analyze", graph_} + option);
        QCOMPARE(run.code, 0);
        QVERIFY2(run.error.contains("no op has the key \"mistyped\""), run.error.constData());
    }
    QVERIFY(!runCli({"analyze", graph_, "--override-cost", kProduct + "=77"}).error.contains("no op has"));
}

void TestCliProfiles::contention() {
    const QStringList with{"--set", "profile_store=" + store_};
    const Run told = runCli(QStringList{"analyze", graph_} + with);
    for (const char* part : {"profile 2: another CPU, 1 entries; the model's are for ",
                             "transfers take ×1.25, compute ×1.1 (measured_contention=true"})
        QVERIFY2(told.out.contains(part), told.out.constData());
    const Json plain = analyze(with).at("settings");
    const Json measured = analyze(with + QStringList{"--set", "measured_contention=true"}).at("settings");
    QCOMPARE(plain.at("contention").dump(), std::string("1.5"));
    QCOMPARE(measured.at("contention").dump(), std::string("1.25"));
    QCOMPARE(measured.at("compute_slowdown").dump(), std::string("1.1"));
}

QTEST_GUILESS_MAIN(TestCliProfiles)
#include "tst_cli_profiles.moc"
