// Moving launches by hand on the timeline: real presses, moves and releases; what is asked for, what is
// refused. GATHERSCOPE_PICTURES=DIR keeps pictures for a person to look at.
#include "views/theme.h"
#include "views/timeline/hand_edits.h"
#include "views/timeline/launch_menu.h"
#include "views/timeline/timeline_canvas.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QDir>
#include <QMenu>
#include <QRegularExpression>
#include <QTest>
#include <QTimer>

using namespace gs;

namespace {

/// A sample of the repository: it is always at hand.
AnalysisRequest sample(const std::string& name, const std::string& costs) {
    const std::string folder = std::string(GATHERSCOPE_SOURCE_DIR) + "/samples/" + name;
    AnalysisRequest request;
    request.graph_file = folder + ".json.gz";
    request.cost_files = {folder + "." + costs + ".json"};
    return request;
}

/// A shown view whose edits are analysed as the document does it.
struct Shown {
    Shown() : Shown(sample("mlp4_fsdp8_joint", "roofline")) {}
    explicit Shown(AnalysisRequest request, QSize size = {1400, 420}) {
        QObject::connect(&view, &View::selectionRequested, &view,
                         [this](const Selection& selection) { view.setSelection(selection); });
        QObject::connect(&view, &View::editRequested, &view,
                         [this](const Edit& edit) { edits.push_back(edit); });
        QObject::connect(
            &view, &View::requestRequested, &view,
            [this](const AnalysisRequest& wanted, const QString&) { requests.push_back(wanted); });
        QObject::connect(&view, &View::editRemovalRequested, &view,
                         [this](const QString& node) { removals.push_back(node); });
        view.setShowSelectionNeighbourhood(false);
        view.resize(size);
        view.show();
        show(std::move(request));
        canvas = view.canvas();
        canvas->setFocus();
        QTest::qWait(1);
    }

    void show(AnalysisRequest request) {
        snapshot = analyser.analyse(request, {}).value();
        view.setSnapshot(snapshot);
    }
    void applyLast() {
        AnalysisRequest request = snapshot->request;
        request.edits = withEdit(request.edits, edits.back());
        show(std::move(request));
    }
    const Graph& graph() const { return *snapshot->after.graph; }
    NodeId launch(size_t gather) const { return snapshot->after.schedule->decisions[gather].launch; }
    Selection gather(NodeId node) const {
        return {Selection::Kind::Gather, QString::fromStdString(std::string(graph().name(node)))};
    }
    void select(NodeId node) { view.setSelection(gather(node)); }
    QPoint markOf(NodeId node) {
        select(node); // so that it is on top
        for (const SceneLaunch& item : canvas->scene().launches) {
            if (item.launch == node)
                return (item.tip + QPointF(0, -3)).toPoint();
        }
        return {};
    }
    int pixelOf(int64_t time) const {
        return static_cast<int>(std::lround(canvas->scene().plot.left() + canvas->axis().pixelOf(time)));
    }
    void press(QPoint at) const { QTest::mousePress(canvas->viewport(), Qt::LeftButton, {}, at); }
    void move(QPoint at) const { QTest::mouseMove(canvas->viewport(), at); }
    void release(QPoint at) const { QTest::mouseRelease(canvas->viewport(), Qt::LeftButton, {}, at); }

    Analyser analyser;
    AnalysisPtr snapshot;
    TimelineView view;
    TimelineCanvas* canvas = nullptr;
    std::vector<Edit> edits;
    std::vector<AnalysisRequest> requests;
    QStringList removals;
};

QAction* find(const QMenu& menu, const QString& text) {
    for (QAction* action : menu.actions()) {
        if (action->text().startsWith(text))
            return action;
    }
    return nullptr;
}

uint32_t positionOf(const Analysis& analysis, NodeId node) {
    return positionsOf(analysis.after.schedule->order)[node];
}

} // namespace

class TestLaunchDrag : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { Theme::apply(false); }
    void init() {
        QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support)")));
    }

    void marksCanBeHit() {
        Shown shown;
        const TimelineScene& scene = shown.canvas->scene();
        QVERIFY(scene.launches.size() > 4);
        for (const SceneLaunch& item : scene.launches) {
            const SceneLaunch* hit = scene.launchAt(item.tip + QPointF(0, -3));
            QVERIFY(hit && std::abs(hit->tip.x() - item.tip.x()) < 1);
        }
        QVERIFY(!scene.launchAt(scene.plot.topLeft()));
    }

    void clickSelects() {
        Shown shown;
        const QPoint at = shown.markOf(shown.launch(7));
        shown.select(shown.launch(0));
        QTest::mouseClick(shown.canvas->viewport(), Qt::LeftButton, {}, at);
        QCOMPARE(shown.view.selection(), shown.gather(shown.launch(7)));
        QVERIFY(shown.edits.empty());
    }

    void dropMoves() {
        Shown shown;
        const NodeId launch = shown.launch(4);
        const LaunchDrag model(shown.snapshot, launch);
        const TimeRange legal = model.legalTimes();
        const int64_t goal = legal.end_ns - legal.length() / 3;
        const QPoint from = shown.markOf(launch);
        const QPoint to(shown.pixelOf(goal), from.y());
        shown.press(from);
        shown.move((from + to) / 2);
        shown.move(to);
        QVERIFY(shown.canvas->launchOverlay() && shown.canvas->launchOverlay()->allowed);
        QVERIFY(shown.canvas->launchOverlay()->text.startsWith("in front of"));
        QVERIFY(shown.edits.empty()); // nothing before the drop
        shown.release(to);
        QCOMPARE(shown.edits.size(), size_t{1});
        QVERIFY(!shown.canvas->launchOverlay());
        const Edit edit = shown.edits.back();
        QVERIFY(edit.kind == Edit::Kind::Move && edit.node == shown.graph().name(launch));
        shown.applyLast();
        QCOMPARE(shown.snapshot->after.schedule->diagnostics.all().size(), size_t{0});
        const NodeId anchor = shown.graph().find(edit.anchor).value();
        QVERIFY(positionOf(*shown.snapshot, launch) < positionOf(*shown.snapshot, anchor));
        // Its mark now says who did it.
        shown.markOf(launch);
        QVERIFY(shown.canvas->scene().launches.back().by_hand == Edit::Kind::Move);
        QVERIFY(shown.canvas->scene().launches.back().selected);
    }

    void refusedDropChangesNothing() {
        Shown shown;
        const AnalysisPtr before = shown.snapshot;
        const NodeId launch = shown.launch(2);
        const LaunchDrag model(shown.snapshot, launch);
        const QPoint from = shown.markOf(launch);
        const QPoint to(shown.pixelOf(shown.snapshot->after.timeline->step_ns) - 3, from.y());
        shown.press(from);
        shown.move((from + to) / 2);
        shown.move(to);
        const LaunchOverlay overlay = shown.canvas->launchOverlay().value();
        QVERIFY(!overlay.allowed);
        const QString name = QString::fromStdString(std::string(shown.graph().name(launch)));
        QVERIFY2(overlay.text.contains(QStringLiteral("would cross the data edge ")),
                 qPrintable(overlay.text));
        QVERIFY(overlay.text.contains(QStringLiteral("→ wait_tensor")));
        QVERIFY(overlay.x > overlay.legal.right());
        shown.release(to);
        QVERIFY(shown.edits.empty() && shown.requests.empty());
        QCOMPARE(shown.view.snapshot(), before);
        QVERIFY(shown.canvas->launchOverlay()); // it stays to be read
        QTest::keyClick(shown.canvas, Qt::Key_Escape);
        QVERIFY(!shown.canvas->launchOverlay());
    }

    void escapeCancels() {
        Shown shown;
        const QPoint from = shown.markOf(shown.launch(4));
        const QPoint to(from.x() - 60, from.y());
        shown.press(from);
        shown.move(from - QPoint(30, 0));
        shown.move(to);
        QVERIFY(shown.canvas->launchOverlay());
        QTest::keyClick(shown.canvas, Qt::Key_Escape);
        QVERIFY(!shown.canvas->launchOverlay());
        shown.move(to + QPoint(5, 0));
        QVERIFY(!shown.canvas->launchOverlay());
        shown.release(to);
        QVERIFY(shown.edits.empty());
        QVERIFY(!shown.canvas->markedRange()); // and no range was dragged either
    }

    void backToItsPlaceIsNoEdit() {
        Shown shown;
        const QPoint from = shown.markOf(shown.launch(4));
        shown.press(from);
        shown.move(from + QPoint(40, 0));
        shown.move(from);
        shown.release(from);
        QVERIFY(shown.edits.empty());
    }

    void newSnapshotEndsADrag() {
        Shown shown;
        const QPoint from = shown.markOf(shown.launch(4));
        shown.press(from);
        shown.move(from + QPoint(40, 0));
        shown.view.setSnapshot(nullptr);
        QVERIFY(!shown.canvas->launchOverlay());
        shown.move(from + QPoint(50, 0));
        shown.release(from + QPoint(50, 0));
        QVERIFY(shown.edits.empty());
    }

    void keysMoveAndPin() {
        Shown shown;
        const NodeId launch = shown.launch(4);
        shown.select(launch);
        const int64_t before = shown.snapshot->after.timeline->start_ns[launch];
        QTest::keyClick(shown.canvas, Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(shown.edits.size(), size_t{1});
        shown.applyLast();
        shown.select(launch);
        const int64_t right = shown.snapshot->after.timeline->start_ns[launch];
        QVERIFY(right > before);
        QTest::keyClick(shown.canvas, Qt::Key_Left, Qt::AltModifier);
        shown.applyLast();
        QVERIFY(shown.snapshot->after.timeline->start_ns[launch] < right);
        QTest::keyClick(shown.canvas, Qt::Key_P);
        QVERIFY(shown.edits.back().kind == Edit::Kind::Pin);
        shown.applyLast();
        QCOMPARE(shown.snapshot->request.edits.size(), size_t{1});
        QCOMPARE(shown.snapshot->after.schedule->diagnostics.all().size(), size_t{0});
        // Without end to the right: refused at its wait, and the bubble says so.
        size_t made = shown.edits.size();
        for (int i = 0; i < 60 && !shown.canvas->launchOverlay(); ++i) {
            QTest::keyClick(shown.canvas, Qt::Key_Right, Qt::AltModifier);
            if (shown.edits.size() > std::exchange(made, shown.edits.size()))
                shown.applyLast();
        }
        QVERIFY(shown.canvas->launchOverlay() && !shown.canvas->launchOverlay()->allowed);
        QTest::keyClick(shown.canvas, Qt::Key_Delete);
        QCOMPARE(shown.requests.size(), size_t{1});
        QVERIFY(shown.requests.back().edits.empty());
    }

    void menuForALaunch() {
        Shown shown;
        const NodeId launch = shown.launch(3);
        QMenu menu;
        addLaunchActions(menu, shown.view, launch);
        QVERIFY(!find(menu, "Remove manual change")->isEnabled());
        QVERIFY(!find(menu, "Clear all")->isEnabled());
        QVERIFY(!find(menu, "Take out"));
        find(menu, "Pin here")->trigger();
        QVERIFY(shown.edits.back().kind == Edit::Kind::Pin);
        find(menu, "Forbid moving")->trigger();
        QVERIFY(shown.edits.back().kind == Edit::Kind::Forbid);
        shown.applyLast();
        QCOMPARE(shown.snapshot->after.schedule->diagnostics.all().size(), size_t{0});
        QCOMPARE(shown.snapshot->decisionFor(launch)->target, shown.snapshot->decisionFor(launch)->cur);
        QMenu again;
        addLaunchActions(again, shown.view, launch);
        QVERIFY(!find(again, "Forbid moving")->isEnabled());
        find(again, "Remove manual change")->trigger();
        QVERIFY(shown.requests.back().edits.empty());
        find(again, "Clear all")->trigger();
        QCOMPARE(shown.removals, QStringList{QString()});
    }

    void bucketsFromTheMenu() {
        Shown shown;
        QMenu menu;
        addLaunchActions(menu, shown.view, shown.launch(3));
        const size_t gathers = shown.snapshot->after.schedule->decisions.size();
        QVERIFY(find(menu, "Bucket with the next gather: "));
        find(menu, "Bucket with the previous gather")->trigger();
        QCOMPARE(shown.edits.back().members.size(), size_t{2});
        const std::string member = shown.edits.back().members[0];
        shown.applyLast();
        QCOMPARE(shown.snapshot->after.schedule->decisions.size(), gathers - 1);
        const NodeId bucket = [&] {
            for (const Decision& decision : shown.snapshot->after.schedule->decisions) {
                if (bucketMembers(*shown.snapshot, decision.launch).size() == 2)
                    return decision.launch;
            }
            return kNoNode;
        }();
        QVERIFY(bucket != kNoNode);
        QVERIFY(editedLaunches(*shown.snapshot)[bucket] == Edit::Kind::Bucket);
        QMenu again;
        addLaunchActions(again, shown.view, bucket);
        QMenu* out = find(again, "Take out of the bucket")->menu();
        QCOMPARE(out->actions().size(), 2);
        // One more joins the two.
        find(again, "Bucket with the next gather")->trigger();
        QCOMPARE(shown.edits.back().members.size(), size_t{3});
        out->actions().front()->trigger();
        QCOMPARE(shown.edits.back().members, std::vector<std::string>{member});
        shown.applyLast();
        QCOMPARE(shown.snapshot->after.schedule->decisions.size(), gathers);
        // The first gather has none before it.
        QMenu first;
        addLaunchActions(first, shown.view, shown.launch(0));
        QVERIFY(!find(first, "Bucket with the previous gather")->isEnabled());
    }

    void contextMenuOpensForWhatIsUnderTheCursor() {
        Shown shown;
        const NodeId launch = shown.launch(7); // it stands alone
        const QPoint at = shown.markOf(launch);
        shown.select(shown.launch(0));
        bool seen = false;
        QTimer::singleShot(50, &shown.view, [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            seen = menu && find(*menu, "Pin here") && find(*menu, "Show everything");
            if (menu)
                menu->close();
        });
        QContextMenuEvent event(QContextMenuEvent::Mouse, at, shown.canvas->viewport()->mapToGlobal(at));
        QCoreApplication::sendEvent(shown.canvas->viewport(), &event);
        QVERIFY(seen);
        QCOMPARE(shown.view.selection(), shown.gather(launch));
    }

    /// Every boundary of every launch: what the drag calls legal, the core takes; the rest it refuses too.
    void legalIsWhatTheCoreTakes() {
        Shown shown;
        const AnalysisPtr plain = shown.snapshot;
        size_t legal = 0, refused = 0;
        for (const Decision& decision : plain->after.schedule->decisions) {
            const LaunchDrag drag(plain, decision.launch);
            for (int steps = -40; steps <= 40; steps += 4) {
                const LaunchDrag::Place place = drag.placeBeside(steps);
                AnalysisRequest request = plain->request;
                request.edits = {drag.edit(place)};
                const AnalysisPtr moved = shown.analyser.analyse(request, {}).value();
                QCOMPARE(moved->after.schedule->diagnostics.all().size() == 0, place.legal());
                QVERIFY(!findBrokenEdge(*moved->after.graph, moved->after.schedule->order));
                (place.legal() ? legal : refused) += 1;
            }
        }
        QVERIFY(legal > 20 && refused > 20);
    }

    void nothingToMove() {
        Shown shown;
        shown.view.setSnapshot(nullptr);
        for (const Qt::Key key : {Qt::Key_P, Qt::Key_Delete})
            QTest::keyClick(shown.canvas, key);
        QTest::keyClick(shown.canvas, Qt::Key_Left, Qt::AltModifier);
        QMenu menu;
        addLaunchActions(menu, shown.view, kNoNode);
        QVERIFY(menu.isEmpty());
        QVERIFY(shown.edits.empty());
    }

    void pictures() {
        const QString folder = qEnvironmentVariable("GATHERSCOPE_PICTURES");
        for (const bool dark : folder.isEmpty() ? std::vector{false} : std::vector{false, true}) {
            Theme::apply(dark);
            Shown shown(sample("llama3_8b_fsdp64_joint", "commlight"));
            const size_t middle = shown.snapshot->after.schedule->decisions.size() / 4;
            for (const size_t at : {middle - 4, middle - 2, middle + 2}) {
                Edit edit = forbidEdit(*shown.snapshot, shown.launch(at));
                if (at == middle - 2)
                    edit = pinEdit(shown.snapshot, shown.launch(at));
                if (at == middle + 2) {
                    const LaunchDrag drag(shown.snapshot, shown.launch(at));
                    edit = drag.edit(drag.placeBeside(-1));
                }
                shown.edits.push_back(edit);
                shown.applyLast();
            }
            const NodeId launch = shown.launch(middle);
            shown.select(launch);
            shown.canvas->zoomToSelection();
            picture(shown, folder, QStringLiteral("marks"), dark);
            for (const double share : {0.3, 0.9}) {
                const QRectF plot = shown.canvas->scene().plot;
                const QPoint from = shown.markOf(launch);
                const QPoint to(int(plot.left() + share * plot.width()), from.y());
                shown.press(from);
                shown.move((from + to) / 2);
                shown.move(to);
                picture(shown, folder, QStringLiteral("drag-%1").arg(share), dark);
                QTest::keyClick(shown.canvas, Qt::Key_Escape);
                shown.release(to);
            }
        }
        Theme::apply(false);
    }

private:
    static void picture(Shown& shown, const QString& folder, const QString& name, bool dark) {
        const QImage image = shown.view.grab().toImage();
        QVERIFY(!image.isNull());
        if (!folder.isEmpty())
            QVERIFY(image.save(QDir(folder).filePath(
                QStringLiteral("timeline-%1-%2.png").arg(name, dark ? "dark" : "light"))));
    }
};

QTEST_MAIN(TestLaunchDrag)
#include "tst_launch_drag.moc"
