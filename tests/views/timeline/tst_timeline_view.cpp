// The timeline as a widget: mouse, wheel, keys, selection from inside and outside, pictures.
#include "views/theme.h"
#include "views/timeline/range_box.h"
#include "views/timeline/timeline_canvas.h"
#include "views/timeline/timeline_view.h"

#include "views/timeline/timeline_fixture.h"

#include <QDir>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>
#include <random>
#include <set>

using namespace gs;

namespace {

Selection gather(const AnalysisPtr& analysis, size_t index) {
    return {Selection::Kind::Gather, QString::fromStdString(test::launchName(*analysis, index))};
}

/// A shown view that answers its own requests, as the document does.
struct Shown {
    explicit Shown(AnalysisPtr analysis, QSize size = {1440, 380}) : snapshot(std::move(analysis)) {
        QObject::connect(&view, &View::selectionRequested, &view,
                         [this](const Selection& selection) { view.setSelection(selection); });
        view.resize(size);
        view.show();
        view.setSnapshot(snapshot);
        canvas = view.canvas();
        canvas->setFocus();
    }

    void wheel(QPointF at, QPoint delta, Qt::KeyboardModifiers modifiers = Qt::NoModifier) const {
        QWheelEvent event(at, canvas->viewport()->mapToGlobal(at.toPoint()), {}, delta, Qt::NoButton,
                          modifiers, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(canvas->viewport(), &event);
    }
    void key(Qt::Key key) const { QTest::keyClick(canvas, key); }
    QPoint middleOf(const SceneMark& mark) const { return mark.rect.center().toPoint(); }
    const SceneMark& firstMark(size_t lane) const {
        return canvas->scene().marks[canvas->scene().lanes[lane].first_mark];
    }

    AnalysisPtr snapshot;
    TimelineView view;
    TimelineCanvas* canvas = nullptr;
};

} // namespace

class TestTimelineView : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { Theme::apply(false); }
    void init() {
        // The offscreen platform says so for every window; anything else is a fault.
        QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!.*propagateSizeHints)")));
    }

    void fitsAllAtFirst() {
        Shown shown(test::makeAnalysis());
        QVERIFY(shown.canvas->showsAll());
        QVERIFY(!shown.canvas->accessibleName().isEmpty());
        QVERIFY(shown.canvas->accessibleDescription().contains(QStringLiteral("lower bound")));
    }

    void selectionAtLoadShowsItsNeighbourhood() {
        Shown shown(test::makeAnalysis());
        shown.view.setSelection(gather(shown.snapshot, 39));
        const TimeRange range = shown.canvas->range();
        const Transfer& transfer = shown.snapshot->after.timeline->transfers[39];
        QVERIFY(range.begin_ns < transfer.launched_ns && range.end_ns > transfer.end_ns);
        QVERIFY(range.length() < shown.canvas->data()->full().length() / 4);
        // Later selections do not zoom.
        shown.view.setSelection(gather(shown.snapshot, 40));
        QCOMPARE(shown.canvas->range().length(), range.length());

        Shown whole(test::makeAnalysis());
        whole.view.setShowSelectionNeighbourhood(false);
        whole.view.setSelection(gather(whole.snapshot, 39));
        QVERIFY(whole.canvas->showsAll());
    }

    void followsSelectionFromOutside() {
        Shown shown(test::makeAnalysis());
        shown.canvas->setRange({0, 20'000'000});
        shown.canvas->zoomAt(0, 1); // the user looked around
        shown.view.setSelection(gather(shown.snapshot, 180));
        const Transfer& transfer = shown.snapshot->after.timeline->transfers[180];
        QVERIFY(shown.canvas->range().overlaps(transfer.start_ns, transfer.end_ns));
        QCOMPARE(shown.canvas->range().length(), int64_t(20'000'000));
        // What is visible does not move.
        const TimeRange before = shown.canvas->range();
        shown.view.setSelection(gather(shown.snapshot, 181));
        const Transfer& next = shown.snapshot->after.timeline->transfers[181];
        QVERIFY(next.end_ns < before.end_ns);
        QCOMPARE(shown.canvas->range(), before);
    }

    void clickSelects() {
        Shown shown(test::makeAnalysis());
        shown.canvas->setRange({0, 30'000'000});
        QSignalSpy spy(&shown.view, &View::selectionRequested);
        const SceneMark& mark = shown.firstMark(1);
        QTest::mouseClick(shown.canvas->viewport(), Qt::LeftButton, {}, shown.middleOf(mark));
        QCOMPARE(spy.size(), 1);
        QCOMPARE(shown.view.selection(), gather(shown.snapshot, 0));
        const TimeRange before = shown.canvas->range();
        // A compute slice is a node; a click never moves the view.
        const SceneLane compute = shown.canvas->scene().lanes[0];
        for (size_t i = compute.first_mark; i < compute.last_mark; ++i) {
            const SceneMark& slice = shown.canvas->scene().marks[i];
            if (slice.kind != SliceKind::Compute || slice.rect.width() < 20)
                continue;
            QTest::mouseClick(shown.canvas->viewport(), Qt::LeftButton, {}, shown.middleOf(slice));
            break;
        }
        QCOMPARE(shown.view.selection().kind, Selection::Kind::Node);
        QCOMPARE(shown.canvas->range(), before);
    }

    void wheelZoomsAtTheCursorAndBack() {
        Shown shown(test::makeAnalysis());
        std::mt19937 random(1);
        for (int round = 0; round < 100; ++round) {
            shown.canvas->setRange(shown.canvas->data()->full());
            shown.canvas->zoomAt(random() % 1200, 0.3);
            const TimeRange start = shown.canvas->range();
            const QPointF at(130 + random() % 1200, 100);
            const double plot_x = at.x() - shown.canvas->scene().plot.left();
            const int64_t anchor = shown.canvas->axis().timeAt(plot_x);
            shown.wheel(at, {0, 240});
            QVERIFY(shown.canvas->range().length() < start.length());
            QVERIFY(std::abs(shown.canvas->axis().pixelOf(anchor) - plot_x) < 0.1);
            shown.wheel(at, {0, -240});
            QVERIFY(std::abs(shown.canvas->range().begin_ns - start.begin_ns) <= 2);
            QVERIFY(std::abs(shown.canvas->range().end_ns - start.end_ns) <= 2);
        }
    }

    void wheelPansWithShift() {
        Shown shown(test::makeAnalysis());
        shown.canvas->setRange({50'000'000, 90'000'000});
        shown.wheel({400, 100}, {0, -120}, Qt::ShiftModifier);
        QVERIFY(shown.canvas->range().begin_ns > 50'000'000);
        shown.wheel({400, 100}, {120, 0});
        QCOMPARE(shown.canvas->range(), (TimeRange{50'000'000, 90'000'000}));
    }

    void keysZoomAndPan() {
        Shown shown(test::makeAnalysis());
        shown.key(Qt::Key_W);
        shown.key(Qt::Key_W);
        const TimeRange in = shown.canvas->range();
        QVERIFY(std::abs(in.length() * 2 - shown.canvas->data()->full().length()) <= 2);
        shown.key(Qt::Key_D);
        QVERIFY(shown.canvas->range().begin_ns > in.begin_ns);
        shown.key(Qt::Key_A);
        QCOMPARE(shown.canvas->range(), in);
        shown.key(Qt::Key_S);
        shown.key(Qt::Key_0);
        QVERIFY(shown.canvas->showsAll());
        shown.key(Qt::Key_S); // out of all there is
        QVERIFY(shown.canvas->showsAll());
        for (int i = 0; i < 80; ++i)
            shown.key(Qt::Key_W);
        QVERIFY(shown.canvas->axis().nsPerPixel() >= 1 - 1e-9);
        shown.key(Qt::Key_Home);
        QVERIFY(shown.canvas->showsAll());
    }

    void fitTogglesSelectionAndAll() {
        Shown shown(test::makeAnalysis());
        shown.canvas->zoomAt(10, 0.9);
        shown.key(Qt::Key_F); // nothing is selected
        QVERIFY(shown.canvas->showsAll());
        shown.view.setSelection(gather(shown.snapshot, 60));
        shown.key(Qt::Key_F);
        QVERIFY(!shown.canvas->showsAll());
        shown.key(Qt::Key_F);
        QVERIFY(shown.canvas->showsAll());
    }

    void stepsThroughGathersAndSlices() {
        Shown shown(test::makeAnalysis());
        shown.key(Qt::Key_J);
        QCOMPARE(shown.view.selection(), gather(shown.snapshot, 0));
        shown.key(Qt::Key_J);
        QCOMPARE(shown.view.selection(), gather(shown.snapshot, 1));
        shown.key(Qt::Key_K);
        shown.key(Qt::Key_K); // there is none before the first
        QCOMPARE(shown.view.selection(), gather(shown.snapshot, 0));
        shown.key(Qt::Key_Period);
        QCOMPARE(shown.view.selection(), gather(shown.snapshot, 1));
        shown.key(Qt::Key_Comma);
        QCOMPARE(shown.view.selection(), gather(shown.snapshot, 0));
        // Along the compute lane: every step another node.
        const Program& after = shown.snapshot->after;
        NodeId first = after.graph->placeholdersEnd();
        while (after.timeline->end_ns[first] == after.timeline->start_ns[first] ||
               after.graph->node(first).kind != NodeKind::Compute)
            ++first;
        shown.view.setSelection({Selection::Kind::Node, QString::fromUtf8(after.graph->name(first).data())});
        std::set<QString> seen;
        for (int i = 0; i < 20; ++i) {
            shown.key(Qt::Key_Period);
            QCOMPARE(shown.view.selection().kind, Selection::Kind::Node);
            QVERIFY(seen.insert(shown.view.selection().name).second);
        }
    }

    void dragMarksARangeWithTotals() {
        Shown shown(test::makeAnalysis());
        shown.canvas->setRange({0, 30'000'000});
        QWidget* port = shown.canvas->viewport();
        QSignalSpy spy(&shown.view, &View::selectionRequested);
        QTest::mousePress(port, Qt::LeftButton, {}, {300, 120});
        QTest::mouseMove(port, {420, 122});
        QTest::mouseMove(port, {700, 122});
        QTest::mouseRelease(port, Qt::LeftButton, {}, {700, 122});
        QVERIFY(shown.canvas->markedRange());
        QVERIFY(spy.isEmpty());
        auto* box = shown.canvas->findChild<RangeBox*>();
        QVERIFY(box && box->isVisible());
        QVERIFY(port->rect().contains(box->geometry()));
        for (const char* fact : {"compute\t", "exposed\t", "fsdp · 64\t", "overlapped\t", "bytes\t"})
            QVERIFY2(box->plainText().contains(QString::fromUtf8(fact)), qPrintable(box->plainText()));
        // Its ends are ends of slices where one is near.
        const TimeRange exact{shown.canvas->axis().timeAt(300 - shown.canvas->scene().plot.left()),
                              shown.canvas->axis().timeAt(700 - shown.canvas->scene().plot.left())};
        QVERIFY(std::abs(shown.canvas->markedRange()->begin_ns - exact.begin_ns) <=
                shown.canvas->axis().span(6));
        shown.key(Qt::Key_Escape);
        QVERIFY(!shown.canvas->markedRange());
        QVERIFY(!box->isVisible());
    }

    void middleButtonPans() {
        Shown shown(test::makeAnalysis());
        shown.canvas->setRange({50'000'000, 90'000'000});
        QWidget* port = shown.canvas->viewport();
        QTest::mousePress(port, Qt::MiddleButton, {}, {700, 120});
        QTest::mouseMove(port, {600, 120});
        QTest::mouseRelease(port, Qt::MiddleButton, {}, {600, 120});
        QVERIFY(std::abs(shown.canvas->range().begin_ns - 50'000'000 - shown.canvas->axis().span(100)) <= 1);
    }

    void scrollBars() {
        Shown fitting(test::makeAnalysis());
        for (int height = 300; height < 700; ++height) { // lanes stretch to what is there, and no further
            fitting.view.resize(1440, height);
            if (height > 340)
                QCOMPARE(fitting.canvas->verticalScrollBar()->maximum(), 0);
        }
        test::TimelineShape shape;
        shape.groups = 20;
        Shown shown(test::makeAnalysis(shape));
        QScrollBar* lanes = shown.canvas->verticalScrollBar();
        QVERIFY(lanes->maximum() > 0);
        const double top = shown.canvas->scene().lanes.front().rect.top();
        lanes->setValue(lanes->maximum());
        const SceneLane last = shown.canvas->scene().lanes.back();
        QCOMPARE(last.band, size_t(1));
        QVERIFY(last.rect.bottom() <= shown.canvas->scene().plot.bottom());
        QVERIFY(shown.canvas->scene().lanes.front().rect.top() <= top);
        // A selection whose lane is out of sight scrolls to it.
        lanes->setValue(0);
        shown.view.setSelection(gather(shown.snapshot, 7 * 19));
        QVERIFY(lanes->value() > 0);

        QScrollBar* time = shown.canvas->horizontalScrollBar();
        shown.canvas->setRange({50'000'000, 90'000'000});
        time->setValue(time->maximum());
        QVERIFY(std::abs(shown.canvas->range().end_ns - shown.canvas->data()->end_ns) <= 2);
        time->setValue(0);
        QCOMPARE(shown.canvas->range(), (TimeRange{0, 40'000'000}));
    }

    /// Another result for the same graph keeps what the user looks at; another graph does not.
    void newSnapshotKeepsTheRange() {
        Shown shown(test::makeAnalysis());
        shown.canvas->setRange({50'000'000, 90'000'000});
        shown.view.setSnapshot(test::makeAnalysis());
        QCOMPARE(shown.canvas->range(), (TimeRange{50'000'000, 90'000'000}));
        auto other = std::make_shared<Analysis>(*test::makeAnalysis());
        other->request.graph_file = "another";
        shown.view.setSnapshot(other);
        QVERIFY(shown.canvas->showsAll());
        QCOMPARE(shown.canvas->data()->snapshot, shown.view.snapshot());
        shown.view.setSnapshot(nullptr);
        for (const Qt::Key key : {Qt::Key_J, Qt::Key_Period, Qt::Key_F, Qt::Key_W, Qt::Key_C, Qt::Key_Escape})
            shown.key(key);
        QTest::mouseClick(shown.canvas->viewport(), Qt::LeftButton, {}, {400, 100});
        QVERIFY(!shown.view.grab().isNull());
    }

    void criticalPathToggles() {
        Shown shown(test::makeAnalysis());
        shown.key(Qt::Key_C);
        QVERIFY(shown.canvas->scene().show_path);
        const auto& marks = shown.canvas->scene().marks;
        QVERIFY(std::any_of(marks.begin(), marks.end(), [](const SceneMark& mark) { return mark.on_path; }));
        shown.key(Qt::Key_C);
        QVERIFY(!shown.canvas->scene().show_path);
    }

    /// Not blank, and with colours, in both themes; saved for people where GATHERSCOPE_PICTURES names a
    /// folder.
    void pictures() {
        const QString folder = qEnvironmentVariable("GATHERSCOPE_PICTURES");
        for (const bool dark : {false, true}) {
            Theme::apply(dark);
            Shown shown(test::makeAnalysis());
            const auto grab = [&](const QString& name) {
                const QImage image = shown.view.grab().toImage();
                std::set<QRgb> colours;
                for (int y = 0; y < image.height(); y += 3) {
                    for (int x = 0; x < image.width(); x += 3)
                        colours.insert(image.pixel(x, y));
                }
                if (!folder.isEmpty())
                    image.save(QDir(folder).filePath(name + (dark ? "-dark.png" : "-light.png")));
                return colours.size();
            };
            QVERIFY(grab("timeline-all") > 20);
            shown.view.setSelection(gather(shown.snapshot, 39));
            QVERIFY(grab("timeline-selection") > 20);
            QTest::mouseMove(shown.canvas->viewport(), {830, 60});
            shown.canvas->setMarkedRange(TimeRange{62'000'000, 66'000'000});
            QVERIFY(grab("timeline-range") > 20);
            shown.canvas->setMarkedRange(std::nullopt);
            shown.canvas->setCriticalPath(true);
            QVERIFY(grab("timeline-path") > 20);
        }
        Theme::apply(false);
    }
};

QTEST_MAIN(TestTimelineView)
#include "tst_timeline_view.moc"
