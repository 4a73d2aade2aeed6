// The timeline's geometry: what is drawn where, and that it can be hit.
#include "views/theme.h"
#include "views/timeline/range_totals.h"
#include "views/timeline/timeline_export.h"
#include "views/timeline/timeline_painter.h"
#include "views/timeline/timeline_text.h"

#include "views/timeline/timeline_fixture.h"

#include <QBuffer>
#include <QPainter>
#include <QSvgGenerator>
#include <QTest>
#include <QXmlStreamReader>
#include <random>

using namespace gs;

namespace {

Selection gather(const AnalysisPtr& analysis, size_t index) {
    return {Selection::Kind::Gather, QString::fromStdString(test::launchName(*analysis, index))};
}

SceneRequest wholeStep(const TimelineData& data, QSizeF size = {1440, 380}) {
    SceneRequest request;
    request.size = size;
    request.range = data.full();
    return request;
}

std::vector<SceneText> textsOf(const TimelineScene& scene, SceneRole role) {
    std::vector<SceneText> found;
    for (const SceneText& text : scene.texts) {
        if (text.role == role)
            found.push_back(text);
    }
    return found;
}

std::vector<SceneRect> rectsOf(const TimelineScene& scene, SceneRole role) {
    std::vector<SceneRect> found;
    for (const SceneRect& rect : scene.rects) {
        if (rect.role == role)
            found.push_back(rect);
    }
    return found;
}

size_t pathsOf(const TimelineScene& scene, SceneRole role) {
    return static_cast<size_t>(std::count_if(scene.paths.begin(), scene.paths.end(),
                                             [&](const ScenePath& path) { return path.role == role; }));
}

} // namespace

class TestTimelineScene : public QObject {
    Q_OBJECT
private slots:
    void everyDrawnMarkCanBeHit_data() {
        QTest::addColumn<int>("layers");
        QTest::addColumn<int>("groups");
        QTest::addColumn<int>("pointwise");
        QTest::newRow("one layer") << 1 << 1 << 0;
        QTest::newRow("32 layers") << 32 << 1 << 10;
        QTest::newRow("20 groups") << 40 << 20 << 3;
        QTest::newRow("100,000 nodes") << 400 << 2 << 220;
    }
    void everyDrawnMarkCanBeHit() {
        QFETCH(int, layers);
        QFETCH(int, groups);
        QFETCH(int, pointwise);
        test::TimelineShape shape;
        shape.layers = layers;
        shape.groups = groups;
        shape.pointwise = pointwise;
        const auto data = TimelineData::build(test::makeAnalysis(shape));
        std::mt19937_64 random(1);
        SceneRequest request = wholeStep(*data, {1440, 900});
        for (int round = 0; round < 40; ++round) {
            const TimelineScene scene = buildScene(*data, request);
            QVERIFY(!scene.marks.empty());
            for (const SceneLane& lane : scene.lanes) {
                for (size_t i = lane.first_mark; i < lane.last_mark; ++i) {
                    const SceneMark& mark = scene.marks[i];
                    QVERIFY(mark.rect.left() >= scene.plot.left() &&
                            mark.rect.right() <= scene.plot.right() + 1e-9);
                    QVERIFY(mark.rect.width() >= 1 - 1e-9);
                    const SceneLane* hit_lane = nullptr;
                    if (scene.plot.contains(mark.rect.center())) {
                        QCOMPARE(scene.markAt(mark.rect.center(), &hit_lane), &mark);
                        QCOMPARE(hit_lane, &lane);
                    }
                }
            }
            const int64_t length = std::max<int64_t>(2'000, data->end_ns >> (round % 20));
            const int64_t begin = static_cast<int64_t>(random() % static_cast<uint64_t>(data->end_ns));
            request.range = clampRange({begin, begin + length}, data->full(), 1200);
        }
    }

    /// A narrow mark can be hit one pixel beside itself, but not where its neighbour lies.
    void slackNeverTakesFromNeighbours() {
        const auto data = TimelineData::build(test::makeAnalysis());
        SceneRequest request = wholeStep(*data);
        request.range = {0, 30'000'000};
        const TimelineScene scene = buildScene(*data, request);
        const SceneLane& lane = scene.lanes[1];
        QCOMPARE(data->bands[lane.band].lanes[lane.lane].kind, TimelineLane::Kind::Comm);
        const SceneMark& mark = scene.marks[lane.first_mark + 1];
        const double y = mark.rect.center().y();
        QCOMPARE(scene.markAt({mark.rect.left() - 0.8, y}), &mark);
        QCOMPARE(scene.markAt({mark.rect.left() - 1.5, y}), nullptr);
        const SceneLane& compute = scene.lanes[0];
        for (size_t i = compute.first_mark; i + 1 < compute.last_mark; ++i) {
            const QRectF next = scene.marks[i + 1].rect;
            if (next.width() > 4 && scene.marks[i].rect.width() > 4)
                QCOMPARE(scene.markAt({next.left() + 0.5, next.center().y()}), &scene.marks[i + 1]);
        }
        QCOMPARE(scene.markAt({5, y}), nullptr); // the gutter
    }

    /// Marks of a lane follow each other, and the number of them depends on pixels.
    void marksFollowPixels() {
        test::TimelineShape shape;
        shape.layers = 400;
        shape.pointwise = 220;
        const auto data = TimelineData::build(test::makeAnalysis(shape));
        QVERIFY(data->bands[0].lanes[0].slices.size() > 90'000);
        const TimelineScene scene = buildScene(*data, wholeStep(*data));
        for (const SceneLane& lane : scene.lanes) {
            QVERIFY(lane.last_mark - lane.first_mark <= size_t(scene.plot.width()));
            for (size_t i = lane.first_mark + 1; i < lane.last_mark; ++i)
                QVERIFY(scene.marks[i].run.start_ns >= scene.marks[i - 1].run.end_ns);
        }
    }

    void mergedMarksShowShares() {
        const auto data = TimelineData::build(test::makeAnalysis());
        const TimelineScene scene = buildScene(*data, wholeStep(*data, {500, 380}));
        size_t merged = 0;
        for (const SceneMark& mark : scene.marks) {
            float sum = 0;
            for (const float share : mark.shares)
                sum += share;
            QVERIFY(sum > 0 && sum <= 1.0001F);
            merged += mark.single() ? 0 : 1;
        }
        QVERIFY(merged > 20);
    }

    void lanesAndLabelsNeverOverlap() {
        test::TimelineShape shape;
        shape.groups = 20;
        const auto data = TimelineData::build(test::makeAnalysis(shape));
        const TimelineScene scene = buildScene(*data, wholeStep(*data, {1440, 2000}));
        QCOMPARE(scene.lanes.size(), size_t(2 * 22));
        for (size_t i = 1; i < scene.lanes.size(); ++i)
            QVERIFY(scene.lanes[i].rect.top() > scene.lanes[i - 1].rect.bottom());
        std::vector<QRectF> labels;
        for (const SceneRole role : {SceneRole::BandTitle, SceneRole::LaneLabel, SceneRole::LaneNote}) {
            for (const SceneText& text : textsOf(scene, role))
                labels.push_back(text.rect);
        }
        QCOMPARE(labels.size(), size_t(2 + 44 + 2));
        for (size_t i = 0; i < labels.size(); ++i) {
            QVERIFY(labels[i].right() <= scene.plot.left());
            for (size_t j = i + 1; j < labels.size(); ++j)
                QVERIFY(!labels[i].intersects(labels[j]));
        }
    }

    void selectionHasWindowAndArrows() {
        const AnalysisPtr analysis = test::makeAnalysis();
        const auto data = TimelineData::build(analysis);
        SceneRequest request = wholeStep(*data);
        request.selection = gather(analysis, 39);
        const Transfer& transfer = analysis->after.timeline->transfers[39];
        request.range = {transfer.start_ns - 30'000'000, transfer.start_ns + 30'000'000};
        const TimelineScene scene = buildScene(*data, request);
        const TimeAxis axis = sceneAxis(request);
        const auto windows = rectsOf(scene, SceneRole::Window);
        QCOMPARE(windows.size(), size_t(1)); // in the band "after" only
        const NodeId wait = (*analysis->after.collectives)[39].waits.front();
        QCOMPARE(windows[0].rect.left(), scene.plot.left() + axis.pixelOf(transfer.launched_ns));
        QCOMPARE(windows[0].rect.right(),
                 scene.plot.left() + axis.pixelOf(analysis->after.timeline->start_ns[wait]));
        const auto captions = textsOf(scene, SceneRole::Caption);
        QCOMPARE(captions.size(), size_t(1));
        QVERIFY(captions[0].rect.bottom() <= windows[0].rect.top());
        QCOMPARE(rectsOf(scene, SceneRole::Selected).size(), size_t(2)); // both bands
        QCOMPARE(pathsOf(scene, SceneRole::Wait), size_t(2));
        QCOMPARE(pathsOf(scene, SceneRole::Launch), size_t(2));
        for (const ScenePath& path : scene.paths) {
            for (const QPointF& point : path.points)
                QVERIFY(point.x() >= scene.plot.left() - 1e-6 && point.x() <= scene.plot.right() + 1e-6);
        }
    }

    /// A selection outside the range says where it is.
    void selectionElsewhere() {
        const AnalysisPtr analysis = test::makeAnalysis();
        const auto data = TimelineData::build(analysis);
        SceneRequest request = wholeStep(*data);
        request.selection = gather(analysis, 100);
        request.range = {0, 20'000'000};
        const TimelineScene scene = buildScene(*data, request);
        QVERIFY(rectsOf(scene, SceneRole::Selected).empty());
        const auto places = textsOf(scene, SceneRole::Elsewhere);
        QCOMPARE(places.size(), size_t(2));
        QVERIFY(places[0].time_ns > request.range.end_ns);
    }

    void ruler() {
        const auto data = TimelineData::build(test::makeAnalysis());
        SceneRequest request = wholeStep(*data);
        for (int64_t length = data->end_ns; length > 2000; length /= 3) {
            request.range = {data->end_ns / 3, data->end_ns / 3 + length};
            const TimelineScene scene = buildScene(*data, request);
            const auto ticks = textsOf(scene, SceneRole::Tick);
            QVERIFY(ticks.size() >= 3);
            for (size_t i = 1; i < ticks.size(); ++i)
                QVERIFY(ticks[i].rect.left() >= ticks[i - 1].rect.right() - 1e-6);
        }
    }

    void header() {
        auto analysis = std::make_shared<Analysis>(*test::makeAnalysis());
        auto before = std::make_shared<Timeline>(*analysis->before.timeline);
        auto after = std::make_shared<Timeline>(*analysis->after.timeline);
        before->step_ns = 1'481'000'000;
        after->step_ns = 1'333'000'000;
        after->exposed_ns = 338'100'000;
        after->comm_ns = 486'000'000;
        analysis->before.timeline = before;
        analysis->after.timeline = after;
        analysis->lower_bound_ns = 995'000'000;
        QCOMPARE(headerText(*analysis),
                 QStringLiteral("exposed 338.1 ms of 486.0 ms · step 1,481.0 → 1,333.0 ms "
                                "(−10.0 %) · lower bound 995.0 ms"));
    }

    void labels() {
        const AnalysisPtr analysis = test::makeAnalysis();
        const Graph& graph = *analysis->after.graph;
        const CollectiveTable& table = *analysis->after.collectives;
        QCOMPARE(collectiveLabel(graph, table[4]), QStringLiteral("w1"));
        QCOMPARE(groupLabel(graph, 0, 64, true), QStringLiteral("fsdp · 64"));
        QCOMPARE(groupLabel(graph, kNoGroup, 0, false), QStringLiteral("group not known"));
        for (NodeId id = 0; id < graph.size(); ++id) {
            if (graph.name(id).starts_with("_scaled_dot_product"))
                QVERIFY(computeLabel(graph, id).startsWith(QStringLiteral("flash_attention_")));
        }
    }

    void tipsStateFacts() {
        const AnalysisPtr analysis = test::makeAnalysis();
        const auto data = TimelineData::build(analysis);
        const auto ref = data->findCollective(0, 4);
        QVERIFY(ref);
        const QString tip = sliceTip(*data, *ref);
        for (const char* fact :
             {"layers.0.feed_forward.w1.weight", "fsdp · 64", "112.0 MiB", "launched", "exposed", "imported"})
            QVERIFY2(tip.contains(QString::fromUtf8(fact)), qPrintable(tip));
    }

    void selectionsOfSlices() {
        const AnalysisPtr analysis = test::makeAnalysis();
        const auto data = TimelineData::build(analysis);
        const auto ref = data->findCollective(1, 9);
        QCOMPARE(data->selectionFor(*ref), gather(analysis, 9));
        // A stall stands for its gather.
        const SliceIndex& compute = data->bands[0].lanes[0].slices;
        QCOMPARE(compute[0].category, uint8_t(SliceKind::Stall));
        QCOMPARE(data->selectionFor({0, 0, 0}), gather(analysis, 0));
        QCOMPARE(data->selectionFor({0, 0, 1}).kind, Selection::Kind::Node);
    }

    /// A bucket and its members are one selection, from either side.
    void selectionFollowsBuckets() {
        const auto program = [](bool bucketed) {
            GraphBuilder b;
            b.addGroup("0", {0, 1}, "default_pg");
            const NodeId p = b.addNode("p", NodeOp::Placeholder, "p");
            for (const char* name : bucketed ? std::vector{"bucket"} : std::vector{"ag_1", "ag_2"}) {
                const NodeId launch =
                    b.addNode(name, NodeOp::CallFunction, "_c10d_functional.all_gather_into_tensor.default");
                b.setArgs(launch, {b.nodeArg(p), b.intArg(2), b.textArg(Arg::Kind::String, "0")});
                b.setValue(launch, test::detail::tensor({64, 4096}));
                if (bucketed) {
                    b.addOrigin(launch, b.intern("ag_1"));
                    b.addOrigin(launch, b.intern("ag_2"));
                }
                const NodeId wait = b.addNode(std::string("wait_") + name, NodeOp::CallFunction,
                                              "_c10d_functional.wait_tensor.default");
                b.setArgs(wait, {b.nodeArg(launch)});
            }
            const GraphPtr graph = b.finish(nullptr);
            return test::detail::makeProgram(graph, 1'000, identityOrder(*graph));
        };
        auto analysis = std::make_shared<Analysis>();
        analysis->before = program(false);
        analysis->after = program(true);
        const auto data = TimelineData::build(analysis);
        const Selection member{Selection::Kind::Gather, QStringLiteral("ag_2")};
        const Selection bucket{Selection::Kind::Gather, QStringLiteral("bucket")};
        QCOMPARE(data->resolve(0, member).collectives, (std::vector<int32_t>{1}));
        QCOMPARE(data->resolve(1, member).collectives, (std::vector<int32_t>{0}));
        QCOMPARE(data->resolve(0, bucket).collectives, (std::vector<int32_t>{0, 1}));
        QCOMPARE(data->resolve(1, bucket).collectives, (std::vector<int32_t>{0}));
        QVERIFY(data->resolve(1, {Selection::Kind::Gather, QStringLiteral("gone")}).empty());
    }

    void rangeTotalsAreUnions() {
        test::TimelineShape shape;
        shape.groups = 3;
        const AnalysisPtr analysis = test::makeAnalysis(shape);
        const auto data = TimelineData::build(analysis);
        const RangeTotals all = rangeTotals(data->bands[0], data->full());
        QCOMPARE(all.compute_ns, analysis->before.timeline->compute_ns);
        QCOMPARE(all.exposed_ns, analysis->before.timeline->exposed_ns);
        QCOMPARE(all.transfers, int64_t(analysis->before.collectives->size()));
        QCOMPARE(all.streams.size(), size_t(3));
        int64_t sum = 0;
        for (const RangeTotals::Stream& stream : all.streams)
            sum += stream.busy_ns;
        QVERIFY(all.comm_ns > 0 && all.comm_ns <= sum);
        QVERIFY(all.overlapped_ns <= all.comm_ns);
        // Two halves make the whole, but for transfers that touch both.
        const RangeTotals left = rangeTotals(data->bands[1], {0, 50'000'003});
        const RangeTotals right = rangeTotals(data->bands[1], {50'000'003, data->end_ns});
        const RangeTotals whole = rangeTotals(data->bands[1], data->full());
        QCOMPARE(left.compute_ns + right.compute_ns, whole.compute_ns);
        QCOMPARE(left.comm_ns + right.comm_ns, whole.comm_ns);
        QCOMPARE(left.overlapped_ns + right.overlapped_ns, whole.overlapped_ns);
    }

    void poorInputsAreReadable() {
        const auto empty = TimelineData::build(nullptr);
        const TimelineScene nothing = buildScene(*empty, wholeStep(*empty));
        QVERIFY(nothing.marks.empty() && nothing.texts.size() == 2);
        const auto broken = TimelineData::build(std::make_shared<Analysis>());
        QCOMPARE(buildScene(*broken, wholeStep(*broken)).texts.size(), size_t(2));

        test::TimelineShape shape;
        shape.gathers = false;
        const auto plain = TimelineData::build(test::makeAnalysis(shape));
        QCOMPARE(plain->bands[0].lanes.size(), size_t(1));
        QCOMPARE(textsOf(buildScene(*plain, wholeStep(*plain)), SceneRole::Message).size(), size_t(2));

        shape.layers = 0; // only an input and the output: a step of no time
        const auto none = TimelineData::build(test::makeAnalysis(shape));
        QVERIFY(buildScene(*none, wholeStep(*none)).marks.empty());
    }

    void tinySizesDoNotBreak() {
        const auto data = TimelineData::build(test::makeAnalysis());
        for (const QSizeF size : {QSizeF(0, 0), QSizeF(1, 1), QSizeF(60, 40), QSizeF(200, 90)})
            buildScene(*data, wholeStep(*data, size));
    }

    /// All texts of the picture are in the SVG, whole.
    void svgHoldsItsTexts() {
        const AnalysisPtr analysis = test::makeAnalysis();
        QBuffer buffer;
        QSvgGenerator generator;
        generator.setOutputDevice(&buffer);
        generator.setSize({1440, int(timelineHeight(analysis))});
        generator.setViewBox(QRect(QPoint(), generator.size()));
        QPainter painter(&generator);
        renderTimeline(&painter, QRectF(QPointF(), generator.size()), analysis, gather(analysis, 39),
                       {50'000'000, 80'000'000});
        painter.end();
        QString texts;
        QXmlStreamReader xml(buffer.data());
        while (!xml.atEnd()) {
            if (xml.readNext() == QXmlStreamReader::Characters)
                texts += xml.text();
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        for (const char* text : {"before", "after", "fsdp · 64", "live bytes", "window of the selection",
                                 "w1", "lower bound", "60 ms"})
            QVERIFY2(texts.contains(QString::fromUtf8(text)), text);
    }
};

QTEST_MAIN(TestTimelineScene)
#include "tst_timeline_scene.moc"
