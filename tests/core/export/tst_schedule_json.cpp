// The schedule that the bridge applies: read back it is the same order, and it says what passes rewrote.
#include "export/exporter.h"
#include "support/test_data.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

using Json = nlohmann::json;
using namespace gs;

namespace {

AnalysisPtr analysisOf(const std::string& name,
                       const std::vector<std::pair<Setting, std::string>>& settings) {
    const auto graph = test::corpusPath("graphs/" + name + ".json");
    if (!graph)
        return nullptr;
    AnalysisRequest request;
    request.graph_file = *graph;
    for (const auto& [key, value] : settings) {
        if (!request.settings.set(key, value).ok())
            return nullptr;
    }
    Analyser analyser;
    Result<AnalysisPtr> analysis = analyser.analyse(request, {});
    return analysis ? analysis.value() : nullptr;
}

Json scheduleOf(const Analysis& analysis) {
    const Result<std::string> text = findExporter("schedule")->write(analysis);
    return text ? Json::parse(text.value()) : Json();
}

std::map<std::string, Json> callsOf(const Json& schedule) {
    std::map<std::string, Json> calls;
    for (const Json& call : schedule.at("rewritten"))
        calls.emplace(call.at("name").get<std::string>(), call);
    return calls;
}

} // namespace

class TestScheduleJson : public QObject {
    Q_OBJECT
private slots:
    void readBack_data();
    void readBack();
    void newNodes();
    void otherArguments();
};

void TestScheduleJson::readBack_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("scheduler");
    QTest::addColumn<QString>("level");
    QTest::newRow("fx") << "aot_lm2_fsdp8_joint"
                        << "two-sided"
                        << "fx";
    QTest::newRow("sweep") << "aot_lm2_fsdp8_joint"
                           << "latest-safe-launch"
                           << "fx";
    QTest::newRow("units") << "snodes_mlp_fsdp8_fwd"
                           << "latest-safe-launch"
                           << "scheduler";
}

void TestScheduleJson::readBack() {
    QFETCH(QString, name);
    QFETCH(QString, scheduler);
    QFETCH(QString, level);
    const AnalysisPtr analysis =
        analysisOf(name.toStdString(), {{Setting::Scheduler, scheduler.toStdString()}});
    if (!analysis)
        return;
    const Json json = scheduleOf(*analysis);
    QCOMPARE(QString::fromStdString(json.at("level")), level);
    QVERIFY(json.at("rewritten").empty());
    const Graph& read = *analysis->source.graph;
    Order order;
    for (const Json& position : json.at("positions"))
        order.push_back(position.get<NodeId>());
    QVERIFY(order == analysis->after.schedule->order);
    QVERIFY(!findBrokenEdge(read, order));
    QCOMPARE(json.at("order").size(), order.size());
    for (size_t i = 0; i < order.size(); ++i)
        QCOMPARE(json.at("order")[i].get<std::string>(), std::string(read.name(order[i])));
}

void TestScheduleJson::newNodes() {
    const AnalysisPtr analysis = analysisOf("prim29_lm4_fsdp8", {{Setting::BucketMode, "coalesced"}});
    if (!analysis)
        return;
    const Json json = scheduleOf(*analysis);
    const std::map<std::string, Json> calls = callsOf(json);
    size_t made = 0;
    for (size_t i = 0; i < json.at("order").size(); ++i) {
        const std::string name = json.at("order")[i];
        if (json.at("positions")[i] != -1)
            continue;
        ++made;
        QVERIFY2(calls.count(name), name.c_str());
    }
    QVERIFY(made > 0);
    const auto bucket = std::find_if(calls.begin(), calls.end(), [](const auto& call) {
        return call.second.at("target") == "_c10d_functional.all_gather_into_tensor_coalesced.default";
    });
    QVERIFY(bucket != calls.end());
    QVERIFY(bucket->second.at("args")[0].size() > 1);
    QVERIFY(bucket->second.at("args")[0][0].contains("n"));
    QCOMPARE(bucket->second.at("args")[1].get<int>(), 8);
    QVERIFY(bucket->second.at("args")[2].is_string());
}

void TestScheduleJson::otherArguments() {
    const AnalysisPtr analysis = analysisOf("aot_mlp_fsdp8_fwd", {{Setting::BucketMode, "coalesced"}});
    if (!analysis)
        return;
    const Json json = scheduleOf(*analysis);
    const Graph& read = *analysis->source.graph;
    size_t waits = 0;
    for (const auto& [name, call] : callsOf(json)) {
        const auto before = read.find(name);
        if (!before)
            continue;
        // What was read and has another call: waits that now wait for a member of a bucket.
        QVERIFY2(call.at("target") == "_c10d_functional.wait_tensor.default", name.c_str());
        QVERIFY(call.at("args")[0].at("n") != std::string(read.name(read.inputs(*before)[0])));
        ++waits;
    }
    QVERIFY(waits > 1);
}

QTEST_GUILESS_MAIN(TestScheduleJson)
#include "tst_schedule_json.moc"
