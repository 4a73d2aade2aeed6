#include "schedule/overlap_scheduler/augmented_graph.h"

#include <algorithm>

namespace gs {

namespace {

constexpr size_t kBlockWords = 8;

} // namespace

AugmentedGraph::AugmentedGraph(const Graph& graph, const Order& order, std::span<const ExtraEdge> edges,
                               const std::vector<NodeId>& rows)
    : graph_(graph), extra_(graph.size()), set_(identityOrder(graph)), members_(graph.size()),
      row_of_(graph.size(), -1), words_((graph.size() + 63) / 64), seen_(graph.size(), 0) {
    for (NodeId id = 0; id < graph.size(); ++id)
        members_[id] = {id};
    for (const ExtraEdge& edge : edges)
        addDependency(edge.after, edge.before);
    findAncestors(order, rows);
}

void AugmentedGraph::findAncestors(const Order& order, const std::vector<NodeId>& rows) {
    for (size_t i = 0; i < rows.size(); ++i)
        row_of_[rows[i]] = static_cast<int32_t>(i);
    bits_.assign(rows.size() * words_, 0);
    std::vector<uint64_t> scratch(graph_.size() * std::min(kBlockWords, words_));
    for (size_t first = 0; first < words_; first += kBlockWords) {
        const size_t width = std::min(kBlockWords, words_ - first);
        for (const NodeId id : order) {
            uint64_t* row = scratch.data() + id * width;
            std::fill_n(row, width, 0);
            const auto add = [&](NodeId from) {
                const uint64_t* other = scratch.data() + from * width;
                for (size_t w = 0; w < width; ++w)
                    row[w] |= other[w];
                if (from / 64 >= first && from / 64 < first + width)
                    row[from / 64 - first] |= uint64_t{1} << (from % 64);
            };
            for (const NodeId from : graph_.inputs(id))
                add(from);
            for (const NodeId from : extra_[id])
                add(from);
            if (row_of_[id] >= 0)
                std::copy_n(row, width, bits_.data() + static_cast<size_t>(row_of_[id]) * words_ + first);
        }
    }
}

void AugmentedGraph::addDependency(NodeId after, NodeId before) {
    auto& extra = extra_[after];
    if (std::find(extra.begin(), extra.end(), before) == extra.end())
        extra.push_back(before);
}

void AugmentedGraph::removeDependency(NodeId after, NodeId before) {
    std::erase(extra_[after], before);
}

void AugmentedGraph::merge(NodeId existing, NodeId added) {
    set_[added] = set_[existing];
    members_[set_[existing]].push_back(added);
}

void AugmentedGraph::unmerge(NodeId last) {
    std::erase(members_[set_[last]], last);
    set_[last] = last;
}

bool AugmentedGraph::leadsToSource(NodeId node, NodeId source) const {
    const auto& members = members_[source];
    return std::any_of(members.begin(), members.end(),
                       [&](NodeId member) { return isAncestor(node, member); });
}

bool AugmentedGraph::hasPath(NodeId source, NodeId target) {
    source = set_[source];
    ++stamp_;
    stack_.assign(1, target);
    seen_[target] = stamp_;
    bool found = false;
    const auto visit = [&](NodeId before) {
        found = found || set_[before] == source;
        if (seen_[before] == stamp_)
            return;
        seen_[before] = stamp_;
        // From an ancestor of the source no path can lead back to it: that would be a cycle.
        if (!leadsToSource(before, source))
            stack_.push_back(before);
    };
    while (!stack_.empty() && !found) {
        const NodeId current = stack_.back();
        stack_.pop_back();
        for (const NodeId member : members_[set_[current]]) {
            for (const NodeId before : graph_.inputs(member))
                visit(before);
            for (const NodeId before : extra_[member])
                visit(before);
        }
    }
    return found;
}

} // namespace gs
