// What earlier profiles answer: costs, contention by size and group, and what could not be measured.
#include "cost/analytical_model.h"
#include "cost/device_presets.h"
#include "import/importer.h"
#include "profile/known_costs.h"
#include "support/profile_graph.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

using namespace gs;

namespace {

std::vector<WorkItem> workOf(const test::ProfileGraph& graph, int32_t world, bool compute = true) {
    Diagnostics diagnostics;
    const auto read =
        importText({"graph.json", test::profileGraphText(graph)}, -1, -1, diagnostics, {}).value().graph;
    WorkOptions options;
    options.compute = compute;
    return makeWorkList({{read, std::make_shared<CollectiveTable>(*read)}}, world,
                        *makeAnalyticalModel(*findDevicePreset("h100")), options);
}

std::vector<std::string> contending(const std::vector<WorkItem>& work) {
    std::vector<std::string> keys;
    for (const WorkItem& item : work) {
        if (item.contend)
            keys.push_back(item.key);
    }
    return keys;
}

/// As the ranks leave it: the heaviest compute comes first.
Profile measuredAll(const std::vector<WorkItem>& work, int32_t ranks, bool compute = true) {
    Profile profile;
    profile.device = "d";
    profile.backend = "b";
    profile.ranks = ranks;
    for (const WorkItem& item : work) {
        const bool collective = item.work == WorkKind::Collective;
        if (item.latency_probe || (item.work == WorkKind::Compute && item.calls == 0) ||
            (!collective && !compute))
            continue;
        ProfileEntry entry;
        entry.key = item.key;
        entry.kind = item.kind;
        entry.ns = item.work == WorkKind::Fused ? 100 : 1000;
        entry.samples = 10;
        entry.calls = item.calls;
        entry.provenance = item.scaled() ? Provenance::Extrapolated : Provenance::Measured;
        profile.entries.push_back(entry);
        if (item.contend)
            profile.contention.push_back({item.key, "mm", item.spec.output_bytes, 10, 15, 20, 21});
    }
    return profile;
}

} // namespace

class TestKnownCosts : public QObject {
    Q_OBJECT

private:
    QTemporaryDir dir_;
    int files_ = 0;

    KnownCosts known(const std::vector<Profile>& profiles, const std::vector<WorkItem>& work,
                     int32_t ranks = 2, int64_t samples = 10) {
        auto store = ProfileStore::open(dir_.filePath(QString::number(++files_)).toStdString());
        for (const Profile& profile : profiles)
            store->add(profile);
        return findKnownCosts(store.value(), {"d", "b", ranks, samples, false, true}, work).value();
    }

    static size_t keysOf(const std::vector<WorkItem>& work) { return measuredAll(work, 2).entries.size(); }

private slots:
    void choice() {
        test::ProfileGraph graph;
        graph.more_sizes = 9;
        const std::vector<std::string> chosen = contending(workOf(graph, 2));
        QCOMPARE(chosen.size(), size_t(6));
        const auto has = [&](const char* size) {
            return std::any_of(chosen.begin(), chosen.end(),
                               [&](const std::string& key) { return key.find(size) != std::string::npos; });
        };
        QVERIFY2(has("out=16384 ") && has("out=163840 "), chosen[0].c_str());
        QCOMPARE(contending(workOf(graph, 1)).size(), size_t(0));
    }

    void choiceDoesNotHangOnWhatIsReused() {
        test::ProfileGraph graph;
        graph.more_sizes = 9;
        Diagnostics diagnostics;
        const auto read =
            importText({"graph.json", test::profileGraphText(graph)}, -1, -1, diagnostics, {}).value().graph;
        const std::vector<std::string> all = contending(workOf(graph, 2));
        WorkOptions options;
        options.reuse = {all.begin(), all.begin() + 3};
        const auto rest = makeWorkList({{read, std::make_shared<CollectiveTable>(*read)}}, 2,
                                       *makeAnalyticalModel(*findDevicePreset("h100")), options);
        QCOMPARE(contending(rest), std::vector<std::string>(all.begin() + 3, all.end()));
    }

    void allIsKnown() {
        const auto work = workOf({}, 2);
        const KnownCosts found = known({measuredAll(work, 2)}, work);
        QCOMPARE(found.entries.size(), keysOf(work));
        QCOMPARE(found.contention.size(), size_t(1));
        QVERIFY(found.one_profile);
    }

    void oneSizeIsNotAll() {
        test::ProfileGraph graph;
        graph.more_sizes = 2;
        const auto work = workOf(graph, 2);
        Profile profile = measuredAll(work, 2);
        const std::string missing = profile.contention.back().key;
        profile.contention.pop_back();
        const KnownCosts found = known({profile}, work);
        QCOMPARE(found.entries.count(missing), size_t(0));
        QCOMPARE(found.entries.size(), keysOf(work) - 2); // and the compute to run beside
        QCOMPARE(found.contention.size(), size_t(2));
        // A second profile has the last one: together they know all of it.
        const KnownCosts both = known({measuredAll(work, 2), profile}, work);
        QCOMPARE(both.entries.size(), keysOf(work));
        QCOMPARE(both.contention.size(), size_t(3));
        QVERIFY(!both.one_profile);
    }

    void scaledGathersAreKnownFromAsManyRanks() {
        const auto two = workOf({}, 2), four = workOf({}, 4);
        QCOMPARE(known({measuredAll(two, 2)}, four, 4).contention.size(), size_t(0));
        QCOMPARE(known({measuredAll(two, 4)}, four, 4).contention.size(), size_t(1));
        test::ProfileGraph small;
        small.group = 2; // not scaled: as many ranks in both worlds
        const auto in_two = workOf(small, 2), in_four = workOf(small, 4);
        QCOMPARE(known({measuredAll(in_two, 2)}, in_four, 4).contention.size(), size_t(1));
    }

    void tooFewSamplesAreNoAnswer() {
        const auto work = workOf({}, 2);
        const KnownCosts found = known({measuredAll(work, 2)}, work, 2, 20);
        QVERIFY(found.entries.empty() && found.contention.empty());
    }

    void aReasonIsAnAnswer() {
        const auto work = workOf({}, 2);
        Profile profile = measuredAll(work, 2);
        ContentionPoint gap = profile.contention[0];
        gap.reason = "one queue";
        profile.no_contention = {gap};
        profile.contention.clear();
        KnownCosts found = known({profile}, work);
        QCOMPARE(found.entries.size(), keysOf(work));
        QCOMPARE(found.no_contention, profile.no_contention);
        QVERIFY(found.one_profile);
        found = known({measuredAll(work, 2), profile}, work); // an older number is better than a reason
        QCOMPARE(found.contention.size(), size_t(1));
        QVERIFY(found.no_contention.empty());
    }

    /// That there was nothing to run beside counts until there is something.
    void noComputeIsAnAnswerForAWhile() {
        const auto all = workOf({}, 2), collectives = workOf({}, 2, false);
        Profile profile = measuredAll(all, 2, false);
        ContentionPoint gap{profile.contention[0].key, "", 1, 0, 0, 0, 0, "no compute"};
        profile.no_contention = {gap};
        profile.contention.clear();
        QVERIFY(known({profile}, collectives).entries.count(gap.key) == 1);
        QVERIFY(known({profile}, all).entries.count(gap.key) == 0); // compute can be measured
        Profile failing = profile;                                  // and was tried, in vain
        ProfileEntry entry;
        entry.key = "k";
        entry.kind = "compute";
        entry.provenance = Provenance::Analytical;
        failing.entries.push_back(entry);
        QVERIFY(known({failing}, all).entries.count(gap.key) == 1);
        Profile compute = measuredAll(all, 2); // now it is known
        std::erase_if(compute.entries, [&](const ProfileEntry& item) { return item.key == gap.key; });
        compute.contention.clear();
        QVERIFY(known({failing, compute}, all).entries.count(gap.key) == 0);
    }

    void aGatherThatFailsTimesNothingElseAnew() {
        const auto work = workOf({}, 2);
        Profile profile = measuredAll(work, 2);
        const std::string gather = profile.contention[0].key;
        profile.contention.clear();
        for (ProfileEntry& entry : profile.entries) {
            if (entry.key == gather)
                entry.provenance = Provenance::Analytical;
        }
        QCOMPARE(known({profile}, work).entries.size(), keysOf(work) - 1);
    }

    void putTogether() {
        KnownCosts before;
        before.contention = {{"b", "mm", 2, 1, 2, 3, 4}, {"a", "mm", 9, 1, 2, 3, 4}};
        before.no_contention = {{"c", "mm", 3, 0, 0, 0, 0, "old"}, {"d", "mm", 4, 0, 0, 0, 0, "old"}};
        Profile now;
        now.contention = {{"c", "mm", 3, 5, 6, 7, 8}};
        now.no_contention = {{"a", "mm", 9, 0, 0, 0, 0, "new"}, {"e", "mm", 1, 0, 0, 0, 0, "new"}};
        const Profile whole = withKnownCosts(now, before);
        QCOMPARE(whole.contention.size(), size_t(3));
        QCOMPARE(whole.contention[0].key, std::string("b")); // by size
        QCOMPARE(whole.contention[1].alone_ns, int64_t(5));
        QCOMPARE(whole.no_contention.size(), size_t(2));
        QCOMPARE(whole.no_contention[0].key, std::string("e"));
        QCOMPARE(whole.no_contention[1].key, std::string("d"));
    }
};

QTEST_GUILESS_MAIN(TestKnownCosts)
#include "tst_known_costs.moc"
