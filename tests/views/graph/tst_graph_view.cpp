#include "views/graph/graph_view.h"

#include "../../core/layout/layout_fixture.h"
#include "graph_checks.h"
#include "views/graph/lane_picture.h"

#include <QBuffer>
#include <QElapsedTimer>
#include <QImage>
#include <QLineEdit>
#include <QPainter>
#include <QRandomGenerator>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSvgGenerator>
#include <QTest>

#include <set>

using namespace gs;
using namespace gs::test;

class TestGraphView : public QObject {
    Q_OBJECT
private slots:
    void init();
    void emptyAndBack();
    void focusOfAGather();
    void geometryOfEveryGather_data();
    void geometryOfEveryGather();
    void portalsShowAndJump();
    void clickSelects();
    void missingDotDrawsLanes();
    void hangingDotKeepsTheOldPicture();
    void modulesUnfold();
    void lanesShowEverything();
    void linkedPanes();
    void zoomReturns();
    void keyboardWalks();
    void searchFinds();
    void tooltipsHaveFacts();
    void exports();
    void closesWhileBusy();
    void largeProgramIsFast();

private:
    AnalysisPtr model_ = test::makeAnalysis(test::makeModel(4), 12);
};

void TestGraphView::init() {
    Theme::apply(false);
}

void TestGraphView::emptyAndBack() {
    GraphView view;
    view.resize(430, 380);
    view.show();
    view.setSnapshot(nullptr);
    QVERIFY(!view.busy());
    view.setSnapshot(model_);
    settle(view);
    QVERIFY(view.canvas(true)->picture()); // without a selection: modules
    view.setSnapshot(nullptr);
    QVERIFY(!view.canvas(true)->picture());
    view.setSnapshot(std::make_shared<Analysis>()); // no graph in it
    settle(view);
    view.setMode(GraphMode::Lanes);
    settle(view);
    view.grab();
}

void TestGraphView::focusOfAGather() {
    GraphView view;
    view.resize(430, 380);
    view.show();
    view.setSelection({Selection::Kind::Gather, "all_gather_5"});
    view.setSnapshot(model_);
    settle(view);
    QCOMPARE(view.caption(), QString("moved 14 nodes up · floor is 63 nodes further · 2 portals hidden"));
    const BoxPicture& after = boxes(view, true);
    QCOMPARE(after.boxCount(), 5);
    bool move = false;
    for (const GraphMark& mark : after.marks())
        move = move || mark.role == "move";
    QVERIFY(move);
    QVERIFY(boxes(view, false).focusY() > after.focusY());
    QCOMPARE(view.banner().isEmpty(), hasDot());
}

void TestGraphView::geometryOfEveryGather_data() {
    QTest::addColumn<bool>("dot");
    QTest::addColumn<bool>("portals");
    QTest::addColumn<QString>("name");
    for (const bool portals : {false, true}) {
        for (const QString name :
             {"all_gather_0", "all_gather_5", "all_gather_7", "mm_4", "output", "arg0_1", "mm_back_3"}) {
            QTest::addRow("%s lanes %d", qPrintable(name), portals) << false << portals << name;
            if (hasDot())
                QTest::addRow("%s dot %d", qPrintable(name), portals) << true << portals << name;
        }
    }
}

void TestGraphView::geometryOfEveryGather() {
    QFETCH(bool, dot);
    QFETCH(bool, portals);
    QFETCH(QString, name);
    GraphView view;
    view.resize(430, 380);
    view.show();
    if (!dot)
        view.setDotProgram("/no/such/dot");
    view.setPortalsShown(portals);
    view.setSelection({Selection::Kind::Node, name});
    view.setSnapshot(model_);
    settle(view);
    checkGeometry(boxes(view, false));
    checkGeometry(boxes(view, true));
}

void TestGraphView::portalsShowAndJump() {
    GraphView view;
    view.resize(700, 500);
    view.show();
    view.setPortalsShown(true);
    view.setSelection({Selection::Kind::Gather, "all_gather_5"});
    view.setSnapshot(model_);
    settle(view);
    QVERIFY(view.caption().endsWith("hide portals"));
    QSignalSpy requested(&view, &View::selectionRequested);
    const BoxPicture& after = boxes(view, true);
    for (int i = 0; i < after.boxCount(); ++i) {
        const LayoutBox& box = after.graph().boxes[static_cast<size_t>(i)];
        if (box.role != BoxRole::Portal || box.title != "↓ saved for")
            continue;
        GraphCanvas* canvas = view.canvas(true);
        QTest::mouseClick(canvas->viewport(), Qt::LeftButton, {},
                          canvas->camera().map(after.boxRect(i).center()).toPoint());
        QCOMPARE(requested.count(), 1);
        QCOMPARE(requested.front()[0].value<Selection>().name, QString("mm_back_5"));
        return;
    }
    QFAIL("no portal to the backward pass");
}

void TestGraphView::clickSelects() {
    GraphView view;
    view.resize(700, 500);
    view.show();
    view.setSelection({Selection::Kind::Node, "mm_5"});
    view.setSnapshot(model_);
    settle(view);
    QSignalSpy requested(&view, &View::selectionRequested);
    const BoxPicture& after = boxes(view, true);
    const int box = after.boxOf(*model_->after.graph->find("t_5"));
    QVERIFY(box >= 0);
    GraphCanvas* canvas = view.canvas(true);
    QTest::mouseClick(canvas->viewport(), Qt::LeftButton, {},
                      canvas->camera().map(after.boxRect(box).center()).toPoint());
    QCOMPARE(requested.count(), 1);
    QCOMPARE(requested.front()[0].value<Selection>(), (Selection{Selection::Kind::Node, "t_5"}));
    // A wait selects its gather.
    view.setSelection({Selection::Kind::Node, "t_5"});
    settle(view);
    const BoxPicture& next = boxes(view, true);
    const int wait = next.boxOf(*model_->after.graph->find("wait_tensor_5"));
    QVERIFY(wait >= 0);
    QTest::mouseClick(canvas->viewport(), Qt::LeftButton, {},
                      canvas->camera().map(next.boxRect(wait).center()).toPoint());
    QCOMPARE(requested.back()[0].value<Selection>(), (Selection{Selection::Kind::Gather, "all_gather_5"}));
}

void TestGraphView::missingDotDrawsLanes() {
    GraphView view;
    view.resize(430, 380);
    view.show();
    view.setDotProgram("/no/such/dot");
    view.setSelection({Selection::Kind::Gather, "all_gather_5"});
    view.setSnapshot(model_);
    settle(view);
    QVERIFY2(view.banner().contains("Drawn in lanes"), qPrintable(view.banner()));
    QCOMPARE(boxes(view, true).boxCount(), 5);
    view.setMode(GraphMode::Lanes); // needs no Graphviz
    settle(view);
    QVERIFY(view.banner().isEmpty());
}

void TestGraphView::hangingDotKeepsTheOldPicture() {
    GraphView view;
    view.resize(430, 380);
    view.show();
    view.setSelection({Selection::Kind::Gather, "all_gather_5"});
    view.setSnapshot(model_);
    settle(view);
    const GraphPicturePtr old = view.canvas(true)->picture();
    view.setDotProgram("/usr/bin/yes"); // answers for ever
    view.setDotTimeouts(20, 1000);
    view.setSelection({Selection::Kind::Gather, "all_gather_3"});
    QVERIFY(view.busy());
    QCOMPARE(view.canvas(true)->picture(), old);
    settle(view);
    QVERIFY(view.canvas(true)->picture() != old);
    QVERIFY(!view.banner().isEmpty());
    // Going back needs no Graphviz: the placement is known.
    if (hasDot()) {
        view.setSelection({Selection::Kind::Gather, "all_gather_5"});
        settle(view);
        QVERIFY(view.banner().isEmpty());
    }
}

void TestGraphView::modulesUnfold() {
    GraphView view;
    view.resize(700, 500);
    view.show();
    view.setMode(GraphMode::Modules);
    view.setSnapshot(model_);
    settle(view);
    checkGeometry(boxes(view, true));
    const int before = boxes(view, true).boxCount();
    for (int i = 0; i < before; ++i) {
        if (boxes(view, true).graph().boxes[static_cast<size_t>(i)].module.empty())
            continue;
        emit view.canvas(true)->boxActivated(i);
        break;
    }
    settle(view);
    QVERIFY(boxes(view, true).boxCount() > before);
    checkGeometry(boxes(view, true));
    QTest::keyClick(&view, Qt::Key_Backspace);
    settle(view);
    QCOMPARE(boxes(view, true).boxCount(), before);
}

void TestGraphView::lanesShowEverything() {
    GraphView view;
    view.resize(700, 500);
    view.show();
    view.setMode(GraphMode::Lanes);
    view.setSnapshot(model_);
    settle(view);
    const GraphPicturePtr picture = view.canvas(true)->picture();
    QCOMPARE(picture->boxCount(), static_cast<int>(model_->after.graph->size()));
    for (int i = 0; i < picture->boxCount(); ++i) {
        QCOMPARE(picture->boxAt(picture->boxRect(i).center(), {}), i);
        QCOMPARE(picture->boxOf(picture->boxNodes(i).front()), i);
        if (i > 0)
            QVERIFY(!picture->boxRect(i).intersects(picture->boxRect(i - 1)));
    }
    view.setSelection({Selection::Kind::Gather, "all_gather_5"});
    QVERIFY(!view.busy()); // marked, not laid out again
    QCOMPARE(view.canvas(true)->picture(), picture);
    const int box = view.canvas(true)->marks().selected;
    QCOMPARE(model_->after.graph->name(picture->boxNodes(box).front()), std::string_view("all_gather_5"));
    QVERIFY(view.canvas(true)->viewport()->rect().contains(
        view.canvas(true)->camera().map(picture->boxRect(box).center()).toPoint()));
    view.grab();
}

void TestGraphView::linkedPanes() {
    GraphView view;
    view.resize(700, 500);
    view.show();
    view.setMode(GraphMode::Lanes);
    view.setSnapshot(model_);
    settle(view);
    GraphCanvas* before = view.canvas(false);
    GraphCanvas* after = view.canvas(true);
    after->zoomTo(1, {10, 10});
    QCOMPARE(before->zoom(), after->zoom());
    after->verticalScrollBar()->setValue(500);
    QCOMPARE(before->verticalScrollBar()->value(), 500);
    before->verticalScrollBar()->setValue(200);
    QCOMPARE(after->verticalScrollBar()->value(), 200);
}

void TestGraphView::zoomReturns() {
    GraphView view;
    view.resize(700, 500);
    view.show();
    view.setMode(GraphMode::Lanes);
    view.setSnapshot(model_);
    settle(view);
    GraphCanvas* canvas = view.canvas(true);
    QRandomGenerator random(3);
    canvas->zoomTo(1, {0, 0});
    canvas->verticalScrollBar()->setValue(1000);
    for (int i = 0; i < 100; ++i) {
        const QPointF anchor(random.bounded(canvas->viewport()->width()),
                             random.bounded(canvas->viewport()->height()));
        const double y = canvas->camera().oy;
        canvas->zoomTo(canvas->zoom() * 1.44, anchor);
        canvas->zoomTo(canvas->zoom() / 1.44, anchor);
        QVERIFY(std::abs(canvas->zoom() - 1) < 1e-9);
        QVERIFY(std::abs(canvas->camera().oy - y) <= 2); // whole pixels of the scroll bar
    }
}

void TestGraphView::keyboardWalks() {
    GraphView view;
    view.resize(700, 500);
    view.show();
    view.setSelection({Selection::Kind::Gather, "all_gather_5"});
    view.setSnapshot(model_);
    settle(view);
    GraphCanvas* canvas = view.canvas(true);
    const BoxPicture& picture = boxes(view, true);
    const auto role = [&] { return picture.graph().boxes[static_cast<size_t>(canvas->marks().cursor)].role; };
    QCOMPARE(canvas->marks().selected, picture.mainBox());
    QTest::keyClick(canvas, Qt::Key_Up);
    QCOMPARE(role(), BoxRole::Parameter);
    QTest::keyClick(canvas, Qt::Key_Down);
    QCOMPARE(role(), BoxRole::Gather);
    QSignalSpy requested(&view, &View::selectionRequested);
    QTest::keyClick(canvas, Qt::Key_Up);
    QTest::keyClick(canvas, Qt::Key_Return);
    QCOMPARE(requested.count(), 1);
    QCOMPARE(requested.front()[0].value<Selection>().name, QString("arg5_1"));
    const double fitted = canvas->zoom();
    QTest::keyClick(canvas, Qt::Key_Plus);
    QVERIFY(canvas->zoom() > fitted);
    QTest::keyClick(canvas, Qt::Key_F);
    QCOMPARE(canvas->zoom(), fitted);
}

void TestGraphView::searchFinds() {
    GraphView view;
    view.resize(700, 500);
    view.show();
    view.setMode(GraphMode::Lanes);
    view.setSnapshot(model_);
    settle(view);
    auto* field = view.findChild<QLineEdit*>();
    QVERIFY(field);
    QSignalSpy requested(&view, &View::selectionRequested);
    field->setText("ALL_gather");
    QTest::keyClick(field, Qt::Key_Return);
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(requested.count(), 2);
    QVERIFY(requested[0][0].value<Selection>().name != requested[1][0].value<Selection>().name);
    QCOMPARE(view.canvas(true)->marks().found.size(), size_t(8));
    QCOMPARE(view.canvas(false)->marks().found.size(), size_t(8));
    field->setText("layers.3.feed"); // parameters by their name
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(requested.back()[0].value<Selection>().name, QString("arg7_1"));
}

void TestGraphView::tooltipsHaveFacts() {
    GraphView view;
    view.resize(700, 500);
    view.show();
    view.setSelection({Selection::Kind::Gather, "all_gather_5"});
    view.setSnapshot(model_);
    settle(view);
    // Every box can be asked, in every mode, without a crash; texts are escaped.
    for (const GraphMode mode : {GraphMode::Focus, GraphMode::Modules, GraphMode::Lanes}) {
        view.setMode(mode);
        settle(view);
        for (const bool after : {false, true}) {
            GraphCanvas* canvas = view.canvas(after);
            for (int i = 0; i < canvas->picture()->boxCount(); ++i)
                QVERIFY(!canvas->factsOf(i).isEmpty());
        }
    }
}

void TestGraphView::exports() {
    GraphView view;
    view.resize(430, 380);
    view.show();
    view.setSelection({Selection::Kind::Gather, "all_gather_5"});
    view.setSnapshot(model_);
    settle(view);
    QImage image(860, 760, QImage::Format_ARGB32);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    view.render(&painter, QRectF(0, 0, 860, 760));
    painter.end();
    std::set<QRgb> colours;
    for (int y = 0; y < image.height(); y += 3) {
        for (int x = 0; x < image.width(); x += 3)
            colours.insert(image.pixel(x, y));
    }
    QVERIFY(colours.count(Theme::current().gather.rgb()) == 1);
    QVERIFY(colours.size() > 8);
    QByteArray svg;
    QBuffer buffer(&svg);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setViewBox(QRectF(0, 0, 430, 380));
    QPainter svg_painter(&generator);
    view.render(&svg_painter, QRectF(0, 0, 430, 380));
    svg_painter.end();
    QVERIFY(svg.contains("cast"));
    const std::string dot = view.exportDot(true);
    QVERIFY(dot.find("cast → pad → all_gather") != std::string::npos);
    view.setMode(GraphMode::Lanes);
    settle(view);
    QVERIFY(view.exportDot(false).starts_with("digraph"));
}

void TestGraphView::closesWhileBusy() {
    for (int i = 0; i < 20; ++i) {
        GraphView view;
        view.resize(430, 380);
        view.show();
        view.setSelection({Selection::Kind::Gather, "all_gather_5"});
        view.setSnapshot(model_);
        view.setMode(i % 2 == 0 ? GraphMode::Lanes : GraphMode::Focus);
        if (i % 3 == 0)
            QTest::qWait(i);
    }
}

void TestGraphView::largeProgramIsFast() {
    const GraphPtr graph = test::corpusGraph("llama3_405b_fsdp64_joint");
    if (!graph)
        return; // noted as NOT RUN
    const AnalysisPtr analysis = test::makeAnalysis(graph, 33);
    GraphView view;
    view.resize(900, 700);
    view.show();
    view.setMode(GraphMode::Lanes);
    QElapsedTimer timer;
    timer.start();
    view.setSnapshot(analysis);
    settle(view);
    qInfo("%zu nodes shown after %lld ms", graph->size(), static_cast<long long>(timer.elapsed()));
    GraphCanvas* canvas = view.canvas(true);
    QPixmap target(canvas->viewport()->size());
    double worst_ms = 0, worst_zoom = 0;
    for (double zoom = canvas->zoom(); zoom < 4; zoom *= 1.3) {
        canvas->zoomTo(zoom, {100, 300});
        double best_ms = 1e9; // of three: other programs share the machine
        for (int i = 0; i < 3; ++i) {
            timer.start();
            canvas->viewport()->render(&target);
            best_ms = std::min(best_ms, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        }
        if (best_ms > worst_ms) {
            worst_ms = best_ms;
            worst_zoom = canvas->zoom();
        }
    }
    qInfo("worst paint %.2f ms at zoom %.4f", worst_ms, worst_zoom);
}

QTEST_MAIN(TestGraphView)
#include "tst_graph_view.moc"
