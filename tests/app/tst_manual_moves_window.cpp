// Manual moves through the whole window: a drag is an undoable change of the document, drags merge, a refused
// one changes nothing.
#include "app/main_window.h"
#include "fake_analysis.h"
#include "views/theme.h"
#include "views/timeline/timeline_canvas.h"
#include "views/timeline/timeline_view.h"

#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

using namespace gs;

class TestManualMovesWindow : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("GatherscopeTest"));
        QCoreApplication::setApplicationName(QStringLiteral("GatherscopeTest"));
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder_.path());
        Theme::apply(false);
    }

    void dragsAreUndone() {
        MainWindow window(makeAnalyseFunction());
        TimelineCanvas* canvas = open(window);
        QVERIFY(canvas);
        Document& document = window.document();
        const Order plain = document.snapshot()->after.schedule->order;

        drag(*canvas, document, -1);
        QTRY_COMPARE(document.snapshot()->request.edits.size(), size_t{1});
        const Edit first = document.snapshot()->request.edits[0];
        drag(*canvas, document, -1);
        QTRY_VERIFY(document.snapshot()->request.edits[0] != first);
        QCOMPARE(document.snapshot()->request.edits.size(), size_t{1});
        const Order moved = document.snapshot()->after.schedule->order;
        QVERIFY(moved != plain);
        QCOMPARE(document.undoStack()->count(), 1); // drags of one launch are one step

        document.undoStack()->undo();
        QTRY_VERIFY(document.snapshot()->request.edits.empty());
        QVERIFY(document.snapshot()->after.schedule->order == plain);
        document.undoStack()->redo();
        QTRY_COMPARE(document.snapshot()->request.edits.size(), size_t{1});
        QVERIFY(document.snapshot()->after.schedule->order == moved);
        document.removeEdits({});
        QTRY_VERIFY(document.snapshot()->request.edits.empty());
    }

    void refusedDragIsNoStep() {
        MainWindow window(makeAnalyseFunction());
        TimelineCanvas* canvas = open(window);
        QVERIFY(canvas);
        Document& document = window.document();
        const SnapshotPtr before = document.snapshot();
        drag(*canvas, document, 1000);
        QTest::qWait(50);
        QCOMPARE(document.snapshot(), before);
        QCOMPARE(document.undoStack()->count(), 0);
        QVERIFY(canvas->launchOverlay() && !canvas->launchOverlay()->allowed);
    }

private:
    TimelineCanvas* open(MainWindow& window) {
        window.resize(1440, 900);
        window.show();
        const QString sample = QStringLiteral(GATHERSCOPE_SOURCE_DIR "/samples/mlp4_fsdp8_joint");
        window.openFiles({sample + QStringLiteral(".json.gz")}, {sample + QStringLiteral(".roofline.json")});
        [&] { QTRY_VERIFY(window.document().snapshot()); }();
        auto* view = qobject_cast<TimelineView*>(window.workspace().view(QStringLiteral("timeline")));
        view->setShowSelectionNeighbourhood(false);
        view->canvas()->fitAll();
        return view->canvas();
    }

    /// Drags the last gather's launch over so many nodes of the compute stream.
    static void drag(TimelineCanvas& canvas, Document& document, int nodes) {
        const SnapshotPtr snapshot = document.snapshot();
        const NodeId launch = snapshot->after.schedule->decisions.back().launch;
        document.select({Selection::Kind::Gather,
                         QString::fromStdString(std::string(snapshot->after.graph->name(launch)))});
        const LaunchDrag model(snapshot, launch);
        const double left = canvas.scene().plot.left();
        const auto at = [&](const LaunchDrag::Place& place) {
            return QPoint(static_cast<int>(std::lround(left + canvas.axis().pixelOf(place.time_ns))),
                          static_cast<int>(canvas.scene().edit_compute.bottom()) + 5);
        };
        QPoint from;
        for (const SceneLaunch& item : canvas.scene().launches) {
            if (item.launch == launch)
                from = (item.tip + QPointF(0, -3)).toPoint();
        }
        const QPoint to = at(model.placeBeside(nodes));
        QTest::mousePress(canvas.viewport(), Qt::LeftButton, {}, from);
        QTest::mouseMove(canvas.viewport(), from + QPoint(to.x() > from.x() ? 30 : -30, 0));
        QTest::mouseMove(canvas.viewport(), to);
        QTest::mouseRelease(canvas.viewport(), Qt::LeftButton, {}, to);
    }

    QTemporaryDir folder_;
};

QTEST_MAIN(TestManualMovesWindow)
#include "tst_manual_moves_window.moc"
