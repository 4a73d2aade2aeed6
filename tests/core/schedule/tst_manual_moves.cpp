// Moves made by hand: legality, the edge that a refused move names, and what edits do to every scheduler.
#include "passes/bucket_coalesced.h"
#include "schedule/manual_moves.h"
#include "support/gather_program.h"
#include "support/random_graph.h"
#include "support/test_data.h"

#include "analysis/analysis.h"

#include <QtTest>

#include <random>

using namespace gs;
using namespace gs::test;

class TestManualMoves : public QObject {
    Q_OBJECT
private slots:
    void rangeAndRefusal();
    void everyPlaceInRangeIsLegalAndNoneOutside();
    void editsOnEveryScheduler();
    void refusedAndUnknown();
    void othersGetTheWindow();
    void bucketsByHand();
};

namespace {

AnalysisPtr analyse(const std::string& file, const std::string& scheduler, const Edits& edits,
                    const std::string& bucket_mode = "none") {
    AnalysisRequest request;
    request.graph_file = file;
    request.edits = edits;
    (void)request.settings.set(Setting::Scheduler, scheduler);
    (void)request.settings.set(Setting::BucketMode, bucket_mode);
    Analyser analyser;
    return analyser.analyse(request, {}).value();
}

std::string smallGraph() {
    return corpusPath("graphs/mlp4_fsdp8_joint.json").value();
}

bool hasCode(const Analysis& analysis, const char* code) {
    const auto& all = analysis.diagnostics.all();
    return std::any_of(all.begin(), all.end(), [&](const Diagnostic& item) { return item.code == code; });
}

Edit edit(const std::string& text) {
    return parseEdit(text).value();
}

} // namespace

void TestManualMoves::rangeAndRefusal() {
    test::Program program;
    const NodeId a = program.parameter(kMib), b = program.parameter(kMib);
    program.use(program.gather(a));
    const NodeId cast = program.call("early", "aten.relu.default", {program.x});
    const NodeId second = program.gather(b);
    program.use(second);
    const GraphPtr graph = program.finish();
    const CollectiveTable collectives(*graph);
    const std::vector<NodeId> group = movingGroup(*graph, collectives, second);
    QCOMPARE(group.size(), size_t{2}); // with its cast
    const MoveRange range = legalRange(*graph, identityOrder(*graph), group);
    QCOMPARE(range.first, graph->placeholdersEnd());
    QCOMPARE(range.last, *graph->find("w_g1"));
    QVERIFY(refusal(*graph, range, range.first).empty());
    QCOMPARE(refusal(*graph, range, range.last + 1), std::string("it would cross the data edge g1 → w_g1"));
    QCOMPARE(refusal(*graph, range, 0), std::string("it would stand among the graph's inputs"));
    const std::vector<NodeId> alone = movingGroup(*graph, collectives, cast);
    QCOMPARE(alone, std::vector<NodeId>{cast});
    const MoveRange of_cast = legalRange(*graph, identityOrder(*graph), alone);
    QCOMPARE(refusal(*graph, of_cast, of_cast.first - 1),
             std::string("it would cross the data edge mm_g0 → early"));
}

void TestManualMoves::everyPlaceInRangeIsLegalAndNoneOutside() {
    std::mt19937 random(7);
    size_t legal = 0, refused = 0;
    for (int round = 0; round < 60; ++round) {
        const GraphPtr graph = randomGraph(random());
        const CollectiveTable collectives(*graph);
        const Order order = identityOrder(*graph);
        const NodeId node = static_cast<NodeId>(random() % graph->size());
        if (graph->node(node).kind == NodeKind::Placeholder || node == graph->output())
            continue;
        const std::vector<NodeId> group = movingGroup(*graph, collectives, node);
        const MoveRange range = legalRange(*graph, order, group);
        for (uint32_t at = graph->placeholdersEnd(); at + 1 < graph->size(); ++at) {
            const auto broken = findBrokenEdge(*graph, withGroupAt(order, group, at));
            QCOMPARE(!broken.has_value(), refusal(*graph, range, at).empty());
            (broken ? refused : legal) += 1;
        }
    }
    qInfo("%zu legal places, %zu refused", legal, refused);
    QVERIFY(legal > 500 && refused > 500);
}

void TestManualMoves::editsOnEveryScheduler() {
    const AnalysisPtr plain = analyse(smallGraph(), "program-order", {});
    const Graph& graph = *plain->before.graph;
    const auto& decisions = plain->after.schedule->decisions;
    const std::string moved(graph.name(decisions[4].launch)), held(graph.name(decisions[6].launch));
    const std::string anchor(graph.name(decisions[2].launch));
    for (const SchedulerInfo& info : schedulers()) {
        const AnalysisPtr analysis = analyse(smallGraph(), std::string(info.name),
                                             {edit("forbid:" + held), edit("move:" + moved + ":" + anchor)});
        const Schedule& schedule = *analysis->after.schedule;
        const Graph& after = *analysis->after.graph;
        QVERIFY2(!findBrokenEdge(after, schedule.order), info.name.data());
        const std::vector<uint32_t> position = positionsOf(schedule.order);
        QCOMPARE(position[*after.find(moved)] + 1, position[*after.find(anchor)]);
        const Decision* decision = analysis->decisionFor(*after.find(moved));
        QVERIFY2(decision->reason == BindingReason::ByHand, info.name.data());
        QVERIFY(decision->verdict != Verdict::NotCandidate);
        const Decision* held_decision = analysis->decisionFor(*after.find(held));
        QVERIFY2(!held_decision->moved() && held_decision->reason == BindingReason::ByHand, info.name.data());
        QVERIFY(!hasCode(*analysis, "edit-refused"));
    }
}

void TestManualMoves::refusedAndUnknown() {
    const AnalysisPtr plain = analyse(smallGraph(), "latest-safe-launch", {});
    const std::string launch(plain->after.graph->name(plain->after.schedule->decisions[3].launch));
    const AnalysisPtr refused = analyse(
        smallGraph(), "latest-safe-launch",
        {edit("move:" + launch + ":output"), edit("pin:nobody:output"), edit("move:" + launch + ":nowhere")});
    QVERIFY(hasCode(*refused, "edit-refused"));
    QVERIFY(hasCode(*refused, "edit-unknown-node"));
    QVERIFY(!findBrokenEdge(*refused->after.graph, refused->after.schedule->order));
}

void TestManualMoves::othersGetTheWindow() {
    // The last gather of a sweep takes its window first; held back by hand, it claims nothing.
    const AnalysisPtr plain = analyse(smallGraph(), "latest-safe-launch", {});
    const Decision* last = nullptr;
    for (const Decision& decision : plain->after.schedule->decisions) {
        if (decision.verdict == Verdict::Hidden && decision.moved())
            last = &decision;
    }
    QVERIFY(last);
    const std::string name(plain->after.graph->name(last->launch));
    const AnalysisPtr held = analyse(smallGraph(), "latest-safe-launch", {edit("forbid:" + name)});
    QCOMPARE(held->after.schedule->candidates, plain->after.schedule->candidates);
    for (size_t i = 0; i < held->after.schedule->decisions.size(); ++i) {
        const Decision& before = plain->after.schedule->decisions[i];
        const Decision& after = held->after.schedule->decisions[i];
        QVERIFY(after.claimed_by != last->launch);
        if (before.launch < last->launch)
            QVERIFY(after.target >= before.target);
    }
}

void TestManualMoves::bucketsByHand() {
    test::Program program;
    const NodeId a = program.parameter(kMib), b = program.parameter(kMib), c = program.parameter(kMib);
    program.use(program.gather(a));
    program.attention(); // an automatic bucket would end here
    program.use(program.gather(b));
    program.use(program.gather(c));
    const GraphPtr graph = program.finish();
    Settings settings;
    QCOMPARE(bucketsOf(*bucketCoalesced(graph, settings, {edit("bucket:g0,g1")}).graph),
             std::string("g0+g1 g2"));
    (void)settings.set(Setting::BucketMode, "coalesced");
    QCOMPARE(bucketsOf(*bucketCoalesced(graph, settings, {}).graph), std::string("g0 g1+g2"));
    QCOMPARE(bucketsOf(*bucketCoalesced(graph, settings, {edit("bucket:g0,g1")}).graph),
             std::string("g0+g1 g2"));
    const PassResult alone = bucketCoalesced(graph, settings, {edit("bucket:g1")});
    QCOMPARE(bucketsOf(*alone.graph), std::string("g0 g1 g2"));
    QCOMPARE(alone.report.lines[1].reason, std::string("it was taken out by hand"));
}

QTEST_GUILESS_MAIN(TestManualMoves)
#include "tst_manual_moves.moc"
