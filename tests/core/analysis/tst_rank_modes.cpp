// The outcome of the ranks' agreement binds the schedule, whatever scheduler made it: by slot, pinned, not at
// all, or no schedule.
#include "analysis/analysis.h"
#include "explain/why.h"
#include "export/exporter.h"
#include "export/graph_json.h"
#include "schedule/collective_order.h"
#include "schedule/scheduler.h"
#include "support/random_graph.h"
#include "support/test_data.h"

#include "../schedule/rank_variants.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <numeric>

using namespace gs;

namespace {

using Numbers = std::vector<uint32_t>;

/// The program's collectives in the order of its schedule, by their number in program order; the number is
/// what peers have in common.
Numbers sequenceOf(const Program& program) {
    const std::vector<NodeId> nodes = collectiveNodes(*program.graph, communicatingOps("none"));
    Numbers out;
    for (const NodeId id : program.schedule->order) {
        const auto at = std::find(nodes.begin(), nodes.end(), id);
        if (at != nodes.end())
            out.push_back(static_cast<uint32_t>(at - nodes.begin()));
    }
    return out;
}

bool inProgramOrder(const Program& program) {
    const Numbers sequence = sequenceOf(program);
    return std::is_sorted(sequence.begin(), sequence.end());
}

bool hasCode(const Analysis& analysis, std::string_view code) {
    const auto& all = analysis.diagnostics.all();
    return std::any_of(all.begin(), all.end(), [&](const Diagnostic& item) { return item.code == code; });
}

std::string textOf(const Analysis& analysis, std::string_view exporter) {
    for (const Exporter& item : exporters()) {
        if (item.name == exporter)
            return item.write(analysis).value();
    }
    return {};
}

/// Graph without the node `drop`, which others see as its first input.
GraphPtr without(const Graph& graph, NodeId drop) {
    GraphBuilder b(graph);
    std::vector<NodeId> map(graph.size(), kNoNode);
    for (NodeId id = 0; id < graph.size(); ++id)
        map[id] = id == drop ? map[graph.inputs(id).front()] : b.copyNode(graph, id, map);
    return b.finish(nullptr);
}

/// First launch that fits; none: kNoNode.
template <typename Fits>
NodeId findLaunch(const Graph& graph, Fits fits) {
    const CollectiveTable table(graph);
    for (const Collective& item : table.all()) {
        if (item.launch != kNoNode && item.unpacks.empty() && fits(item))
            return item.launch;
    }
    return kNoNode;
}

/// Every decision that other ranks bind says so, in the card and in the files.
std::string faultOfHolds(const Analysis& analysis) {
    const Schedule& schedule = *analysis.after.schedule;
    size_t holds = 0;
    for (const Decision& decision : schedule.decisions) {
        if (decision.reason != BindingReason::Ranks)
            continue;
        ++holds;
        const std::string text = explainGather(analysis, decision.launch).reason.text;
        const bool by_slot = schedule.rank_mode == "slot";
        if (decision.hold.behind == kNoNode || decision.hold.rank.empty() == by_slot ||
            decision.hold.slot < 0)
            return "a hold does not say by what";
        if (text.find(by_slot ? "Held back by " + decision.hold.rank : "no gather may pass") ==
            std::string::npos)
            return "the card does not say who holds it: " + text;
        if (decision.target > decision.cur)
            return "a gather is held behind its own place";
    }
    if (holds != schedule.rank_holds)
        return "holds are miscounted";
    if (textOf(analysis, "schedule").find("\"rank_mode\": \"" + schedule.rank_mode) == std::string::npos ||
        textOf(analysis, "analysis").find("\"rank_mode\": \"" + schedule.rank_mode) == std::string::npos)
        return "a file does not state the mode";
    return findBrokenEdge(*analysis.after.graph, schedule.order) ? "an edge is broken" : "";
}

} // namespace

class TestRankModes : public QObject {
    Q_OBJECT
private:
    QTemporaryDir folder_;

    std::string write(const std::string& name, const Graph& graph) {
        QFile file(folder_.filePath(QString::fromStdString(name)));
        if (!file.open(QIODevice::WriteOnly))
            qFatal("cannot write");
        file.write(QByteArray::fromStdString(writeGraphJson(graph)));
        return file.fileName().toStdString();
    }

    /// Analysis of each file with all the others.
    static std::vector<AnalysisPtr>
    analyseAll(const std::vector<std::string>& files, std::string_view scheduler,
               std::vector<std::pair<std::string, std::string>> settings = {}) {
        std::vector<AnalysisPtr> out;
        for (const std::string& file : files) {
            AnalysisRequest request;
            request.graph_file = file;
            for (const std::string& other : files) {
                if (other != file)
                    request.rank_files.push_back(other);
            }
            settings.emplace_back("scheduler", scheduler);
            for (const auto& [name, value] : settings) {
                if (!request.settings.set(name, value).ok())
                    qFatal("bad setting");
            }
            Analyser analyser;
            out.push_back(analyser.analyse(request, {}).value());
        }
        return out;
    }

    /// `count` ranks of the random program of `seed`; file names state the ranks.
    std::vector<std::string> variants(uint32_t seed, uint32_t count) {
        const GraphPtr base = test::randomGraph(seed);
        std::vector<std::string> files;
        for (uint32_t rank = 0; rank < count; ++rank)
            files.push_back(write("g" + std::to_string(seed) + "_rank" + std::to_string(rank) + ".json",
                                  *test::rankVariant(*base, seed * 5 + rank, 0.2, 0.1)));
        return files;
    }

    static std::vector<std::string_view> schedulerNames() {
        std::vector<std::string_view> names;
        for (const SchedulerInfo& info : schedulers()) {
            if (info.name != "optimum")
                names.push_back(info.name);
        }
        return names;
    }

private slots:
    void withoutOtherRanks() {
        AnalysisRequest request;
        request.graph_file = variants(1, 1).front();
        Analyser analyser;
        const AnalysisPtr plain = analyser.analyse(request, {}).value();
        QVERIFY(plain->after.schedule->rank_mode.empty());
        QCOMPARE(textOf(*plain, "schedule").find("\"rank_mode\": \"auto\""),
                 textOf(*plain, "schedule").rfind("\"rank_mode\"")); // the setting alone
        QVERIFY(request.settings.set("rank_mode", "pinned").ok());
        const AnalysisPtr pinned = analyser.analyse(request, {}).value();
        QCOMPARE(pinned->after.schedule->rank_mode, std::string("pinned"));
        QVERIFY(inProgramOrder(pinned->after) && !inProgramOrder(plain->after));
        QCOMPARE(faultOfHolds(*pinned), std::string());
    }

    void identicalRanksAreFree() {
        const GraphPtr graph = test::randomGraph(3);
        const std::vector<std::string> files{write("same_rank0.json", *graph),
                                             write("same_rank1.json", *graph)};
        AnalysisRequest alone;
        alone.graph_file = files[0];
        Analyser analyser;
        const AnalysisPtr free = analyser.analyse(alone, {}).value();
        for (const AnalysisPtr& bound : analyseAll(files, "latest-safe-launch")) {
            QCOMPARE(bound->after.schedule->rank_mode, std::string("identical"));
            QVERIFY(bound->after.schedule->order == free->after.schedule->order);
            QCOMPARE(bound->after.schedule->rank_holds, size_t{0});
        }
    }

    void slotOnRandomPrograms() {
        size_t holds = 0, moved = 0, differing = 0, would_hang = 0;
        for (uint32_t seed = 10; seed < 22; ++seed) {
            const std::vector<std::string> files = variants(seed, 3);
            const auto unbound = analyseAll(files, "latest-safe-launch", {{"rank_mode", "identical"}});
            would_hang += sequenceOf(unbound[0]->after) != sequenceOf(unbound[1]->after);
            for (const std::string_view scheduler : schedulerNames()) {
                const std::vector<AnalysisPtr> ranks = analyseAll(files, scheduler);
                for (const AnalysisPtr& rank : ranks) {
                    QCOMPARE(rank->after.schedule->rank_mode, std::string("slot"));
                    QVERIFY2(sequenceOf(rank->after) == sequenceOf(ranks[0]->after),
                             (std::string(scheduler) + " seed " + std::to_string(seed)).c_str());
                    QCOMPARE(faultOfHolds(*rank), std::string());
                    holds += rank->after.schedule->rank_holds;
                    moved += rank->after.schedule->moved;
                    differing += rank->after.schedule->order.size() != ranks[0]->after.schedule->order.size();
                }
            }
        }
        QVERIFY(holds > 20 && moved > 100 && differing > 0 && would_hang > 5);
    }

    void unevenShards() {
        std::vector<std::string> files;
        for (const char* rank : {"0", "5", "7"}) {
            const auto path =
                test::corpusPath("graphs/mlp_uneven_fsdp8_rank" + std::string(rank) + "_joint.json");
            QVERIFY(path);
            files.push_back(*path);
        }
        for (const std::string_view scheduler : schedulerNames()) {
            const std::vector<AnalysisPtr> ranks = analyseAll(files, scheduler);
            for (const AnalysisPtr& rank : ranks) {
                QCOMPARE(rank->ranks->mode, RankMode::Slot);
                QCOMPARE(rank->after.schedule->rank_mode, std::string("slot"));
                QVERIFY2(sequenceOf(rank->after) == sequenceOf(ranks[0]->after), scheduler.data());
                QCOMPARE(faultOfHolds(*rank), std::string());
            }
            if (scheduler == "latest-safe-launch")
                QVERIFY(ranks[0]->after.schedule->moved > 0);
        }
    }

    /// Buckets that differ leave no slots in common; the order of what there is can still be kept.
    void noSlotsWithOtherBuckets() {
        const GraphPtr base = test::randomGraph(4, {.coalesced = 0});
        GraphBuilder b(*base);
        std::vector<NodeId> map(base->size(), kNoNode);
        size_t mms = 0;
        for (NodeId id = 0; id < base->size(); ++id) {
            map[id] = b.copyNode(*base, id, map);
            if (base->targetText(id) != "aten.mm.default" || ++mms != 3)
                continue;
            const NodeId more = b.addNode("more", NodeOp::CallFunction, "mylib.edge.default");
            b.setArgs(more, {b.nodeArg(map[id])});
            b.setValue(more, base->value(id));
            map[id] = more;
        }
        const std::vector<std::string> files{write("b_rank0.json", *base),
                                             write("b_rank1.json", *b.finish(nullptr))};
        const std::vector<AnalysisPtr> ranks = analyseAll(
            files, "latest-safe-launch", {{"bucket_mode", "coalesced"}, {"bucket_boundary", "mylib.edge"}});
        for (const AnalysisPtr& rank : ranks) {
            QCOMPARE(rank->ranks->mode, RankMode::Slot);
            QCOMPARE(rank->after.schedule->rank_mode, std::string("pinned"));
            QVERIFY(hasCode(*rank, "rank-no-slots") && inProgramOrder(rank->after));
            QVERIFY(rank->after.graph == rank->before.graph);
        }
        QCOMPARE(sequenceOf(ranks[0]->after), sequenceOf(ranks[1]->after));
    }

    void pinned() {
        size_t holds = 0;
        for (uint32_t seed = 30; seed < 38; ++seed) {
            const GraphPtr graph = test::randomGraph(seed, {.reduce_scatter = 0.8});
            const NodeId scatter =
                findLaunch(*graph, [](const Collective& item) { return !item.isGather(); });
            QVERIFY(scatter != kNoNode);
            const std::vector<std::string> files{write("p_rank0.json", *graph),
                                                 write("p_rank1.json", *without(*graph, scatter))};
            for (const std::string_view scheduler : schedulerNames()) {
                for (const AnalysisPtr& rank : analyseAll(files, scheduler)) {
                    QCOMPARE(rank->after.schedule->rank_mode, std::string("pinned"));
                    QVERIFY2(inProgramOrder(rank->after), scheduler.data());
                    QCOMPARE(faultOfHolds(*rank), std::string());
                    holds += rank->after.schedule->rank_holds;
                }
            }
        }
        QVERIFY(holds > 20);
    }

    void abort() {
        const GraphPtr graph = test::randomGraph(40, {.coalesced = 0});
        const NodeId gather = findLaunch(*graph, [](const Collective& item) { return item.isGather(); });
        const std::vector<std::string> files{write("a_rank0.json", *graph),
                                             write("a_rank1.json", *without(*graph, gather))};
        for (const std::string_view scheduler : schedulerNames()) {
            for (const AnalysisPtr& rank : analyseAll(files, scheduler, {{"bucket_mode", "coalesced"}})) {
                const Schedule& schedule = *rank->after.schedule;
                QCOMPARE(schedule.rank_mode, std::string("abort"));
                QCOMPARE(schedule.scheduler, std::string("program-order"));
                QVERIFY(schedule.order == identityOrder(*rank->after.graph));
                QVERIFY(rank->after.graph == rank->before.graph && schedule.moved == 0);
                QVERIFY(hasCode(*rank, "rank-abort"));
                QCOMPARE(faultOfHolds(*rank), std::string());
            }
        }
    }

    void theSettingForcesAMode() {
        const std::vector<std::string> files = variants(50, 2);
        for (const char* mode : {"identical", "slot", "pinned", "abort"}) {
            for (const AnalysisPtr& rank : analyseAll(files, "latest-safe-launch", {{"rank_mode", mode}}))
                QCOMPARE(rank->after.schedule->rank_mode, std::string(mode));
        }
    }

    /// A change of the mode reuses everything before the binding, and back again all of it.
    void changesAreRecomputed() {
        const std::vector<std::string> files = variants(51, 2);
        AnalysisRequest request;
        request.graph_file = files[0];
        request.rank_files = {files[1]};
        Analyser analyser;
        const Order slot = analyser.analyse(request, {}).value()->after.schedule->order;
        QVERIFY(request.settings.set("rank_mode", "pinned").ok());
        QVERIFY(inProgramOrder(analyser.analyse(request, {}).value()->after));
        QVERIFY(request.settings.set("rank_mode", "auto").ok());
        const AnalysisPtr again = analyser.analyse(request, {}).value();
        QVERIFY(again->after.schedule->order == slot);
        for (const StageTime& time : again->times)
            QVERIFY2(time.reused, time.stage.c_str());
    }
};

QTEST_GUILESS_MAIN(TestRankModes)
#include "tst_rank_modes.moc"
