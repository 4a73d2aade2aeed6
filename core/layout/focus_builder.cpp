#include "layout/focus_builder.h"

#include "base/units.h"
#include "layout/labels.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>

namespace gs {

namespace {

constexpr size_t kMaxWindowRuns = 16; ///< boxes of an unfolded window
constexpr size_t kMaxPortalsPerBox = 4;

} // namespace

FocusBuilder::FocusBuilder(const Graph& graph, const Order& order, const FocusOptions& options)
    : graph_(graph), order_(order), options_(options), position_(positionsOf(order)),
      owner_(graph.size(), -1) {}

int FocusBuilder::addBox(BoxRole role, std::vector<NodeId> nodes, NodeId place_at, std::string title,
                         std::string detail) {
    std::erase_if(nodes, [&](NodeId node) { return owner_[node] >= 0; });
    if (nodes.empty() || picture_.boxes.size() >= kMaxFocusBoxes)
        return -1;
    std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) { return position_[a] < position_[b]; });
    const int index = static_cast<int>(picture_.boxes.size());
    for (NodeId node : nodes)
        owner_[node] = index;
    LayoutBox box;
    box.id = fmt::format("{}:{}", boxRoleName(role), graph_.name(nodes.front()));
    box.role = role;
    box.title = std::move(title);
    box.detail = std::move(detail);
    box.position = position_[place_at];
    box.nodes = std::move(nodes);
    picture_.boxes.push_back(std::move(box));
    return index;
}

void FocusBuilder::foldBetween(uint32_t first, uint32_t last) {
    std::vector<uint32_t> marks;
    for (const LayoutBox& box : picture_.boxes) {
        if (box.position >= first && box.position <= last)
            marks.push_back(box.position);
    }
    marks.push_back(first);
    std::sort(marks.begin(), marks.end());
    marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
    for (size_t i = 0; i + 1 < marks.size(); ++i)
        addWindow(marks[i], marks[i + 1]);
}

void FocusBuilder::addWindow(uint32_t begin, uint32_t end) {
    std::vector<NodeId> nodes;
    for (uint32_t at = begin; at < end; ++at) {
        if (owner_[order_[at]] < 0)
            nodes.push_back(order_[at]);
    }
    if (nodes.empty())
        return;
    if (!options_.unfold_window) {
        addFolded(std::move(nodes), true);
        return;
    }
    // Runs of one module, two parts deeper than what all share would be noise: cut where the last shared
    // part's child changes.
    std::vector<std::vector<NodeId>> runs;
    const std::string common = commonModule(graph_, nodes, 0.7);
    const auto child = [&](NodeId node) {
        const std::string_view module = moduleOf(graph_, node);
        const size_t from =
            common.empty() || !module.starts_with(common) ? 0 : std::min(module.size(), common.size() + 1);
        return module.substr(0, module.find('.', from));
    };
    for (NodeId node : nodes) {
        if (runs.empty() || (child(runs.back().front()) != child(node) && runs.size() < kMaxWindowRuns))
            runs.emplace_back();
        runs.back().push_back(node);
    }
    for (std::vector<NodeId>& run : runs)
        addFolded(std::move(run), runs.size() == 1);
}

void FocusBuilder::addFolded(std::vector<NodeId> nodes, bool whole_window) {
    const NodeId first = nodes.front();
    // Launches of other gathers that were hoisted into the window do not rename it.
    const std::string module = commonModule(graph_, nodes, 0.7);
    if (nodes.size() == 1) {
        const BoxRole role = graph_.node(first).kind == NodeKind::Compute ? BoxRole::Compute : BoxRole::View;
        addBox(role, {first}, first, std::string(graph_.name(first)), std::string(shortModule(module)));
        return;
    }
    const int64_t count = static_cast<int64_t>(nodes.size());
    const int index = addBox(BoxRole::Folded, std::move(nodes), first, module.empty() ? "program" : module,
                             fmt::format("{} nodes folded", formatCount(count)));
    if (index >= 0 && whole_window)
        box(index).module = module;
}

void FocusBuilder::sortBoxes() {
    std::vector<size_t> by(picture_.boxes.size());
    std::iota(by.begin(), by.end(), size_t{0});
    std::sort(by.begin(), by.end(), [&](size_t a, size_t b) {
        const LayoutBox& x = picture_.boxes[a];
        const LayoutBox& y = picture_.boxes[b];
        return std::tie(x.position, x.id) < std::tie(y.position, y.id);
    });
    std::vector<LayoutBox> sorted;
    for (size_t i = 0; i < by.size(); ++i) {
        for (NodeId node : picture_.boxes[by[i]].nodes)
            owner_[node] = static_cast<int32_t>(i);
        sorted.push_back(std::move(picture_.boxes[by[i]]));
    }
    picture_.boxes = std::move(sorted);
}

void FocusBuilder::addLink(int from, int to, LinkKind kind) {
    if (from >= 0 && to >= 0 && from != to)
        picture_.links.push_back({static_cast<uint32_t>(from), static_cast<uint32_t>(to), kind, false});
}

/// Box of an input, or of what it is a view of, so that a consumer is linked to what computed its operand.
int FocusBuilder::producerBox(NodeId input) const {
    while (owner_[input] < 0 && graph_.node(input).kind == NodeKind::View && !graph_.inputs(input).empty())
        input = graph_.inputs(input).front();
    return owner_[input];
}

void FocusBuilder::linkBoxes() {
    for (size_t i = 0; i < picture_.boxes.size(); ++i) {
        for (NodeId node : picture_.boxes[i].nodes) {
            for (NodeId input : graph_.inputs(node))
                addLink(producerBox(input), static_cast<int>(i), LinkKind::Data);
            for (const OrderEdge& edge : graph_.orderEdges(node))
                addLink(owner_[edge.node], static_cast<int>(i),
                        edge.kind == EdgeKind::Effect ? LinkKind::Effect : LinkKind::Data);
            for (NodeId weak : graph_.weakInputs(node))
                addLink(owner_[weak], static_cast<int>(i), LinkKind::Advisory);
        }
    }
    const auto key = [](const LayoutLink& link) { return std::tie(link.from, link.to, link.kind); };
    std::sort(picture_.links.begin(), picture_.links.end(),
              [&](const LayoutLink& a, const LayoutLink& b) { return key(a) < key(b); });
    picture_.links.erase(std::unique(picture_.links.begin(), picture_.links.end()), picture_.links.end());
}

void FocusBuilder::linkSpine() {
    for (uint32_t i = 0; i + 1 < picture_.boxes.size(); ++i) {
        const auto has = std::find_if(picture_.links.begin(), picture_.links.end(),
                                      [&](const LayoutLink& l) { return l.from == i && l.to == i + 1; });
        if (has == picture_.links.end())
            picture_.links.push_back({i, i + 1, LinkKind::Order, true});
        else
            has->spine = true;
    }
}

void FocusBuilder::linkOutside() {
    const uint32_t boxes = static_cast<uint32_t>(picture_.boxes.size());
    for (uint32_t i = 0; i < boxes; ++i) {
        if (picture_.boxes[i].role == BoxRole::Folded)
            continue; // a window's own links are its inside
        std::map<PortalLabel, std::pair<bool, std::vector<NodeId>>> stubs; // upwards, nodes
        for (NodeId node : picture_.boxes[i].nodes) {
            for (NodeId input : graph_.inputs(node)) {
                if (producerBox(input) < 0)
                    stubs.try_emplace(portalLabel(graph_, node, input, true), true, std::vector<NodeId>{})
                        .first->second.second.push_back(input);
            }
            for (NodeId user : graph_.users(node)) {
                if (owner_[user] < 0)
                    stubs.try_emplace(portalLabel(graph_, node, user, false), false, std::vector<NodeId>{})
                        .first->second.second.push_back(user);
            }
        }
        size_t drawn = 0;
        for (auto& [label, stub] : stubs) {
            if (!options_.portals || drawn == kMaxPortalsPerBox || picture_.boxes.size() >= kMaxFocusBoxes) {
                ++picture_.hidden_portals;
                continue;
            }
            ++drawn;
            LayoutBox portal;
            portal.id = fmt::format("portal:{}:{} {}", picture_.boxes[i].id, label.what, label.where);
            portal.title = label.what;
            portal.detail = label.where;
            portal.role = BoxRole::Portal;
            portal.position = picture_.boxes[i].position;
            portal.nodes = std::move(stub.second);
            portal.owner = i;
            const uint32_t index = static_cast<uint32_t>(picture_.boxes.size());
            picture_.boxes.push_back(std::move(portal));
            if (stub.first)
                picture_.links.push_back({index, i, LinkKind::Data, false});
            else
                picture_.links.push_back({i, index, LinkKind::Data, false});
        }
    }
}

LayoutGraph FocusBuilder::finish(bool spine) {
    sortBoxes();
    linkBoxes();
    if (spine)
        linkSpine();
    replaceLongLinks(picture_, graph_);
    linkOutside();
    return std::move(picture_);
}

} // namespace gs
