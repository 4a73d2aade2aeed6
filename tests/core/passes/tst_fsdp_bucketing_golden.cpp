// Document 001 against every golden of PyTorch's fsdp.py and bucketing.py: classification, sizes, buckets,
// deduplication and the merged graphs node for node; and the fuzz rows.
#include "import/importer.h"
#include "passes/fsdp_bucketing/fsdp_bucketing.h"
#include "support/golden_count.h"
#include "support/golden_json.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

using Json = nlohmann::json;
using namespace gs;

namespace {

std::map<std::string, size_t> checked;

GraphPtr load(const std::string& path) {
    Diagnostics diagnostics;
    auto imported = importGraph(path, -1, -1, diagnostics, {});
    return imported ? imported->graph : nullptr;
}

Json nameOf(const Draft& draft, DraftId id) {
    return std::string(draft.name(id));
}

Json bucketsJson(const Draft& draft, const std::vector<FsdpBucket>& buckets) {
    Json out = Json::array();
    for (const FsdpBucket& bucket : buckets) {
        Json names = Json::array();
        for (const DraftId id : bucket)
            names.push_back(nameOf(draft, id));
        out.push_back(names);
    }
    return out;
}

Json gathersJson(const Draft& draft) {
    const std::vector<bool> fsdp = fsdpAllGathers(draft.graph());
    Json out = Json::object();
    for (const DraftId id : draft.order()) {
        if (draft.op(id) == DraftOp::AllGather || draft.op(id) == DraftOp::AllGatherOut)
            out[nameOf(draft, id).get<std::string>()] = bool(fsdp[id]);
    }
    return out;
}

Json scattersJson(const Draft& draft) {
    Json out = Json::object();
    for (const DraftId id : draft.order()) {
        if (draft.op(id) == DraftOp::Wait && draft.op(draft.inputs(id)[0]) == DraftOp::ReduceScatter)
            out[nameOf(draft, id).get<std::string>()] = isFsdpReduceScatterWait(draft, id);
    }
    return out;
}

Json groupNames(const Draft& draft, const FsdpGroups& groups) {
    Json out = Json::array();
    for (const StringId name : groups.names)
        out.push_back(std::string(draft.graph().text(name)));
    return out;
}

struct Composed {
    Json all_gather, multidtype, reduce_scatter, all_reduce, all_gather_all, reduce_scatter_all,
        all_reduce_all;
};

Composed compose(const Draft& draft, double cap_mib) {
    const std::vector<bool> fsdp = fsdpAllGathers(draft.graph());
    const FsdpGroups groups = identifyFsdpGroups(draft, fsdp);
    const auto run = [&](FsdpKind kind, std::function<bool(DraftId)> accepts, bool multidtype = false) {
        return bucketsJson(
            draft, composeFsdpBuckets(draft, {kind, cap_mib, multidtype, std::move(accepts)}).buckets);
    };
    const auto gather = [&](DraftId wait) { return bool(fsdp[draft.inputs(wait)[0]]); };
    const auto scatter = [&](DraftId wait) { return isFsdpReduceScatterWait(draft, wait); };
    const auto reduce = [&](DraftId wait) {
        return groups.contains(draft.comm(draft.inputs(wait)[0]).group);
    };
    return {run(FsdpKind::AllGather, gather),      run(FsdpKind::AllGather, gather, true),
            run(FsdpKind::ReduceScatter, scatter), run(FsdpKind::AllReduce, reduce),
            run(FsdpKind::AllGather, nullptr),     run(FsdpKind::ReduceScatter, nullptr),
            run(FsdpKind::AllReduce, nullptr)};
}

std::string compareComposition(const Draft& draft, const Json& want) {
    const Composed got = compose(draft, want.at("cap_mb"));
    const auto same = [&](const char* key, const Json& ours, const char* filtered) {
        const Json& theirs = want.at(key) == "same" ? want.at(filtered) : want.at(key);
        ++checked["compositions"];
        return theirs == ours ? std::string() : std::string(key) + " " + ours.dump() + " vs " + theirs.dump();
    };
    for (const std::string& text :
         {same("all_gather", got.all_gather, "all_gather"),
          same("all_gather_multidtype", got.multidtype, "all_gather"),
          same("reduce_scatter", got.reduce_scatter, "reduce_scatter"),
          same("all_reduce_fsdp_groups", got.all_reduce, "all_reduce_fsdp_groups"),
          same("all_gather_unfiltered", got.all_gather_all, "all_gather"),
          same("reduce_scatter_unfiltered", got.reduce_scatter_all, "reduce_scatter"),
          same("all_reduce_unfiltered", got.all_reduce_all, "all_reduce_fsdp_groups")}) {
        if (!text.empty())
            return text.substr(0, 1500);
    }
    return {};
}

size_t countScatters(const Draft& draft) {
    const std::vector<DraftId> order = draft.order();
    return static_cast<size_t>(std::count_if(
        order.begin(), order.end(), [&](DraftId id) { return draft.op(id) == DraftOp::ReduceScatter; }));
}

/// Nodes of the draft in its order: as the golden, each with target, inputs and value.
std::string compareNodes(const Draft& draft, const Json& golden) {
    const std::vector<DraftId> order = draft.order();
    for (size_t i = 0; i < std::min(order.size(), golden.size()); ++i) {
        const DraftId id = order[i];
        const Json& want = golden[i];
        const std::string name(draft.name(id));
        ++checked["nodes"];
        if ((want.is_string() ? want : want[0]) != name)
            return "node " + std::to_string(i) + ": " + name + " vs " + want.dump();
        Json inputs = Json::array();
        for (const DraftId input : draft.inputs(id))
            inputs.push_back(nameOf(draft, input));
        if (want.is_string()) { // the golden calls a node unchanged by its inputs, whatever its strides
            Json before = Json::array();
            for (const NodeId input : draft.graph().inputs(id))
                before.push_back(std::string(draft.graph().name(input)));
            if (draft.added(id) || before != inputs)
                return name + " should be unchanged";
            continue;
        }
        const Json value = test::valueJson(draft.graph(), draft.value(id));
        if (want[1] != std::string(draft.target(id)) || want[2] != inputs ||
            (want[3] != value && !(draft.nodeOp(id) == NodeOp::Output)))
            return name + " " + std::string(draft.target(id)) + " " + inputs.dump() + " " + value.dump() +
                   " vs " + want.dump();
    }
    return order.size() == golden.size()
               ? std::string()
               : "nodes: " + std::to_string(order.size()) + " vs " + std::to_string(golden.size());
}

/// The graph made of a draft has its nodes, with inputs and values, in an order that is valid.
std::string compareFinished(const Draft& draft) {
    Diagnostics diagnostics;
    const GraphPtr graph = draft.finish(diagnostics);
    if (!graph)
        return "no valid order";
    if (!diagnostics.all().empty())
        return diagnostics.all().front().message;
    const std::vector<DraftId> order = draft.order();
    if (graph->size() != order.size())
        return "size of the finished graph";
    for (const DraftId id : order) {
        const auto found = graph->find(draft.name(id));
        if (!found || graph->targetText(*found) != draft.target(id))
            return "finished: " + std::string(draft.name(id));
        std::vector<std::string> want, got;
        for (const DraftId input : draft.inputs(id))
            want.emplace_back(draft.name(input));
        for (const NodeId input : graph->inputs(*found))
            got.emplace_back(graph->name(input));
        if (want != got)
            return "finished inputs: " + std::string(draft.name(id));
        if (draft.added(id) && graph->origins(*found).empty())
            return "no origin: " + std::string(draft.name(id));
    }
    ++checked["finished graphs"];
    return findBrokenEdge(*graph, identityOrder(*graph)) ? "an edge is broken" : std::string();
}

std::string compareDedup(const GraphPtr& graph, const Json& want) {
    Draft draft(*graph);
    if (want.at("reduce_scatter_before") != countScatters(draft))
        return "dedup before";
    const size_t replaced = dedupReduceScatters(draft);
    ++checked["dedups"];
    if (want.at("reduce_scatter_after") != countScatters(draft))
        return "dedup after: " + std::to_string(countScatters(draft));
    if (!want.contains("nodes"))
        return replaced == 0 ? std::string() : "dedup changed the graph";
    const std::string text = compareNodes(draft, want.at("nodes"));
    return text.empty() ? compareFinished(draft) : "dedup " + text;
}

Json countsJson(const FsdpCounts& counts) {
    return {counts.all_gather, counts.reduce_scatter, counts.all_reduce};
}

std::string comparePreBucket(const GraphPtr& graph, const Json& want) {
    Draft draft(*graph);
    PreBucketOptions options;
    options.cap_mib = want.at("cap_mb");
    options.mode = want.at("mode") == "default" ? FsdpMergeMode::Default : FsdpMergeMode::CustomOps;
    const PreBucketResult result = preBucketFsdp(draft, options);
    if (countsJson(result.before) != want.at("before"))
        return "before " + countsJson(result.before).dump();
    ++checked["pre-buckets"];
    if (want.contains("error")) { // the reference raises at the first bucket that it cannot merge
        for (const MergedBucket& bucket : result.buckets) {
            if (bucket.launch != kNoNode)
                continue;
            const std::string text = want.at("error");
            const std::string member = bucket.reason.substr(0, bucket.reason.find(' '));
            ++checked["errors"];
            return text.find("Expected single user for " + member + ",") != std::string::npos
                       ? std::string()
                       : "error: " + bucket.reason + " vs " + text;
        }
        return "the reference fails: " + want.at("error").get<std::string>();
    }
    if (countsJson(result.after) != want.at("after"))
        return "after " + countsJson(result.after).dump() + " vs " + want.at("after").dump();
    Json sizes = Json::array();
    for (const CollectiveSize& size : result.sizes_after)
        sizes.push_back({std::string(size.type), size.mib, nameOf(draft, size.node)});
    if (sizes != want.at("sizes_after"))
        return "sizes " + sizes.dump() + " vs " + want.at("sizes_after").dump();
    if (draft.order().size() != want.at("nodes_after"))
        return "node count " + std::to_string(draft.order().size());
    if (want.contains("nodes")) {
        if (const std::string text = compareNodes(draft, want.at("nodes")); !text.empty())
            return text;
    }
    return compareFinished(draft);
}

std::string compareGraph(const GraphPtr& graph, const Json& golden) {
    const Draft draft(*graph);
    if (gathersJson(draft) != golden.at("is_fsdp_all_gather"))
        return "is_fsdp_all_gather";
    if (scattersJson(draft) != golden.at("is_fsdp_reduce_scatter_wait"))
        return "is_fsdp_reduce_scatter_wait";
    checked["gathers"] += golden.at("is_fsdp_all_gather").size();
    checked["reduce-scatter waits"] += golden.at("is_fsdp_reduce_scatter_wait").size();
    const FsdpGroups groups = identifyFsdpGroups(draft, fsdpAllGathers(*graph));
    const Json size = groups.size ? Json(*groups.size) : Json();
    if (golden.at("identify_fsdp_groups") !=
        Json({{"groups", groupNames(draft, groups)}, {"group_size", size}}))
        return "groups";
    Json sizes = Json::array();
    for (const CollectiveSize& item : fsdpCollectiveSizes(draft, groups))
        sizes.push_back(
            {{"type", std::string(item.type)}, {"size_mb", item.mib}, {"name", nameOf(draft, item.node)}});
    if (sizes != golden.at("collective_sizes"))
        return "collective_sizes";
    checked["sizes"] += sizes.size();
    for (const Json& want : golden.at("bucket_compositions")) {
        if (const std::string text = compareComposition(draft, want); !text.empty())
            return "cap " + want.at("cap_mb").dump() + ": " + text;
    }
    if (const std::string text = compareDedup(graph, golden.at("dedup")); !text.empty())
        return text;
    for (const Json& want : golden.at("pre_bucket")) {
        if (const std::string text = comparePreBucket(graph, want); !text.empty())
            return want.at("mode").get<std::string>() + " cap " + want.at("cap_mb").dump() + ": " +
                   text.substr(0, 2000);
    }
    return {};
}

std::string compareFuzz(const GraphPtr& graph, const Json& golden) {
    Draft draft(*graph);
    if (gathersJson(draft) != golden.at("ag"))
        return "ag " + gathersJson(draft).dump() + " vs " + golden.at("ag").dump();
    if (scattersJson(draft) != golden.at("rs"))
        return "rs";
    const FsdpGroups groups = identifyFsdpGroups(draft, fsdpAllGathers(*graph));
    if (groupNames(draft, groups) != golden.at("groups") ||
        (groups.size ? Json(*groups.size) : Json()) != golden.at("group_size"))
        return "groups";
    for (const Json& want : golden.at("buckets")) {
        const Composed got = compose(draft, want.at("cap_mb"));
        const bool same = got.all_gather == want.at("ag") && got.multidtype == want.at("ag_multidtype") &&
                          got.reduce_scatter == want.at("rs") && got.all_reduce == want.at("ar") &&
                          got.all_gather_all == want.at("ag_all") &&
                          got.reduce_scatter_all == want.at("rs_all") &&
                          got.all_reduce_all == want.at("ar_all");
        checked["fuzz compositions"] += 7;
        if (!same)
            return "buckets at " + want.at("cap_mb").dump();
    }
    if (golden.at("dedup").at("before") != countScatters(draft))
        return "dedup before";
    dedupReduceScatters(draft);
    if (golden.at("dedup").at("after") != countScatters(draft))
        return "dedup after: " + std::to_string(countScatters(draft)) + " vs " + golden.at("dedup").dump();
    return compareFinished(draft);
}

void printCounts() {
    std::string text;
    for (const auto& [kind, count] : checked)
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    qInfo("equal: %s", text.c_str());
    checked.clear();
}

} // namespace

class TestFsdpBucketingGolden : public QObject {
    Q_OBJECT

private slots:
    void corpus() {
        size_t graphs = 0;
        test::GoldenCount count;
        for (const std::string& name : test::corpusGraphs()) {
            if (!hasGolden(name))
                continue;
            const auto path = test::corpusPath("golden/fsdp/" + name + ".json");
            const GraphPtr graph = load(test::corpusPath("graphs/" + name + ".json").value());
            QVERIFY2(graph, name.c_str());
            const Json golden = Json::parse(test::readAll(*path));
            const std::string text = compareGraph(graph, golden);
            QVERIFY2(text.empty(), (name + ": " + text).c_str());
            count.compared += 2 + golden.at("bucket_compositions").size() + golden.at("pre_bucket").size();
            ++graphs;
        }
        printCounts();
        qInfo("%zu graphs", graphs);
        test::reportGoldens("fsdp", "corpus", count);
    }

    void fuzz() {
        const auto path = test::corpusPath("golden/fuzz/fuzz.jsonl");
        if (!path)
            return;
        QTemporaryDir folder;
        const std::string file = folder.filePath("graph.json").toStdString();
        size_t rows = 0;
        for (const std::string& line : test::readLines(*path)) {
            const Json row = Json::parse(line);
            std::ofstream(file) << row.at("graph").dump();
            const GraphPtr graph = load(file);
            QVERIFY(graph);
            const std::string text = compareFuzz(graph, row.at("fsdp"));
            QVERIFY2(text.empty(), (row.at("graph").at("name").get<std::string>() + ": " + text).c_str());
            ++rows;
        }
        printCounts();
        qInfo("%zu fuzz rows", rows);
        test::reportGoldens("fuzz", "fsdp", {rows, 0, {}});
        QVERIFY(rows > 0);
    }

private:
    /// Graphs without FSDP goldens (dynamo_*, tagged_*, …) are no gap.
    static bool hasGolden(const std::string& name) {
        for (const char* prefix : {"dynamo_", "prim29_", "snodes_", "tagged_", "llama3_70b"}) {
            if (name.rfind(prefix, 0) == 0)
                return false;
        }
        return test::corpusPath("golden/fsdp/" + name + ".json").has_value();
    }
};

QTEST_GUILESS_MAIN(TestFsdpBucketingGolden)
#include "tst_fsdp_bucketing_golden.moc"
