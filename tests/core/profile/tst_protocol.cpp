// The lines of gatherscope-rank: there and back, and everything that is no line.
#include "profile/protocol.h"
#include "profile/work_list.h"

#include <QTest>

using namespace gs;

namespace {

template <typename T>
T thereAndBack(const T& body) {
    const std::string line = encodeMessage({3, body});
    if (line.back() != '\n' || line.find('\n') != line.size() - 1)
        qFatal("not one line: %s", line.c_str());
    const Result<RankMessage> read = decodeMessage(line);
    if (!read)
        qFatal("%s", read.error().message.c_str());
    if (read->rank != 3)
        qFatal("rank %d", read->rank);
    return std::get<T>(read->body);
}

} // namespace

class TestProtocol : public QObject {
    Q_OBJECT

private slots:
    void everyTypeComesBack() {
        const auto hello = thereAndBack(HelloMessage{4, 1, 99, "node-1", "host", "CPU", "0.1.0"});
        QCOMPARE(hello.ranks, 4);
        QCOMPARE(hello.pid, 99);
        QCOMPARE(hello.device, "CPU");
        thereAndBack(HeartbeatMessage{});
        const auto progress = thereAndBack(ProgressMessage{2, 9, "k", "l\n\"", "compute", -1});
        QCOMPARE(progress.label, "l\n\"");
        QCOMPARE(progress.eta_ns, -1);
        ProfileEntry entry{"key", "compute", "label", 5, 10, 1, -1, 3, Provenance::Extrapolated, "note"};
        QCOMPARE(thereAndBack(EntryMessage{entry}).entry, entry);
        const ContentionPoint point{"g", "mm", 1, 2, 3, 4, 5, "why"};
        QCOMPARE(thereAndBack(ContentionMessage{point}).point, point);
        QCOMPARE(thereAndBack(WarningMessage{"c", "m", "h"}).hint, "h");
        QCOMPARE(thereAndBack(ByeMessage{"done"}).reason, "done");
        ResultMessage result{Error{"rank-lost", "m", {}, "h"}, "key", "hash", 7, 8, std::nullopt};
        QCOMPARE(thereAndBack(result).error->code, "rank-lost");
        result = {std::nullopt, "", "hash", 7, 8, Profile{}};
        result.profile->versions["lib"] = "1";
        result.profile->ranks = 2;
        const ResultMessage back = thereAndBack(result);
        QVERIFY(!back.error);
        QCOMPARE(*back.profile, *result.profile);
        QCOMPARE(decodeStart(encodeStart({"a", "b"})).value(), (std::vector<std::string>{"a", "b"}));
    }

    void bytesThatAreNoText() {
        QVERIFY(decodeMessage(encodeMessage({0, WarningMessage{"c", "\xff\xfe", ""}})).ok());
    }

    void unknownTypesAreTolerated() {
        const auto read = decodeMessage(R"({"v":1,"type":"temperature","rank":1,"celsius":60})");
        QVERIFY(read.ok());
        QCOMPARE(std::get<UnknownMessage>(read->body).type, "temperature");
        QVERIFY(decodeMessage(R"({"v":1,"type":"bye","rank":1,"reason":"done","more":1})").ok());
    }

    void faults_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<QString>("code");
        const auto row = [](const char* name, const char* line, const char* code) {
            QTest::newRow(name) << QByteArray(line) << QString(code);
        };
        row("text", "Hello", "not-json");
        row("empty", "", "not-json");
        row("list", "[1]", "not-json");
        row("cut", R"({"v":1,"type":"bye",)", "not-json");
        row("no version", R"({"type":"bye","rank":0,"reason":""})", "bad-message");
        row("other version", R"({"v":2,"type":"bye","rank":0,"reason":""})", "other-version");
        row("version as text", R"({"v":"1","type":"bye","rank":0,"reason":""})", "bad-message");
        row("no rank", R"({"v":1,"type":"bye","reason":""})", "bad-message");
        row("rank", R"({"v":1,"type":"bye","rank":-1,"reason":""})", "bad-message");
        row("no type", R"({"v":1,"rank":0})", "bad-message");
        row("no field", R"({"v":1,"type":"bye","rank":0})", "bad-message");
        row("type of field", R"({"v":1,"type":"bye","rank":0,"reason":5})", "bad-message");
        row("fraction",
            R"({"v":1,"type":"progress","rank":0,"index":0.5,"count":1,"key":"","label":"","phase":"","eta_ns":0})",
            "bad-message");
        row("huge",
            R"({"v":1,"type":"progress","rank":0,"index":18446744073709551615,"count":1,"key":"","label":"","phase":"","eta_ns":0})",
            "bad-message");
        row("provenance",
            R"({"v":1,"type":"entry","rank":0,"key":"","kind":"","label":"","ns":1,"samples":1,"spread_ns":1,"rank_skew_ns":1,"calls":1,"provenance":"guessed","note":""})",
            "bad-message");
        row("error",
            R"({"v":1,"type":"result","rank":0,"error":{"code":1},"key":"","hash":"","entries":0,"runs":0})",
            "bad-message");
    }

    void faults() {
        QFETCH(QByteArray, line);
        QFETCH(QString, code);
        const auto read = decodeMessage(line.toStdString());
        QVERIFY(!read.ok());
        QCOMPARE(QString::fromStdString(read.error().code), code);
        QVERIFY(!decodeStart(line.toStdString()).ok());
    }

    void hashesTellTablesApart() {
        ProfileEntry a{"key", "compute", "label", 5, 10, 1, -1, 3, Provenance::Measured, ""};
        ProfileEntry b = a;
        Profile one, other;
        one.entries = {a};
        other.entries = {b};
        QCOMPARE(tableHash(one), tableHash(other));
        b.rank_skew_ns = 0;
        other.entries = {b};
        QVERIFY(tableHash(one) != tableHash(other));
        other = one;
        other.contention = {ContentionPoint{}};
        QVERIFY(tableHash(one) != tableHash(other));
        one.no_contention = {ContentionPoint{}};
        one.no_contention[0].reason = "no thread is free";
        const uint64_t hash = tableHash(one);
        QVERIFY(hash != tableHash(other));
        one.no_contention[0].reason = "no memory is free";
        QVERIFY(hash != tableHash(one));
    }

    void workListsTravel() {
        WorkItem item;
        item.work = WorkKind::Collective;
        item.key = "all_gather";
        item.spec = {CollectiveKind::AllGatherCoalesced, DType::BFloat16, 4, 8, {0, 1}, {1, 3}};
        item.group_ranks = 8;
        WorkItem fused;
        fused.work = WorkKind::Fused;
        fused.members = {"a", "b"};
        const auto read = decodeWork(encodeWork({item, fused}));
        QVERIFY(read.ok());
        QCOMPARE(read.value()[0].spec.member_bytes, item.spec.member_bytes);
        QVERIFY(read.value()[0].here && !read.value()[1].here);
        QCOMPARE(read.value()[1].members, fused.members);
        QVERIFY(!decodeWork("[{}]").ok());
        QVERIFY(!decodeWork("x").ok());
    }
};

QTEST_GUILESS_MAIN(TestProtocol)
#include "tst_protocol.moc"
