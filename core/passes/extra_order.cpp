#include "passes/extra_order.h"

#include <algorithm>

namespace gs {

namespace {

void erase(std::vector<ExtraOrder::Link>& links, NodeId node) {
    std::erase_if(links, [&](const ExtraOrder::Link& link) { return link.node == node; });
}

} // namespace

bool ExtraOrder::has(NodeId before, NodeId after) const {
    const auto& links = before_[after];
    return std::any_of(links.begin(), links.end(), [&](const Link& link) { return link.node == before; });
}

void ExtraOrder::add(NodeId before, NodeId after) {
    if (has(before, after))
        return;
    before_[after].push_back({before, next_});
    after_[before].push_back({after, next_++});
}

void ExtraOrder::remove(NodeId before, NodeId after) {
    erase(before_[after], before);
    erase(after_[before], after);
}

void ExtraOrder::clear(NodeId node) {
    for (const Link& link : before_[node])
        erase(after_[link.node], node);
    for (const Link& link : after_[node])
        erase(before_[link.node], node);
    before_[node].clear();
    after_[node].clear();
}

std::vector<std::pair<NodeId, NodeId>> ExtraOrder::all() const {
    std::vector<std::pair<uint64_t, std::pair<NodeId, NodeId>>> numbered;
    for (NodeId after = 0; after < before_.size(); ++after) {
        for (const Link& link : before_[after])
            numbered.push_back({link.number, {link.node, after}});
    }
    std::sort(numbered.begin(), numbered.end());
    std::vector<std::pair<NodeId, NodeId>> pairs;
    for (const auto& [number, pair] : numbered)
        pairs.push_back(pair);
    return pairs;
}

} // namespace gs
