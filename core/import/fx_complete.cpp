#include "import/fx_text.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace gs {

namespace {

/// For each node with getitem users: its outputs as far as those users tell.
class OutputValues {
public:
    explicit OutputValues(GraphBuilder& builder) : builder_(builder) {}

    void collect(NodeId getitem) {
        const Graph& graph = builder_.graph();
        const Arg* of = graph.arg(getitem, 0);
        const Arg* index = graph.arg(getitem, 1);
        if (!of || of->kind != Arg::Kind::Node || !index || index->kind != Arg::Kind::Int ||
            index->integer < 0 || index->integer > kMaxOutputs || graph.node(of->node()).value != 0)
            return;
        const auto known = values_.find(getitem); // a getitem of a getitem
        const Value value = known == values_.end() ? graph.value(getitem) : known->second;
        if (value.kind == Value::Kind::None)
            return;
        Value& list = values_[of->node()];
        list.kind = Value::Kind::List;
        const auto at = static_cast<size_t>(index->integer);
        if (list.items.size() <= at)
            list.items.resize(at + 1);
        list.items[at] = value;
    }

    void store() {
        for (const auto& [id, value] : values_)
            builder_.setValue(id, value);
    }

private:
    static constexpr int64_t kMaxOutputs = 100000; ///< a larger index is a damaged text

    GraphBuilder& builder_;
    std::unordered_map<NodeId, Value> values_;
};

/// c10d_functional of PyTorch 2.1 names a group by tag, list of ranks and size.
void addListedRanks(GraphBuilder& builder, NodeId id) {
    const Graph& graph = builder.graph();
    const OpTraits& traits = graph.target(id).traits;
    if (!(traits.bits & kTraitCollective) || traits.group_arg < 0)
        return;
    const Arg* name = graph.arg(id, static_cast<size_t>(traits.group_arg));
    const Arg* list = graph.arg(id, static_cast<size_t>(traits.group_arg) + 1);
    if (!name || name->kind != Arg::Kind::String || !list || list->kind != Arg::Kind::List)
        return;
    std::vector<int32_t> ranks;
    for (const Arg& rank : graph.children(*list)) {
        if (rank.kind != Arg::Kind::Int || rank.integer < 0 || rank.integer > INT32_MAX)
            return;
        ranks.push_back(static_cast<int32_t>(rank.integer));
    }
    builder.addGroup(std::string(graph.text(name->text)), std::move(ranks), {});
}

/// Eager collectives run on their stream and are waited for by it: such a trace has launches and no waits.
void reportEagerTrace(GraphBuilder& builder, const SourcePos& where) {
    const Graph& graph = builder.graph();
    size_t eager = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const uint16_t bits = graph.target(id).traits.bits;
        if (graph.isCall(id) && (bits & kTraitWait))
            return;
        eager += graph.isCall(id) && (bits & kTraitCollective) && graph.targetText(id).substr(0, 5) == "c10d."
                     ? 1
                     : 0;
    }
    if (eager > 0)
        builder.diagnostics().add(
            {Severity::Warning,
             "eager-trace",
             where,
             {},
             fmt::format("{} collectives and no wait nodes: this is a trace of eager code", eager),
             "eager collectives are waited for by their stream, which the text does not show; capture the "
             "compiled "
             "graph to see launches and waits"});
}

bool isGenericName(std::string_view name) {
    return name == "GraphModule" || name == "<lambda>" || name == "forward" || name == "fragment" ||
           name == "graph";
}

} // namespace

void describeSource(GraphBuilder& builder, const std::string& path, const GraphEntry& entry,
                    std::string_view producer) {
    std::string name = std::filesystem::path(path).filename().string();
    bool shorter = true;
    while (shorter) {
        shorter = false;
        for (const std::string_view suffix : {".gz", ".txt", ".log", ".py", ".fx", ".readable", ".graph"}) {
            if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix) {
                name.resize(name.size() - suffix.size());
                shorter = true;
            }
        }
    }
    GraphInfo& info = builder.info();
    info.name = isGenericName(entry.name) ? name : fmt::format("{}: {}", name, entry.name);
    info.producer = producer;
    info.source_file = path;
    info.rank = std::max(entry.rank, 0);
}

void completeFxGraph(GraphBuilder& builder, const SourcePos& where, bool saw_tensor) {
    const Graph& graph = builder.graph();
    OutputValues outputs(builder);
    for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;) { // users first: getitem of getitem
        if (graph.targetText(id) == "operator.getitem")
            outputs.collect(id);
        addListedRanks(builder, id);
    }
    outputs.store();
    reportEagerTrace(builder, where);
    builder.info().has_shapes = saw_tensor;
    if (!saw_tensor)
        builder.diagnostics().add(
            {Severity::Warning,
             "no-shapes",
             where,
             {},
             "this text carries no shapes: bytes and times cannot be computed from it",
             "open a second file of the same graph that has them: print_readable(include_stride=True, "
             "include_device=True), or the graph JSON"});
}

} // namespace gs
