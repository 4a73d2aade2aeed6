#include "layout/dot_writer.h"
#include "layout/fold.h"
#include "layout/lanes.h"
#include "layout/plain_reader.h"

#include "layout_fixture.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QTest>

#include <set>

using namespace gs;

namespace {

LayoutGraph smallPicture() {
    LayoutGraph picture;
    for (uint32_t i = 0; i < 3; ++i) {
        LayoutBox box;
        box.id = fmt::format("b{}", i);
        box.title = fmt::format("box {}", i);
        box.position = i;
        box.nodes = {i};
        picture.boxes.push_back(box);
    }
    picture.boxes[1].role = BoxRole::Gather;
    picture.links = {{0, 1, LinkKind::Data, true},
                     {1, 2, LinkKind::Order, true},
                     {0, 2, LinkKind::Data, false},
                     {0, 2, LinkKind::Effect, false}};
    return picture;
}

const char* kPlain = "graph 1 2.5 3\n"
                     "node n0 1 2.75 2 0.5 \"\" solid box black lightgrey\n"
                     "node n1 1 1.5 2 0.5 \"\" solid box black lightgrey\n"
                     "node n2 1 0.25 2 0.5 \"\" solid box black lightgrey\n"
                     "edge n0 n1 4 1 2.5 1 2.2 1 2 1 1.75 solid black\n"
                     "edge n0 n2 4 2 2.5 2.4 2 2.4 1 2 0.5 solid black\n"
                     "edge n0 n2 4 2 2.5 2.5 2 2.5 1 2 0.5 solid black\n"
                     "edge n1 n2 4 1 1.25 1 1 1 0.9 1 0.5 solid black\n"
                     "stop\n";

bool overlap(const LayoutRect& a, const LayoutRect& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

} // namespace

class TestLayout : public QObject {
    Q_OBJECT
private slots:
    void layoutDotHasNoText();
    void humanDotEscapes();
    void readsPlain();
    void refusesGarbage_data();
    void refusesGarbage();
    void survivesMutations();
    void lanesOfBoxes();
    void lanesOfPrograms();
    void longLinksBecomePortals();
    void foldsModules();
    void foldRefusesWhatDoesNotFit();
    void foldsTheCorpus();
    void lanesOfTheCorpus();
};

void TestLayout::layoutDotHasNoText() {
    const LayoutGraph picture = smallPicture();
    const std::vector<LayoutSize> sizes(3, {144, 36});
    const std::string dot = writeLayoutDot(picture, sizes);
    QVERIFY(dot.find("box") == dot.find("box, fixedsize")); // the shape, never a title
    QVERIFY(dot.find("n1 [width=2.0000, height=0.5000];") != std::string::npos);
    QVERIFY(dot.find("n0 -> n1 [weight=100];") != std::string::npos);
}

void TestLayout::humanDotEscapes() {
    QCOMPARE(escapeDot("a\"b\\c\nd\te"), std::string("a\\\"b\\\\c\\nd?e"));
    QCOMPARE(escapeDot("x\xC3(y\xFF"), std::string("x?(y?"));
    // Never cut inside a character or an escape.
    QCOMPARE(escapeDot("aé", 2), std::string("a"));
    QCOMPARE(escapeDot("aé", 3), std::string("aé"));
    QCOMPARE(escapeDot("a\"", 2), std::string("a"));
    std::string quotes(20000, '"');
    QCOMPARE(escapeDot(quotes).size(), kMaxDotText / 2 * 2); // dot itself refuses more
    LayoutGraph picture = smallPicture();
    picture.boxes[0].title = "}{[]<>|node\\";
    picture.boxes[2].title = std::string(40000, 'x');
    const std::string dot = writeDot(picture, "a \"title\"");
    QVERIFY(dot.starts_with("digraph \"a \\\"title\\\"\" {"));
    QVERIFY(dot.find("n0 [label=\"}{[]<>|node\\\\\"") != std::string::npos);
    QVERIFY(dot.find("style=dashed") != std::string::npos);
    QVERIFY(dot.size() < 20000);
}

void TestLayout::readsPlain() {
    const Result<Placement> placed = readPlain(kPlain, smallPicture());
    QVERIFY2(placed.ok(), placed.ok() ? "" : placed.error().message.c_str());
    QCOMPARE(placed->width, 180.0);
    QCOMPARE(placed->height, 216.0);
    QCOMPARE(placed->boxes[0].x, 0.0);
    QCOMPARE(placed->boxes[0].y, 0.0); // dot's y grows upwards, ours downwards
    QCOMPARE(placed->boxes[2].y, 180.0);
    QCOMPARE(placed->links[0].front().y, 36.0);
    QCOMPARE(placed->links[3][1].x, 180.0); // parallel links keep their order
}

void TestLayout::refusesGarbage_data() {
    QTest::addColumn<QByteArray>("text");
    const QByteArray good(kPlain);
    const auto with = [&](const char* from, const char* to) {
        QByteArray text = good;
        text.replace(from, to);
        return text;
    };
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("noise") << QByteArray("\x01\x02\xFF segmentation fault\n");
    QTest::newRow("cut") << good.left(good.size() / 2);
    QTest::newRow("no stop") << with("stop\n", "");
    QTest::newRow("missing box") << with("node n2 1 0.25 2 0.5 \"\" solid box black lightgrey\n", "");
    QTest::newRow("box twice") << with("node n2", "node n1");
    QTest::newRow("unknown box") << with("node n2", "node n3");
    QTest::newRow("missing link") << with("edge n1 n2 4 1 1.25 1 1 1 0.9 1 0.5 solid black\n", "");
    QTest::newRow("unknown link") << with("edge n1 n2", "edge n2 n1");
    QTest::newRow("not a number") << with("1.25", "nan");
    QTest::newRow("too large") << with("1.25", "1e300");
    QTest::newRow("negative count") << with("edge n1 n2 4", "edge n1 n2 -4");
    QTest::newRow("huge count") << with("edge n1 n2 4", "edge n1 n2 4000000000");
    QTest::newRow("odd count") << with("edge n1 n2 4", "edge n1 n2 5");
    QTest::newRow("box before graph") << "node n0 1 2.75 2 0.5\n" + good;
}

void TestLayout::refusesGarbage() {
    QFETCH(QByteArray, text);
    const Result<Placement> placed =
        readPlain({text.constData(), static_cast<size_t>(text.size())}, smallPicture());
    QVERIFY(!placed.ok());
    QCOMPARE(placed.error().code, std::string("bad-layout"));
}

void TestLayout::survivesMutations() {
    QRandomGenerator random(7);
    for (int i = 0; i < 5000; ++i) {
        std::string text(kPlain);
        for (int k = 0; k < 3; ++k)
            text[static_cast<size_t>(random.bounded(static_cast<int>(text.size())))] =
                static_cast<char>(random.bounded(256));
        const Result<Placement> placed = readPlain(text, smallPicture());
        if (placed.ok())
            QCOMPARE(placed->links.size(), size_t(4));
    }
}

void TestLayout::lanesOfBoxes() {
    const LayoutGraph picture = smallPicture();
    const std::vector<LayoutSize> sizes{{100, 30}, {160, 40}, {120, 30}};
    const Placement placed = placeInLanes(picture, sizes);
    QCOMPARE(placed.boxes.size(), size_t(3));
    QCOMPARE(placed.links.size(), picture.links.size());
    for (size_t i = 0; i < 3; ++i) {
        QCOMPARE(placed.boxes[i].width, sizes[i].width);
        QVERIFY(placed.boxes[i].x + placed.boxes[i].width <= placed.width);
        QVERIFY(placed.boxes[i].y + placed.boxes[i].height <= placed.height);
        for (size_t k = 0; k < i; ++k)
            QVERIFY(!overlap(placed.boxes[i], placed.boxes[k]));
    }
    QVERIFY(placeInLanes({}, {}).boxes.empty());
}

void TestLayout::lanesOfPrograms() {
    const GraphPtr graph = test::makeModel(4);
    const AnalysisPtr analysis = test::makeAnalysis(graph, 12);
    std::vector<uint8_t> gathers(graph->size(), 0);
    std::vector<NodeId> launches;
    for (const Decision& d : analysis->after.schedule->decisions) {
        gathers[d.launch] = 1;
        if (d.moved())
            launches.push_back(d.launch);
    }
    LaneLayout lanes = makeLanes(graph, analysis->after.schedule->order, gathers);
    addMoves(lanes, launches, identityOrder(*graph));
    QCOMPARE(lanes.rows(), graph->size());
    QCOMPARE(lanes.transfers.size(), size_t(8));
    QCOMPARE(lanes.moves.size(), launches.size());
    for (const LaneMove& move : lanes.moves) {
        QCOMPARE(lanes.shades[move.row], LaneShade::Gather);
        QVERIFY(move.from_row > move.row);
        QCOMPARE(lanes.shades[move.from_row], LaneShade::Wait);
    }
    size_t total = 0;
    for (const auto& counts : lanes.counts)
        total += counts.back();
    QCOMPARE(total, graph->size());
    QCOMPARE(lanes.counts[static_cast<size_t>(LaneShade::Gather)].back(), 8U);
    for (size_t i = 1; i < lanes.links.size(); ++i)
        QVERIFY(lanes.links[i - 1].from <= lanes.links[i].from);
    for (const LaneLink& link : lanes.links)
        QVERIFY(link.from < link.to && link.to - link.from <= kMaxLaneSpan);
    QVERIFY(lanes.portals > 0);
    QVERIFY(std::any_of(lanes.links.begin(), lanes.links.end(),
                        [](const LaneLink& l) { return l.kind == LinkKind::Advisory; }));
}

void TestLayout::longLinksBecomePortals() {
    LayoutGraph picture;
    for (uint32_t i = 0; i < 20; ++i) {
        LayoutBox box;
        box.id = box.title = fmt::format("b{}", i);
        box.position = i;
        box.nodes = {0};
        picture.boxes.push_back(box);
        if (i > 0)
            picture.links.push_back({i - 1, i, LinkKind::Data, false});
    }
    picture.links.push_back({0, 19, LinkKind::Data, false});
    picture.links.push_back({1, 17, LinkKind::Data, false});
    replaceLongLinks(picture, *test::makeModel(1), 16);
    QCOMPARE(picture.portals(), size_t(2));
    QCOMPARE(picture.links.size(), size_t(19 + 1 + 2));
    for (const LayoutLink& link : picture.links)
        QVERIFY(link.from >= 20 || link.to >= 20 || link.to - link.from <= 16);
}

void TestLayout::foldsModules() {
    const GraphPtr graph = test::makeModel(4);
    const FoldedGraph folded = foldByModule(*graph, identityOrder(*graph), {});
    std::set<NodeId> seen;
    std::set<std::string> titles;
    for (const LayoutBox& box : folded.picture.boxes) {
        if (box.role == BoxRole::Portal)
            continue;
        titles.insert(box.title);
        for (NodeId node : box.nodes)
            QVERIFY(seen.insert(node).second);
    }
    QCOMPARE(seen.size(), graph->size()); // every node is in exactly one box
    QVERIFY(titles.count("layers.2.attention") == 1 || titles.count("layers.2.attention.wqkv") == 1);
    QVERIFY(titles.count("layers.2.attention · backward") == 1 || titles.count("mm_back_4") == 1);

    FoldOptions options;
    options.default_boxes = 3;
    const FoldedGraph small = foldByModule(*graph, identityOrder(*graph), options);
    options.unfolded = {"layers"};
    const FoldedGraph unfolded = foldByModule(*graph, identityOrder(*graph), options);
    QVERIFY(unfolded.refused.empty());
    QVERIFY(unfolded.picture.boxes.size() > small.picture.boxes.size());
}

void TestLayout::foldRefusesWhatDoesNotFit() {
    const GraphPtr graph = test::makeModel(4);
    FoldOptions options;
    options.default_boxes = 3;
    options.max_boxes = 5;
    options.unfolded = {"layers"};
    const FoldedGraph folded = foldByModule(*graph, identityOrder(*graph), options);
    QCOMPARE(folded.refused, std::set<std::string>{"layers"});
    QVERIFY(folded.picture.boxes.size() <= 5);
}

void TestLayout::foldsTheCorpus() {
    for (const char* name : {"llama3_405b_fsdp64_joint", "llama3_8b_fsdp64_joint", "aot_lm2_fsdp8_joint"}) {
        const GraphPtr graph = test::corpusGraph(name);
        if (!graph)
            continue;
        QElapsedTimer timer;
        timer.start();
        const FoldedGraph folded = foldByModule(*graph, identityOrder(*graph), {});
        qInfo("%s: %zu nodes, %zu boxes (%zu portals), %zu links, %lld ms", name, graph->size(),
              folded.picture.boxes.size(), folded.picture.portals(), folded.picture.links.size(),
              static_cast<long long>(timer.elapsed()));
        QVERIFY(folded.picture.boxes.size() <= kMaxDotBoxes);
    }
}

void TestLayout::lanesOfTheCorpus() {
    const GraphPtr graph = test::corpusGraph("llama3_405b_fsdp64_joint");
    if (!graph)
        return;
    QElapsedTimer timer;
    timer.start();
    const LaneLayout lanes = makeLanes(graph, identityOrder(*graph), {});
    qInfo("lanes of %zu nodes: %lld ms, %zu links, %zu portals", graph->size(),
          static_cast<long long>(timer.elapsed()), lanes.links.size(), lanes.portals);
    QCOMPARE(lanes.rows(), graph->size());
}

QTEST_GUILESS_MAIN(TestLayout)
#include "tst_layout.moc"
