#include "layout/focus.h"

#include "layout/labels.h"
#include "layout_fixture.h"

#include <QElapsedTimer>
#include <QTest>

#include <set>

using namespace gs;

namespace {

/// One line per box, one per link: what the picture is, without places.
std::string print(const LayoutGraph& picture) {
    std::string out;
    for (const LayoutBox& box : picture.boxes)
        out += fmt::format("{}{}{}: {} | {} | {}\n", boxRoleName(box.role), box.focus ? "*" : "",
                           box.floor ? "^" : "", box.title, box.detail, box.nodes.size());
    for (const LayoutLink& link : picture.links)
        out += fmt::format("{} {} -> {}{}\n", linkKindName(link.kind), link.from, link.to,
                           link.spine ? " |" : "");
    return out;
}

void checkPicture(const LayoutGraph& picture, const Graph& graph) {
    QVERIFY(picture.boxes.size() <= kMaxFocusBoxes);
    std::set<NodeId> seen;
    std::set<std::string> ids;
    for (const LayoutBox& box : picture.boxes) {
        QVERIFY(ids.insert(box.id).second);
        QVERIFY(!box.title.empty());
        QVERIFY(!box.nodes.empty());
        if (box.role == BoxRole::Portal)
            continue;
        for (NodeId node : box.nodes) {
            QVERIFY(node < graph.size());
            QVERIFY2(seen.insert(node).second, "a node is in two boxes");
        }
    }
    for (const LayoutLink& link : picture.links) {
        QVERIFY(link.from < picture.boxes.size());
        QVERIFY(link.to < picture.boxes.size());
        QVERIFY(link.from != link.to);
    }
}

} // namespace

class TestFocus : public QObject {
    Q_OBJECT
private slots:
    void gatherBeforeAndAfter();
    void portalsAreCountedOrDrawn();
    void windowUnfolds();
    void waitStandsForItsGather();
    void plainNode();
    void unknownNameIsEmpty();
    void bucketFindsItsMembers();
    void commonModules();
    void everyGatherOfLargeGraphs_data();
    void everyGatherOfLargeGraphs();
};

void TestFocus::gatherBeforeAndAfter() {
    const GraphPtr graph = test::makeModel(4);
    const AnalysisPtr analysis = test::makeAnalysis(graph, 12);
    const FocusPair pair = focusOn(*analysis, "all_gather_5", {});
    QVERIFY(pair.gather);
    QVERIFY(pair.has_decision);
    QCOMPARE(pair.moved_up, int64_t(14)); // 12 nodes above its cast, which is two nodes above the launch
    QCOMPARE(pair.subject, std::string("layers.2.feed_forward.w1.weight"));
    QCOMPARE(print(pair.before), std::string("parameter: layers.2.feed_forward.w1.weight |  | 1\n"
                                             "folded: layers.2.attention | 10 nodes folded | 10\n"
                                             "gather*: cast → pad → all_gather |  | 3\n"
                                             "wait: wait_tensor | → t | 2\n"
                                             "compute: mm_5 | feed_forward.w1 | 1\n"
                                             "data 0 -> 2\n"
                                             "data 1 -> 4\n"
                                             "data 2 -> 3 |\n"
                                             "data 3 -> 4 |\n"
                                             "order 0 -> 1 |\n"
                                             "order 1 -> 2 |\n"));
    // The next gather's three nodes are in the window now; they do not rename it.
    QCOMPARE(print(pair.after), std::string("parameter: layers.2.feed_forward.w1.weight |  | 1\n"
                                            "gather*: cast → pad → all_gather |  | 3\n"
                                            "folded: layers.2.attention | 15 nodes folded | 15\n"
                                            "wait: wait_tensor | → t | 2\n"
                                            "compute: mm_5 | feed_forward.w1 | 1\n"
                                            "data 0 -> 1 |\n"
                                            "advisory 1 -> 2 |\n"
                                            "data 1 -> 3\n"
                                            "data 2 -> 4\n"
                                            "data 3 -> 4 |\n"
                                            "order 2 -> 3 |\n"));
    QCOMPARE(print(focusOn(*analysis, "all_gather_5", {}).after), print(pair.after));
}

void TestFocus::portalsAreCountedOrDrawn() {
    const AnalysisPtr analysis = test::makeAnalysis(test::makeModel(4), 12);
    const FocusPair counted = focusOn(*analysis, "all_gather_5", {});
    FocusOptions options;
    options.portals = true;
    const FocusPair drawn = focusOn(*analysis, "all_gather_5", options);
    QVERIFY(counted.after.hidden_portals > 0);
    QCOMPARE(counted.after.portals(), size_t(0));
    QCOMPARE(drawn.after.portals(), counted.after.hidden_portals);
    QCOMPARE(drawn.after.hidden_portals, size_t(0));
    std::set<std::string> labels;
    for (const LayoutBox& box : drawn.after.boxes) {
        if (box.role == BoxRole::Portal)
            labels.insert(box.title + " " + box.detail);
    }
    QVERIFY(labels.count("↓ saved for layers.2.feed_forward") == 1);
    checkPicture(drawn.after, *analysis->after.graph);
}

void TestFocus::windowUnfolds() {
    const AnalysisPtr analysis = test::makeAnalysis(test::makeModel(4), 30);
    FocusOptions options;
    options.unfold_window = true;
    const FocusPair pair = focusOn(*analysis, "all_gather_5", options);
    checkPicture(pair.after, *analysis->after.graph);
    QVERIFY(pair.after.boxes.size() > focusOn(*analysis, "all_gather_5", {}).after.boxes.size());
}

void TestFocus::waitStandsForItsGather() {
    const AnalysisPtr analysis = test::makeAnalysis(test::makeModel(4), 12);
    QCOMPARE(print(focusOn(*analysis, "wait_tensor_5", {}).after),
             print(focusOn(*analysis, "all_gather_5", {}).after));
}

void TestFocus::plainNode() {
    const AnalysisPtr analysis = test::makeAnalysis(test::makeModel(4), 12);
    const FocusPair pair = focusOn(*analysis, "mm_4", {});
    QVERIFY(!pair.gather);
    // two inputs, itself, and more users than fit by themselves
    QCOMPARE(pair.after.boxes.size(), size_t(2 + 1 + 6));
    QCOMPARE(pair.after.boxes.back().title, std::string("5 more users"));
    checkPicture(pair.before, *analysis->before.graph);
}

void TestFocus::unknownNameIsEmpty() {
    const AnalysisPtr analysis = test::makeAnalysis(test::makeModel(1), 12);
    QVERIFY(focusOn(*analysis, "no_such_node", {}).after.boxes.empty());
    QVERIFY(focusOn(Analysis(), "x", {}).after.boxes.empty());
}

/// A bucket of after.graph shows the gathers that it was made of before.
void TestFocus::bucketFindsItsMembers() {
    const GraphPtr before = test::makeModel(1);
    GraphBuilder b(*before);
    std::vector<NodeId> map(before->size(), kNoNode);
    for (NodeId id = 0; id < before->size(); ++id) {
        const std::string_view name = before->name(id);
        if (name == "all_gather_0") // both casts come first, then one launch, then a getitem per member
            map[id] = b.copyNode(*before, *before->find("pad_0"), map);
        else if (!name.starts_with("all_gather"))
            map[id] = b.copyNode(*before, id, map);
        else
            map[id] = map[*before->find("pad_1")];
    }
    const NodeId bucket = b.addNode("bucket_0", NodeOp::CallFunction,
                                    "_c10d_functional.all_gather_into_tensor_coalesced.default");
    b.setArgs(bucket,
              {b.listArg({b.nodeArg(map[*before->find("pad_0")]), b.nodeArg(map[*before->find("pad_1")])}),
               b.intArg(8), b.textArg(Arg::Kind::String, "0")});
    b.addOrigin(bucket, b.intern("all_gather_0"));
    b.addOrigin(bucket, b.intern("all_gather_1"));
    const NodeId item = b.addNode("getitem_0", NodeOp::CallFunction, "operator.getitem");
    b.setArgs(item, {b.nodeArg(bucket), b.intArg(0)});
    const NodeId wait =
        b.addNode("bucket_wait", NodeOp::CallFunction, "_c10d_functional.wait_tensor.default");
    b.setArgs(wait, {b.nodeArg(item)});
    Diagnostics diagnostics;
    const GraphPtr after = b.finish(&diagnostics);

    Analysis analysis;
    analysis.before = {before, std::make_shared<const CollectiveTable>(*before), nullptr, nullptr, nullptr};
    analysis.after = {after, std::make_shared<const CollectiveTable>(*after), nullptr, nullptr, nullptr};
    for (const char* name : {"bucket_0", "all_gather_1"}) {
        const FocusPair pair = focusOn(analysis, name, {});
        size_t old_gathers = 0, new_gathers = 0;
        for (const LayoutBox& box : pair.before.boxes)
            old_gathers += box.focus ? 1 : 0;
        for (const LayoutBox& box : pair.after.boxes)
            new_gathers += box.focus ? 1 : 0;
        QCOMPARE(old_gathers, size_t(2));
        QCOMPARE(new_gathers, size_t(1));
        checkPicture(pair.before, *before);
        checkPicture(pair.after, *after);
    }
}

void TestFocus::commonModules() {
    GraphBuilder b;
    std::vector<NodeId> nodes;
    for (const char* module : {"layers.1.attention.wq", "layers.1.attention", "layers.12", "", "layers.1"}) {
        nodes.push_back(b.addNode(fmt::format("n{}", nodes.size()), NodeOp::CallFunction, "aten.mul.Tensor"));
        b.node(nodes.back()).module = b.intern(module);
    }
    Diagnostics diagnostics;
    const GraphPtr graph = b.finish(&diagnostics);
    const auto common = [&](std::vector<NodeId> of) { return commonModule(*graph, of); };
    QCOMPARE(common({0, 1}), std::string("layers.1.attention"));
    QCOMPARE(common({1, 0}), std::string("layers.1.attention"));
    QCOMPARE(common({0, 2}), std::string("layers"));
    QCOMPARE(common({0, 3}), std::string("layers.1.attention.wq"));
    QCOMPARE(common({2, 4}), std::string("layers"));
    QCOMPARE(common({3}), std::string());
    QCOMPARE(shortModule("layers.8.feed_forward.w1"), std::string_view("feed_forward.w1"));
    QCOMPARE(shortModule("norm"), std::string_view("norm"));
}

void TestFocus::everyGatherOfLargeGraphs_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"llama3_405b_fsdp64_joint", "llama3_8b_fsdp64_joint", "coalesced3x3_fsdp8_fwd"})
        QTest::newRow(name) << name;
}

void TestFocus::everyGatherOfLargeGraphs() {
    QFETCH(QString, name);
    const GraphPtr graph = test::corpusGraph(name.toStdString());
    if (!graph)
        return; // noted as NOT RUN
    const AnalysisPtr analysis = test::makeAnalysis(graph, 33);
    size_t gathers = 0;
    double worst_ms = 0;
    for (const Collective& item : analysis->after.collectives->all()) {
        if (!item.weight_gather)
            continue;
        ++gathers;
        QElapsedTimer timer;
        timer.start();
        const FocusPair pair = focusOn(*analysis, graph->name(item.launch), {});
        worst_ms = std::max(worst_ms, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        checkPicture(pair.before, *graph);
        checkPicture(pair.after, *graph);
        QVERIFY(pair.after.boxes.size() >= 3);
        QVERIFY(std::any_of(pair.after.boxes.begin(), pair.after.boxes.end(),
                            [](const LayoutBox& box) { return box.focus; }));
    }
    qInfo("%zu gathers, worst %.2f ms", gathers, worst_ms);
    QVERIFY(gathers > 0);
    qInfo("slowest focus: %.1f ms", worst_ms);
}

QTEST_GUILESS_MAIN(TestFocus)
#include "tst_focus.moc"
