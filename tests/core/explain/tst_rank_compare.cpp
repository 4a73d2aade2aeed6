// Rank comparison: every mode and difference by hand, properties on random programs, the public cases.
#include "analysis/rank_files.h"
#include "explain/rank_compare.h"
#include "graph/graph_builder.h"
#include "import/importer.h"
#include "support/line_graph.h"
#include "support/random_graph.h"
#include "support/test_data.h"

#include <QElapsedTimer>
#include <QTest>
#include <algorithm>
#include <fmt/format.h>
#include <random>

using namespace gs;
using gs::test::GraphLine;

namespace {

using Lines = std::vector<GraphLine>;

RankProgram program(int32_t rank, const GraphPtr& graph) {
    RankProgram made;
    made.rank = rank;
    made.label = fmt::format("rank {}", rank);
    made.graphs.push_back({"graph", {}, graph});
    return made;
}

RankComparisonPtr compareGraphs(const std::vector<GraphPtr>& graphs) {
    std::vector<RankProgram> programs;
    for (size_t i = 0; i < graphs.size(); ++i)
        programs.push_back(program(static_cast<int32_t>(i), graphs[i]));
    return compareRanks(std::move(programs));
}

RankComparisonPtr compareLines(const std::vector<Lines>& ranks) {
    std::vector<GraphPtr> graphs;
    for (const Lines& lines : ranks)
        graphs.push_back(test::lineGraph(lines));
    return compareGraphs(graphs);
}

QStringList codes(const RankComparison& comparison) {
    QStringList out;
    for (const RankDifference& item : comparison.differences)
        out << QString::fromStdString(item.code);
    return out;
}

bool hasHarmless(const RankComparison& comparison, std::string_view code) {
    return std::any_of(comparison.harmless.begin(), comparison.harmless.end(),
                       [&](const HarmlessDifference& item) { return item.code == code; });
}

QString modeOf(const RankComparison& comparison) {
    const std::string_view name = rankModeName(comparison.mode);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

/// Two layers: gather, use, reduce on another group.
Lines layers() {
    return {{"p", ""},
            {"q", ""},
            {"x", ""},
            {"g", "gather", {"p"}},
            {"wg", "wait", {"g"}},
            {"m", "aten.mm.default", {"x", "wg"}},
            {"r", "reduce", {"m"}, "dp"},
            {"wr", "wait", {"r"}},
            {"g2", "gather", {"q"}},
            {"wg2", "wait", {"g2"}},
            {"m2", "aten.mm.default", {"wr", "wg2"}},
            {"out", "output", {"m2"}}};
}

/// The graph with other node names and another device, and otherwise as it is; without the nodes of `drop`.
GraphPtr rebuilt(const Graph& graph, const std::vector<NodeId>& drop, const char* prefix) {
    GraphBuilder b(graph);
    std::vector<NodeId> map(graph.size(), kNoNode);
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (std::find(drop.begin(), drop.end(), id) != drop.end()) {
            map[id] = map[graph.inputs(id).front()]; // users read what it was given
            continue;
        }
        map[id] = b.copyNode(graph, id, map);
        b.node(map[id]).name = b.intern(fmt::format("{}{}", prefix, id));
    }
    return b.finish(nullptr);
}

} // namespace

class TestRankCompare : public QObject {
    Q_OBJECT
private slots:
    void equalGraphsAreIdentical() {
        const auto same = compareLines({layers(), layers(), layers()});
        QCOMPARE(same->mode, RankMode::Identical);
        QVERIFY(!same->hasFindings());
        QVERIFY(same->cycles.empty());
        QCOMPARE(same->classes.size(), size_t(1));
        QCOMPARE(QString::fromStdString(same->classes[0].text), QString("ranks 0–2"));
        QCOMPARE(same->groups.size(), size_t(2));
        QVERIFY(same->first_what.empty());
    }

    void namesAndDevicesAreHarmless() {
        const GraphPtr graph = test::lineGraph(layers());
        const auto renamed = compareGraphs({graph, rebuilt(*graph, {}, "n")});
        QCOMPARE(renamed->mode, RankMode::Identical);
        QVERIFY(hasHarmless(*renamed, "node-names"));
        QVERIFY(!renamed->hasFindings());
    }

    void otherComputeIsSlot() {
        Lines other = layers();
        other.insert(other.begin() + 5, {"extra", "aten.relu.default", {"x"}});
        const auto slot = compareLines({layers(), other});
        QCOMPARE(slot->mode, RankMode::Slot);
        QVERIFY(!slot->hasFindings());
        QVERIFY(hasHarmless(*slot, "extra-nodes"));
        QCOMPARE(slot->first_what, std::string("only on one side"));
        QCOMPARE(slot->first_a.node, kNoNode);
        QVERIFY(slot->first_b.text.find("\"extra\"") != std::string::npos);
        QVERIFY(slot->first_b.text.find("line 6") != std::string::npos);
    }

    void padWidthsAndSplitListsAreHarmless() {
        const auto lines = [](int64_t pad) {
            return Lines{{"p", "", {}, "0", 64 - pad},
                         {"pad", "aten.constant_pad_nd.default", {"p"}, "0", pad},
                         {"y", "aten.view.default", {"pad"}},
                         {"g", "gather", {"y"}},
                         {"w", "wait", {"g"}},
                         {"t", "a2a", {"w"}, "0", 10 + pad},
                         {"wt", "wait", {"t"}, "0", 10 + pad},
                         {"out", "output", {"wt"}}};
        };
        const auto slot = compareLines({lines(0), lines(7)});
        QCOMPARE(slot->mode, RankMode::Slot);
        QVERIFY2(!slot->hasFindings(), slot->verdict.c_str());
        QVERIFY(hasHarmless(*slot, "pad-widths"));
        QVERIFY(hasHarmless(*slot, "split-lists"));
    }

    void missingCollectives() {
        Lines other = layers(); // without the all_reduce
        other.erase(other.begin() + 6, other.begin() + 8);
        other[8].inputs = {"m", "wg2"};
        const auto pinned = compareLines({layers(), layers(), other});
        QCOMPARE(pinned->mode, RankMode::Pinned);
        QCOMPARE(codes(*pinned), QStringList({"rank-missing"}));
        const RankDifference& item = pinned->differences.front();
        QCOMPARE(item.b.rank, 2);
        QVERIFY2(item.message.find("ranks 0–1") != std::string::npos, item.message.c_str());
        QVERIFY2(item.message.find("rank 2 does not") != std::string::npos, item.message.c_str());
        QVERIFY(item.message.find("group \"dp\"") != std::string::npos);
        // Ranks 0 and 1 wait for the all_reduce of rank 2, which waits for their next gather.
        QVERIFY(!pinned->cycles.empty() && pinned->cycles[0].certain && pinned->cycles[0].closed);
        QCOMPARE(pinned->cycles[0].steps.size(), size_t{2});
        QCOMPARE(pinned->cycles[0].steps.front().missing_rank, 2);
        QCOMPARE(pinned->cycles[0].steps.back().rank, 2);
        QVERIFY(pinned->verdict.find("hangs") != std::string::npos);

        Lines fewer = layers(); // without a gather
        fewer.erase(fewer.begin() + 8, fewer.begin() + 10);
        fewer[8].inputs = {"wr", "q"};
        QCOMPARE(compareLines({layers(), fewer})->mode, RankMode::Abort);
    }

    void harmfulDifferences_data() {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("code");
        QTest::newRow("kind") << "kind"
                              << "rank-kind";
        QTest::newRow("dtype") << "dtype"
                               << "rank-dtype";
        QTest::newRow("bytes") << "bytes"
                               << "rank-bytes";
        QTest::newRow("operation") << "operation"
                                   << "rank-reduce-op";
        QTest::newRow("group") << "group"
                               << "rank-group";
    }
    void harmfulDifferences() {
        QFETCH(QString, field);
        QFETCH(QString, code);
        Lines other = layers();
        other.insert(other.begin() + 8, {"again", "reduce", {"wr"}, "dp"});
        other.insert(other.begin() + 9, {"wagain", "wait", {"again"}});
        const Lines base = other;
        GraphLine& line = other[8];
        if (field == "kind")
            line.target = "scatter";
        else if (field == "dtype")
            other[7].dtype = line.dtype = "float32";
        else if (field == "bytes")
            other[7].rows = 32;
        else if (field == "operation")
            line.reduce = "avg";
        else
            line.group = "0";
        const auto made = compareLines({base, other});
        QVERIFY2(codes(*made).contains(code), qPrintable(codes(*made).join(' ')));
        QCOMPARE(made->mode, RankMode::Pinned);
        QVERIFY(made->hasFindings());
    }

    void orderAcrossGroups() {
        const auto lines = [](bool first, bool sync) {
            Lines out{{"x", ""}, {"y", ""}};
            const GraphLine a{"a", "a2a", {"x"}, "shard"}, b{"b", "reduce", {"y"}, "replicate"};
            out.push_back(first ? a : b);
            if (sync)
                out.push_back({"s", "aten._local_scalar_dense.default", {"y"}});
            out.push_back(first ? b : a);
            out.push_back({"wa", "wait", {"a"}});
            out.push_back({"wb", "wait", {"b"}});
            out.push_back({"out", "output", {"wa", "wb"}});
            return out;
        };
        const auto possible = compareLines({lines(true, false), lines(false, false)});
        QCOMPARE(codes(*possible), QStringList({"rank-order-across"}));
        QCOMPARE(possible->differences[0].severity, Severity::Warning);
        QCOMPARE(possible->mode, RankMode::Pinned);
        QVERIFY(!possible->cycles.empty() && !possible->cycles[0].certain && possible->cycles[0].closed);

        const auto certain = compareLines({lines(true, true), lines(false, true)});
        QCOMPARE(certain->differences[0].severity, Severity::Error);
        const WaitCycle& cycle = certain->cycles.at(0);
        QVERIFY(cycle.certain && cycle.closed);
        QCOMPARE(cycle.steps.size(), size_t(2));
        QVERIFY(cycle.steps[0].collective.text.find("\"shard\"") != std::string::npos);
        QCOMPARE(cycle.steps[0].missing_rank, 1);
        QVERIFY(cycle.steps[1].collective.text.find("\"replicate\"") != std::string::npos);
        QCOMPARE(cycle.steps[1].missing_rank, 0);
        QVERIFY(cycle.steps[0].blocked_at != kNoNode);
    }

    void orderWithinAGroup() {
        Lines base{{"x", ""},
                   {"a", "gather", {"x"}},
                   {"b", "reduce", {"x"}},
                   {"c", "scatter", {"x"}},
                   {"wa", "wait", {"a"}},
                   {"wb", "wait", {"b"}},
                   {"wc", "wait", {"c"}},
                   {"out", "output", {"wa", "wb", "wc"}}};
        Lines other = base;
        std::swap(other[1], other[3]);
        const auto made = compareLines({base, other});
        QVERIFY2(codes(*made).contains("rank-order") || codes(*made).contains("rank-kind"),
                 qPrintable(codes(*made).join(' ')));
        QCOMPARE(made->mode, RankMode::Pinned);
    }

    void groupsOfTheirOwnAreCounterparts() {
        Lines other = layers();
        other[6].group = "dp_other_half"; // a subgroup of a mesh has another name on every rank
        const auto made = compareLines({layers(), other});
        QCOMPARE(made->mode, RankMode::Slot); // the name is an argument: the hash differs
        QVERIFY(!made->hasFindings());
        QCOMPARE(made->groups.size(), size_t(2));
        QVERIFY(hasHarmless(*made, "group-names"));
        Lines world = layers(); // group "0" is that of all ranks: nobody has another one
        for (GraphLine& line : world)
            line.group = line.target == "gather" ? "7" : line.group;
        QVERIFY(compareLines({layers(), world})->hasFindings());
    }

    void customOperatorsCount() {
        Lines base = layers();
        base.insert(base.begin() + 6, {"c", "mylib.ring_exchange.default", {"m"}});
        QCOMPARE(compareLines({base, layers()})->mode, RankMode::Slot);
        const auto made = compareRanks(
            {program(0, test::lineGraph(base)), program(1, test::lineGraph(layers()))}, "mylib.*");
        QCOMPARE(made->mode, RankMode::Pinned);
        QCOMPARE(codes(*made), QStringList({"rank-missing"}));
    }

    void severalGraphsOfARank() {
        const GraphPtr a = test::lineGraph(layers());
        const GraphPtr b = test::lineGraph(
            {{"x", ""}, {"r", "reduce", {"x"}}, {"w", "wait", {"r"}}, {"out", "output", {"w"}}});
        const auto of = [&](int32_t rank, const GraphPtr& first, const GraphPtr& second) {
            RankProgram made = program(rank, first);
            made.graphs.push_back({"second", {}, second});
            return made;
        };
        QCOMPARE(compareRanks({of(0, a, b), of(1, a, b)})->mode, RankMode::Identical);
        const auto swapped = compareRanks({of(0, a, b), of(1, b, a)});
        QCOMPARE(swapped->mode, RankMode::Pinned);
        QVERIFY(swapped->hasFindings());
    }

    void randomPrograms() {
        size_t diverged = 0;
        for (uint32_t seed = 0; seed < 60; ++seed) {
            const GraphPtr graph = test::randomGraph(seed);
            const auto same = compareGraphs({graph, rebuilt(*graph, {}, "r")});
            QCOMPARE(modeOf(*same), QString("identical"));
            QVERIFY(!same->hasFindings());

            const CollectiveTable table(*graph);
            std::mt19937 random(seed);
            const Collective& gone = table[random() % table.size()];
            std::vector<NodeId> drop{gone.launch};
            drop.insert(drop.end(), gone.unpacks.begin(), gone.unpacks.end());
            drop.insert(drop.end(), gone.waits.begin(), gone.waits.end());
            const auto fewer = compareGraphs({graph, graph, rebuilt(*graph, drop, "d")});
            QCOMPARE(modeOf(*fewer), QString(gone.isGather() ? "abort" : "pinned"));
            QVERIFY(!fewer->differences.empty());
            QCOMPARE(fewer->differences.front().b.rank, 2);
            QVERIFY(!fewer->cycles.empty());
            diverged += shuffledGroups(*graph, random) ? 1 : 0;
        }
        QVERIFY2(diverged > 30, qPrintable(QString::number(diverged)));
    }

    void largeProgramsAreLinear() {
        Lines lines{{"x", ""}};
        for (int i = 0; i < 20000; ++i) {
            lines.push_back(
                {fmt::format("g{}", i), i % 3 ? "gather" : "reduce", {"x"}, i % 2 ? "0" : "1", 8 + i % 50});
            lines.push_back({fmt::format("w{}", i), "wait", {fmt::format("g{}", i)}});
        }
        Lines other = lines;
        other.erase(other.begin() + 20001, other.begin() + 20003);
        QElapsedTimer timer;
        timer.start();
        const auto made = compareLines({lines, other});
        qInfo("40,000 nodes against 39,998: %lld ms", static_cast<long long>(timer.elapsed()));
        QCOMPARE(codes(*made), QStringList({"rank-missing"}));
        QCOMPARE(made->differences[0].a.node, NodeId(20001));
    }

    // ----- the public cases --------------------------------------------------------------------------------
    void case15RanksDiffer() {
        const auto a = test::casePath("15-torch-trace-ranks-differ-hang/input_rank0.log");
        const auto b = test::casePath("15-torch-trace-ranks-differ-hang/input_rank1.log");
        if (!a || !b)
            return;
        Diagnostics diagnostics;
        auto programs = readRanks({*a, *b}, diagnostics, {});
        QVERIFY(programs.ok());
        QCOMPARE(programs->size(), size_t(2));
        QCOMPARE(programs.value()[1].label, std::string("rank 1")); // the file's name; its lines say 0
        QCOMPARE(programs.value()[0].graphs.size(), size_t(2));     // frames 0/0 and 1/0, post-grad
        const auto made = compareRanks(std::move(programs).value());
        QCOMPARE(modeOf(*made), QString("identical"));   // the graphs are equal …
        QVERIFY(codes(*made).contains("rank-schedule")); // … and the schedules are not
        QVERIFY(codes(*made).contains("schedule-differs"));
        for (const RankDifference& item : made->differences) {
            if (item.code == "rank-schedule") {
                QVERIFY2(item.message.find("collective 3 on group \"0\"") != std::string::npos,
                         item.message.c_str());
                QVERIFY2(item.message.find("reduce_scatter_tensor") != std::string::npos,
                         item.message.c_str());
                QVERIFY2(item.message.find("rank 1 issues nothing more") != std::string::npos,
                         item.message.c_str());
            } else {
                QVERIFY2(item.message.find("rank 1") != std::string::npos, item.message.c_str());
            }
        }
    }

    void case16OrderOfExecution() {
        const auto a = test::casePath("16-torch-trace-graph-exec-order/input_rank0.log");
        const auto b = test::casePath("16-torch-trace-graph-exec-order/input_rank1.log");
        if (!a || !b)
            return;
        Diagnostics diagnostics;
        auto programs = readRanks({*a, *b}, diagnostics, {});
        QVERIFY(programs.ok());
        QCOMPARE(programs.value()[0].execution_order.front(), std::string("0/1"));
        QCOMPARE(programs.value()[1].execution_order.front(), std::string("0/0"));
        const auto made = compareRanks(std::move(programs).value());
        QVERIFY(codes(*made).contains("rank-execution-order"));
        QVERIFY(made->mode == RankMode::Pinned || made->mode == RankMode::Abort);
        QVERIFY(codes(*made).contains("schedule-differs"));
    }

    void case18And20RanksFit() {
        for (const char* name : {"18-megatron-sp-fw-two-ranks", "20-megatron-sp-bw-missing-allreduce"}) {
            const auto a = test::casePath(std::string(name) + "/input_rank0.fx.py");
            const auto b = test::casePath(std::string(name) + "/input_rank1.fx.py");
            if (!a || !b)
                continue;
            Diagnostics diagnostics;
            auto programs = readRanks({*a, *b}, diagnostics, {});
            QVERIFY(programs.ok());
            const auto made = compareRanks(std::move(programs).value());
            // 20: the data-parallel group is "1" on rank 0 and "3" on rank 1, and nothing else is claimed
            QVERIFY2(made->mode <= RankMode::Slot, made->verdict.c_str());
            QVERIFY(!made->hasFindings());
        }
    }

    void unevenShardsOfTheCorpus() {
        std::vector<std::string> files;
        for (const char* rank : {"0", "5", "7"}) {
            if (const auto path =
                    test::corpusPath(fmt::format("graphs/mlp_uneven_fsdp8_rank{}_joint.json", rank)))
                files.push_back(*path);
        }
        if (files.size() < 2)
            return;
        Diagnostics diagnostics;
        auto programs = readRanks(files, diagnostics, {});
        QVERIFY(programs.ok());
        QCOMPARE(programs->size(), files.size());
        const auto made = compareRanks(std::move(programs).value());
        QCOMPARE(modeOf(*made), QString("slot"));
        QVERIFY(!made->hasFindings());
        QVERIFY(hasHarmless(*made, "pad-widths"));
    }

    void corpusAgainstItself() {
        size_t compared = 0;
        for (const std::string& name : test::corpusGraphs()) {
            const auto path = test::corpusPath("graphs/" + name + ".json");
            Diagnostics diagnostics;
            const auto read = importGraph(*path, -1, -1, diagnostics, {});
            QVERIFY(read.ok());
            const auto made = compareGraphs({read->graph, read->graph});
            QVERIFY2(made->mode == RankMode::Identical && !made->hasFindings() && made->cycles.empty(),
                     name.c_str());
            ++compared;
        }
        qInfo("%zu corpus graphs fit themselves", compared);
    }

    void fileNames() {
        QCOMPARE(rankOfFileName("a/dedicated_log_torch_trace_rank_12_xyz.log"), 12);
        QCOMPARE(rankOfFileName("rank7/input.py"), -1);
        QCOMPARE(rankOfFileName("x.rank3.json.gz"), 3);
        QCOMPARE(rankOfFileName("ranking.json"), -1);
        QCOMPARE(rankOfFileName("graph.json"), -1);
    }

private:
    /// Moves one collective before another one of another group, if no edge forbids it; true if it did.
    static bool shuffledGroups(const Graph& graph, std::mt19937& random) {
        const CollectiveTable table(graph);
        const auto offset = random();
        for (size_t i = 0; i + 1 < table.size(); ++i) {
            const Collective& a = table[(i + offset) % (table.size() - 1)];
            const Collective& b = table[(i + offset) % (table.size() - 1) + 1];
            if (a.group == b.group || a.launch > b.launch)
                continue;
            Order order = identityOrder(graph);
            order.erase(order.begin() + b.launch);
            order.insert(order.begin() + a.launch, b.launch);
            if (findBrokenEdge(graph, order))
                continue;
            GraphBuilder builder(graph);
            std::vector<NodeId> map(graph.size(), kNoNode);
            for (const NodeId id : order)
                map[id] = builder.copyNode(graph, id, map);
            const GraphPtr moved = builder.finish(nullptr);
            std::vector<RankProgram> programs{program(0, rebuilt(graph, {}, "s")), program(1, moved)};
            const auto made = compareRanks(std::move(programs));
            return made->mode == RankMode::Pinned && codes(*made) == QStringList({"rank-order-across"}) &&
                   !made->cycles.empty();
        }
        return false;
    }
};

QTEST_GUILESS_MAIN(TestRankCompare)
#include "tst_rank_compare.moc"
