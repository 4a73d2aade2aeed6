#include "schedule/overlap_bucketing/augmented_graph.h"

#include <algorithm>
#include <numeric>

namespace gs {

namespace {

std::vector<NodeId> everyNode(size_t count) {
    std::vector<NodeId> nodes(count);
    std::iota(nodes.begin(), nodes.end(), NodeId{0});
    return nodes;
}

} // namespace

AugmentedGraph::AugmentedGraph(const Order& scheduled, const Dependencies& dependencies,
                               const ExtraOrder& hiding, std::vector<NodeId> columns)
    : dependencies_(dependencies), order_(dependencies.size()), columns_(std::move(columns)),
      all_(everyNode(dependencies.size())), column_of_(dependencies.size(), -1),
      ancestors_(scheduled, dependencies, hiding, all_, columns_), set_of_(dependencies.size(), -1),
      seen_(dependencies.size(), 0) {
    for (size_t i = 0; i < columns_.size(); ++i)
        column_of_[columns_[i]] = static_cast<int32_t>(i);
}

void AugmentedGraph::merge(NodeId with, NodeId added) {
    if (set_of_[with] < 0) {
        set_of_[with] = static_cast<int32_t>(sets_.size());
        sets_.push_back({with});
    }
    set_of_[added] = set_of_[with];
    sets_[static_cast<size_t>(set_of_[with])].push_back(added);
}

void AugmentedGraph::unmerge(NodeId node) {
    if (set_of_[node] >= 0)
        std::erase(sets_[static_cast<size_t>(set_of_[node])], node);
    set_of_[node] = -1;
}

std::span<const NodeId> AugmentedGraph::setOf(NodeId node) const {
    if (set_of_[node] < 0)
        return {&all_[node], 1};
    return sets_[static_cast<size_t>(set_of_[node])];
}

/// True if `dep` is the source; otherwise goes on from it, unless it comes before the source anyway.
bool AugmentedGraph::visit(NodeId dep, NodeId source, std::vector<NodeId>& stack) {
    if (dep == source || (set_of_[dep] >= 0 && set_of_[dep] == set_of_[source]))
        return true;
    if (seen_[dep] == stamp_)
        return false;
    seen_[dep] = stamp_;
    const auto sources = setOf(source);
    if (std::none_of(sources.begin(), sources.end(), [&](NodeId of) { return isAncestor(dep, of); }))
        stack.push_back(dep);
    return false;
}

bool AugmentedGraph::hasPath(NodeId source, NodeId target) {
    ++stamp_;
    std::vector<NodeId> stack{target};
    seen_[target] = stamp_;
    while (!stack.empty()) {
        const NodeId current = stack.back();
        stack.pop_back();
        for (const NodeId member : setOf(current)) {
            seen_[member] = stamp_; // what the whole set needs is looked at now
            for (const NodeId dep : dependencies_.before(member)) {
                if (visit(dep, source, stack))
                    return true;
            }
            for (const ExtraOrder::Link& link : order_.before(member)) {
                if (visit(link.node, source, stack))
                    return true;
            }
        }
    }
    return false;
}

} // namespace gs
