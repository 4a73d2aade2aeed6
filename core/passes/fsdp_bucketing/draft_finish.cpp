// From a draft back to a graph.
#include "passes/fsdp_bucketing/draft.h"

namespace gs {

std::vector<std::vector<DraftId>> Draft::orderEdges() const {
    // A launch that was merged away stands for nothing: its wait does, and so the value that replaces it.
    std::vector<DraftId> stands_for(graph_.size(), kNoNode);
    for (const DraftNode& node : added_) {
        const auto id = static_cast<DraftId>(graph_.size() + static_cast<size_t>(&node - added_.data()));
        if (erased_[id] || (op_[id] != DraftOp::AllGatherOut && op_[id] != DraftOp::ReduceScatter &&
                            op_[id] != DraftOp::AllReduce))
            continue;
        for (const NodeId origin : node.origins)
            stands_for[origin] = id;
    }
    const auto current = [&](NodeId id) {
        const DraftId by = resolve(id);
        return erased_[by] ? stands_for[id] : by;
    };
    std::vector<std::vector<DraftId>> edges(size());
    for (NodeId id = 0; id < graph_.size(); ++id) {
        const DraftId after = graph_.orderEdges(id).empty() ? kNoNode : current(id);
        if (after == kNoNode)
            continue;
        for (const OrderEdge& edge : graph_.orderEdges(id)) {
            const DraftId before = current(edge.node);
            if (before != kNoNode && before != after)
                edges[after].push_back(before);
        }
    }
    return edges;
}

Arg Draft::makeArg(GraphBuilder& builder, const DraftArg& arg, const std::vector<NodeId>& made) const {
    std::vector<Arg> items;
    switch (arg.kind) {
    case DraftArg::Kind::None:
        return builder.noneArg();
    case DraftArg::Kind::Node:
        return builder.nodeArg(made[resolve(arg.nodes.front())]);
    case DraftArg::Kind::Nodes:
        for (const DraftId id : arg.nodes)
            items.push_back(builder.nodeArg(made[resolve(id)]));
        return builder.listArg(items);
    case DraftArg::Kind::Int:
        return builder.intArg(arg.ints.front());
    case DraftArg::Kind::Ints:
        for (const int64_t value : arg.ints)
            items.push_back(builder.intArg(value));
        return builder.listArg(items);
    case DraftArg::Kind::Text:
        return builder.textArg(Arg::Kind::String, builder.text(arg.text));
    case DraftArg::Kind::DType:
        return builder.textArg(Arg::Kind::DType, dtypeName(arg.dtypes.front()));
    case DraftArg::Kind::DTypes:
        for (const DType dtype : arg.dtypes)
            items.push_back(builder.textArg(Arg::Kind::DType, dtypeName(dtype)));
        return builder.listArg(items);
    case DraftArg::Kind::Device:
        return builder.textArg(Arg::Kind::Device, builder.text(arg.text));
    case DraftArg::Kind::Bool:
        return builder.boolArg(arg.ints.front() != 0);
    }
    return builder.noneArg();
}

NodeId Draft::build(GraphBuilder& builder, DraftId id, const std::vector<NodeId>& made) const {
    const DraftNode& draft = added_[id - graph_.size()];
    const NodeId made_id = builder.addNode(draft.name, NodeOp::CallFunction, draft.target);
    std::vector<Arg> args, kwargs;
    for (const DraftArg& arg : draft.args) {
        if (arg.keyword.empty()) {
            args.push_back(makeArg(builder, arg, made));
        } else {
            kwargs.push_back(builder.textArg(Arg::Kind::String, arg.keyword));
            kwargs.push_back(makeArg(builder, arg, made));
        }
    }
    builder.setArgs(made_id, args);
    builder.setKwargs(made_id, kwargs);
    builder.setValue(made_id, draft.value);
    Node& node = builder.node(made_id);
    node.moved_by_pass = true;
    for (const NodeId origin : draft.origins)
        builder.addOrigin(made_id, graph_.node(origin).name);
    if (!draft.origins.empty()) {
        const Node& like = graph_.node(draft.origins.front());
        node.module = like.module;
        node.source = like.source;
        node.source_line = like.source_line;
        node.phase = like.phase;
        const NodeMeta& meta = graph_.meta(draft.origins.front());
        builder.meta(made_id).autograd_backward = meta.autograd_backward;
        builder.meta(made_id).has_autograd_backward = meta.has_autograd_backward;
    }
    return made_id;
}

GraphPtr Draft::finish(Diagnostics& diagnostics) const {
    const std::vector<std::vector<DraftId>> edges = orderEdges();
    const std::vector<DraftId> present = order();
    const std::vector<DraftId> order = sorted(present, &edges);
    std::vector<NodeId> made;
    return order.size() == present.size() ? finish(order, made, diagnostics) : nullptr;
}

GraphPtr Draft::finish(const std::vector<DraftId>& order, std::vector<NodeId>& made,
                       Diagnostics& diagnostics) const {
    std::vector<std::vector<NodeId>> stands_for(size());
    for (NodeId id = 0; id < graph_.size(); ++id) {
        if (const DraftId by = resolve(id); by != id)
            stands_for[by].push_back(id);
    }
    GraphBuilder builder(graph_);
    made.assign(size(), kNoNode); // the first part of it maps the input graph's nodes
    for (const DraftId id : order) {
        made[id] = added(id) ? build(builder, id, made) : builder.copyNode(graph_, id, made);
        if (const auto found = value_.find(id); found != value_.end())
            builder.setValue(made[id], found->second);
        for (const NodeId old : stands_for[id])
            made[old] = made[id];
    }
    return builder.finish(&diagnostics);
}

} // namespace gs
