#include "import/complete_graph.h"

#include "graph/graph_builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace gs {

namespace {

std::string describeNode(const Graph& graph, NodeId id) {
    if (id >= graph.size())
        return "no node";
    return fmt::format("\"{}\" ({})", graph.name(id), graph.targetText(id));
}

/// Graphs are the same if their nodes agree in kind and operator, one by one. Names may differ: dumps of two
/// compilations number them differently. A text that was cut is the beginning of the other.
std::optional<NodeId> firstDifference(const Graph& a, const Graph& b) {
    const bool cut = a.output() == kNoNode && a.size() < b.size();
    const auto common = static_cast<NodeId>(std::min(a.size(), b.size()));
    for (NodeId id = 0; id < common; ++id) {
        const bool call = a.node(id).op == NodeOp::CallFunction || a.node(id).op == NodeOp::CallMethod;
        if (a.node(id).op != b.node(id).op || (call && a.targetText(id) != b.targetText(id)) ||
            a.inputs(id).size() != b.inputs(id).size())
            return id;
    }
    return a.size() == b.size() || cut ? std::nullopt : std::optional(common);
}

class Completion {
public:
    Completion(const Graph& graph, const Graph& other) : graph_(graph), other_(other), builder_(graph) {}

    GraphPtr run(Diagnostics& diagnostics, const std::string& file) {
        std::vector<NodeId> map(graph_.size(), kNoNode);
        for (NodeId id = 0; id < graph_.size(); ++id) {
            map[id] = builder_.copyNode(graph_, id, map);
            complete(id, map[id]);
        }
        for (const ProcessGroup& group : other_.groups()) {
            const std::string name(other_.text(group.name));
            if (graph_.findGroup(name) != kNoGroup && graph_.groups()[graph_.findGroup(name)].ranks.empty())
                builder_.addGroup(name, group.ranks, other_.text(group.description));
        }
        GraphInfo& info = builder_.info();
        info.has_shapes = info.has_shapes || other_.info().has_shapes;
        if (info.model.empty())
            info.model = other_.info().model;
        info.world_size = std::max(info.world_size, other_.info().world_size);
        diagnostics.add({Severity::Info,
                         "completed",
                         {file, 0, 0},
                         {},
                         fmt::format("{} of {} nodes got their shapes, {} their module from the second file",
                                     shapes_, graph_.size(), modules_),
                         ""});
        return builder_.finish(&diagnostics);
    }

private:
    void complete(NodeId id, NodeId copy) {
        if (graph_.value(id).kind == Value::Kind::None && other_.value(id).kind != Value::Kind::None) {
            builder_.setValue(copy, translated(other_.value(id)));
            ++shapes_;
        }
        Node& node = builder_.node(copy);
        const Node& from = other_.node(id);
        if (node.module == kEmptyString && from.module != kEmptyString) {
            node.module = translated(from.module);
            ++modules_;
        }
        if (node.source == kEmptyString)
            node.source = translated(from.source);
        if (node.phase == Phase::Unknown)
            node.phase = from.phase;
        if (node.flops < 0)
            node.flops = from.flops;
        NodeMeta& meta = builder_.meta(copy);
        if (meta.fqn == kEmptyString)
            meta.fqn = translated(other_.meta(id).fqn);
        if (meta.param_name == kEmptyString)
            meta.param_name = translated(other_.meta(id).param_name);
    }

    StringId translated(StringId text) {
        return text == kEmptyString ? kEmptyString : builder_.intern(other_.text(text));
    }

    Value translated(Value value) {
        value.text = translated(value.text);
        value.tensor.device = translated(value.tensor.device);
        for (std::vector<Dim>* dims : {&value.tensor.shape, &value.tensor.stride}) {
            for (Dim& dim : *dims)
                dim.symbol = translated(dim.symbol);
        }
        for (Value& item : value.items)
            item = translated(std::move(item));
        return value;
    }

    const Graph& graph_;
    const Graph& other_;
    GraphBuilder builder_;
    size_t shapes_ = 0;
    size_t modules_ = 0;
};

} // namespace

Result<GraphPtr> completeGraph(const GraphPtr& graph, const std::string& file, Diagnostics& diagnostics,
                               const JobContext& job) {
    Diagnostics of_other;
    Result<ImportedGraph> other = importGraph(file, GraphChoice{}, of_other, job);
    if (!other)
        return other.error();
    std::optional<NodeId> difference = firstDifference(*graph, *other->graph);
    const GraphPtr preferred = other->graph;
    for (size_t i = 0; difference && i < other->entries.size();
         ++i) { // another graph of that file may be the one
        if (i == other->chosen || other->entries[i].nodes < graph->size())
            continue;
        const GraphChoice choice{static_cast<int>(i), -1, {}, {}};
        Result<ImportedGraph> next = importGraph(file, choice, of_other, job);
        if (!next || firstDifference(*graph, *next->graph))
            continue;
        difference.reset();
        other = std::move(next);
    }
    if (difference)
        return Error{
            "other-graph",
            fmt::format("{} is not a file of the same graph: node {} is {} in the first and {} in it", file,
                        *difference, describeNode(*graph, *difference),
                        describeNode(*preferred, *difference)),
            {file, *difference < preferred->size() ? preferred->node(*difference).source_line : 0, 0},
            "the second file must be another dump of the same stage of the same compilation"};
    if (graph->info().level != other->graph->info().level || graph->info().level == GraphLevel::Scheduler)
        return Error{"other-graph",
                     fmt::format("{}: graphs of scheduler nodes cannot be completed by a second file", file),
                     {file, 0, 0},
                     "complete a graph of ATen nodes"};
    return Completion(*graph, *other->graph).run(diagnostics, file);
}

} // namespace gs
