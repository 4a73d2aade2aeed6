// Buckets that a scheduler decides, through the whole analysis: one graph, its costs, its schedule, its
// timeline; and every text that is made of them.
#include "analysis/analysis.h"
#include "explain/why.h"
#include "export/exporter.h"
#include "support/test_data.h"

#include <QTest>
#include <algorithm>

using namespace gs;

namespace {

constexpr const char* kGraphs[] = {"mlp4_fsdp8_joint", "lm3_multidtype_fsdp8_joint", "lm2_ddp8_joint",
                                   "aot_lm2tied_fsdp8_fwd", "llama3_8b_fsdp64_joint"};
constexpr const char* kSchedulers[] = {"overlap-scheduler-upstream", "overlap-scheduler"};

AnalysisRequest requestOf(const std::string& name, const std::string& scheduler, bool with_costs) {
    AnalysisRequest request;
    request.graph_file = *test::corpusPath("graphs/" + name + ".json");
    if (const auto costs = test::corpusPath("costs/" + name + ".roofline.json"); with_costs && costs)
        request.cost_files = {*costs};
    if (!request.settings.set("scheduler", scheduler).ok() ||
        !request.settings.set("collective_bucketing", "true").ok())
        qFatal("bad setting");
    return request;
}

AnalysisPtr analyse(const AnalysisRequest& request) {
    Analyser analyser;
    const auto analysis = analyser.analyse(request, {});
    return analysis ? analysis.value() : nullptr;
}

/// Launches of the program that a bucket made.
std::vector<NodeId> buckets(const Program& program) {
    std::vector<NodeId> launches;
    for (const Collective& item : program.collectives->all()) {
        if (item.launch != kNoNode && program.graph->node(item.launch).moved_by_pass)
            launches.push_back(item.launch);
    }
    return launches;
}

std::string faultOf(const Analysis& analysis) {
    const Program& after = analysis.after;
    const Graph& graph = *after.graph;
    if (after.costs->all().size() != graph.size() || after.schedule->order.size() != graph.size() ||
        findBrokenEdge(graph, after.schedule->order) || !after.schedule->buckets.empty())
        return "graph, costs and order do not belong together";
    if (buckets(after).empty() || graph.size() == analysis.before.graph->size())
        return "nothing was merged";
    if (analysis.reports.empty() || analysis.reports.back().pass != "bucket-overlap")
        return "no report";
    for (const Decision& decision : after.schedule->decisions) {
        if (analysis.decisionFor(decision.launch) != &decision)
            return "a decision is not found by its launch";
        if (explainGather(analysis, decision.launch).title.empty())
            return "a decision has no card";
    }
    if (analysis.lower_bound_ns > after.timeline->step_ns)
        return "the step beats the lower bound";
    for (const Exporter& exporter : exporters()) {
        if (const auto text = exporter.write(analysis); !text)
            return std::string(exporter.name) + ": " + text.error().message;
    }
    return {};
}

} // namespace

class TestMergeStage : public QObject {
    Q_OBJECT

private slots:
    void corpus() {
        size_t checked = 0;
        for (const char* name : kGraphs) {
            if (!test::corpusPath(std::string("graphs/") + name + ".json"))
                continue;
            for (const char* scheduler : kSchedulers) {
                for (const bool with_costs : {true, false}) {
                    const std::string what = std::string(name) + " " + scheduler;
                    const AnalysisPtr analysis = analyse(requestOf(name, scheduler, with_costs));
                    QVERIFY2(analysis, what.c_str());
                    const std::string fault = faultOf(*analysis);
                    QVERIFY2(fault.empty(), (what + ": " + fault).c_str());
                    ++checked;
                }
            }
        }
        qInfo("%zu analyses", checked);
        QVERIFY(checked > 0);
    }

    /// A bucket that no cost file knows: latency once, transfers added up. On a device, its own model.
    void prices() {
        const AnalysisPtr file = analyse(requestOf("mlp4_fsdp8_joint", kSchedulers[0], true));
        for (const NodeId launch : buckets(file->after)) {
            const CostEntry* entry = file->after.costs->entry(launch);
            QVERIFY(entry);
            QCOMPARE(entry->provenance, Provenance::Interpolated);
            QVERIFY(QString::fromStdString(entry->note).contains("latency"));
            int64_t sum = 0, least = std::numeric_limits<int64_t>::max();
            for (const StringId member : file->after.graph->origins(launch)) {
                const NodeId id = file->before.graph->find(file->after.graph->text(member)).value();
                sum += file->before.costs->ns(id);
                least = std::min(least, file->before.costs->ns(id));
            }
            // The table's transfers are latency (5 µs) and bytes; the least one tells its latency nearly.
            const auto members = static_cast<int64_t>(file->after.graph->origins(launch).size());
            QVERIFY(entry->ns <= sum - (members - 1) * 4'900);
            QVERIFY(entry->ns >= sum - (members - 1) * least);
        }
        const AnalysisPtr device = analyse(requestOf("mlp4_fsdp8_joint", kSchedulers[0], false));
        for (const NodeId launch : buckets(device->after))
            QCOMPARE(device->after.costs->entry(launch)->provenance, Provenance::Analytical);
    }

    void scalesOnce() {
        AnalysisRequest request = requestOf("mlp4_fsdp8_joint", kSchedulers[0], true);
        const AnalysisPtr once = analyse(request);
        QVERIFY(request.settings.set("comm_scale", "2").ok());
        QVERIFY(request.settings.set("compute_overlap_multipler", "2").ok()); // the same ratios
        const AnalysisPtr twice = analyse(request);
        const auto launches = buckets(once->after);
        QCOMPARE(buckets(twice->after), launches);
        for (const NodeId launch : launches)
            QCOMPARE(twice->after.costs->ns(launch), 2 * once->after.costs->ns(launch));
    }

    void cachedStages() {
        Analyser analyser;
        AnalysisRequest request = requestOf("mlp4_fsdp8_joint", kSchedulers[0], true);
        const AnalysisPtr first = analyser.analyse(request, {}).value();
        const AnalysisPtr second = analyser.analyse(request, {}).value();
        QCOMPARE(second->after.graph, first->after.graph);
        const auto merge = std::find_if(second->times.begin(), second->times.end(),
                                        [](const StageTime& time) { return time.stage == "merge"; });
        QVERIFY(merge != second->times.end() && merge->reused);
        QVERIFY(request.settings.set("collective_bucketing", "false").ok());
        const AnalysisPtr third = analyser.analyse(request, {}).value();
        QVERIFY(buckets(third->after).empty());
        QCOMPARE(third->after.graph, third->before.graph);
    }

    void editsFollowTheMerge() {
        AnalysisRequest request = requestOf("mlp4_fsdp8_joint", kSchedulers[0], true);
        request.edits = {parseEdit("forbid:all_gather_into_tensor_5").value()};
        const AnalysisPtr analysis = analyse(request);
        QVERIFY(analysis);
        size_t by_hand = 0;
        for (const Decision& decision : analysis->after.schedule->decisions)
            by_hand += decision.reason == BindingReason::ByHand ? 1 : 0;
        QCOMPARE(by_hand, size_t(1));
        QVERIFY(!findBrokenEdge(*analysis->after.graph, analysis->after.schedule->order));
    }
};

QTEST_GUILESS_MAIN(TestMergeStage)
#include "tst_merge_stage.moc"
