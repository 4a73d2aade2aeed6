// The measured band: its geometry, what is hit there, and how it follows the selection.
#include "support/kineto_trace.h"
#include "views/theme.h"
#include "views/timeline/measured_tips.h"
#include "views/timeline/range_totals.h"
#include "views/timeline/timeline_canvas.h"
#include "views/timeline/timeline_layout.h"
#include "views/timeline/timeline_text.h"
#include "views/timeline/timeline_view.h"

#include "views/timeline/timeline_fixture.h"

#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <fstream>

using namespace gs;

namespace {

constexpr QSizeF kSize(1440, 520);

Selection gather(const AnalysisPtr& analysis, size_t index) {
    return {Selection::Kind::Gather, QString::fromStdString(test::launchName(*analysis, index))};
}

SceneRequest wholeStep(const TimelineData& data) {
    SceneRequest request;
    request.size = kSize;
    request.range = data.full();
    return request;
}

size_t count(const TimelineScene& scene, SceneRole role) {
    size_t found = 0;
    for (const SceneRect& rect : scene.rects)
        found += rect.role == role && !scene.header.contains(rect.rect) ? 1 : 0;
    return found;
}

QString textOf(const TimelineScene& scene, SceneRole role) {
    for (const SceneText& text : scene.texts) {
        if (text.role == role)
            return text.text;
    }
    return {};
}

/// With a run laid over that `measure` made or changed.
AnalysisPtr with(const AnalysisPtr& analysis, const MeasuredRun& run) {
    auto copy = std::make_shared<Analysis>(*analysis);
    copy->measured = std::make_shared<const MeasuredRun>(run);
    return copy;
}

} // namespace

class TestMeasuredBand : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!.*propagateSizeHints)"))); }

    /// At the usual size of the window nothing is below the edge: lanes get lower instead.
    void isSeenWithoutScrolling() {
        const AnalysisPtr analysis = measured(test::makeAnalysis(shape()), {});
        const auto data = TimelineData::build(analysis);
        const double usual = layoutTimeline(*data, 1000).height;
        for (const double height : {330.0, 310.0, 300.0}) {
            const TimelineLayout layout = layoutTimeline(*data, height);
            const size_t lanes = data->bands.back().lanes.size();
            if (lanes <= 2)
                QVERIFY2(layout.height <= height, qPrintable(QString::number(layout.height)));
            QVERIFY(layout.height < usual);
            for (size_t i = 1; i < layout.rows.size(); ++i)
                QVERIFY(layout.rows[i].top > layout.rows[i - 1].bottom() && layout.rows[i].height >= 14);
        }
        // Where even that is not enough, a run that is laid over is scrolled to.
        TimelineView view;
        view.resize(900, 260);
        view.show();
        view.setSnapshot(test::makeAnalysis(shape()));
        view.setSnapshot(analysis);
        const QScrollBar* bar = view.canvas()->verticalScrollBar();
        QVERIFY(bar->maximum() > 0);
        QCOMPARE(bar->value(), bar->maximum());
    }

    /// As predicted: the band is the scheduled one again.
    void perfectRunLooksAsPredicted() {
        const AnalysisPtr analysis = measured(test::makeAnalysis(shape()), {});
        const auto data = TimelineData::build(analysis);
        QCOMPARE(data->bands.size(), size_t(3));
        QCOMPARE(data->simulated, size_t(2));
        QCOMPARE(data->scheduledBand(), std::optional<size_t>(1));
        const TimelineBand& band = *data->measuredBand();
        QCOMPARE(band.title, QStringLiteral("measured"));
        // Lanes of compute and of each group, without live bytes.
        QCOMPARE(band.lanes.size() + 1, data->bands[1].lanes.size());
        for (size_t lane = 1; lane < band.lanes.size(); ++lane) {
            const auto ran = band.lanes[lane].slices.slices();
            const auto predicted = data->bands[1].lanes[lane].slices.slices();
            QCOMPARE(band.lanes[lane].label, data->bands[1].lanes[lane].label);
            QCOMPARE(ran.size(), predicted.size());
            for (size_t i = 0; i < ran.size(); ++i) {
                QCOMPARE(ran[i].start_ns, predicted[i].start_ns);
                QCOMPARE(ran[i].end_ns, predicted[i].end_ns);
                QCOMPARE(ran[i].id, predicted[i].id);
            }
        }
        const RangeTotals ran = rangeTotals(band, data->full());
        const RangeTotals predicted = rangeTotals(data->bands[1], data->full());
        QCOMPARE(ran.compute_ns, predicted.compute_ns);
        QCOMPARE(ran.comm_ns, predicted.comm_ns);
        // Each moment once, also where transfers of two groups stand bare.
        const int64_t sum = analysis->measured->errors.front().measured_exposed_ns;
        QVERIFY(ran.exposed_ns > 0 && ran.exposed_ns < sum);
        test::TimelineShape one = shape();
        one.groups = 1;
        const AnalysisPtr single = measured(test::makeAnalysis(one), {});
        const auto single_data = TimelineData::build(single);
        QCOMPARE(rangeTotals(*single_data->measuredBand(), single_data->full()).exposed_ns,
                 single->measured->errors.front().measured_exposed_ns);
        QCOMPARE(data->end_ns, data->simulated_end_ns);
    }

    void geometry() {
        test::Perturbation slower;
        slower.duration = [](const Collective& item, int64_t ns) {
            return item.isGather() ? ns * 4 / 3 : ns;
        };
        const AnalysisPtr analysis = measured(test::makeAnalysis(shape()), slower);
        const auto data = TimelineData::build(analysis);
        SceneRequest request = wholeStep(*data);
        const TimelineScene plain = buildScene(*data, request);
        // The bands stand below each other, without an overlap.
        double bottom = 0;
        size_t band = 0;
        for (const SceneLane& lane : plain.lanes) {
            QVERIFY(lane.rect.top() >= bottom && lane.band >= band);
            bottom = lane.rect.bottom();
            band = lane.band;
        }
        QCOMPARE(band, size_t(2));
        QVERIFY(textOf(plain, SceneRole::ErrorNote).contains(QStringLiteral("all_gather +")));
        QCOMPARE(count(plain, SceneRole::Predicted), size_t(0));
        // Every mark of the band can be hit.
        for (const SceneLane& lane : plain.lanes) {
            for (size_t i = lane.first_mark; lane.band == 2 && i < lane.last_mark; ++i)
                QVERIFY(plain.markAt(plain.marks[i].rect.center()));
        }
        // The selection: an outline in each band, where it was predicted in the measured one, and the error.
        request.selection = gather(analysis, 20);
        const TimelineScene scene = buildScene(*data, request);
        QCOMPARE(count(scene, SceneRole::Selected), size_t(3));
        QCOMPARE(count(scene, SceneRole::Predicted), size_t(1));
        QCOMPARE(count(scene, SceneRole::Window), size_t(1));
        const QString error = measuredErrorText(*analysis, 20);
        QVERIFY2(error.contains(QStringLiteral("(+33.")), qPrintable(error));
        QVERIFY(std::any_of(scene.texts.begin(), scene.texts.end(), [&](const SceneText& text) {
            return text.role == SceneRole::Caption && text.text.endsWith(error);
        }));
    }

    void tips() {
        test::Perturbation slower;
        slower.duration = [](const Collective&, int64_t ns) { return ns + 12'000; };
        const AnalysisPtr analysis = measured(test::makeAnalysis(shape()), slower);
        const auto data = TimelineData::build(analysis);
        const auto ref = data->findCollective(2, 5);
        QVERIFY(ref);
        const QString tip = sliceTip(*data, *ref);
        for (const char* part : {"predicted", "measured", "error", "+12.0 µs", "skew", "exposed"})
            QVERIFY2(tip.contains(QString::fromUtf8(part)), qPrintable(tip));
        const QString table = measuredErrorTip(*analysis);
        for (const char* part : {"bias", "spread", "worst", "all_gather", "reduce_scatter", "trace0.json"})
            QVERIFY2(table.contains(QString::fromUtf8(part)), qPrintable(table));
        // Compute of a trace has no name; nothing is selected by it.
        SliceRef compute{2, 0, 0};
        while (data->slice(compute).category != static_cast<uint8_t>(SliceKind::Compute))
            ++compute.slice;
        QVERIFY(sliceTip(*data, compute).contains(QStringLiteral("compute in the trace")));
        QVERIFY(data->selectionFor(compute).name.isEmpty());
    }

    void whatTheTraceLacksIsNotThere() {
        test::Perturbation gap;
        gap.left_out = 3;
        const AnalysisPtr analysis = measured(test::makeAnalysis(shape()), gap);
        const auto data = TimelineData::build(analysis);
        QVERIFY(data->resolve(2, gather(analysis, 3)).empty());
        QVERIFY(!data->findCollective(2, 3));
        QVERIFY(!data->resolve(1, gather(analysis, 3)).empty());
        SceneRequest request = wholeStep(*data);
        request.selection = gather(analysis, 3);
        QCOMPARE(count(buildScene(*data, request), SceneRole::Selected), size_t(2));
        QVERIFY(measuredErrorText(*analysis, 3).isEmpty());
    }

    /// A click in the band selects the gather for all views; one on the errors the worst of them.
    void clicksSelect() {
        test::Perturbation worst;
        worst.duration = [&](const Collective& item, int64_t ns) {
            return item.launch == worst_ ? ns + 900'000 : ns;
        };
        const AnalysisPtr plain = test::makeAnalysis(shape());
        worst_ = (*plain->after.collectives)[9].launch;
        const AnalysisPtr analysis = measured(plain, worst);
        TimelineView view;
        view.resize(kSize.toSize());
        view.setSnapshot(analysis);
        connect(&view, &View::selectionRequested, &view, &View::setSelection);
        view.show();
        auto* canvas = view.findChild<TimelineCanvas*>();
        for (const SceneLane& lane : canvas->scene().lanes) {
            if (lane.band != 2 || lane.lane != 1)
                continue;
            const SceneMark mark = canvas->scene().marks[lane.first_mark];
            QTest::mouseClick(canvas->viewport(), Qt::LeftButton, {}, mark.rect.center().toPoint());
            break;
        }
        QCOMPARE(view.selection().kind, Selection::Kind::Gather);
        for (const SceneText& text : canvas->scene().texts) {
            if (text.role != SceneRole::ErrorNote)
                continue;
            const QPoint at = text.rect.center().toPoint();
            QTest::mouseClick(canvas->viewport(), Qt::LeftButton, {}, at);
            break;
        }
        QCOMPARE(view.selection(), gather(analysis, 9));
        QVERIFY(canvas->accessibleDescription().contains(QStringLiteral("matched")));
        // Stepping goes on in the scheduled band.
        canvas->stepGather(1);
        QVERIFY(view.selection() != gather(analysis, 9));
    }

    /// 100,000 slices make as many marks as there is room for.
    void manySlices() {
        const AnalysisPtr plain = test::makeAnalysis(shape());
        MeasuredRun run = *measured(plain, {})->measured;
        run.compute.clear();
        for (int64_t i = 0; i < 100'000; ++i)
            run.compute.emplace_back(i * 300, i * 300 + 200);
        const auto data = TimelineData::build(with(plain, run));
        QCOMPARE(data->measuredBand()->lanes[0].slices.busy(0, 30'000'000)[0], int64_t(20'000'000));
        const TimelineScene scene = buildScene(*data, wholeStep(*data));
        for (const SceneLane& lane : scene.lanes)
            QVERIFY(lane.last_mark - lane.first_mark <= static_cast<size_t>(scene.plot.width()));
    }

    /// Two transfers of a group at once, as a trace of two streams has them: the lane stays serial.
    void overlapsAreCut() {
        const AnalysisPtr plain = test::makeAnalysis(shape());
        MeasuredRun run = *measured(plain, {})->measured;
        for (MeasuredTransfer& item : run.transfers)
            item.shown_ns *= 5;
        const auto data = TimelineData::build(with(plain, run));
        for (const TimelineLane& lane : data->measuredBand()->lanes) {
            int64_t end = INT64_MIN;
            for (const Slice& slice : lane.slices.slices()) {
                QVERIFY(slice.start_ns >= end && slice.end_ns >= slice.start_ns);
                end = slice.end_ns;
            }
        }
    }

private:
    static test::TimelineShape shape() {
        test::TimelineShape shape;
        shape.layers = 8;
        shape.groups = 2;
        shape.scatters = true;
        return shape;
    }

    AnalysisPtr measured(const AnalysisPtr& analysis, const test::Perturbation& change) {
        const std::string path = folder_.filePath(QStringLiteral("trace0.json")).toStdString();
        std::ofstream(path) << test::kinetoOf(*analysis, change);
        Result<MeasuredRun> run = measureRun(*analysis, std::vector<std::string>{path});
        if (!run)
            qFatal("%s", run.error().message.c_str());
        return with(analysis, run.value());
    }

    QTemporaryDir folder_;
    NodeId worst_ = kNoNode;
};

QTEST_MAIN(TestMeasuredBand)
#include "tst_measured_band.moc"
