#include "graph/consumers.h"

#include <algorithm>

namespace gs {

namespace {

bool passesOn(NodeKind kind) {
    return kind == NodeKind::View || kind == NodeKind::Unpack || kind == NodeKind::Wait;
}

void addNodes(const Graph& graph, const Arg* arg, std::vector<NodeId>& nodes) {
    if (!arg)
        return;
    if (arg->kind == Arg::Kind::Node)
        nodes.push_back(arg->node());
    else if (arg->kind == Arg::Kind::List)
        for (const Arg& item : graph.children(*arg))
            addNodes(graph, &item, nodes);
}

/// Arguments that a node's own schema says it writes.
std::vector<NodeId> writtenBy(const Graph& graph, NodeId id) {
    std::vector<NodeId> written;
    const OpTraits& traits = graph.target(id).traits;
    for (const uint8_t index : traits.mutated_args)
        addNodes(graph, graph.arg(id, index), written);
    for (const std::string& name : traits.mutated_kwargs)
        addNodes(graph, graph.kwarg(id, name), written);
    return written;
}

} // namespace

const OpTraits& effectiveTraits(const Graph& graph, NodeId id) {
    const std::string_view target = graph.targetText(id);
    const Arg* inner =
        target.substr(0, 32) == "higher_order.auto_functionalized" ? graph.arg(id, 0) : nullptr;
    return inner && inner->kind == Arg::Kind::Repr ? opTraits(graph.text(inner->text))
                                                   : graph.target(id).traits;
}

std::vector<NodeId> ConsumerSearch::find(const std::vector<NodeId>& waits, NodeId input) {
    ++stamp_;
    found_.clear();
    for (const NodeId wait : waits)
        stack_.push_back({wait, wait, kNoNode});
    if (input != kNoNode && !waits.empty())
        stack_.push_back({input, waits.front(), kNoNode});
    while (!stack_.empty()) {
        const Reach from = stack_.back();
        stack_.pop_back();
        for (const NodeId user : graph_.users(from.value)) {
            if (user > from.after && user < from.until && seen_[user] != stamp_) {
                seen_[user] = stamp_;
                visit(from, user);
            }
        }
    }
    std::sort(found_.begin(), found_.end());
    return found_;
}

void ConsumerSearch::visit(const Reach& from, NodeId user) {
    if (passesOn(graph_.node(user).kind))
        stack_.push_back({user, user, from.until});
    else if (!handsOn(from, user))
        found_.push_back(user);
}

/// `user` copies the value into other memory: its readers are followed instead.
bool ConsumerSearch::handsOn(const Reach& from, NodeId user) {
    if (!(effectiveTraits(graph_, user).bits & kTraitHandsOn))
        return false;
    if (graph_.node(user).traits & kTraitHandsOn) {
        for (NodeId memory : writtenBy(graph_, user)) {
            if (memory == from.value)
                return true; // it is overwritten, not read
            stack_.push_back({memory, user, lifeEnd(memory, user)});
            while (graph_.node(memory).kind == NodeKind::View && !graph_.inputs(memory).empty()) {
                memory = graph_.inputs(memory).front();
                stack_.push_back({memory, user, lifeEnd(memory, user)});
            }
        }
    }
    stack_.push_back({user, user, kNoNode}); // functional forms yield the copies
    return true;
}

/// First node behind `after` that frees `memory` or copies something else into it.
NodeId ConsumerSearch::lifeEnd(NodeId memory, NodeId after) const {
    for (const NodeId user : graph_.users(memory)) {
        if (user <= after)
            continue;
        const uint16_t traits = graph_.node(user).traits;
        const std::vector<NodeId> written = writtenBy(graph_, user);
        if ((traits & (kTraitFree | kTraitHandsOn)) &&
            std::find(written.begin(), written.end(), memory) != written.end())
            return user;
    }
    return kNoNode;
}

} // namespace gs
