// Bundles: opened again they are the same analysis; differences are found and named; graphs survive as JSON.
#include "analysis/bundle_request.h"
#include "cost/profile_store.h"
#include "export/analysis_json.h"
#include "export/bundle.h"
#include "export/bundle_diff.h"
#include "export/graph_json.h"
#include "export/ranks_json.h"
#include "graph/order_edges.h"
#include "import/importer.h"
#include "support/profile_graph.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

using namespace gs;
using Json = nlohmann::json;

namespace QTest {
template <>
char* toString(const std::string& text) {
    return qstrdup(text.c_str());
}
} // namespace QTest

namespace {

AnalysisPtr analyse(const AnalysisRequest& request) {
    Analyser analyser;
    Result<AnalysisPtr> analysis = analyser.analyse(request, {});
    if (!analysis)
        qWarning("%s", analysis.error().message.c_str());
    return analysis ? analysis.value() : nullptr;
}

/// "" without the files; else the request for a corpus graph.
std::optional<AnalysisRequest> requestFor(const std::string& name, const char* costs,
                                          const std::vector<std::pair<Setting, std::string>>& settings) {
    const auto graph = test::corpusPath("graphs/" + name);
    if (!graph)
        return std::nullopt;
    AnalysisRequest request;
    request.graph_file = *graph;
    if (costs) {
        const auto file = test::corpusPath("costs/" + name.substr(0, name.find('.')) + costs);
        if (!file)
            return std::nullopt;
        request.cost_files.push_back(*file);
    }
    for (const auto& [key, value] : settings) {
        if (!request.settings.set(key, value).ok())
            qFatal("%s is no value", value.c_str());
    }
    return request;
}

/// The sample that is packed with the program.
AnalysisRequest sampleRequest() {
    AnalysisRequest request;
    request.graph_file = GATHERSCOPE_SOURCE_DIR "/samples/mlp4_fsdp8_joint.json.gz";
    return request;
}

/// A store that knows two of three costs of the sample, measured, reused, and beside compute.
void measureSample(const std::string& path, double factor) {
    Profile profile;
    profile.device = "a test device";
    profile.backend = "host";
    profile.ranks = 8;
    const AnalysisPtr analysis = analyse(sampleRequest());
    size_t at = 0;
    for (const CostEntry& entry : analysis->before.costs->entries()) {
        if (++at % 3 != 0)
            profile.entries.push_back({entry.key, entry.kind, entry.label,
                                       static_cast<int64_t>(double(entry.ns) * factor), 10, 3, 1, 2,
                                       at % 2 ? Provenance::Measured : Provenance::Reused, ""});
    }
    profile.contention = {{"gather", "mm", 8192, 1000, 1250, 500, 550}};
    auto store = ProfileStore::open(path);
    if (!store || !store->add(profile).ok())
        qFatal("no store");
}

} // namespace

class TestBundle : public QObject {
    Q_OBJECT

private slots:
    void sameAnalysis_data();
    void sameAnalysis();
    void otherRanksStay_data();
    void otherRanksStay();
    void measuredCostsStay();
    void everyGraphSurvives();
    void nothingDiffers();
    void differences();
    void subtleDifferences();
    void askedSettingsStay();
    void brokenBundles();
    void editedBundles_data();
    void editedBundles();
    void otherVersions();
    void costCountsAddUp();

private:
    std::string write(const char* name, const std::string& text) {
        const std::string path = folder_.path().toStdString() + "/" + name;
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    QTemporaryDir folder_;
};

void TestBundle::sameAnalysis_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("costs");
    QTest::addColumn<QStringList>("settings");
    QTest::newRow("modelled") << "lm2_fsdp8_joint.json"
                              << "" << QStringList();
    QTest::newRow("named costs") << "lm2_fsdp8_joint.json"
                                 << ".roofline.json" << QStringList{"bucket_mode=coalesced", "contention=2"};
    QTest::newRow("merged and scaled") << "mlp4_fsdp8_joint.json"
                                       << ".roofline.json"
                                       << QStringList{"bucket_mode=fsdp", "comm_scale=3",
                                                      "cost_sources=file,analytical", "scheduler=two-sided"};
    QTest::newRow("buckets of the scheduler")
        << "lm2_fsdp8_joint.json"
        << ".roofline.json" << QStringList{"scheduler=overlap-scheduler", "collective_bucketing=true"};
    QTest::newRow("lowered") << "prim29_lm4_fsdp8.json"
                             << "" << QStringList{"bucket_mode=coalesced"};
    QTest::newRow("scheduler nodes") << "snodes_lm3ac_fsdp8_bwd.json"
                                     << "" << QStringList();
    QTest::newRow("in flight") << "partial_wait_on_input.json"
                               << "" << QStringList{"in_flight_ns=50000"};
    QTest::newRow("text") << "lm2_fsdp8_joint.readable.txt"
                          << "" << QStringList();
}

void TestBundle::sameAnalysis() {
    QFETCH(QString, name);
    QFETCH(QString, costs);
    QFETCH(QStringList, settings);
    const QByteArray suffix = costs.toUtf8();
    auto request = requestFor(name.toStdString(), costs.isEmpty() ? nullptr : suffix.constData(), {});
    if (!request)
        return;
    for (const QString& item : settings)
        QVERIFY(
            request->settings.set(item.section('=', 0, 0).toStdString(), item.section('=', 1).toStdString())
                .ok());
    request->edits.push_back({Edit::Kind::Forbid, "all_gather_into_tensor_3", {}, {}});
    const AnalysisPtr first = analyse(*request);
    QVERIFY(first);
    const std::string path = write("again.bundle.json", writeBundle(*first));
    QVERIFY(isBundle(path));
    const Result<AnalysisRequest> stated = bundleRequest(path);
    QVERIFY(stated.ok());
    QVERIFY(stated->notes.all().empty());
    QVERIFY(stated->settings == request->settings);
    const AnalysisPtr second = analyse(stated.value());
    QVERIFY(second);
    QCOMPARE(writeAnalysisJson(*second), writeAnalysisJson(*first));
    const BundleDiff diff = compareBundles(path, write("second.bundle.json", writeBundle(*second))).value();
    QVERIFY(!diff.found());
}

void TestBundle::otherRanksStay_data() {
    QTest::addColumn<QString>("mode");
    for (const char* mode : {"identical", "slot", "pinned", "abort"})
        QTest::newRow(mode) << mode;
}

/// The schedule still keeps to the other ranks, whose files may be gone.
void TestBundle::otherRanksStay() {
    QFETCH(QString, mode);
    AnalysisRequest request;
    request.graph_file = write("rank0.json", test::profileGraphText({}));
    const test::ProfileGraph other = test::otherRank(mode.toStdString());
    request.rank_files = {write("rank1.json", test::profileGraphText(other)),
                          write("rank2.json", test::profileGraphText(other))};
    const AnalysisPtr first = analyse(request);
    QVERIFY(first && first->ranks);
    QCOMPARE(rankModeName(first->ranks->mode), std::string_view(mode.toStdString()));
    const std::string path = write("ranks.bundle.json", writeBundle(*first));
    for (const std::string& file : request.rank_files)
        std::filesystem::remove(file);
    std::filesystem::remove(request.graph_file);
    const AnalysisPtr second = analyse(bundleRequest(path).value());
    QVERIFY(second && second->ranks);
    QCOMPARE(writeRanksJson(*second->ranks), writeRanksJson(*first->ranks));
    QCOMPARE(writeAnalysisJson(*second), writeAnalysisJson(*first));
    const std::string again = writeBundle(*second);
    QCOMPARE(Json::parse(again)["ranks"].dump(), Json::parse(writeBundle(*first))["ranks"].dump());
    QVERIFY(!compareBundles(path, write("again.bundle.json", again))->found());
    QCOMPARE(Json::parse(again)["ranks"]["graphs"].size(), size_t(mode == "identical" ? 0 : 1));
}

/// A bundle stands for the store that its costs came from: the store may be gone or hold newer profiles.
void TestBundle::measuredCostsStay() {
    const std::string store = folder_.path().toStdString() + "/store.db";
    measureSample(store, 2);
    for (const char* sources : {"auto", "measured,analytical"}) {
        AnalysisRequest request = sampleRequest();
        QVERIFY(request.settings.set(Setting::ProfileStore, store).ok());
        QVERIFY(request.settings.set(Setting::CostSources, sources).ok());
        QVERIFY(request.settings.set(Setting::MeasuredContention, "true").ok());
        const AnalysisPtr first = analyse(request);
        QVERIFY(first);
        QVERIFY(first->after.costs->count(Provenance::Measured) > 0);
        QVERIFY(first->after.costs->count(Provenance::Reused) > 0);
        QVERIFY(first->after.costs->count(Provenance::Analytical) > 0);
        const std::string text = writeBundle(*first);
        const std::string path = write("measured.bundle.json", text);
        measureSample(store, 3);
        for (int round = 0; round < 2; ++round) {
            const Result<AnalysisRequest> stated = bundleRequest(path);
            QVERIFY(stated.ok());
            QVERIFY(stated->notes.all().empty());
            const AnalysisPtr second = analyse(stated.value());
            QVERIFY(second);
            QCOMPARE(second->request.settings.text(Setting::ProfileStore), std::string("none"));
            QCOMPARE(second->request.settings.number(Setting::Contention), 1.25);
            QVERIFY(std::ranges::equal(second->after.costs->all(), first->after.costs->all()));
            QCOMPARE(second->after.timeline->step_ns, first->after.timeline->step_ns);
            const std::string again = writeBundle(*second);
            // The request tells where the costs came from: from the store first, then from the bundle.
            Json one = Json::parse(text), two = Json::parse(again);
            for (Json* bundle : {&one, &two}) {
                (*bundle)["request"].erase("cost_files");
                (*bundle)["hashes"]["parts"].erase("request");
            }
            QCOMPARE(two.dump(), one.dump());
            QVERIFY(!compareBundles(path, write("again.bundle.json", again))->found());
            std::filesystem::remove(store);
        }
        measureSample(store, 2);
    }
}

void TestBundle::everyGraphSurvives() {
    size_t graphs = 0;
    for (const std::string& name : test::corpusGraphs()) {
        const auto file = test::corpusPath("graphs/" + name + ".json");
        if (!file || test::readAll(*file).size() > 4'000'000)
            continue;
        Diagnostics diagnostics;
        const Result<ImportedGraph> read = importGraph(*file, -1, -1, diagnostics, {});
        QVERIFY(read.ok());
        const Graph& graph = *read->graph;
        const std::string text = writeGraphJson(graph);
        const Result<ImportedGraph> again = importText({*file, text}, -1, -1, diagnostics, {});
        QVERIFY2(again.ok(), name.c_str());
        const Graph& other = *again->graph;
        QVERIFY2(other.structuralHash() == graph.structuralHash(), name.c_str());
        QVERIFY2(writeGraphJson(other) == text, name.c_str());
        for (NodeId id = 0; id < graph.size(); ++id) {
            QVERIFY2(graph.node(id).kind == other.node(id).kind &&
                         graph.node(id).traits == other.node(id).traits,
                     name.c_str());
            QVERIFY2(graph.orderEdges(id).size() == other.orderEdges(id).size(), name.c_str());
        }
        ++graphs;
    }
    QVERIFY(graphs > 5);
}

void TestBundle::nothingDiffers() {
    const auto request = requestFor("mlp4_fsdp8_joint.json", ".roofline.json", {});
    if (!request)
        return;
    const std::string path = write("a.bundle.json", writeBundle(*analyse(*request)));
    const Result<BundleDiff> diff = compareBundles(path, path);
    QVERIFY(diff.ok());
    QVERIFY(diff->changes.empty());
    QVERIFY(Json::parse(bundleDiffJson(diff.value())).at("same") == true);
    QVERIFY(bundleDiffText(diff.value(), 20).find("no difference") != std::string::npos);
}

void TestBundle::differences() {
    const auto first = requestFor("mlp4_fsdp8_joint.json", ".roofline.json", {});
    const auto second = requestFor("mlp4_fsdp8_joint.json", ".commheavy.json", {{Setting::Contention, "2"}});
    if (!first || !second)
        return;
    const std::string a = write("a.bundle.json", writeBundle(*analyse(*first)));
    const std::string b = write("b.bundle.json", writeBundle(*analyse(*second)));
    const BundleDiff diff = compareBundles(a, b).value();
    QVERIFY(diff.found());
    std::set<std::string> kinds;
    for (const BundleChange& change : diff.changes) {
        kinds.insert(change.what);
        QVERIFY(change.a != change.b);
    }
    QVERIFY((kinds == std::set<std::string>{"setting", "decision", "simulation", "cost"}));
    const auto setting = std::find_if(diff.changes.begin(), diff.changes.end(),
                                      [](const BundleChange& change) { return change.what == "setting"; });
    QCOMPARE(setting->name, std::string("contention"));
    QCOMPARE(setting->a, std::string("1.5"));
    QCOMPARE(setting->b, std::string("2"));
    QVERIFY(Json::parse(bundleDiffJson(diff)).at("same") == false);
}

/// Equal in sum, but not the same.
void TestBundle::subtleDifferences() {
    AnalysisRequest request;
    request.graph_file = write("rank0.json", test::profileGraphText({}));
    const auto bundle = [&](const char* name, const char* costs, std::string_view other) {
        AnalysisRequest of = request;
        of.cost_files = {
            write("swapped.json",
                  fmt::format(R"({{"format":"gatherscope.costs","version":1,"unit":"ns","nodes":{{{}}}}})",
                              costs))};
        if (!other.empty())
            of.rank_files = {write("rank1.json", test::profileGraphText(test::otherRank(other)))};
        return write(name, writeBundle(*analyse(of)));
    };
    const std::string one = bundle("one.bundle.json", R"("mm0":10,"mm1":60)", "identical");
    const auto found = [&](const std::string& other) {
        std::set<std::string> kinds;
        const BundleDiff diff = compareBundles(one, other).value();
        for (const BundleChange& change : diff.changes) {
            if (change.a == change.b)
                return std::set<std::string>{"two equal values"};
            kinds.insert(change.what);
        }
        return kinds;
    };
    QVERIFY(found(one).empty());
    QVERIFY(found(bundle("swapped.bundle.json", R"("mm0":60,"mm1":10)", "identical")).count("cost") == 1);
    QVERIFY(found(bundle("other.bundle.json", R"("mm0":10,"mm1":60)", "slot")).count("graph") == 1);
    QVERIFY(found(bundle("alone.bundle.json", R"("mm0":10,"mm1":60)", "")).count("graph") == 1);
}

/// What other ranks rule out is not what the user asked for.
void TestBundle::askedSettingsStay() {
    AnalysisRequest request;
    request.graph_file = write("rank0.json", test::profileGraphText({}));
    request.rank_files = {write("rank1.json", test::profileGraphText(test::otherRank("abort")))};
    const AnalysisPtr bound = analyse(request);
    QCOMPARE(bound->request.settings.text(Setting::Scheduler), std::string("program-order"));
    const AnalysisRequest stated = bundleRequest(write("abort.bundle.json", writeBundle(*bound))).value();
    QVERIFY(stated.settings == request.settings);
}

void TestBundle::brokenBundles() {
    const auto request = requestFor("mlp4_fsdp8_joint.json", nullptr, {});
    if (!request)
        return;
    const std::string text = writeBundle(*analyse(*request));
    const std::string cut = write("cut.bundle.json", text.substr(0, text.size() / 2));
    QVERIFY(isBundle(cut));
    QCOMPARE(bundleRequest(cut).error().code, std::string("bad-bundle"));
    AnalysisRequest open;
    open.graph_file = cut;
    QVERIFY(!Analyser().analyse(open, {}).ok());
    QCOMPARE(compareBundles(cut, cut).error().code, std::string("not-a-bundle"));
    QCOMPARE(compareBundles(request->graph_file, cut).error().code, std::string("not-a-bundle"));
    Json newer = Json::parse(text);
    newer["request"]["settings"]["no_such_setting"] = "1";
    const std::string path =
        write("newer.bundle.json", "{\"format\":\"gatherscope.bundle\"," + newer.dump().substr(1));
    const AnalysisRequest stated = bundleRequest(path).value();
    QCOMPARE(stated.notes.all().size(), size_t(1));
    const auto opened = analyse(stated); // says so, too
    QCOMPARE(opened->input_diagnostics.all().front().code, std::string("bundle-setting"));
}

void TestBundle::editedBundles_data() {
    QTest::addColumn<QString>("part");
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::newRow("an operator") << "graph"
                                 << "aten.mm.default"
                                 << "aten.xx.default";
    QTest::newRow("a cost") << "costs"
                            << "\"ns\":null"
                            << "\"ns\":1234";
    QTest::newRow("a decision") << "analysis"
                                << "\"hidden\""
                                << "\"HIDDEN\"";
    QTest::newRow("a setting") << "request"
                               << "\"contention\":\"1.5\""
                               << "\"contention\":\"1.6\"";
    QTest::newRow("a version") << "versions"
                               << "gatherscope"
                               << "gatherscop";
}

/// What a bundle states must be true, or CI compares something else.
void TestBundle::editedBundles() {
    QFETCH(QString, part);
    QFETCH(QString, from);
    QFETCH(QString, to);
    AnalysisRequest request = sampleRequest();
    request.cost_files.push_back(GATHERSCOPE_SOURCE_DIR "/samples/mlp4_fsdp8_joint.roofline.json");
    const std::string text = writeBundle(*analyse(request));
    const std::string path = write("a.bundle.json", text);
    const Result<BundleDiff> untouched = compareBundles(path, path);
    QVERIFY2(untouched.ok(), untouched.ok() ? "" : untouched.error().message.c_str());
    QVERIFY(!untouched->found());
    std::string changed = text;
    const size_t begin = changed.find("\n\"" + part.toStdString() + "\":");
    const size_t target = changed.find(from.toStdString(), begin);
    QVERIFY(target != std::string::npos);
    changed.replace(target, static_cast<size_t>(from.size()), to.toStdString());
    const std::string edited = write("edited.bundle.json", changed);
    const Result<BundleDiff> compared = compareBundles(path, edited);
    QVERIFY2(compared.ok(), compared.ok() ? "" : compared.error().message.c_str());
    const BundleDiff& diff = compared.value();
    QVERIFY(diff.found());
    QCOMPARE(diff.changes.back().what, std::string("edited bundle"));
    QCOMPARE(diff.changes.back().name, edited);
    QVERIFY(diff.changes.back().b.find("\"" + part.toStdString() + "\"") != std::string::npos);
    QVERIFY(compareBundles(edited, edited)->found());
    const auto opened = analyse(bundleRequest(edited).value());
    const auto& said = opened->diagnostics.all();
    QVERIFY(std::any_of(said.begin(), said.end(), [](const Diagnostic& item) {
        return item.code == "bundle-edited" && item.severity == Severity::Warning;
    }));
}

void TestBundle::otherVersions() {
    const std::string text = writeBundle(*analyse(sampleRequest()));
    for (const char* version : {"2", "0", "\"one\"", "null"}) {
        std::string other = text;
        const std::string here = "\"version\":1,";
        other.replace(other.find(here), here.size(), std::string("\"version\":") + version + ",");
        const std::string path = write("other.bundle.json", other);
        QCOMPARE(bundleRequest(path).error().code, std::string("bundle-version"));
        QCOMPARE(compareBundles(path, path).error().code, std::string("bundle-version"));
        AnalysisRequest open;
        open.graph_file = path;
        QCOMPARE(Analyser().analyse(open, {}).error().code, std::string("bundle-version"));
    }
}

void TestBundle::costCountsAddUp() {
    AnalysisRequest request = sampleRequest();
    request.cost_overrides[analyse(request)->after.costs->entries()[0].key] = 77;
    const Json costs = Json::parse(writeAnalysisJson(*analyse(request))).at("costs");
    int64_t sum = 0;
    for (const auto& [name, count] : costs.items())
        sum += name == "distinct" ? 0 : count.get<int64_t>();
    QCOMPARE(sum, costs.at("distinct").get<int64_t>());
    QCOMPARE(costs.at("user").get<int>(), 1);
}

QTEST_GUILESS_MAIN(TestBundle)
#include "tst_bundle.moc"
