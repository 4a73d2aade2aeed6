// The Why card: what it shows for a selection, its bars, its links.
#include "dock_test.h"
#include "views/docks/why_bars.h"
#include "views/docks/why_rows.h"
#include "views/docks/why_view.h"

#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>

using namespace gs;

namespace {

bool shows(const QWidget& view, const QString& part) {
    for (const QLabel* label : view.findChildren<QLabel*>()) {
        if (label->isVisibleTo(&view) && label->text().contains(part))
            return true;
    }
    return false;
}

double pieces(const WhyBars& bars, WhyBars::Piece::Role role) {
    double sum = 0;
    for (const WhyBars::Piece& piece : bars.pieces()) {
        if (piece.role == role)
            sum += piece.rect.width();
    }
    return sum;
}

Selection gather(const AnalysisPtr& analysis, const char* parameter) {
    return {Selection::Kind::Gather, QString::fromStdString(std::string(
                                         analysis->after.graph->name(test::launchOf(*analysis, parameter))))};
}

} // namespace

class TestWhyView : public QObject {
    Q_OBJECT
private slots:
    void init() { Theme::apply(false); }
    void emptyTexts();
    void card();
    void barsOnOneScale();
    void shortfall();
    void links();
    void partsAreLinks();
    void scrollsWhenSmall();
    void liveUpdateKeepsScroll();
    void themeChange();
};

void TestWhyView::emptyTexts() {
    WhyView view;
    test::showAt(view, 420, 400);
    QVERIFY(shows(view, "No graph is open."));
    view.setSnapshot(test::sampleAnalysis());
    QVERIFY(shows(view, "Select a gather"));
    view.setSelection({Selection::Kind::Node, "gone"});
    QVERIFY(shows(view, "gone is not in the scheduled program"));
    view.setSnapshot(nullptr);
    QVERIFY(shows(view, "No graph is open."));
}

void TestWhyView::card() {
    WhyView view;
    const AnalysisPtr analysis = test::sampleAnalysis();
    view.setSnapshot(analysis);
    test::showAt(view, 420, 400);
    view.setSelection(gather(analysis, "layers.2.feed_forward.w1.weight"));
    QVERIFY(shows(view, "layers.2.feed_forward.w1.weight"));
    QVERIFY(shows(view, "nodes earlier, just before layer 2's attention."));
    QVERIFY(shows(view, "first consumer"));
    QVERIFY(shows(view, "What would change it"));
    QVERIFY(shows(view, "Costs it rests on"));
    QVERIFY(view.bars()->isVisibleTo(&view));
    // No candidate: no bars, but a reason.
    view.setSelection({Selection::Kind::Gather, "unwaited_gather"});
    QVERIFY(!view.bars()->isVisibleTo(&view));
    QVERIFY(shows(view, "nothing waits for it"));
    QVERIFY(!shows(view, "What would change it"));
}

void TestWhyView::barsOnOneScale() {
    WhyView view;
    const AnalysisPtr analysis = test::sampleAnalysis();
    view.setSnapshot(analysis);
    view.setSelection(gather(analysis, "layers.2.feed_forward.w1.weight"));
    test::showAt(view, 420, 400);
    const WhyBars& bars = *view.bars();
    using Role = WhyBars::Piece::Role;
    const double window = pieces(bars, Role::Window);
    const double need = pieces(bars, Role::Need);
    QVERIFY(std::abs(window - bars.width()) < 1); // the longer one fills the card
    QVERIFY(std::abs(need / window - view.card().need_ns / view.card().window_ns) < 0.01);
    for (const WhyBars::Piece& piece : bars.pieces()) {
        QVERIFY(piece.rect.left() >= 0 && piece.rect.right() <= bars.width() + 0.5);
        if (piece.role == Role::Marker)
            QVERIFY(std::abs(piece.rect.left() - need) < 1.5);
    }
}

void TestWhyView::shortfall() {
    test::SampleOptions options;
    options.edit_schedule = [](Schedule& schedule, const Program&) {
        for (Decision& d : schedule.decisions) {
            d.verdict = d.verdict == Verdict::Hidden ? Verdict::ComputeLimited : d.verdict;
            d.reason = BindingReason::GraphStart;
            d.window_ns = d.need_ns / 4;
        }
    };
    const AnalysisPtr analysis = test::sampleAnalysis(options);
    WhyView view;
    view.setSnapshot(analysis);
    view.setSelection(gather(analysis, "layers.2.feed_forward.w1.weight"));
    test::showAt(view, 420, 400);
    const double missing = pieces(*view.bars(), WhyBars::Piece::Role::Shortfall);
    QVERIFY(std::abs(missing - 0.75 * view.bars()->width()) < 2);
    QVERIFY(shows(view, "too little"));
    QVERIFY(shows(view, "Only the graph"));
}

void TestWhyView::links() {
    const AnalysisPtr analysis = test::sampleAnalysis();
    WhyView view;
    view.setSnapshot(analysis);
    view.setSelection(gather(analysis, "layers.2.attention.wo.weight"));
    test::showAt(view, 420, 700);
    std::vector<Selection> asked;
    connect(&view, &View::selectionRequested, &view, [&](const Selection& s) { asked.push_back(s); });
    // Every link of the card leads to a node of the graph; those of launches select the gather.
    int links = 0;
    for (const WhyRow& row : view.card().rows) {
        if (row.node == kNoNode)
            continue;
        ++links;
        for (CardLabel* label : view.findChildren<CardLabel*>()) {
            if (label->isVisibleTo(&view) &&
                label->text().contains(QString::fromStdString(row.value).toHtmlEscaped()))
                emit label->linkActivated(QStringLiteral("node:%1").arg(row.node));
        }
        QVERIFY(!asked.empty());
        QCOMPARE(asked.back().name.toStdString(), std::string(analysis->after.graph->name(row.node)));
        QVERIFY(asked.back().kind ==
                (analysis->decisionFor(row.node) ? Selection::Kind::Gather : Selection::Kind::Node));
    }
    QVERIFY(links >= 2);
}

void TestWhyView::partsAreLinks() {
    const AnalysisPtr analysis = test::sampleAnalysis();
    WhyView view;
    view.setSnapshot(analysis);
    view.setSelection(gather(analysis, "layers.2.feed_forward.w1.weight"));
    test::showAt(view, 420, 700);
    test::Asked asked(view);
    const WhyBars::Piece part = view.bars()->pieces().front();
    QTest::mouseClick(view.bars(), Qt::LeftButton, {}, part.rect.center().toPoint());
    QCOMPARE(asked.selections.size(), size_t{1});
    QCOMPARE(asked.selections[0].name, part.label);
    // The card is now about that node; its cost line leads to itself.
    QVERIFY(!view.card().gather);
    auto* costs = view.findChild<CostLines*>();
    QTest::mouseClick(costs, Qt::LeftButton, {}, QPoint(10, 10));
    QCOMPARE(asked.selections.size(), size_t{2});
}

void TestWhyView::scrollsWhenSmall() {
    const AnalysisPtr analysis = test::sampleAnalysis();
    WhyView view;
    view.setSnapshot(analysis);
    view.setSelection(gather(analysis, "layers.2.feed_forward.w1.weight"));
    test::showAt(view, 260, 160);
    auto* area = view.findChild<QScrollArea*>();
    QTRY_VERIFY(area->verticalScrollBar()->maximum() > 0);
    QCOMPARE(area->horizontalScrollBar()->maximum(), 0); // nothing is cut off at the side
}

void TestWhyView::liveUpdateKeepsScroll() {
    const AnalysisPtr analysis = test::sampleAnalysis();
    WhyView view;
    view.setSnapshot(analysis);
    view.setSelection(gather(analysis, "layers.2.feed_forward.w1.weight"));
    test::showAt(view, 420, 200);
    auto* bar = view.findChild<QScrollArea*>()->verticalScrollBar();
    QTRY_VERIFY(bar->maximum() > 60);
    bar->setValue(50);
    test::SampleOptions options;
    QVERIFY(options.settings.set(Setting::Contention, "1.6").ok());
    view.setSnapshot(test::sampleAnalysis(options));
    QCOMPARE(bar->value(), 50);
    QVERIFY(shows(view, "layers.2.feed_forward.w1.weight"));
    view.setSelection(gather(analysis, "layers.1.feed_forward.w1.weight"));
    QCOMPARE(bar->value(), 0);
}

void TestWhyView::themeChange() {
    const AnalysisPtr analysis = test::sampleAnalysis();
    WhyView view;
    view.setSnapshot(analysis);
    view.setSelection(gather(analysis, "layers.2.feed_forward.w1.weight"));
    test::showAt(view, 420, 400);
    Theme::apply(true);
    QTest::qWait(10);
    QVERIFY(shows(view, Theme::darkTheme().accent.name()));
    Theme::apply(false);
    QTest::qWait(10);
    QVERIFY(!shows(view, Theme::darkTheme().accent.name()));
}

QTEST_MAIN(TestWhyView)
#include "tst_why_view.moc"
