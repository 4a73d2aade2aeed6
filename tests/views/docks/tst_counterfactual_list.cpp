// "What would hide it": found in the background, tried with one click, stopped by another selection.
#include "dock_test.h"
#include "support/test_data.h"
#include "views/docks/counterfactual_list.h"
#include "views/docks/why_view.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>

using namespace gs;

namespace {

AnalysisPtr analysed(const char* comm_scale = "1") {
    AnalysisRequest request;
    (void)request.settings.set(Setting::CommScale, comm_scale);
    request.graph_file = test::corpusPath("graphs/mlp4_fsdp8_joint.json").value();
    request.cost_files = {test::corpusPath("costs/mlp4_fsdp8_joint.roofline.json").value()};
    Analyser analyser;
    return analyser.analyse(request, {}).value();
}

std::vector<NodeId> gathers(const Analysis& analysis, bool exposed) {
    std::vector<NodeId> launches;
    for (const Decision& decision : analysis.after.schedule->decisions) {
        if ((exposedIn(analysis, analysis, decision.launch) > 0) == exposed)
            launches.push_back(decision.launch);
    }
    return launches;
}

Selection selectionOf(const Analysis& analysis, NodeId launch) {
    return {Selection::Kind::Gather, QString::fromStdString(std::string(analysis.after.graph->name(launch)))};
}

} // namespace

class TestCounterfactualList : public QObject {
    Q_OBJECT
private slots:
    void init() { Theme::apply(false); }
    void tryWorks();
    void hiddenGathersHaveNone();
    void anotherSelectionStopsIt();
};

void TestCounterfactualList::tryWorks() {
    const AnalysisPtr analysis = analysed();
    const NodeId launch = gathers(*analysis, true).back();
    WhyView view;
    view.setSnapshot(analysis);
    test::showAt(view, 420, 700);
    CounterfactualList* list = view.counterfactuals();
    QSignalSpy settled(list, &CounterfactualList::settled);
    QSignalSpy wanted(&view, &View::requestRequested);
    view.setSelection(selectionOf(*analysis, launch));
    QVERIFY(view.busy());
    QVERIFY(list->isVisibleTo(&view));
    QVERIFY(list->findChild<QLabel*>()->text().contains("Trying"));
    QVERIFY(settled.wait(20000));
    QVERIFY(!view.busy() && !list->items().empty());
    const auto buttons = list->findChildren<QPushButton*>();
    QVERIFY(!buttons.empty());
    QCOMPARE(buttons.front()->accessibleName(), "Try: " + QString::fromStdString(list->items()[0].text));
    QTest::mouseClick(buttons.front(), Qt::LeftButton);
    QCOMPARE(wanted.count(), 1);
    const auto request = wanted.front().front().value<AnalysisRequest>();
    Analyser fresh;
    const AnalysisPtr tried = fresh.analyse(request, {}).value();
    QCOMPARE(exposedIn(*tried, *analysis, launch), int64_t{0});
}

void TestCounterfactualList::hiddenGathersHaveNone() {
    const AnalysisPtr analysis = analysed("0.05");
    const std::vector<NodeId> hidden = gathers(*analysis, false);
    QVERIFY(!hidden.empty());
    WhyView view;
    view.setSnapshot(analysis);
    test::showAt(view, 420, 700);
    view.setSelection(selectionOf(*analysis, hidden.front()));
    QVERIFY(!view.busy());
    QVERIFY(!view.counterfactuals()->isVisibleTo(&view));
}

void TestCounterfactualList::anotherSelectionStopsIt() {
    const AnalysisPtr analysis = analysed();
    const std::vector<NodeId> exposed = gathers(*analysis, true);
    QVERIFY(exposed.size() >= 2);
    WhyView view;
    view.setSnapshot(analysis);
    test::showAt(view, 420, 700);
    QSignalSpy settled(view.counterfactuals(), &CounterfactualList::settled);
    for (const NodeId launch : {exposed[0], exposed[1], exposed[0], exposed[1]})
        view.setSelection(selectionOf(*analysis, launch));
    QVERIFY(settled.wait(20000));
    QVERIFY(!view.counterfactuals()->items().empty());
    Analyser fresh;
    const AnalysisPtr tried = fresh.analyse(view.counterfactuals()->items()[0].request, {}).value();
    QCOMPARE(exposedIn(*tried, *analysis, exposed[1]), int64_t{0});
    view.setSelection(selectionOf(*analysis, exposed[0]));
    view.setSnapshot(nullptr); // while it runs
    QVERIFY(!view.counterfactuals()->isVisibleTo(&view));
}

QTEST_MAIN(TestCounterfactualList)
#include "tst_counterfactual_list.moc"
