// The automatic search: best of what was tried, limits, cancel, determinism.
#include "analysis/search.h"
#include "simulate/simulation_settings.h"
#include "variants_fixture.h"

#include <QElapsedTimer>
#include <QTest>
#include <set>

using namespace gs;

namespace {

AnalysisRequest sample() {
    return test::sampleRequest("mlp4_fsdp8_joint", "roofline");
}

bool same(const CompareRow& a, const CompareRow& b) {
    return variantKey(a.request) == variantKey(b.request) && a.request.settings == b.request.settings &&
           a.step_ns == b.step_ns && a.peak_held_bytes == b.peak_held_bytes &&
           a.exposed_sum_ns == b.exposed_sum_ns && a.nodes_displaced == b.nodes_displaced;
}

class Fractions : public ProgressSink {
public:
    void report(std::string_view, double fraction) override { all.push_back(fraction); }
    std::vector<double> all;
};

} // namespace

class TestSearch : public QObject {
    Q_OBJECT
private slots:
    void bestIsTheBestOfTheRows();
    void memoryLimitIsKept();
    void impossibleLimitSaysSo();
    void bestIsReproducedByItsRequest();
    void worldStaysAsItWas();
    void sameRowsEveryTime();
    void cancelKeepsTheBest();
    void timeLimit();
    void errorOfTheRequest();
};

void TestSearch::bestIsTheBestOfTheRows() {
    Fractions progress;
    std::vector<CompareRow> tried;
    const SearchResult result = searchSettings(test::analyseFunction(), sample(), {}, {{}, &progress},
                                               [&](const CompareRow& row) { tried.push_back(row); });
    QVERIFY(result.end == SearchEnd::Finished);
    QVERIFY(result.within_limit);
    QVERIFY(result.rows.size() > 50);
    QCOMPARE(tried.size(), result.rows.size());
    QCOMPARE(variantKey(result.rows.front().request), variantKey(sample()));
    std::set<std::string> keys;
    const CompareRow& best = result.rows[size_t(result.best)];
    for (size_t i = 0; i < result.rows.size(); ++i) {
        QVERIFY(same(tried[i], result.rows[i]));
        QVERIFY(!betterRow(result.rows[i], best, -1));
        QVERIFY(best.step_ns <= result.rows[i].step_ns);
        QVERIFY2(keys.insert(variantKey(result.rows[i].request)).second, "a variant was tried twice");
    }
    QVERIFY(best.step_ns < result.rows.front().step_ns);
    QVERIFY(!progress.all.empty());
    for (const double fraction : progress.all)
        QVERIFY(fraction >= 0 && fraction <= 1);
    QCOMPARE(progress.all.back(), 1.0);
}

void TestSearch::memoryLimitIsKept() {
    const SearchResult free = searchSettings(test::analyseFunction(), sample(), {}, {});
    int64_t least = free.rows.front().peak_held_bytes, most = least;
    for (const CompareRow& row : free.rows) {
        least = std::min(least, row.peak_held_bytes);
        most = std::max(most, row.peak_held_bytes);
    }
    QVERIFY(least < most);
    SearchLimits limits;
    limits.peak_bytes = least; // what only some variants keep
    const SearchResult result = searchSettings(test::analyseFunction(), sample(), limits, {});
    QVERIFY(result.within_limit);
    const CompareRow& best = result.rows[size_t(result.best)];
    QVERIFY(best.peak_held_bytes <= limits.peak_bytes);
    for (const CompareRow& row : result.rows)
        QVERIFY(row.peak_held_bytes > limits.peak_bytes || row.step_ns >= best.step_ns);
}

void TestSearch::impossibleLimitSaysSo() {
    SearchLimits limits;
    limits.peak_bytes = 1;
    const SearchResult result = searchSettings(test::analyseFunction(), sample(), limits, {});
    QVERIFY(!result.within_limit);
    QVERIFY(result.best >= 0);
    for (const CompareRow& row : result.rows)
        QVERIFY(row.peak_held_bytes >= result.rows[size_t(result.best)].peak_held_bytes);
}

void TestSearch::bestIsReproducedByItsRequest() {
    const SearchResult result = searchSettings(test::analyseFunction(), sample(), {}, {});
    const CompareRow& best = result.rows[size_t(result.best)];
    const Result<AnalysisPtr> again = test::analyseFunction()(best.request, {});
    QVERIFY(again.ok());
    QVERIFY(same(makeCompareRow(*again.value()), best));
}

void TestSearch::worldStaysAsItWas() {
    for (const char* own : {"0", "2.5"}) {
        AnalysisRequest request = sample();
        QVERIFY(request.settings.set(Setting::SimulatedContention, own).ok());
        QVERIFY(request.settings.set(Setting::ComputeSlowdown, "1.1").ok());
        const SearchResult result = searchSettings(test::analyseFunction(), request, {}, {});
        bool other_factor = false;
        for (const CompareRow& row : result.rows) {
            const Settings& settings = row.request.settings;
            QCOMPARE(simulatedContention(settings), simulatedContention(request.settings));
            QCOMPARE(settings.text(Setting::ComputeSlowdown), std::string("1.1"));
            QCOMPARE(settings.text(Setting::Gathers), request.settings.text(Setting::Gathers));
            QCOMPARE(row.request.cost_files, request.cost_files);
            other_factor |= settings.text(Setting::Contention) != request.settings.text(Setting::Contention);
        }
        QVERIFY(other_factor); // what the scheduler reckons with was varied
    }
}

void TestSearch::sameRowsEveryTime() {
    const SearchResult first = searchSettings(test::analyseFunction(), sample(), {}, {});
    const SearchResult second = searchSettings(test::analyseFunction(), sample(), {}, {});
    QCOMPARE(first.rows.size(), second.rows.size());
    QCOMPARE(first.best, second.best);
    for (size_t i = 0; i < first.rows.size(); ++i)
        QVERIFY(same(first.rows[i], second.rows[i]));
}

void TestSearch::cancelKeepsTheBest() {
    std::stop_source stop;
    size_t tried = 0;
    const SearchResult result = searchSettings(test::analyseFunction(), sample(), {},
                                               {stop.get_token(), nullptr}, [&](const CompareRow&) {
                                                   if (++tried == 7)
                                                       stop.request_stop();
                                               });
    QVERIFY(result.end == SearchEnd::Cancelled);
    QCOMPARE(result.rows.size(), size_t{7});
    QVERIFY(result.best >= 0);

    std::stop_source early;
    early.request_stop();
    const SearchResult nothing =
        searchSettings(test::analyseFunction(), sample(), {}, {early.get_token(), nullptr});
    QVERIFY(nothing.end == SearchEnd::Cancelled);
    QCOMPARE(nothing.best, -1);
}

void TestSearch::timeLimit() {
    // A scheduler that never ends but polls: the limit stops it in the middle.
    const AnalyseFunction real = test::analyseFunction();
    int calls = 0;
    const AnalyseFunction analyse = [&](const AnalysisRequest& request, const JobContext& job) {
        while (++calls > 5 && !job.cancelled()) {
        }
        return real(request, job);
    };
    SearchLimits limits;
    limits.seconds = 0.2;
    QElapsedTimer timer;
    timer.start();
    const SearchResult result = searchSettings(analyse, sample(), limits, {});
    QVERIFY(result.end == SearchEnd::OutOfTime);
    QCOMPARE(result.rows.size(), size_t{5});
    QVERIFY(result.best >= 0);
    QVERIFY(timer.elapsed() >= 150);
    limits.seconds = 0;
    const SearchResult none = searchSettings(real, sample(), limits, {});
    QCOMPARE(none.rows.size(), size_t{1}); // the request itself is always there
    QCOMPARE(none.best, 0);
}

void TestSearch::errorOfTheRequest() {
    AnalysisRequest missing;
    missing.graph_file = "no such file";
    const SearchResult result = searchSettings(test::analyseFunction(), missing, {}, {});
    QVERIFY(result.end == SearchEnd::Failed);
    QVERIFY(result.error);
    QCOMPARE(result.best, -1);
}

QTEST_GUILESS_MAIN(TestSearch)
#include "tst_search.moc"
