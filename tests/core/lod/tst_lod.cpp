#include "lod/slice_index.h"
#include "lod/step_curve.h"
#include "lod/time_axis.h"

#include <QElapsedTimer>
#include <QTest>
#include <random>

using namespace gs;

namespace {

/// Slices back to back with gaps, of very different lengths.
std::vector<Slice> randomSlices(std::mt19937_64& random, size_t count) {
    std::vector<Slice> slices;
    int64_t time = 0;
    for (size_t i = 0; i < count; ++i) {
        time += random() % 3 == 0 ? static_cast<int64_t>(random() % 400) : 0;
        const auto length = static_cast<int64_t>(random() % (random() % 20 == 0 ? 20'000 : 90));
        slices.push_back({time, time + length, static_cast<uint32_t>(i), static_cast<uint8_t>(random() % 3),
                          random() % 4 == 0});
        time += length;
    }
    return slices;
}

} // namespace

class TestLod : public QObject {
    Q_OBJECT
private slots:
    void maxTreeFindsFirstGreatest() {
        std::mt19937_64 random(1);
        std::vector<int64_t> values(137);
        for (int64_t& value : values)
            value = static_cast<int64_t>(random() % 50);
        const MaxTree tree(values);
        const MinTree low(values);
        for (size_t first = 0; first < values.size(); ++first) {
            for (size_t last = first + 1; last <= values.size(); last += 3) {
                const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
                const auto end = values.begin() + static_cast<std::ptrdiff_t>(last);
                QCOMPARE(tree.best(first, last), size_t(std::max_element(begin, end) - values.begin()));
                QCOMPARE(low.best(first, last), size_t(std::min_element(begin, end) - values.begin()));
            }
        }
    }

    /// Every slice of the range is in exactly one run, long ones alone, and runs do not overlap.
    void queryCoversEverySliceOnce() {
        std::mt19937_64 random(2);
        const std::vector<Slice> slices = randomSlices(random, 3000);
        const SliceIndex index(slices);
        const int64_t end = slices.back().end_ns;
        for (int round = 0; round < 200; ++round) {
            const int64_t a = static_cast<int64_t>(random() % static_cast<uint64_t>(end));
            const int64_t b = a + 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(end - a));
            const int64_t bucket = 1 + static_cast<int64_t>(random() % 2000);
            const int64_t single = bucket * 3 / 4 + 1;
            const auto runs = index.query(a, b, single, bucket);
            size_t next = std::min(index.firstEndingAfter(a), index.firstStartingFrom(a));
            for (const SliceRun& run : runs) {
                QCOMPARE(size_t(run.first), next);
                next = run.last;
                QVERIFY(run.longest >= run.first && run.longest < run.last);
                for (uint32_t i = run.first; i < run.last; ++i) {
                    QVERIFY(index[i].duration() <= index[run.longest].duration());
                    QVERIFY(run.count() == 1 || index[i].duration() < single);
                }
                QCOMPARE(run.start_ns, index[run.first].start_ns);
                QCOMPARE(run.end_ns, index[run.last - 1].end_ns);
            }
            QCOMPARE(next, std::max(index.firstStartingFrom(b), next));
            QVERIFY(runs.size() <= size_t(2 * ((b - a) / bucket + 2)));
        }
    }

    /// Runs do not depend on where the range begins, but for those at its edges.
    void panningKeepsRuns() {
        std::mt19937_64 random(3);
        const SliceIndex index(randomSlices(random, 2000));
        const auto all = index.query(0, INT64_MAX / 2, 75, 100);
        const auto part = index.query(20'000, 60'000, 75, 100);
        QVERIFY(part.size() > 10);
        for (size_t i = 1; i + 1 < part.size(); ++i)
            QVERIFY(std::find(all.begin(), all.end(), part[i]) != all.end());
    }

    void busyTimesEqualTheSum() {
        std::mt19937_64 random(4);
        const std::vector<Slice> slices = randomSlices(random, 500);
        const SliceIndex index(slices);
        const int64_t end = slices.back().end_ns;
        for (int round = 0; round < 300; ++round) {
            const int64_t a = static_cast<int64_t>(random() % static_cast<uint64_t>(end));
            const int64_t b = a + static_cast<int64_t>(random() % 5000);
            CategoryTimes expected{};
            for (const Slice& slice : slices)
                expected[slice.category] +=
                    std::max<int64_t>(0, std::min(b, slice.end_ns) - std::max(a, slice.start_ns));
            QCOMPARE(index.busy(a, b), expected);
        }
    }

    void nearestEdge() {
        const SliceIndex index({{10, 20, 0, 0, false}, {50, 90, 1, 0, false}});
        QCOMPARE(index.nearestEdge(0), int64_t(10));
        QCOMPARE(index.nearestEdge(16), int64_t(20));
        QCOMPARE(index.nearestEdge(34), int64_t(20));
        QCOMPARE(index.nearestEdge(36), int64_t(50));
        QCOMPARE(index.nearestEdge(89), int64_t(90));
        QCOMPARE(index.nearestEdge(1000), int64_t(90));
        QCOMPARE(SliceIndex().nearestEdge(7), int64_t(7));
    }

    void buildsFast() {
        std::mt19937_64 random(5);
        const std::vector<Slice> slices = randomSlices(random, 100'000);
        QElapsedTimer timer;
        timer.start();
        const SliceIndex index(slices);
        const double ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        QCOMPARE(index.size(), size_t(100'000));
        qInfo("index of 100,000 slices: %.1f ms", ms);
    }

    void curveColumnsBoundTheCurve() {
        std::mt19937_64 random(6);
        std::vector<CurvePoint> points;
        int64_t time = 0;
        for (int i = 0; i < 2000; ++i)
            points.push_back(
                {time += static_cast<int64_t>(random() % 50), static_cast<int64_t>(random() % 900)});
        const StepCurve curve(points);
        const auto columns = curve.query(1'000, 30'000, 400);
        QVERIFY(columns.size() <= 29'000 / 400 + 2);
        for (const CurveColumn& column : columns) {
            QVERIFY(column.low <= std::min(column.first, column.last));
            QVERIFY(column.high >= std::max(column.first, column.last));
        }
        int64_t low = INT64_MAX, high = 0;
        for (const CurveColumn& column : columns) {
            low = std::min(low, column.low);
            high = std::max(high, column.high);
        }
        QCOMPARE(curve.extremes(1'000, 30'000), std::pair(low, high));
        QCOMPARE(columns.front().first, curve.at(1'000));
        QCOMPARE(columns.back().last, curve.at(29'999));
        // Zoomed in, every change has its exact time.
        for (const CurveColumn& column : curve.query(1'000, 1'400, 1)) {
            QCOMPARE(column.last, curve.at(column.begin_ns));
            QVERIFY(column.begin_ns == 1'000 || curve.at(column.begin_ns - 1) == column.first);
        }
        QVERIFY(StepCurve().query(0, 100, 1).empty());
    }

    void timeAndPixelsRoundTrip() {
        std::mt19937_64 random(7);
        for (int round = 0; round < 1000; ++round) {
            const int width = 1 + static_cast<int>(random() % 4000);
            const int64_t begin = static_cast<int64_t>(random() % 1'000'000'000'000);
            const int64_t length = width + static_cast<int64_t>(random() % 100'000'000'000);
            const TimeAxis axis({begin, begin + length}, width);
            const int64_t time = begin + static_cast<int64_t>(random() % static_cast<uint64_t>(length));
            QCOMPARE(axis.timeAt(axis.pixelOf(time)), time);
            const double pixel = static_cast<double>(random() % static_cast<uint64_t>(width));
            QVERIFY(std::abs(axis.pixelOf(axis.timeAt(pixel)) - pixel) <= 0.5);
        }
    }

    void zoomInAndOutReturns() {
        std::mt19937_64 random(8);
        const TimeRange full{0, 1'481'000'000};
        for (int round = 0; round < 100; ++round) {
            const int64_t length = 1'000'000 + static_cast<int64_t>(random() % 100'000'000);
            const int64_t begin =
                static_cast<int64_t>(random() % static_cast<uint64_t>(full.end_ns - length));
            const TimeRange start{begin, begin + length};
            const double pixel = static_cast<double>(random() % 1200);
            const TimeRange in = zoomRange(TimeAxis(start, 1200), 0.5, pixel, full);
            QVERIFY(in.length() < start.length());
            const int64_t anchor = TimeAxis(start, 1200).timeAt(pixel);
            QVERIFY(std::abs(TimeAxis(in, 1200).pixelOf(anchor) - pixel) < 0.01);
            const TimeRange out = zoomRange(TimeAxis(in, 1200), 2, pixel, full);
            QVERIFY(std::abs(out.begin_ns - start.begin_ns) <= 2);
            QVERIFY(std::abs(out.end_ns - start.end_ns) <= 2);
        }
    }

    void rangesStayInside() {
        const TimeRange full{0, 10'000};
        QCOMPARE(clampRange({-500, 500}, full, 100), (TimeRange{0, 1'000}));
        QCOMPARE(clampRange({9'900, 10'900}, full, 100), (TimeRange{9'000, 10'000}));
        QCOMPARE(clampRange({5'000, 5'001}, full, 100), (TimeRange{5'000, 5'100})); // 1 ns a pixel
        QCOMPARE(clampRange({-1, 99'999}, full, 100), full);
        QCOMPARE(clampRange({3, 4}, {0, 10}, 100), (TimeRange{0, 10})); // shorter than its pixels
        TimeRange range = full;
        for (int i = 0; i < 60; ++i)
            range = zoomRange(TimeAxis(range, 100), 0.5, 30, full);
        QCOMPARE(range.length(), int64_t(100));
    }

    void ticks_data() {
        QTest::addColumn<qint64>("begin");
        QTest::addColumn<qint64>("end");
        QTest::addColumn<qint64>("step");
        QTest::addColumn<QString>("last");
        QTest::newRow("step of a second")
            << qint64(0) << qint64(1'481'000'000) << qint64(200'000'000) << "1,400 ms";
        QTest::newRow("26 ms") << qint64(0) << qint64(26'000'000) << qint64(2'000'000) << "26 ms";
        QTest::newRow("tenths") << qint64(0) << qint64(2'600'000) << qint64(200'000) << "2.6 ms";
        QTest::newRow("µs far out") << qint64(12'340'000) << qint64(12'400'000) << qint64(5'000)
                                    << "12,400 µs";
        QTest::newRow("ns") << qint64(0) << qint64(1200) << qint64(100) << "1.2 µs";
        QTest::newRow("single ns") << qint64(7) << qint64(12) << qint64(1) << "12 ns";
        QTest::newRow("minutes") << qint64(0) << qint64(90'000'000'000) << qint64(10'000'000'000) << "90 s";
    }
    void ticks() {
        QFETCH(qint64, begin);
        QFETCH(qint64, end);
        QFETCH(qint64, step);
        QFETCH(QString, last);
        const TimeAxis axis({begin, end}, 1200);
        const Ticks ticks = niceTicks(axis, 90);
        QCOMPARE(qint64(ticks.step_ns), step);
        QVERIFY(static_cast<double>(ticks.step_ns) / axis.nsPerPixel() >= 90);
        QCOMPARE(QString::fromStdString(formatTick(ticks.times.back(), ticks.step_ns)), last);
    }
};

QTEST_GUILESS_MAIN(TestLod)
#include "tst_lod.moc"
