#include "layout/layout_graph.h"

#include "base/units.h"
#include "layout/labels.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gs {

std::string_view boxRoleName(BoxRole role) {
    static constexpr std::string_view kNames[] = {"parameter", "gather",  "collective", "wait",
                                                  "view",      "compute", "folded",     "portal"};
    return kNames[static_cast<size_t>(role)];
}

std::string_view linkKindName(LinkKind kind) {
    static constexpr std::string_view kNames[] = {"data", "effect", "advisory", "order"};
    return kNames[static_cast<size_t>(kind)];
}

int LayoutGraph::boxOf(NodeId node) const {
    for (size_t i = 0; i < boxes.size(); ++i) {
        const LayoutBox& box = boxes[i];
        if (box.role != BoxRole::Portal &&
            std::find(box.nodes.begin(), box.nodes.end(), node) != box.nodes.end())
            return static_cast<int>(i);
    }
    return -1;
}

size_t LayoutGraph::portals() const {
    return static_cast<size_t>(std::count_if(
        boxes.begin(), boxes.end(), [](const LayoutBox& box) { return box.role == BoxRole::Portal; }));
}

namespace {

/// Longest path from the top to each box. Boxes are sorted by position, so links that go forward form a DAG.
std::vector<uint32_t> ranksOf(const LayoutGraph& picture) {
    std::vector<LayoutLink> links = picture.links;
    std::sort(links.begin(), links.end(),
              [](const LayoutLink& a, const LayoutLink& b) { return a.from < b.from; });
    std::vector<uint32_t> ranks(picture.boxes.size(), 0);
    for (const LayoutLink& link : links) {
        if (link.from < link.to)
            ranks[link.to] = std::max(ranks[link.to], ranks[link.from] + 1);
    }
    return ranks;
}

LayoutBox makePortal(const LayoutGraph& picture, const Graph& graph, uint32_t owner, bool up,
                     const std::vector<uint32_t>& others) {
    const LayoutBox& at = picture.boxes[owner];
    const LayoutBox& other = picture.boxes[others.front()];
    LayoutBox portal;
    portal.id = fmt::format("portal:{}:{}", up ? "up" : "down", at.id);
    portal.role = BoxRole::Portal;
    portal.owner = owner;
    portal.position = at.position;
    for (uint32_t index : others) {
        if (!picture.boxes[index].nodes.empty())
            portal.nodes.push_back(picture.boxes[index].nodes.front());
    }
    const char* arrow = up ? "↑" : "↓";
    if (others.size() > 1) {
        portal.title = fmt::format("{} {} links", arrow, formatCount(static_cast<int64_t>(others.size())));
    } else if (at.nodes.empty() || other.nodes.empty()) {
        portal.title = fmt::format("{} {}", arrow, other.title);
    } else {
        PortalLabel label = portalLabel(graph, at.nodes.front(), other.nodes.front(), up);
        portal.title = std::move(label.what);
        portal.detail = other.module.empty() ? std::move(label.where) : other.title;
    }
    return portal;
}

} // namespace

void replaceLongLinks(LayoutGraph& picture, const Graph& graph, uint32_t max_ranks) {
    const std::vector<uint32_t> ranks = ranksOf(picture);
    std::map<std::pair<uint32_t, bool>, std::vector<uint32_t>> stubs; // (box, upwards) → other ends
    std::erase_if(picture.links, [&](const LayoutLink& link) {
        const uint32_t low = std::min(ranks[link.from], ranks[link.to]);
        const uint32_t high = std::max(ranks[link.from], ranks[link.to]);
        if (link.kind == LinkKind::Order || high - low <= max_ranks)
            return false;
        stubs[{link.from, false}].push_back(link.to);
        stubs[{link.to, true}].push_back(link.from);
        return true;
    });
    std::vector<LayoutBox> portals;
    for (auto& [key, others] : stubs) {
        std::sort(others.begin(), others.end());
        others.erase(std::unique(others.begin(), others.end()), others.end());
        portals.push_back(makePortal(picture, graph, key.first, key.second, others));
        const uint32_t index = static_cast<uint32_t>(picture.boxes.size() + portals.size() - 1);
        LayoutLink link{index, key.first, LinkKind::Data, false};
        if (!key.second)
            std::swap(link.from, link.to);
        picture.links.push_back(link);
    }
    for (LayoutBox& portal : portals)
        picture.boxes.push_back(std::move(portal));
}

} // namespace gs
