// The chain of cost sources: order, pins, measured costs and fused regions, interpolation and its bounds.
#include "cost/cost_sources.h"
#include "cost/fused_regions.h"
#include "cost/interpolated_model.h"
#include "cost/key_size.h"
#include "cost/profile_model.h"
#include "cost/profile_store.h"
#include "cost/region_model.h"
#include "support/cost_graph.h"
#include "support/random_graph.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <numeric>
#include <random>

using namespace gs;
using test::CostGraph;
using test::tensorValue;

namespace {

ProfileEntry measured(const std::string& key, int64_t ns, Provenance provenance = Provenance::Measured) {
    return {key, key.starts_with("fused{") ? "fused" : "compute", "", ns, 10, 3, 1, 1, provenance, ""};
}

ProfilePtr profileOf(std::vector<ProfileEntry> entries) {
    auto profile = std::make_shared<Profile>();
    profile->id = 4;
    profile->device = "test device";
    profile->entries = std::move(entries);
    return profile;
}

std::string keyOf(const Graph& graph, std::string_view name) {
    return structuralKey(graph, CollectiveTable(graph), graph.find(name).value());
}

const CostEntry& entryOf(const CostTable& table, const Graph& graph, std::string_view name) {
    return *table.entry(graph.find(name).value());
}

/// [rows, 8] × [8, 4] under the name "mm", a gather of 8 × `rows` elements under "g".
GraphPtr sized(int64_t rows) {
    CostGraph g;
    const NodeId left = g.input("l", {rows, 8});
    const NodeId right = g.input("r", {8, 4});
    const NodeId mm = g.call("mm", "aten.mm.default", {left, right}, {rows, 4});
    const NodeId w = g.gather("g", rows);
    return g.finish({mm, w});
}

/// neg and exp of one tensor, then mul of both: one region; then a product.
GraphPtr withRegion(int64_t rows = 64) {
    CostGraph g;
    const NodeId x = g.input("x", {rows, 8});
    const NodeId w = g.input("w", {8, 8});
    const NodeId a = g.call("neg", "aten.neg.default", {x}, {rows, 8});
    const NodeId b = g.call("exp", "aten.exp.default", {a}, {rows, 8});
    const NodeId c = g.call("mul", "aten.mul.Tensor", {a, b}, {rows, 8});
    const NodeId mm = g.call("mm", "aten.mm.default", {c, w}, {rows, 8});
    return g.finish({mm});
}

CostChain chainOf(std::vector<CostModelPtr> models) {
    CostChain chain;
    chain.models = std::move(models);
    return chain;
}

CostTablePtr price(const GraphPtr& graph, const CostChain& chain) {
    return priceGraph(*graph, CollectiveTable(*graph), chain);
}

Settings settingsWith(std::initializer_list<std::pair<const char*, std::string>> values) {
    Settings settings;
    for (const auto& [name, value] : values) {
        if (!settings.set(name, value))
            qFatal("setting %s", name);
    }
    return settings;
}

} // namespace

class TestCostChain : public QObject {
    Q_OBJECT
private slots:
    void keySizes();
    void sharesAddUp();
    void measuredBySameKey();
    void whatWasNotMeasuredAnswersNothing();
    void regionIsSharedOut();
    void analyticalRegions();
    void interpolation();
    void interpolationBounds();
    void interpolationFromFiles();
    void pins();
    void sourcesOfSettings();
    void chosenProfiles();
    void badSettings();
    void randomGraphs();
    void randomInterpolation();

private:
    std::string storeWith(const GraphPtr& graph, std::initializer_list<std::pair<const char*, int64_t>> costs,
                          const std::string& device = "test device");
    QTemporaryDir folder_;
};

std::string TestCostChain::storeWith(const GraphPtr& graph,
                                     std::initializer_list<std::pair<const char*, int64_t>> costs,
                                     const std::string& device) {
    const std::string path = folder_.filePath("store.db").toStdString();
    auto store = ProfileStore::open(path);
    Profile profile;
    profile.device = device;
    for (const auto& [name, ns] : costs)
        profile.entries.push_back(measured(keyOf(*graph, name), ns));
    if (!store || !store->add(profile))
        qFatal("store");
    return path;
}

void TestCostChain::keySizes() {
    const auto mm = keySize("aten.mm.default(bf16[8192,4096;4096,1], bf16[4096,6144;1,4096]) -> "
                            "bf16[8192,6144;6144,1]");
    QVERIFY(mm);
    QCOMPARE(mm->kind, std::string("aten.mm.default(bf16[2d], bf16[2d:10]) -> bf16[2d]"));
    QCOMPARE(mm->size, int64_t(8192) * 4096 * 6144);
    const auto gather = keySize("all_gather bf16 in=1835008 out=117440512 ranks=64 stride=1 blocks=8");
    QVERIFY(gather);
    QCOMPARE(gather->kind, std::string("all_gather bf16 ranks=64 stride=1 blocks=8"));
    QCOMPARE(gather->size, int64_t(117440512));
    const auto sum = keySize("aten.sum.dim_IntList(f32[64,8;8,1], [1], true) -> f32[64,1;1,1]");
    QVERIFY(sum);
    QCOMPARE(sum->kind, std::string("aten.sum.dim_IntList(f32[2d], [1], true) -> f32[2d]"));
    QCOMPARE(sum->size, int64_t(64 * 8 * 4 + 64 * 4));
    const auto attention = keySize("aten._scaled_dot_product_flash_attention.default(bf16[2,16,512,64], "
                                   "bf16[2,4,1024,64], bf16[2,4,1024,64]) -> (bf16[2,16,512,64])");
    QVERIFY(attention);
    QCOMPARE(attention->size, int64_t(2) * 16 * 512 * 64 * 1024);
    QCOMPARE(keySize("aten.add.Tensor(f32[4,4;0,1], f32[]) -> f32[4,4;4,1]")->kind,
             std::string("aten.add.Tensor(f32[2d:e0], f32[0d]) -> f32[2d]"));
    for (const char* key :
         {"", "fused{aten.neg.default(%0[?]) -> f32[4]} -> (%0)", "aten.relu.default(bf16[?])",
          "in_flight bf16[4096]", "aten.sym_size.int(3) -> 4", "all_gather bf16 in=? out=? ranks=8", "f32[",
          "aten.relu.default(f32[99999999999999999999])", "aten.relu.default(f32[0])"})
        QVERIFY2(!keySize(key), key);
}

void TestCostChain::sharesAddUp() {
    QCOMPARE(shareOut(10, {1, 1, 1}), std::vector<int64_t>({3, 3, 4}));
    QCOMPARE(shareOut(10, {0, 0}), std::vector<int64_t>({5, 5}));
    QCOMPARE(shareOut(0, {7, 3}), std::vector<int64_t>({0, 0}));
    std::mt19937_64 random(3);
    for (int round = 0; round < 1000; ++round) {
        std::vector<int64_t> weights(1 + random() % 64);
        for (int64_t& weight : weights)
            weight =
                random() % 5 == 0 ? 0 : static_cast<int64_t>(random() % (uint64_t(1) << (random() % 62 + 1)));
        const auto total = static_cast<int64_t>(random() % kMaxCostNs);
        const auto parts = shareOut(total, weights);
        QCOMPARE(std::accumulate(parts.begin(), parts.end(), int64_t(0)), total);
        for (const int64_t part : parts)
            QVERIFY(part >= 0);
    }
}

void TestCostChain::measuredBySameKey() {
    const GraphPtr graph = CostGraph::make();
    const auto table = price(graph, chainOf({makeProfileModel(profileOf(
                                        {measured(keyOf(*graph, "mm0"), 700),
                                         measured(keyOf(*graph, "g1"), 9000, Provenance::Extrapolated)}))}));
    const CostEntry& mm = entryOf(*table, *graph, "mm1");
    QCOMPARE(mm.ns, int64_t(700));
    QCOMPARE(mm.provenance, Provenance::Measured);
    QCOMPARE(mm.nodes.size(), 2U);
    QCOMPARE(mm.samples, int64_t(10));
    QCOMPARE(mm.spread_ns, int64_t(3));
    QCOMPARE(mm.source, std::string("profile 4, test device"));
    QCOMPARE(entryOf(*table, *graph, "g1").provenance, Provenance::Extrapolated);
    QCOMPARE(entryOf(*table, *graph, "g0").provenance, Provenance::Missing);
    QCOMPARE(entryOf(*table, *graph, "relu").provenance, Provenance::Missing);
}

void TestCostChain::whatWasNotMeasuredAnswersNothing() {
    const GraphPtr graph = CostGraph::make();
    const auto table = price(
        graph,
        chainOf({makeProfileModel(profileOf({measured(keyOf(*graph, "mm0"), 700, Provenance::Analytical),
                                             measured(keyOf(*graph, "relu"), -1)}))}));
    QCOMPARE(table->count(Provenance::Missing), table->entries().size());
}

void TestCostChain::regionIsSharedOut() {
    const GraphPtr graph = withRegion();
    const FusedRegion region = findFusedRegions(*graph).at(0);
    const auto profile =
        profileOf({measured(fusedRegionKey(*graph, region), 1001), measured(keyOf(*graph, "neg"), 7)});
    const auto table = price(graph, chainOf({makeProfileModel(profile)}));
    int64_t sum = 0;
    for (const NodeId id : region.nodes) {
        sum += table->ns(id);
        QCOMPARE(table->entry(id)->provenance, Provenance::Measured);
        QCOMPARE(table->entry(id)->note, std::string("one kernel with 2 others: 1.0 µs"));
    }
    QCOMPARE(sum, int64_t(1001));
    QCOMPARE(table->ns(region.nodes[0]), int64_t(286)); // 2 of 7 tensors
    QCOMPARE(entryOf(*table, *graph, "mm").provenance, Provenance::Missing);
    // A region that was not measured: its nodes one by one.
    const auto alone =
        price(graph, chainOf({makeProfileModel(profileOf({measured(keyOf(*graph, "neg"), 7)}))}));
    QCOMPARE(entryOf(*alone, *graph, "neg").ns, int64_t(7));
    QCOMPARE(entryOf(*alone, *graph, "exp").provenance, Provenance::Missing);
}

void TestCostChain::analyticalRegions() {
    const GraphPtr graph = withRegion(1 << 16);
    Diagnostics diagnostics;
    const auto chain = [&](const char* flag) {
        return makeCostChain({}, settingsWith({{"fused_regions", flag}}), diagnostics).value();
    };
    const auto apart = price(graph, chain("false"));
    const auto fused = price(graph, chain("true"));
    int64_t sum_apart = 0, sum_fused = 0;
    for (const char* name : {"neg", "exp", "mul"}) {
        sum_apart += entryOf(*apart, *graph, name).ns;
        sum_fused += entryOf(*fused, *graph, name).ns;
        QCOMPARE(entryOf(*fused, *graph, name).provenance, Provenance::Analytical);
        QCOMPARE(entryOf(*fused, *graph, name).analytical_ns, entryOf(*fused, *graph, name).ns);
    }
    QVERIFY(sum_fused < sum_apart); // 2 tensors instead of 7
    QCOMPARE(entryOf(*fused, *graph, "mm").ns, entryOf(*apart, *graph, "mm").ns);
}

void TestCostChain::interpolation() {
    const auto profile =
        profileOf({measured(keyOf(*sized(64), "mm"), 1000), measured(keyOf(*sized(1024), "mm"), 4000),
                   measured(keyOf(*sized(64), "g"), 500), measured(keyOf(*sized(256), "g"), 2000)});
    const GraphPtr graph = sized(256);
    const auto table = price(graph, chainOf({makeInterpolatedModel(profile, {})}));
    const CostEntry& mm = entryOf(*table, *graph, "mm");
    QCOMPARE(mm.ns, int64_t(2000)); // half-way in log-log
    QCOMPARE(mm.provenance, Provenance::Interpolated);
    QCOMPARE(mm.note, std::string("from 1.0 µs at 0.25× the size and 4.0 µs at 4× the size"));
    QCOMPARE(entryOf(*table, *graph, "g").ns, int64_t(2000));
    const GraphPtr between = sized(128);
    QCOMPARE(entryOf(*price(between, chainOf({makeInterpolatedModel(profile, {})})), *between, "g").ns,
             int64_t(1000));
}

void TestCostChain::interpolationBounds() {
    const auto profile =
        profileOf({measured(keyOf(*sized(64), "mm"), 1000), measured(keyOf(*sized(256), "mm"), 4000)});
    const auto at = [&](int64_t rows) {
        const GraphPtr graph = sized(rows);
        const CostEntry entry =
            entryOf(*price(graph, chainOf({makeInterpolatedModel(profile, {})})), *graph, "mm");
        return std::pair(entry.provenance, entry.provenance == Provenance::Missing ? -1 : entry.ns);
    };
    QCOMPARE(at(31).first, Provenance::Missing);
    QCOMPARE(at(32), std::pair(Provenance::Extrapolated, int64_t(1000)));
    QCOMPARE(at(64), std::pair(Provenance::Interpolated, int64_t(1000)));
    QCOMPARE(at(256), std::pair(Provenance::Interpolated, int64_t(4000)));
    QCOMPARE(at(512), std::pair(Provenance::Extrapolated, int64_t(8000)));
    QCOMPARE(at(513).first, Provenance::Missing);
    // Another dtype or layout is another kind, and what was not measured is no point.
    CostGraph other;
    const NodeId left = other.input("l", {64, 8});
    const NodeId mm = other.b.addNode("mm", NodeOp::CallFunction, "aten.mm.default");
    const NodeId right = other.input("r", {8, 4});
    other.b.setArgs(mm, {other.b.nodeArg(left), other.b.nodeArg(right)});
    other.b.setValue(mm, tensorValue(DType::Float32, {64, 4}));
    const GraphPtr graph = other.finish({mm});
    QCOMPARE(price(graph, chainOf({makeInterpolatedModel(profile, {})}))->count(Provenance::Missing), 1U);
    // What a second profile took over from the first was measured, too.
    const auto reused = profileOf({measured(keyOf(*sized(64), "mm"), 1000, Provenance::Reused),
                                   measured(keyOf(*sized(256), "mm"), 4000, Provenance::Reused)});
    const GraphPtr between = sized(128);
    QCOMPARE(entryOf(*price(between, chainOf({makeInterpolatedModel(reused, {})})), *between, "mm").ns,
             int64_t(2000));
    const auto guessed = profileOf({measured(keyOf(*sized(64), "mm"), 1000, Provenance::Analytical)});
    QCOMPARE(price(sized(64), chainOf({makeInterpolatedModel(guessed, {})}))->count(Provenance::Missing), 2U);
}

void TestCostChain::interpolationFromFiles() {
    CostGraph g;
    const NodeId r = g.input("r", {8, 4});
    std::vector<NodeId> results;
    for (const int64_t rows : {64, 128, 256}) {
        const std::string size = std::to_string(rows);
        results.push_back(
            g.call("mm" + size, "aten.mm.default", {g.input("l" + size, {rows, 8}), r}, {rows, 4}));
    }
    const GraphPtr graph = g.finish({results[0], results[1], results[2]});
    const std::string path = folder_.filePath("costs.json").toStdString();
    std::ofstream(path)
        << R"({"format":"gatherscope.costs","version":1,"unit":"ns","nodes":{"mm64":100,"mm256":400}})";
    Diagnostics diagnostics;
    const auto chain =
        makeCostChain({path}, settingsWith({{"cost_sources", "file,interpolated,analytical"}}), diagnostics);
    QVERIFY(chain.ok());
    const auto table = price(graph, chain.value());
    QCOMPARE(entryOf(*table, *graph, "mm64").provenance, Provenance::Imported);
    QCOMPARE(entryOf(*table, *graph, "mm128").provenance, Provenance::Interpolated);
    QCOMPARE(entryOf(*table, *graph, "mm128").ns, int64_t(200));
}

void TestCostChain::pins() {
    const GraphPtr graph = CostGraph::make();
    const std::string mm = keyOf(*graph, "mm0");
    const std::string store = storeWith(graph, {{"mm0", 123456}});
    const auto with = [&](const std::string& sources, const CostPins& pins) {
        Diagnostics diagnostics;
        const auto chain = makeCostChain(
            {}, settingsWith({{"profile_store", store}, {"cost_sources", sources}}), diagnostics, {}, pins);
        if (!chain)
            qFatal("%s", chain.error().message.c_str());
        return entryOf(*price(graph, chain.value()), *graph, "mm0");
    };
    QCOMPARE(with("auto", {}).ns, int64_t(123456));
    const CostEntry model = with("auto", {{mm, "analytical"}});
    QCOMPARE(model.provenance, Provenance::Analytical);
    QVERIFY(model.note.ends_with("pinned to analytical"));
    QCOMPARE(with("analytical", {{mm, "measured"}}).ns, int64_t(123456)); // also from outside of the order
    QCOMPARE(with("auto", {{mm, "file"}}).ns, int64_t(123456));           // no file: as the chain says
    QCOMPARE(with("auto", {{mm, "file"}}).note, std::string());
}

void TestCostChain::sourcesOfSettings() {
    std::vector<std::string> names;
    for (const CostSourceInfo& info : costSources())
        names.emplace_back(info.name);
    QCOMPARE(names, std::vector<std::string>({"measured", "file", "interpolated", "analytical"}));
    const GraphPtr graph = CostGraph::make();
    const std::string store = storeWith(graph, {{"mm0", 5}});
    const std::string file = folder_.filePath("order.json").toStdString();
    std::ofstream(file)
        << R"({"format":"gatherscope.costs","version":1,"unit":"ns","nodes":{"mm0":9,"relu":8}})";
    const auto modelsOf = [&](const Settings& settings, const std::vector<std::string>& files) {
        Diagnostics diagnostics;
        const auto chain = makeCostChain(files, settings, diagnostics);
        std::string text;
        for (const CostModelPtr& model : chain.value().models)
            text += (text.empty() ? "" : ",") + model->name();
        return text;
    };
    QCOMPARE(modelsOf({}, {}), std::string("analytical"));
    QCOMPARE(modelsOf({}, {file}), std::string("file"));
    QCOMPARE(modelsOf(settingsWith({{"profile_store", store}}), {file}),
             std::string("measured,file,interpolated,analytical"));
    QCOMPARE(modelsOf(settingsWith({{"profile_store", store}}), {}),
             std::string("measured,interpolated,analytical"));
    Diagnostics diagnostics;
    const auto file_first = makeCostChain(
        {file}, settingsWith({{"profile_store", store}, {"cost_sources", "file,measured"}}), diagnostics);
    const auto table = price(graph, file_first.value());
    QCOMPARE(entryOf(*table, *graph, "mm0").ns, int64_t(9));
    QCOMPARE(entryOf(*table, *graph, "mm1").ns, int64_t(5));
    QCOMPARE(entryOf(*table, *graph, "g0").provenance, Provenance::Missing);
}

void TestCostChain::chosenProfiles() {
    const GraphPtr graph = CostGraph::make();
    storeWith(graph, {{"mm0", 1}}, "choice a");
    storeWith(graph, {{"mm0", 2}}, "choice b");
    const std::string store = storeWith(graph, {{"mm0", 3}}, "choice a");
    const auto chosen = [&](const std::string& choice) {
        return chosenProfile(settingsWith({{"profile_store", store}, {"profile", choice}}));
    };
    QCOMPARE(chosen("latest").value()->entries.at(0).ns, int64_t(3));
    QCOMPARE(chosen("choice b").value()->entries.at(0).ns, int64_t(2));
    QCOMPARE(chosen(std::to_string(chosen("choice b").value()->id)).value()->entries.at(0).ns, int64_t(2));
    QCOMPARE(chosen("9999").error().code, std::string("no-such-profile"));
    QCOMPARE(chosen("choice c").error().code, std::string("no-such-profile"));
    QVERIFY(chosenProfile({}).value() == nullptr);
}

void TestCostChain::badSettings() {
    Diagnostics diagnostics;
    QCOMPARE(makeCostChain({}, settingsWith({{"cost_sources", "nonsense"}}), diagnostics).error().code,
             std::string("bad-setting"));
    QCOMPARE(makeCostChain({}, {}, diagnostics, {}, {{"key", "nonsense"}}).error().code,
             std::string("bad-setting"));
    QCOMPARE(
        makeCostChain({}, settingsWith({{"profile_store", "/nowhere/at/all.db"}}), diagnostics).error().code,
        std::string("no-such-file"));
    QVERIFY(makeCostChain({}, settingsWith({{"cost_sources", "measured,analytical"}}), diagnostics).ok());
    QCOMPARE(diagnostics.all().back().code, std::string("no-profile-store"));
}

/// Whatever is known to whom: the first source that knows a key wins, equal keys cost the same, zeros by
/// definition stay zero, and what nobody knows is missing.
void TestCostChain::randomGraphs() {
    for (uint32_t seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        const GraphPtr graph = test::randomGraph(seed);
        const CollectiveTable collectives(*graph);
        std::vector<std::map<std::string, int64_t>> known(2);
        std::map<std::string, int64_t> overrides;
        std::vector<ProfileEntry> entries[2];
        for (NodeId id = 0; id < graph->size(); ++id) {
            const std::string key = structuralKey(*graph, collectives, id);
            for (size_t source = 0; source < 2 && !key.empty(); ++source) {
                if (random() % 3 == 0 && known[source].emplace(key, random() % 100000).second)
                    entries[source].push_back(measured(key, known[source][key]));
            }
            if (!key.empty() && random() % 20 == 0)
                overrides[key] = random() % 1000;
        }
        CostChain chain =
            chainOf({makeProfileModel(profileOf(entries[0])), makeProfileModel(profileOf(entries[1]))});
        chain.overrides = overrides;
        const auto table = priceGraph(*graph, collectives, chain);
        for (NodeId id = 0; id < graph->size(); ++id) {
            const std::string key = structuralKey(*graph, collectives, id);
            if (key.empty()) {
                QVERIFY(!table->entry(id));
                QCOMPARE(table->ns(id), int64_t(0));
                continue;
            }
            const std::map<std::string, int64_t>* by = overrides.count(key)  ? &overrides
                                                       : known[0].count(key) ? &known[0]
                                                       : known[1].count(key) ? &known[1]
                                                                             : nullptr;
            QCOMPARE(table->entry(id)->provenance, by == &overrides ? Provenance::User
                                                   : by             ? Provenance::Measured
                                                                    : Provenance::Missing);
            QCOMPARE(table->ns(id), by ? by->at(key) : 0);
        }
    }
}

void TestCostChain::randomInterpolation() {
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        std::vector<ProfileEntry> entries;
        int64_t least = INT64_MAX, most = 0, fastest = INT64_MAX, slowest = 0;
        for (int i = 0; i < 1 + round % 5; ++i) {
            const int64_t rows = 1 + random() % 5000;
            const int64_t ns = 1000 + random() % 100000;
            entries.push_back(measured(keyOf(*sized(rows), "mm"), ns));
            least = std::min(least, rows);
            most = std::max(most, rows);
            fastest = std::min(fastest, ns);
            slowest = std::max(slowest, ns);
        }
        const int64_t rows = 1 + random() % 12000;
        const GraphPtr graph = sized(rows);
        const CostEntry entry =
            entryOf(*price(graph, chainOf({makeInterpolatedModel(profileOf(entries), {})})), *graph, "mm");
        const bool answers = rows * 2 >= least && rows <= 2 * most;
        QCOMPARE(entry.provenance != Provenance::Missing, answers);
        if (!answers)
            continue;
        const bool inside = rows >= least && rows <= most;
        QCOMPARE(entry.provenance, inside ? Provenance::Interpolated : Provenance::Extrapolated);
        QVERIFY(entry.ns > 0 && !entry.note.empty());
        if (inside)
            QVERIFY(entry.ns >= fastest - 1 && entry.ns <= slowest + 1);
    }
}

QTEST_GUILESS_MAIN(TestCostChain)
#include "tst_cost_chain.moc"
