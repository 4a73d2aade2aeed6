// Rows, variants and the gather-by-gather difference of two analyses.
#include "analysis/compare.h"
#include "analysis/compare_gathers.h"
#include "schedule/scheduler.h"
#include "variants_fixture.h"

#include <QTest>
#include <numeric>
#include <random>
#include <set>

using namespace gs;

namespace {

AnalysisPtr analysed(const AnalysisRequest& request) {
    const Result<AnalysisPtr> result = test::analyseFunction()(request, {});
    return result ? result.value() : nullptr;
}

AnalysisRequest with(AnalysisRequest request, const char* name, const char* value) {
    if (!request.settings.set(std::string_view(name), value))
        qFatal("no such setting");
    return request;
}

/// Longest common subsequence with program order by the textbook's quadratic table.
size_t displacedByTable(const Order& order) {
    const size_t n = order.size();
    std::vector<std::vector<size_t>> common(n + 1, std::vector<size_t>(n + 1, 0));
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
            common[i + 1][j + 1] =
                order[i] == j ? common[i][j] + 1 : std::max(common[i][j + 1], common[i + 1][j]);
    return n - common[n][n];
}

int64_t totalExposed(const Timeline& timeline) {
    return std::accumulate(timeline.transfers.begin(), timeline.transfers.end(), int64_t{0},
                           [](int64_t sum, const Transfer& transfer) { return sum + transfer.exposed_ns; });
}

AnalysisRequest sample() {
    return test::sampleRequest("lm3_ac_fsdp8_joint", "commlight");
}

} // namespace

class TestCompare : public QObject {
    Q_OBJECT
private slots:
    void displacedNodes();
    void exposedSumCountsEveryStream();
    void rowStatesTheAnalysis();
    void programOrderNeedsNoOtherAnalysis();
    void settingsThatDoNotMatter();
    void variantsAreAllDifferent();
    void onlySomeSchedulers();
    void oneAnalyserForAll();
    void cancelKeepsWhatIsDone();
    void failureIsARow();
    void betterRowOrder();
    void gathersOfTwoSchedules();
    void bucketsAgainstMembers_data();
    void bucketsAgainstMembers();
    void sameAnalysisDiffersInNothing();
};

void TestCompare::displacedNodes() {
    QCOMPARE(nodesDisplaced({}), size_t{0});
    QCOMPARE(nodesDisplaced({0, 1, 2, 3}), size_t{0});
    QCOMPARE(nodesDisplaced({0, 3, 1, 2}), size_t{1}); // one node went forward
    QCOMPARE(nodesDisplaced({1, 2, 3, 0}), size_t{1}); // one went to the end: not three to the front
    QCOMPARE(nodesDisplaced({3, 2, 1, 0}), size_t{3});
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        Order order(random() % 24);
        std::iota(order.begin(), order.end(), NodeId{0});
        std::shuffle(order.begin(), order.end(), random);
        QCOMPARE(nodesDisplaced(order), displacedByTable(order));
    }
}

void TestCompare::exposedSumCountsEveryStream() {
    Timeline timeline;
    timeline.stalls = {{1, 0, 10, 30}, {2, 1, 50, 60}};
    timeline.exposed_ns = 30;
    timeline.transfers.resize(3);
    timeline.transfers[0].start_ns = 0; // exposed 10 to 30
    timeline.transfers[0].end_ns = 30;
    timeline.transfers[1].start_ns = 20; // another stream: exposed 20 to 30 and 50 to 60
    timeline.transfers[1].end_ns = 60;
    timeline.transfers[2].start_ns = 30; // exposed 50 to 55
    timeline.transfers[2].end_ns = 55;
    QCOMPARE(exposedSum(timeline), 20 + 20 + 5);
    timeline.transfers.resize(1);
    timeline.stalls.resize(1);
    timeline.exposed_ns = 20;
    QCOMPARE(exposedSum(timeline), 20); // one stream: the union
    QCOMPARE(exposedSum(Timeline()), 0);
}

void TestCompare::rowStatesTheAnalysis() {
    const AnalysisPtr analysis = analysed(sample());
    QVERIFY(analysis);
    const CompareRow row = makeCompareRow(*analysis);
    const Summary summary = summarise(*analysis);
    QCOMPARE(row.scheduler, std::string("latest-safe-launch"));
    QCOMPARE(row.hidden, summary.hidden);
    QCOMPARE(row.candidates, summary.gathers);
    QCOMPARE(row.launches_moved, summary.moved);
    QCOMPARE(row.step_ns, analysis->after.timeline->step_ns);
    QCOMPARE(row.exposed_union_ns, analysis->after.timeline->exposed_ns);
    QVERIFY(row.exposed_sum_ns >= row.exposed_union_ns);
    QCOMPARE(row.lower_bound_ns, analysis->lower_bound_ns);
    QVERIFY(row.nodes_displaced >= row.launches_moved && row.nodes_displaced < row.nodes);
    QCOMPARE(row.gap(), double(row.step_ns - row.lower_bound_ns) / double(row.lower_bound_ns));
    QCOMPARE(CompareRow().gap(), 0.0);
}

void TestCompare::programOrderNeedsNoOtherAnalysis() {
    const CompareRow row = programOrderRow(*analysed(with(sample(), "bucket_mode", "coalesced")));
    const CompareRow run = makeCompareRow(*analysed(with(sample(), "scheduler", "program-order")));
    QCOMPARE(row.step_ns, run.step_ns);
    QCOMPARE(row.lower_bound_ns, run.lower_bound_ns);
    QCOMPARE(row.hidden, run.hidden);
    QCOMPARE(row.exposed_sum_ns, run.exposed_sum_ns);
    QCOMPARE(row.nodes_displaced, size_t{0});
    QCOMPARE(variantKey(row.request), variantKey(run.request));
}

void TestCompare::settingsThatDoNotMatter() {
    const AnalysisRequest overlap = with(sample(), "scheduler", "overlap-scheduler");
    // The sweep's slack and the cap of buckets that are not made change nothing.
    QCOMPARE(variantKey(with(overlap, "slack_ns", "7")), variantKey(overlap));
    QCOMPARE(variantKey(with(overlap, "bucket_cap_mib", "7")), variantKey(overlap));
    QVERIFY(variantKey(with(overlap, "max_in_flight_gb", "7")) != variantKey(overlap));
    QVERIFY(variantKey(with(sample(), "slack_ns", "7")) != variantKey(sample()));
    // Contention is the world's as well, unless that has its own.
    QVERIFY(variantKey(with(overlap, "contention", "2")) != variantKey(overlap));
    const AnalysisRequest fixed = with(overlap, "simulated_contention", "1.5");
    QCOMPARE(variantKey(fixed), variantKey(overlap));
    QCOMPARE(variantKey(with(fixed, "contention", "2")), variantKey(fixed));

    QCOMPARE(changesText(with(with(overlap, "slack_ns", "7"), "max_in_flight_gb", "0.1").settings,
                         sample().settings),
             std::string("max_in_flight_gb=0.1"));
    QCOMPARE(changesText(sample().settings, sample().settings), std::string());
    // A baseline that does not read a setting says nothing about it, whatever it carries along.
    QCOMPARE(changesText(with(overlap, "max_in_flight_gb", "8").settings,
                         with(sample(), "max_in_flight_gb", "8").settings),
             std::string("max_in_flight_gb=8"));
}

void TestCompare::variantsAreAllDifferent() {
    const std::vector<AnalysisRequest> variants = variantsOfAllSchedulers(sample());
    std::set<std::string> keys, names, limits;
    for (const AnalysisRequest& variant : variants) {
        QVERIFY(keys.insert(variantKey(variant)).second);
        const std::string& name = variant.settings.text(Setting::Scheduler);
        names.insert(name);
        if (name == "overlap-scheduler")
            limits.insert(variant.settings.text(Setting::MaxInFlightGb));
    }
    QCOMPARE(names.size(), schedulers().size());
    QCOMPARE(limits, (std::set<std::string>{"2", "0.1"}));
}

void TestCompare::onlySomeSchedulers() {
    const auto variants = variantsOfAllSchedulers(sample(), {"just-in-time", "program-order"});
    QCOMPARE(variants.size(), size_t{2});
    QCOMPARE(variants[0].settings.text(Setting::Scheduler), std::string("program-order"));
}

void TestCompare::oneAnalyserForAll() {
    int calls = 0, made = 0;
    AnalysisPtr last;
    const AnalyseFunction inner = test::analyseFunction(&calls);
    const auto analyse = [&](const AnalysisRequest& request, const JobContext& job) {
        const Result<AnalysisPtr> result = inner(request, job);
        last = result.value();
        return result;
    };
    const auto variants = variantsOfAllSchedulers(sample());
    const auto rows = compareVariants(analyse, variants, {}, [&](const CompareRow&) { ++made; });
    QCOMPARE(rows.size(), variants.size());
    QCOMPARE(size_t(calls), variants.size());
    QCOMPARE(made, calls);
    for (const StageTime& time : last->times) // import, passes and costs were done once
        QCOMPARE(time.reused, time.stage != "schedule" && time.stage != "simulate");
    for (const CompareRow& row : rows) {
        QVERIFY(!row.error);
        QVERIFY(row.step_ns >= row.lower_bound_ns);
    }
}

void TestCompare::cancelKeepsWhatIsDone() {
    std::stop_source stop;
    const auto rows =
        compareVariants(test::analyseFunction(), variantsOfAllSchedulers(sample()),
                        {stop.get_token(), nullptr}, [&](const CompareRow&) { stop.request_stop(); });
    QCOMPARE(rows.size(), size_t{1});
}

void TestCompare::failureIsARow() {
    AnalysisRequest missing = sample();
    missing.graph_file = "no such file";
    const auto rows = compareVariants(test::analyseFunction(), {missing, sample()}, {});
    QCOMPARE(rows.size(), size_t{2});
    QVERIFY(rows[0].error);
    QVERIFY(!rows[1].error);
    QVERIFY(betterRow(rows[1], rows[0], -1));
    QVERIFY(!betterRow(rows[0], rows[1], -1));
}

void TestCompare::betterRowOrder() {
    const auto row = [](int64_t step, int64_t peak) {
        CompareRow made;
        made.step_ns = step;
        made.peak_held_bytes = peak;
        return made;
    };
    QVERIFY(betterRow(row(10, 900), row(11, 100), -1)); // without a limit only time counts
    QVERIFY(betterRow(row(10, 100), row(10, 900), -1)); // then the peak
    QVERIFY(!betterRow(row(10, 100), row(10, 100), -1));
    QVERIFY(betterRow(row(11, 500), row(10, 501), 500)); // a broken limit is worse than any step
    QVERIFY(betterRow(row(11, 600), row(10, 700), 500)); // both break it: less is better
}

void TestCompare::gathersOfTwoSchedules() {
    const AnalysisPtr a = analysed(with(sample(), "scheduler", "program-order"));
    const AnalysisPtr b = analysed(sample());
    const GatherDiff diff = compareGathers(*a, *b);
    QVERIFY(diff.same_graph);
    QVERIFY(diff.changed > 0);
    size_t gathers = 0;
    for (const Collective& item : a->after.collectives->all())
        gathers += item.isGather() ? 1 : 0;
    QCOMPARE(diff.rows.size(), gathers);
    int64_t change = 0;
    for (size_t i = 0; i < diff.rows.size(); ++i) {
        const GatherDiffRow& row = diff.rows[i];
        QVERIFY(row.a && row.b && !row.label.empty());
        QCOMPARE(row.a->target, row.a->cur); // program order
        QCOMPARE(row.has(GatherDifference::Place), row.b->target != row.a->target);
        QCOMPARE(row.a->exposed_before_ns, row.a->exposed_after_ns);
        QCOMPARE(row.b->exposed_before_ns, row.a->exposed_before_ns);
        QCOMPARE(row.name, std::string(a->after.graph->name(row.a->launches.front())));
        if (i > 0)
            QVERIFY(std::abs(diff.rows[i - 1].change_ns()) >= std::abs(row.change_ns()));
        change += row.change_ns();
    }
    QCOMPARE(change, diff.gathers_b_ns - diff.gathers_a_ns);
    QCOMPARE(diff.gathers_a_ns + diff.others_a_ns, totalExposed(*a->after.timeline));
    QCOMPARE(diff.gathers_b_ns + diff.others_b_ns, totalExposed(*b->after.timeline));
}

void TestCompare::bucketsAgainstMembers_data() {
    QTest::addColumn<QByteArray>("mode");
    QTest::newRow("coalesced") << QByteArray("coalesced");
    QTest::newRow("fsdp") << QByteArray("fsdp");
}

void TestCompare::bucketsAgainstMembers() {
    QFETCH(QByteArray, mode);
    const AnalysisPtr plain = analysed(sample());
    const AnalysisPtr bucketed = analysed(with(sample(), "bucket_mode", mode.constData()));
    QVERIFY(bucketed->after.graph != bucketed->before.graph);
    const GatherDiff diff = compareGathers(*plain, *bucketed);
    QVERIFY(!diff.same_graph);
    size_t of_a = 0, of_b = 0, merged = 0;
    std::set<NodeId> seen;
    for (const GatherDiffRow& row : diff.rows) {
        QVERIFY2(row.a && row.b, row.label.c_str()); // nothing is lost on either side
        of_a += row.a->launches.size();
        of_b += row.b->launches.size();
        for (const NodeId launch : row.a->launches)
            QVERIFY(seen.insert(launch).second);
        merged += row.has(GatherDifference::Buckets) ? 1 : 0;
        QVERIFY(!row.has(GatherDifference::Place)); // positions of other graphs say nothing
        QCOMPARE(row.a->exposed_before_ns, row.b->exposed_before_ns);
    }
    QVERIFY(of_b < of_a);
    QVERIFY(merged > 0);
    const GatherDiff back = compareGathers(*bucketed, *plain);
    QCOMPARE(back.rows.size(), diff.rows.size());
    QCOMPARE(back.rows.front().change_ns(), -diff.rows.front().change_ns());
}

void TestCompare::sameAnalysisDiffersInNothing() {
    const AnalysisPtr analysis = analysed(sample());
    const GatherDiff diff = compareGathers(*analysis, *analysis);
    QCOMPARE(diff.changed, size_t{0});
    QCOMPARE(diff.gathers_a_ns, diff.gathers_b_ns);
}

QTEST_GUILESS_MAIN(TestCompare)
#include "tst_compare.moc"
