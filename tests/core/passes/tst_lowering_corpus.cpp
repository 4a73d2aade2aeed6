// Lowering of every Dynamo graph of the corpus, node by node against the rules restated here.
#include "graph/collectives.h"
#include "import/importer.h"
#include "passes/lower_redistribute.h"
#include "support/test_data.h"

#include <QTest>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

using Json = nlohmann::json;
using namespace gs;

namespace {

GraphPtr readGraph(const std::string& path) {
    Diagnostics diagnostics;
    Result<ImportedGraph> imported = importGraph(path, -1, -1, diagnostics, {});
    return imported ? imported.value().graph : nullptr;
}

std::string shapeText(const Value& value) {
    std::string text(dtypeName(value.tensor.dtype));
    for (const Dim& dim : value.tensor.shape)
        text += fmt::format(" {}", dim.value);
    return text;
}

std::string shapeText(const std::string& dtype, const std::vector<int64_t>& shape) {
    std::string text = dtype;
    for (int64_t size : shape)
        text += fmt::format(" {}", size);
    return text;
}

/// Numbers in "(2, 4)".
std::vector<int64_t> numbersIn(const std::string& text) {
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < text.size(); ++i) {
        if (std::isdigit(static_cast<unsigned char>(text[i]))) {
            numbers.push_back(std::stoll(text.substr(i)));
            i = text.find_first_not_of("0123456789", i) - 1;
        }
    }
    return numbers;
}

/// What passes.md §2 makes of one redistribute of the corpus, as "target dtype sizes" lines; empty: it stays.
/// The corpus has Shard(0) on the innermost mesh dimension only, and sizes without symbols.
std::vector<std::string> expectedChain(const Json& redistribute, const Json& parameter) {
    const Json& from = parameter.at("meta").at("desc").at("dtensor");
    const std::string placements = from.at("placements");
    if (placements.find("Shard(dim=0)") == std::string::npos)
        return {};
    const int64_t world = numbersIn(from.at("mesh")).back();
    std::vector<int64_t> shape = from.at("local_shape");
    const int64_t size = parameter.at("val").at("shape").at(0);
    const int64_t chunk = (size + world - 1) / world;
    const std::string stored = from.at("local_dtype");
    const std::string gathered = redistribute.at("val").at("dtype");
    std::vector<std::string> chain = {"to_local " + shapeText(stored, shape)};
    if (gathered != stored)
        chain.push_back("aten._to_copy.default " + shapeText(gathered, shape));
    shape[0] = chunk;
    chain.push_back("aten.constant_pad_nd.default " + shapeText(gathered, shape));
    shape[0] = chunk * world;
    chain.push_back("_c10d_functional.all_gather_into_tensor.default " + shapeText(gathered, shape));
    chain.push_back("_c10d_functional.wait_tensor.default " + shapeText(gathered, shape));
    if (shape[0] != size) {
        shape[0] = size;
        chain.push_back("aten.slice.Tensor " + shapeText(gathered, shape));
    }
    return chain;
}

std::string signature(const Graph& graph) {
    std::string text;
    for (NodeId id = 0; id < graph.size(); ++id)
        text += fmt::format("{} {}\n", graph.name(id), graph.targetText(id));
    return text;
}

/// Walks a corpus graph's JSON and its lowered graph side by side.
struct CorpusWalk {
    CorpusWalk(const Json& json, const Graph& before, const Graph& after)
        : json(json), before(before), after(after) {
        for (const Json& node : json.at("nodes"))
            by_name[node.at("name")] = node;
    }

    /// Checks what became of one node of the file; returns the fault, if any.
    std::string check(const Json& node) {
        const std::string name = node.at("name"), target = node.at("target");
        if (renamed.count(name))
            return {};
        std::vector<std::string> chain;
        if (target.find("redistribute") != std::string::npos) {
            ++total;
            chain = expectedChain(node, by_name.at(node.at("inputs").at(0)));
        }
        return chain.empty() ? checkCopy(node) : checkChain(node, chain);
    }

    std::string checkCopy(const Json& node) {
        std::vector<std::string> want = {node.at("name"), node.at("target")};
        std::vector<std::string> got = {std::string(after.name(at)), std::string(after.targetText(at))};
        for (const std::string item : node.at("inputs"))
            want.push_back(renamed.count(item) ? renamed.at(item) : item);
        for (NodeId item : after.inputs(at))
            got.emplace_back(after.name(item));
        ++at;
        return want == got ? "" : "copy: " + Json(want).dump() + " vs " + Json(got).dump();
    }

    std::string checkChain(const Json& node, const std::vector<std::string>& chain) {
        ++lowered;
        const std::string name = node.at("name");
        std::string last = node.at("inputs").at(0);
        for (const std::string& line : chain) {
            const std::vector<std::string> want = {line, last, node.at("module"), name};
            const std::vector<std::string> got = {
                fmt::format("{} {}", after.targetText(at), shapeText(after.value(at))),
                std::string(after.name(after.inputs(at).front())),
                std::string(after.text(after.node(at).module)),
                std::string(after.text(after.origins(at).front()))};
            if (want != got)
                return "chain: " + Json(want).dump() + " vs " + Json(got).dump();
            last = after.name(at++);
        }
        for (const Json& user : json.at("nodes")) {
            const std::string target = user.at("target");
            if (target.find("to_local") != std::string::npos && user.at("inputs").at(0) == name)
                renamed[user.at("name")] = last;
        }
        // Users read what the redistribute promised.
        const bool promised = after.value(at - 1).tensor == before.value(*before.find(name)).tensor;
        return promised ? "" : name + ": another shape or stride than before";
    }

    const Json& json;
    const Graph& before;
    const Graph& after;
    std::map<std::string, Json> by_name;
    std::map<std::string, std::string> renamed; ///< to_local → last node of its chain
    NodeId at = 0;
    size_t lowered = 0, total = 0;
};

} // namespace

class TestLoweringCorpus : public QObject {
    Q_OBJECT

private slots:
    void corpusGraphsFollowTheRules_data();
    void corpusGraphsFollowTheRules();
    void unevenRanksAgree();
};

void TestLoweringCorpus::corpusGraphsFollowTheRules_data() {
    QTest::addColumn<QString>("name");
    int count = 0;
    for (const std::string& name : test::corpusGraphs()) {
        if (name.rfind("prim29_", 0) == 0 || name.rfind("dynamo_", 0) == 0) {
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
            ++count;
        }
    }
    if (count == 0) {
        std::printf("NOT RUN: no prim29_ or dynamo_ graph is in this checkout\n");
        QTest::newRow("none") << QString();
    }
}

void TestLoweringCorpus::corpusGraphsFollowTheRules() {
    QFETCH(QString, name);
    const auto path =
        name.isEmpty() ? std::nullopt : test::corpusPath("graphs/" + name.toStdString() + ".json");
    if (!path)
        return;
    const Json json = Json::parse(test::readAll(*path));
    const GraphPtr before = readGraph(*path);
    QVERIFY(before);
    const PassResult result = lowerRedistributes(before, LoweringOptions{});
    const Graph& after = *result.graph;

    CorpusWalk walk(json, *before, after);
    for (const Json& node : json.at("nodes")) {
        if (const std::string fault = walk.check(node); !fault.empty())
            QFAIL(fault.c_str());
    }
    QCOMPARE(size_t(walk.at), after.size());
    const size_t lowered = walk.lowered, total = walk.total;
    QCOMPARE(result.report.done, lowered);
    QCOMPARE(result.report.skipped, total - lowered);
    QCOMPARE(result.report.lines.size(), total);
    QCOMPARE(CollectiveTable(after).weightGatherCount(), lowered);
    QVERIFY(!findBrokenEdge(after, identityOrder(after)));
    QVERIFY(lowered > 0 || result.graph == before);
}

void TestLoweringCorpus::unevenRanksAgree() {
    std::vector<GraphPtr> lowered;
    for (const char* rank : {"0", "7"}) {
        const auto path = test::corpusPath(fmt::format("graphs/prim29_uneven_fsdp8_rank{}.json", rank));
        if (!path)
            return;
        lowered.push_back(lowerRedistributes(readGraph(*path), LoweringOptions{}).graph);
    }
    QCOMPARE(signature(*lowered[0]), signature(*lowered[1]));
    const CollectiveTable first(*lowered[0]), last(*lowered[1]);
    QCOMPARE(first.size(), size_t(6));
    for (size_t i = 0; i < first.size(); ++i) {
        QCOMPARE(first[i].input_bytes, last[i].input_bytes);
        QCOMPARE(first[i].output_bytes, last[i].output_bytes);
        QCOMPARE(gatheredParameters(*lowered[0], first[i]), gatheredParameters(*lowered[1], last[i]));
    }
    QCOMPARE(gatheredParameters(*lowered[0], first[0]), std::string("layers.0.weight"));
}

QTEST_GUILESS_MAIN(TestLoweringCorpus)
#include "tst_lowering_corpus.moc"
