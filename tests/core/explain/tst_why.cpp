// The decision card: words for every binding reason, numbers that add up, the simulation's word against the
// verdict's.
#include "explain/parts.h"
#include "explain/why.h"
#include "schedule/scheduler.h"
#include "support/sample_analysis.h"
#include "support/test_data.h"

#include <QTest>
#include <cmath>

using namespace gs;

namespace {

const WhyRow* rowOf(const WhyCard& card, const std::string& label) {
    for (const WhyRow& row : card.rows) {
        if (row.label == label)
            return &row;
    }
    return nullptr;
}

std::string valueOf(const WhyCard& card, const std::string& label) {
    const WhyRow* row = rowOf(card, label);
    return row ? row->value : "(no such row)";
}

std::string factOf(const WhyCard& card, const std::string& text) {
    for (const WhyFact& fact : card.facts) {
        if (fact.text == text)
            return fact.value;
    }
    return "(no such fact)";
}

double sumOf(const std::vector<WhyPart>& parts) {
    double sum = 0;
    for (const WhyPart& part : parts)
        sum += part.ns;
    return sum;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Card of layers.2.feed_forward.w1 after its decision was changed.
WhyCard editedCard(const std::function<void(Decision&)>& edit) {
    test::SampleOptions options;
    options.edit_schedule = [&](Schedule& schedule, const Program& program) {
        for (Decision& decision : schedule.decisions) {
            const Collective& item = (*program.collectives)[static_cast<size_t>(decision.collective)];
            if (!item.parameters.empty() &&
                parameterName(*program.graph, item.parameters[0]) == "layers.2.feed_forward.w1.weight")
                edit(decision);
        }
    };
    const AnalysisPtr analysis = test::sampleAnalysis(options);
    return explainGather(*analysis, test::launchOf(*analysis, "layers.2.feed_forward.w1.weight"));
}

} // namespace

class TestWhy : public QObject {
    Q_OBJECT
private slots:
    void movedAndHidden();
    void reasons_data();
    void reasons();
    void reasonOfStayingGather();
    void movedLater();
    void limitedFacts();
    void hiddenFacts();
    void noCandidates_data();
    void noCandidates();
    void otherCollectives();
    void missingCost();
    void disagreements();
    void nodes();
    void exposure();
    void barsAddUp_data();
    void barsAddUp();
};

void TestWhy::movedAndHidden() {
    const AnalysisPtr analysis = test::sampleAnalysis();
    const NodeId launch = test::launchOf(*analysis, "layers.2.feed_forward.w1.weight");
    const WhyCard card = explainGather(*analysis, launch);
    QVERIFY(card.gather);
    QCOMPARE(card.title, "layers.2.feed_forward.w1.weight");
    QVERIFY(card.verdict == Verdict::Hidden);
    const Decision& decision = *analysis->decisionFor(launch);
    QCOMPARE(card.headline, "Launched " + std::to_string(decision.cur - decision.target) +
                                " nodes earlier, just before layer 2's attention.");
    QCOMPARE(card.detail, "That compute hides all of the transfer; nothing binds it.");
    QVERIFY(card.reason.text.empty());
    QCOMPARE(card.need.size(), size_t{3});
    QCOMPARE(card.need[0].ns, decision.comm_ns);
    QCOMPARE(card.need[1].ns, decision.comm_ns * 0.5);
    QCOMPARE(card.need[2].ns, 5000.0);
    QCOMPARE(card.window[0].label, "_scaled_dot_product_flash_attention_2");
    QCOMPARE(valueOf(card, "comm"), "1,177.7 µs · imported, H100 file");
    QVERIFY(contains(valueOf(card, "dep floor"), "the graph's inputs"));
    QVERIFY(contains(valueOf(card, "first consumer"), "layer 2's ffn.w1 (mm_"));
    QVERIFY(rowOf(card, "first consumer")->node == decision.first_consumer);
    QCOMPARE(valueOf(card, "moves with it"), "_to_copy_18");
    QVERIFY(contains(card.carry.text, "left over carry to layers.2."));
    QVERIFY(analysis->decisionFor(card.carry.node) != nullptr);
    QCOMPARE(card.costs.front().provenance, Provenance::Imported);
    QCOMPARE(card.costs[1].provenance, Provenance::Measured);
}

void TestWhy::reasons_data() {
    QTest::addColumn<int>("reason");
    QTest::addColumn<QString>("sentence");
    QTest::addColumn<QString>("node");
    const auto row = [](const char* name, BindingReason reason, const char* sentence, const char* node) {
        QTest::newRow(name) << int(reason) << QString::fromUtf8(sentence) << QString::fromUtf8(node);
    };
    row("graph start, inputs", BindingReason::GraphStart,
        "Only the graph's inputs lie before it: no earlier compute could hide it.", "");
    row("data", BindingReason::DataDependency,
        "It cannot pass add_3 (line 95 of the graph file): the gather needs that result.", "add_3");
    row("effect", BindingReason::Effect,
        "It cannot pass add_3 (line 95 of the graph file): that node frees or writes storage, or is a "
        "barrier.",
        "add_3");
    row("claimed", BindingReason::Claimed,
        "The compute in front of it already hides the gather of layers.2.ffn.w2 (line 128 of the graph "
        "file); two "
        "gathers cannot use the same compute, since they share one stream.",
        "all_gather_into_tensor_20");
    row("order", BindingReason::Order,
        "It stays behind the gather of layers.2.attn.wqkv (line 101 of the graph file): launches keep their "
        "order",
        "all_gather_into_tensor_15");
    row("no consumer", BindingReason::NoConsumer,
        "Nothing in the graph uses what all_gather_into_tensor_18 (line 117 of the graph file) gathers.",
        "all_gather_into_tensor_18");
    row("no wait", BindingReason::NoWait,
        "Nothing in the graph waits for all_gather_into_tensor_18 (line 117 of the graph file).",
        "all_gather_into_tensor_18");
    row("not a weight", BindingReason::NotWeightGather,
        "all_gather_into_tensor_18 does not gather a parameter", "all_gather_into_tensor_18");
    row("budget", BindingReason::Budget,
        "Launching it earlier would keep more gathered weights alive than the budget of none MiB allows.",
        "all_gather_into_tensor_18");
    row("program order", BindingReason::ProgramOrder,
        "This scheduler keeps the program's order; another one may hide it.", "");
    row("ranks", BindingReason::Ranks,
        "The ranks are pinned: no gather may pass another collective, so it stays behind the collective "
        "before "
        "it.",
        "");
    row("invalid", BindingReason::Invalid,
        "The new order as a whole would have broken an edge between nodes, so the program keeps its old "
        "order.",
        "");
}

void TestWhy::reasons() {
    QFETCH(int, reason);
    QFETCH(QString, sentence);
    QFETCH(QString, node);
    AnalysisPtr kept;
    test::SampleOptions options;
    options.edit_schedule = [&](Schedule& schedule, const Program& program) {
        const Graph& graph = *program.graph;
        for (Decision& decision : schedule.decisions) {
            if (graph.name(decision.launch) == "all_gather_into_tensor_15")
                decision.target = decision.cur - 3;
            if (graph.name(decision.launch) != "all_gather_into_tensor_18")
                continue;
            decision.reason = static_cast<BindingReason>(reason);
            decision.verdict = Verdict::ComputeLimited;
            decision.window_ns = 100000;
            if (decision.reason == BindingReason::DataDependency || decision.reason == BindingReason::Effect)
                decision.floor_node = *graph.find("add_3");
            if (decision.reason == BindingReason::Claimed)
                decision.claimed_by = *graph.find("all_gather_into_tensor_20");
            if (decision.reason == BindingReason::Order)
                decision.target = *graph.find("all_gather_into_tensor_15") - 3;
        }
    };
    // One gather between may not share the target, or it would be the one named.
    const AnalysisPtr analysis = test::sampleAnalysis(options);
    const WhyCard card = explainNode(*analysis, *analysis->after.graph->find("all_gather_into_tensor_18"));
    const QString text = QString::fromStdString(card.reason.text);
    QVERIFY2(text.startsWith(sentence), qPrintable(text));
    const QString named =
        card.reason.node == kNoNode
            ? QString()
            : QString::fromStdString(std::string(analysis->after.graph->name(card.reason.node)));
    QCOMPARE(named, node);
    if (!node.isEmpty())
        QVERIFY(contains(card.reason_source, "model.py:"));
    QCOMPARE(card.detail, "The window holds 100.0 µs of the 1,771.6 µs it needs: 1,671.6 µs too little.");
}

void TestWhy::reasonOfStayingGather() {
    const WhyCard card = editedCard([](Decision& d) {
        d.target = d.cur;
        d.window_ns = 0;
        d.verdict = Verdict::ComputeLimited;
        d.reason = BindingReason::Claimed;
        d.claimed_by = d.launch + 5;
    });
    QCOMPARE(card.headline, "Stays where it is: a later gather uses the compute before it.");
    QCOMPARE(card.detail, "It needs 1,771.6 µs of compute in front of it and finds none.");
}

void TestWhy::movedLater() {
    const WhyCard card = editedCard([](Decision& d) { d.target = d.cur + 1; });
    QVERIFY2(contains(card.headline, "Launched 1 node later, just before layer 2's"), card.headline.c_str());
}

void TestWhy::limitedFacts() {
    const WhyCard card = editedCard([](Decision& d) {
        d.verdict = Verdict::ComputeLimited;
        d.reason = BindingReason::GraphStart;
        d.window_ns = d.need_ns - 3000;
    });
    // need = 1,177.705 × 1.5 + 5 = 1,771.557 µs; window = 1,768.557 µs
    QCOMPARE(factOf(card, "hidden if the transfer took at most"), "1,175.7 µs (−0.2 %)");
    QCOMPARE(factOf(card, "hidden up to contention"), "1.50");
    QCOMPARE(factOf(card, "hidden with a slack of at most"), "2.0 µs");
    QCOMPARE(factOf(card, "hidden with more compute before it, at least"), "3.0 µs");
    const WhyCard none = editedCard([](Decision& d) {
        d.verdict = Verdict::ComputeLimited;
        d.window_ns = 4000;
    });
    QCOMPARE(factOf(none, "no faster transfer alone would hide it"), "window 4.0 µs");
}

void TestWhy::hiddenFacts() {
    const WhyCard card = editedCard([](Decision& d) { d.window_ns = 2779000; });
    QCOMPARE(factOf(card, "stays hidden up to contention"), "2.36");
    QCOMPARE(factOf(card, "stays hidden while the transfer takes at most"), "1,849.3 µs");
}

void TestWhy::noCandidates_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("headline");
    QTest::addColumn<QString>("reason");
    QTest::newRow("activation") << "activation_gather"
                                << "Stays where it is: it does not gather a parameter."
                                << "activation_gather does not gather a parameter";
    QTest::newRow("no wait") << "unwaited_gather"
                             << "Stays where it is: nothing waits for it."
                             << "Nothing in the graph waits for unwaited_gather (line 16 of the graph file).";
    QTest::newRow("no consumer")
        << "unused_gather"
        << "Stays where it is: nothing uses the result."
        << "Nothing in the graph uses what unused_gather (line 17 of the graph file) gathers.";
}

void TestWhy::noCandidates() {
    QFETCH(QString, name);
    QFETCH(QString, headline);
    QFETCH(QString, reason);
    const AnalysisPtr analysis = test::sampleAnalysis();
    const WhyCard card = explainGather(*analysis, *analysis->after.graph->find(name.toStdString()));
    QCOMPARE(QString::fromStdString(card.headline), headline);
    QVERIFY2(QString::fromStdString(card.reason.text).startsWith(reason), card.reason.text.c_str());
    QCOMPARE(card.detail, "It is not a candidate for moving.");
    QVERIFY(card.need.empty());
    QVERIFY(card.facts.empty());
}

void TestWhy::otherCollectives() {
    const AnalysisPtr analysis = test::sampleAnalysis();
    const WhyCard card = explainGather(*analysis, *analysis->after.graph->find("grad_reduce_scatter"));
    QCOMPARE(card.headline,
             "Stays where it is: grad_reduce_scatter is a reduce_scatter, not a weight gather.");
    QVERIFY(contains(valueOf(card, "simulated"), "exposed"));
}

void TestWhy::missingCost() {
    const AnalysisPtr analysis = test::sampleAnalysis();
    const WhyCard card = explainNode(*analysis, *analysis->after.graph->find("mystery"));
    QCOMPARE(valueOf(card, "cost"), "no cost known: counted as 0 µs");
    QCOMPARE(card.costs.size(), size_t{1});
    QVERIFY(card.costs[0].provenance == Provenance::Missing);
}

void TestWhy::disagreements() {
    NodeId launch = kNoNode;
    const auto card_of = [&](Verdict verdict, int64_t launched, int64_t start, int64_t end, int64_t exposed) {
        test::SampleOptions options;
        options.edit_schedule = [&](Schedule& schedule, const Program& program) {
            for (Decision& decision : schedule.decisions) {
                if (program.graph->name(decision.launch) == "all_gather_into_tensor_18")
                    decision.verdict = verdict;
            }
        };
        options.edit_timeline = [&](Timeline& timeline, const Program& program) {
            const int32_t own =
                program.collectives->indexOf(*program.graph->find("all_gather_into_tensor_18"));
            const int32_t other =
                program.collectives->indexOf(*program.graph->find("all_gather_into_tensor_17"));
            Transfer& t = timeline.transfers[static_cast<size_t>(own)];
            t.launched_ns = launched;
            t.start_ns = start;
            t.end_ns = end;
            t.exposed_ns = exposed;
            Transfer& busy = timeline.transfers[static_cast<size_t>(other)];
            busy.end_ns = start;
            busy.start_ns = start - 1000;
            busy.stream = t.stream;
        };
        const AnalysisPtr analysis = test::sampleAnalysis(options);
        launch = *analysis->after.graph->find("all_gather_into_tensor_17");
        return explainNode(*analysis, *analysis->after.graph->find("all_gather_into_tensor_18"));
    };
    const int64_t late = int64_t{1} << 50; // beyond every other transfer
    WhyCard card = card_of(Verdict::Hidden, late, late + 40000, late + 1217705, 12000);
    QCOMPARE(card.disagreement.text, "Promised hidden, but 12.0 µs are exposed: its stream was busy with "
                                     "layers.2.ffn_norm for 40.0 µs after the launch.");
    QVERIFY(card.disagreement.node == launch);
    QCOMPARE(valueOf(card, "simulated"), "12.0 µs exposed · stream busy with layers.2.ffn_norm for 40.0 µs");
    card = card_of(Verdict::Hidden, late, late, late + 1677705, 12000);
    QCOMPARE(card.disagreement.text,
             "Promised hidden, but 12.0 µs are exposed: contention made the transfer 500.0 µs longer.");
    card = card_of(Verdict::Hidden, late, late, late + 1177705, 12000);
    QVERIFY(contains(card.disagreement.text, "it is launched too late"));
    card = card_of(Verdict::Hidden, late, late, late + 1177705, 0);
    QVERIFY(card.disagreement.text.empty());
    QCOMPARE(valueOf(card, "simulated"), "hidden · stream idle before launch");
    card = card_of(Verdict::ComputeLimited, late, late, late + 1177705, 0);
    QVERIFY(contains(card.disagreement.text, "Called COMPUTE-LIMITED, yet nothing is exposed"));
}

void TestWhy::nodes() {
    const AnalysisPtr analysis = test::sampleAnalysis();
    const Graph& graph = *analysis->after.graph;
    const WhyCard mm = explainNode(*analysis, *graph.find("_scaled_dot_product_flash_attention_2"));
    QVERIFY(!mm.gather);
    QVERIFY(contains(mm.headline, "layer 2's attention"));
    QCOMPARE(valueOf(mm, "cost"), "2,216.0 µs · measured, H100 file");
    QCOMPARE(valueOf(mm, "hides"), "layers.2.ffn.w1");
    // A wait leads to its gather's card.
    const WhyCard wait = explainNode(*analysis, *graph.find("wait_tensor_18"));
    QVERIFY(wait.gather);
    QCOMPARE(wait.title, "layers.2.feed_forward.w1.weight");
    QVERIFY(contains(explainNode(*analysis, 0).headline, "Input of the graph: layers.0"));
    for (NodeId id = 0; id < graph.size(); ++id)
        QVERIFY(!explainNode(*analysis, id).headline.empty());
}

void TestWhy::exposure() {
    const AnalysisPtr analysis = test::sampleAnalysis();
    int64_t before = 0;
    int64_t after = 0;
    for (size_t i = 0; i < analysis->after.collectives->size(); ++i) {
        const Collective& item = (*analysis->after.collectives)[i];
        after += exposedAfter(*analysis, static_cast<int32_t>(i));
        before += exposedBefore(*analysis, item.launch);
    }
    QCOMPARE(after, analysis->after.timeline->exposed_ns);
    QCOMPARE(before, analysis->before.timeline->exposed_ns);
    QVERIFY(after < before);
}

void TestWhy::barsAddUp_data() {
    QTest::addColumn<QString>("graph");
    QTest::addColumn<QString>("costs");
    QTest::addColumn<QString>("scheduler");
    for (const SchedulerInfo& info : schedulers())
        QTest::addRow("sample %s", info.name.data()) << ""
                                                     << "" << info.name.data();
    for (const char* graph : {"lm2_fsdp8_joint", "lm3_hsdp8x8_joint", "snodes_lm2_fsdp8_fwd",
                              "coalesced3x3_fsdp8_fwd", "llama3_8b_fsdp64_joint"}) {
        for (const char* costs : {"commlight", "commheavy"}) {
            for (const SchedulerInfo& info : schedulers())
                QTest::addRow("%s %s %s", graph, costs, info.name.data())
                    << graph << costs << info.name.data();
        }
    }
}

void TestWhy::barsAddUp() {
    QFETCH(QString, graph);
    QFETCH(QString, costs);
    QFETCH(QString, scheduler);
    AnalysisPtr analysis;
    if (graph.isEmpty()) {
        test::SampleOptions options;
        options.scheduler = scheduler.toStdString();
        analysis = test::sampleAnalysis(options);
    } else {
        const auto graph_path = test::corpusPath("graphs/" + graph.toStdString() + ".json");
        const auto costs_path =
            test::corpusPath(QStringLiteral("costs/%1.%2.json").arg(graph, costs).toStdString());
        if (!graph_path || !costs_path)
            return; // corpusPath() said NOT RUN
        AnalysisRequest request;
        request.graph_file = *graph_path;
        request.cost_files = {*costs_path};
        QVERIFY(request.settings.set(Setting::Scheduler, scheduler.toStdString()).ok());
        Analyser analyser;
        Result<AnalysisPtr> result = analyser.analyse(request, {});
        QVERIFY(result.ok());
        analysis = result.value();
    }
    const std::vector<Decision>& decisions = analysis->after.schedule->decisions;
    const size_t step = std::max<size_t>(1, decisions.size() / 60);
    for (size_t i = 0; i < decisions.size(); i += step) {
        const Decision& decision = decisions[i];
        const WhyCard card = explainGather(*analysis, decision.launch);
        QVERIFY(!card.headline.empty());
        if (decision.verdict == Verdict::NotCandidate)
            continue;
        QVERIFY2(std::abs(sumOf(card.need) - decision.need_ns) < 2, card.title.c_str());
        QVERIFY2(std::abs(sumOf(card.window) - decision.window_ns) < 2, card.title.c_str());
        // Document 003's scheduler may count compute behind the first of several waits, PyTorch 2.15's also
        // exposed waits of other groups and latency that a bucket saves, ours stalls for other transfers; the
        // others name every node.
        const bool counts_time =
            scheduler.startsWith("overlap-scheduler") || scheduler == "two-sided" || scheduler == "optimum";
        for (const WhyPart& part : card.window)
            QVERIFY2(part.label != "other time in flight" || counts_time, card.title.c_str());
        // Whatever the scheduler calls it, the sentence has the node that it talks of.
        if (decision.verdict == Verdict::ComputeLimited)
            QVERIFY(!card.reason.text.empty());
        for (const WhyFact& fact : card.facts)
            QVERIFY2(!contains(fact.value, "nan") && !contains(fact.value, "inf"), fact.text.c_str());
    }
}

QTEST_GUILESS_MAIN(TestWhy)
#include "tst_why.moc"
