// The step-through: what it says and draws for a step, and everything a person can do with it.
#include "step_test.h"
#include "views/step/step_canvas.h"
#include "views/step/step_controls.h"
#include "views/step/step_text.h"
#include "views/step/step_view.h"

#include "support/gather_program.h"
#include "support/hostile_analysis.h"
#include "support/random_graph.h"
#include "support/test_data.h"

#include <QComboBox>
#include <QLabel>
#include <QSlider>

using namespace gs;

namespace {

AnalysisPtr withoutGathers() {
    auto analysis = std::make_shared<Analysis>(*test::sampleAnalysis());
    test::Program program;
    program.attention();
    gs::Program& after = analysis->after;
    after.graph = program.finish();
    after.collectives = std::make_shared<CollectiveTable>(*after.graph);
    after.costs =
        test::makeCosts(*after.graph, *after.collectives, [](const Graph&, NodeId) { return 1000; });
    after.schedule = std::make_shared<Schedule>();
    return analysis;
}

} // namespace

class TestStepView : public QObject {
    Q_OBJECT
private slots:
    void init() { Theme::apply(false); }
    void emptyTexts();
    void hiddenViewWaits();
    void keys();
    void buttonsAndSlider();
    void clicks();
    void selectionIsShared();
    void keepsItsGather();
    void sentences();
    void play();
    void nodeByNode();
    void claimsTileTheProgram();
    void needAndWindowOnOneScale();
    void everyLaunchCanBeHit();
    void zoom();
    void otherScheduler();
    void handEdits();
    void longNames();

private:
    test::IsolatedSettings settings_;
};

void TestStepView::emptyTexts() {
    StepView view;
    test::showAt(view, 900, 400);
    QVERIFY(view.data().message.startsWith("No graph is open."));
    QVERIFY(!view.controls()->isVisible());
    for (const Qt::Key key :
         {Qt::Key_Space, Qt::Key_Right, Qt::Key_Left, Qt::Key_Home, Qt::Key_End, Qt::Key_Plus})
        QTest::keyClick(view.canvas(), key);
    QTest::mouseClick(view.canvas(), Qt::LeftButton, {}, QPoint(300, 100));
    QVERIFY(!view.playing());
    view.setSnapshot(withoutGathers());
    QVERIFY(view.data().message.contains("no weight gather"));
    QCOMPARE(view.canvas()->scene().labels.size(), size_t{1});
    view.setSnapshot(test::sampleAnalysis());
    QVERIFY(view.controls()->isVisible());
    view.setSnapshot(nullptr);
    QVERIFY(view.data().message.startsWith("No graph is open."));
}

void TestStepView::hiddenViewWaits() {
    StepView view;
    view.setSnapshot(test::sampleAnalysis());
    QCOMPARE(view.data().size(), size_t{0}); // nothing is prepared for what nobody sees
    view.setSelection(view.selection());
    test::showAt(view, 900, 400);
    QCOMPARE(view.data().size(), size_t{21});
}

void TestStepView::keys() {
    test::Shown shown;
    StepView& view = shown.view;
    QCOMPARE(view.step(), 0);
    QTest::keyClick(view.canvas(), Qt::Key_Right);
    QTest::keyClick(view.canvas(), Qt::Key_Right);
    QCOMPARE(view.step(), 2);
    QTest::keyClick(view.canvas(), Qt::Key_Left);
    QCOMPARE(view.step(), 1);
    QTest::keyClick(view.canvas(), Qt::Key_End);
    QCOMPARE(view.step(), 20);
    QTest::keyClick(view.canvas(), Qt::Key_Right); // no further
    QCOMPARE(view.step(), 20);
    QTest::keyClick(view.canvas(), Qt::Key_Home);
    QCOMPARE(view.step(), 0);
    QCOMPARE(shown.asked.selections.back(), view.data().selectionFor(0));
    QTest::keyClick(view.canvas(), Qt::Key_Space);
    QVERIFY(view.playing());
    QTest::keyClick(view.canvas(), Qt::Key_Space);
    QVERIFY(!view.playing());
    QCOMPARE(view.fill(), 1.0);
}

void TestStepView::buttonsAndSlider() {
    test::Shown shown;
    StepView& view = shown.view;
    const auto press = [&](StepButton::Sign sign) {
        QTest::mouseClick(view.controls()->button(sign), Qt::LeftButton);
    };
    QVERIFY(!view.controls()->button(StepButton::Sign::Back)->isEnabled());
    press(StepButton::Sign::Last);
    QCOMPARE(view.step(), 20);
    QVERIFY(!view.controls()->button(StepButton::Sign::Forward)->isEnabled());
    press(StepButton::Sign::Back);
    QCOMPARE(view.step(), 19);
    press(StepButton::Sign::Forward);
    press(StepButton::Sign::First);
    QCOMPARE(view.step(), 0);
    press(StepButton::Sign::Play);
    QVERIFY(view.playing());
    press(StepButton::Sign::Play);
    QVERIFY(!view.playing());
    QSlider* slider = view.controls()->slider();
    QCOMPARE(slider->maximum(), 20);
    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_Right);
    QCOMPARE(view.step(), 1);
    QTest::keyClick(slider, Qt::Key_PageUp);
    QCOMPARE(view.step(), 11);
    QTest::mouseClick(slider, Qt::LeftButton, {}, QPoint(slider->width() - 2, slider->height() / 2));
    QVERIFY(view.step() > 11);
}

void TestStepView::clicks() {
    test::Shown shown;
    StepView& view = shown.view;
    view.goTo(5);
    const StepScene& scene = view.canvas()->scene();
    // A claim leads to the gather whose it is.
    const auto claim = std::find_if(scene.rects.begin(), scene.rects.end(), [](const StepRect& rect) {
        return rect.role == SweepMark::Claim && rect.rect.width() > 10;
    });
    QVERIFY(claim != scene.rects.end());
    const int of = claim->step;
    QTest::mouseClick(view.canvas(), Qt::LeftButton, {}, claim->rect.center().toPoint());
    QCOMPARE(view.step(), of);
    // The overview leads to the launch that is nearest.
    const QRectF all = view.canvas()->scene().overview;
    QTest::mouseClick(view.canvas(), Qt::LeftButton, {}, QPoint(int(all.left()) + 1, int(all.center().y())));
    QVERIFY(view.step() > 15);
    QTest::mouseClick(view.canvas(), Qt::LeftButton, {}, QPoint(int(all.right()) - 1, int(all.center().y())));
    QVERIFY(view.step() < 4);
    // A drag is no click.
    const int here = view.step();
    QTest::mousePress(view.canvas(), Qt::LeftButton, {}, QPoint(500, int(scene.compute.center().y())));
    QTest::mouseMove(view.canvas(), QPoint(560, int(scene.compute.center().y())));
    QTest::mouseRelease(view.canvas(), Qt::LeftButton, {}, QPoint(560, int(scene.compute.center().y())));
    QCOMPARE(view.step(), here);
}

void TestStepView::selectionIsShared() {
    test::Shown shown;
    StepView& view = shown.view;
    const Graph& graph = *shown.analysis->after.graph;
    const NodeId launch = test::launchOf(*shown.analysis, "layers.1.feed_forward.w3.weight");
    view.setPlaying(true);
    view.setSelection({Selection::Kind::Gather, nodeName(graph, launch)});
    QVERIFY(!view.playing()); // whoever chooses wants to look
    QCOMPARE(view.data().step(size_t(view.step())).launch, launch);
    // Its wait stands for it; what has no step changes nothing.
    const int here = view.step();
    view.goTo(0);
    const int32_t index = shown.analysis->after.collectives->indexOf(launch);
    const NodeId wait = (*shown.analysis->after.collectives)[size_t(index)].waits.front();
    view.setSelection({Selection::Kind::Node, nodeName(graph, wait)});
    QCOMPARE(view.step(), here);
    for (const char* other : {"unwaited_gather", "mm", "gone"})
        view.setSelection({Selection::Kind::Node, other});
    QCOMPARE(view.step(), here);
    const size_t before = shown.asked.selections.size();
    view.setSelection(view.data().selectionFor(3));
    QCOMPARE(shown.asked.selections.size(), before); // showing never asks
}

void TestStepView::keepsItsGather() {
    test::Shown shown;
    StepView& view = shown.view;
    view.goTo(7);
    const Selection gather = view.data().selectionFor(7);
    test::SampleOptions options;
    QVERIFY(options.settings.set(Setting::Contention, "2.5").ok());
    view.setSnapshot(test::sampleAnalysis(options));
    QCOMPARE(view.data().selectionFor(size_t(view.step())), gather);
    QVERIFY(view.sentence().contains(QStringLiteral("× 2.5")));
}

void TestStepView::sentences() {
    test::Shown shown;
    const StepData& data = shown.view.data();
    int carried = 0;
    for (size_t i = 0; i < data.size(); ++i) {
        const QString text = stepSentence(data, i, 1);
        const Decision& decision = data.decision(i);
        QVERIFY(
            text.startsWith(stepGather(data, i) + QStringLiteral(" needs ") + stepTime(decision.need_ns)));
        QVERIFY(text.contains(QStringLiteral(" × 1.5 + 5.0 µs.")));
        QVERIFY(text.contains(placeText(data.step(i).target)));
        QCOMPARE(text.contains(QStringLiteral("carried over from")), decision.carry_in_ns > 0);
        QCOMPARE(text.contains(QStringLiteral("finds only")) || text.contains(QStringLiteral("no compute")),
                 decision.verdict == Verdict::ComputeLimited);
        carried += decision.carry_in_ns > 0 ? 1 : 0;
        if (data.step(i).last_walked > data.step(i).first_walked) {
            QVERIFY(stepSentence(data, i, 0.5).contains(QStringLiteral("so far")));
            QVERIFY(text.contains(stepTime(decision.window_ns)));
        }
    }
    QVERIFY(carried > 0);
    test::SampleOptions options;
    QVERIFY(options.settings.set(Setting::Carry, "false").ok());
    shown.view.setSnapshot(test::sampleAnalysis(options));
    QVERIFY(stepSentence(shown.view.data(), 0, 1).contains(QStringLiteral("lost: carry is off")));
}

void TestStepView::play() {
    test::Shown shown;
    StepView& view = shown.view;
    view.controls()->speedBox()->setCurrentIndex(view.controls()->speedBox()->count() - 1);
    QCOMPARE(view.controls()->speed(), 8.0);
    view.setPlaying(true);
    QCOMPARE(view.fill(), 0.0);
    QTRY_VERIFY(view.fill() > 0);
    QTRY_COMPARE(view.step(), 2);
    QVERIFY(view.playing());
    QCOMPARE(shown.asked.selections.back(), view.data().selectionFor(2)); // it takes the other views along
    QTest::keyClick(view.canvas(), Qt::Key_Left);
    QVERIFY(!view.playing());
    QCOMPARE(view.step(), 1);
    view.goTo(20);
    view.setPlaying(true); // from the end it begins anew
    QCOMPARE(view.step(), 0);
    view.setPlaying(false);
    view.goTo(19);
    view.setPlaying(true);
    QTRY_COMPARE(view.step(), 20);
    QTRY_VERIFY(!view.playing()); // and stops there
    QCOMPARE(view.fill(), 1.0);
    view.setPlaying(true);
    view.setSnapshot(nullptr);
    QVERIFY(!view.playing());
}

/// Shift and arrows: every sum of the walk is shown once, forwards and backwards.
void TestStepView::nodeByNode() {
    test::Shown shown;
    StepView& view = shown.view;
    const StepData& data = view.data();
    std::vector<std::pair<int, double>> seen;
    size_t expected = 0;
    for (size_t i = 1; i < 6; ++i)
        expected +=
            std::max<size_t>(1, data.step(i).last_walked - data.step(i).first_walked +
                                    (data.at(data.step(i).start) > data.at(data.step(i).end) ? 1 : 0));
    while (view.step() < 6) {
        QTest::keyClick(view.canvas(), Qt::Key_Right, Qt::ShiftModifier);
        if (view.step() < 6)
            seen.push_back({view.step(), data.found(size_t(view.step()), view.fill())});
    }
    QCOMPARE(seen.size(), expected);
    for (size_t i = 1; i < 6; ++i) {
        const double last = data.decision(i).window_ns;
        QVERIFY(std::find(seen.begin(), seen.end(), std::pair(int(i), last)) != seen.end());
    }
    std::vector<std::pair<int, double>> back;
    while (view.step() > 0) {
        QTest::keyClick(view.canvas(), Qt::Key_Left, Qt::ShiftModifier);
        if (view.step() > 0 && view.step() < 6)
            back.push_back({view.step(), data.found(size_t(view.step()), view.fill())});
    }
    std::reverse(back.begin(), back.end());
    QVERIFY(back == seen);
}

/// With carry on, what hidden gathers use up are stretches as long as their needs that never overlap.
void TestStepView::claimsTileTheProgram() {
    test::Shown shown;
    const StepData& data = shown.view.data();
    for (size_t i = 0; i < data.size(); ++i) {
        const TimeRange claim = data.claim(i);
        const Decision& decision = data.decision(i);
        if (decision.verdict == Verdict::Hidden)
            QVERIFY(std::abs(double(claim.length()) - decision.need_ns) <= 1);
        else
            QVERIFY(std::abs(double(claim.length()) - decision.window_ns) <= 1);
        if (i > 0)
            QVERIFY(claim.end_ns <= data.claim(i - 1).begin_ns + 1);
    }
}

void TestStepView::needAndWindowOnOneScale() {
    test::Shown shown;
    for (int step = 0; step < int(shown.view.data().size()); ++step) {
        shown.view.goTo(step);
        const Decision& decision = shown.view.data().decision(size_t(step));
        const StepScene& scene = shown.view.canvas()->scene();
        double window = 0, need = 0;
        for (const StepRect& rect : scene.rects) {
            QVERIFY(rect.rect.left() >= -1 && rect.rect.right() <= shown.view.canvas()->width());
            window += rect.role == SweepMark::Window ? rect.rect.width() : 0;
            const bool part = rect.role == SweepMark::Comm || rect.role == SweepMark::Contention ||
                              rect.role == SweepMark::Slack;
            need += part ? rect.rect.width() : 0;
        }
        const double ns = stepAxis(shown.view.canvas()->request()).nsPerPixel();
        QVERIFY(std::abs(window * ns - decision.window_ns) <= 2 * ns);
        if (decision.verdict == Verdict::Hidden)
            QVERIFY(std::abs(need * ns - decision.need_ns) <= 2 * ns);
    }
}

void TestStepView::everyLaunchCanBeHit() {
    test::Shown shown;
    shown.view.goTo(4);
    const StepScene& scene = shown.view.canvas()->scene();
    QVERIFY(scene.marks.size() > 3);
    for (const StepMark& mark : scene.marks) {
        const int hit = scene.stepAt(mark.tip + QPointF(0, -5));
        QVERIFY(hit >= 0);
        const auto other = std::find_if(scene.marks.begin(), scene.marks.end(),
                                        [&](const StepMark& item) { return item.step == hit; });
        QVERIFY(std::abs(other->tip.x() - mark.tip.x()) < 8 || hit == mark.step);
    }
}

void TestStepView::zoom() {
    test::Shown shown;
    StepCanvas& canvas = *shown.view.canvas();
    shown.view.goTo(4);
    const TimeRange page = canvas.range();
    canvas.zoomAt(200, 0.5);
    QCOMPARE(canvas.range().length(), page.length() / 2);
    canvas.zoomAt(200, 2);
    QVERIFY(std::abs(canvas.range().begin_ns - page.begin_ns) <= 2);
    canvas.pan(5000);
    canvas.pan(-5000000);
    QCOMPARE(canvas.range().begin_ns, shown.view.data().reach().begin_ns);
    QTest::keyClick(&canvas, Qt::Key_F);
    QVERIFY(canvas.fitted());
    QCOMPARE(canvas.range(), page);
    QTest::keyClick(&canvas, Qt::Key_Plus);
    QVERIFY(canvas.range().length() < page.length());
    QTest::mouseDClick(&canvas, Qt::LeftButton, {}, QPoint(400, 150));
    QVERIFY(canvas.fitted());
    // A step outside the zoom brings its page back.
    canvas.zoomAt(200, 0.05);
    shown.view.goTo(20);
    QVERIFY(canvas.fitted());
}

void TestStepView::otherScheduler() {
    test::Shown shown;
    test::SampleOptions options;
    options.scheduler = "just-in-time";
    shown.view.setSnapshot(test::sampleAnalysis(options));
    QVERIFY(shown.view.note().contains("just-in-time"));
    QCOMPARE(shown.view.data().size(), size_t{21});
    auto* note = shown.view.findChild<QLabel*>(QStringLiteral("stepNote"));
    QVERIFY(note && note->isVisible());
    emit note->linkActivated(QStringLiteral("use"));
    QCOMPARE(shown.asked.settings.size(), size_t{1});
    QCOMPARE(shown.asked.settings[0].second, QStringLiteral("latest-safe-launch"));
    shown.view.setSnapshot(test::sampleAnalysis());
    QVERIFY(!note->isVisible());
}

/// What is placed by hand is no candidate: the other gathers' steps are those of the schedule shown.
void TestStepView::handEdits() {
    AnalysisRequest request;
    request.graph_file = GATHERSCOPE_SOURCE_DIR "/samples/mlp4_fsdp8_joint.json.gz";
    Analyser analyser;
    const AnalysisPtr plain = analyser.analyse(request, {}).value();
    Edit edit;
    edit.kind = Edit::Kind::Forbid;
    edit.node = std::string(plain->after.graph->name(plain->after.schedule->decisions[2].launch));
    request.edits = {edit};
    StepView view;
    view.setSnapshot(analyser.analyse(request, {}).value());
    test::showAt(view, 900, 400);
    QVERIFY(view.note().contains("placed by hand"));
    QVERIFY(!view.note().contains("elsewhere"));
    QCOMPARE(view.data().stepOf({Selection::Kind::Gather, QString::fromStdString(edit.node)}), -1);
}

/// Laid out in full, names of 100,000 characters take minutes and gigabytes.
void TestStepView::longNames() {
    QCOMPARE(shownText(QString(200, 'a')), QString(200, 'a'));
    QCOMPARE(shownText(QString(100'000, 'a')).size(), 201);
    QVERIFY(shownText(QString(199, 'a') + QStringLiteral("🜂🜂")).isValidUtf16());
    auto analysis = std::make_shared<Analysis>(*test::hostileAnalysis());
    analysis->request.edits.clear();
    StepView view;
    view.setSnapshot(analysis);
    test::showAt(view, 1000, 420);
    bool cut = false;
    for (int i = 0; i < int(test::hostileLabels().size()); ++i) {
        view.goTo(i);
        for (const QLabel* label : view.findChildren<QLabel*>()) {
            QVERIFY(label->text().size() < 2000);
            cut = cut || label->text().contains(QString(200, 'x') + QChar(0x2026));
        }
        QVERIFY(view.minimumSizeHint().width() <= 1000);
    }
    QVERIFY(cut);
}

QTEST_MAIN(TestStepView)
#include "tst_step_view.moc"
