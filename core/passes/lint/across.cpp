#include "passes/lint/lint.h"

#include <fmt/format.h>

namespace gs {

namespace {

/// A result that a graph returns unwaited, or an input that a graph waits for.
struct End {
    const LintGraph* graph = nullptr;
    NodeId node = kNoNode; ///< the launch, or the input
    size_t index = 0;      ///< position among the outputs, or among the inputs
    bool linked = false;
};

NodeId behindViews(const Graph& graph, NodeId node) {
    while ((graph.node(node).kind == NodeKind::View || graph.node(node).kind == NodeKind::Unpack) &&
           !graph.inputs(node).empty())
        node = graph.inputs(node).front();
    return node;
}

void collectOutputs(const LintGraph& of, const Arg& arg, size_t& index, std::vector<End>& out) {
    const Graph& graph = *of.graph;
    if (arg.kind == Arg::Kind::List) {
        for (const Arg& child : graph.children(arg))
            collectOutputs(of, child, index, out);
        return;
    }
    if (const NodeId node = arg.node(); node != kNoNode) {
        const NodeId launch = behindViews(graph, node);
        const int32_t at = of.collectives->indexOf(launch);
        if (at >= 0 && graph.node(launch).kind == NodeKind::Launch &&
            (*of.collectives)[static_cast<size_t>(at)].waits.empty())
            out.push_back({&of, launch, index, false});
    }
    ++index;
}

bool sameTensor(const Value& a, const Value& b) {
    const TensorMeta* x = a.firstTensor();
    const TensorMeta* y = b.firstTensor();
    if (!x || !y)
        return true; // one text has no shapes
    if (x->dtype != y->dtype || x->shape.size() != y->shape.size())
        return false;
    for (size_t i = 0; i < x->shape.size(); ++i) {
        if (x->shape[i].value != y->shape[i].value)
            return false;
    }
    return true;
}

void link(End& from, const End& to, Diagnostics& diagnostics) {
    from.linked = true;
    const Graph& graph = *from.graph->graph;
    const uint32_t line = graph.node(from.node).source_line;
    diagnostics.add(
        {Severity::Warning, "launch-wait-split",
         line > 0 ? SourcePos{graph.info().source_file, line, 0} : SourcePos(),
         std::string(graph.name(from.node)),
         fmt::format(
             "\"{}\" is launched in {} and returned un-waited as output {}; {} waits for it as its input "
             "\"{}\": a graph break lies between launch and wait",
             graph.name(from.node), from.graph->label, from.index, to.graph->label,
             to.graph->graph->name(to.node)),
         "wait before the break: CUDA graphs and schedulers see one graph at a time"});
}

} // namespace

void lintAcross(std::span<const LintGraph> graphs, Diagnostics& diagnostics) {
    std::vector<End> launched;
    for (const LintGraph& of : graphs) {
        const Graph& graph = *of.graph;
        for (const Collective& item : of.collectives->all()) {
            if (!item.inFlightAtEntry())
                continue;
            const End to{&of, item.input, 0, false};
            for (End& from : launched) {
                if (from.linked || !sameTensor(from.graph->graph->value(from.node), graph.value(item.input)))
                    continue;
                link(from, to, diagnostics);
                break;
            }
        }
        size_t index = 0;
        if (const NodeId output = graph.output(); output != kNoNode) {
            const Arg& args = graph.node(output).args;
            for (const Arg& arg : graph.children(args))
                collectOutputs(of, arg, index, launched);
        }
    }
}

} // namespace gs
