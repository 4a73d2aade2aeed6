#include "layout/fold.h"

#include "base/units.h"
#include "layout/labels.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace gs {

namespace {

constexpr const char* kBackward = "@b";

/// Path of a node in the tree: module path with a mark for the phase. Nodes without a module sit at the root,
/// inputs apart.
std::string treePath(const Graph& graph, NodeId node) {
    std::string path(moduleOf(graph, node));
    if (path.empty())
        path = graph.node(node).op == NodeOp::Placeholder  ? "inputs"
               : graph.node(node).kind == NodeKind::Output ? "output"
                                                           : "no module";
    return path;
}

/// Tree of modules: children by name, nodes directly in it.
struct Module {
    std::string key; ///< path, with the phase's mark
    int parent = -1;
    std::vector<int> children;
    std::vector<NodeId> own; ///< in schedule order
    size_t total = 0;        ///< nodes in it and below
};

class Folder {
public:
    Folder(const Graph& graph, const Order& order, const FoldOptions& options)
        : graph_(graph), order_(order), options_(options) {
        position_ = positionsOf(order);
        modules_.push_back({});
        std::unordered_map<std::string, int> by_key;
        std::unordered_map<uint64_t, int> by_module; // (module id, phase) → tree node: saves building texts
        std::vector<int> placed(graph.size(), -1);
        for (NodeId node : order) {
            const bool backward = graph.node(node).phase == Phase::Backward;
            const StringId id = graph.node(node).module;
            const uint64_t cached = (static_cast<uint64_t>(id) << 1) | (backward ? 1 : 0);
            int at = -1;
            if (id != kEmptyString) {
                const auto found = by_module.find(cached);
                at = found == by_module.end() ? -1 : found->second;
            }
            // Sums of gradients have no module; they go where the last thing that they sum was made, else one
            // box would be joined to every layer and the picture would fall flat.
            if (id == kEmptyString && graph.isCall(node)) {
                if (const NodeId input = lastInput(node); input != kNoNode && graph.isCall(input))
                    at = placed[input];
            }
            if (at < 0) {
                at = insert(treePath(graph, node), backward, by_key);
                if (id != kEmptyString)
                    by_module.emplace(cached, at);
            }
            placed[node] = at;
            modules_[static_cast<size_t>(at)].own.push_back(node);
            for (int up = at; up >= 0; up = modules_[static_cast<size_t>(up)].parent)
                ++modules_[static_cast<size_t>(up)].total;
        }
        unfolded_.assign(modules_.size(), false);
        unfolded_[0] = true;
    }

    FoldedGraph fold() {
        unfoldByDefault();
        FoldedGraph out;
        for (size_t i = 1; i < modules_.size(); ++i) {
            if (unfolded_[i] || options_.unfolded.count(modules_[i].key) == 0)
                continue;
            unfolded_[i] = true;
            if (picture().boxes.size() > options_.max_boxes) {
                unfolded_[i] = false;
                out.refused.insert(modules_[i].key);
            }
        }
        out.picture = picture();
        return out;
    }

private:
    int insert(const std::string& path, bool backward, std::unordered_map<std::string, int>& by_key) {
        int parent = 0;
        for (size_t end = 0; end != std::string::npos;) {
            end = path.find('.', end == 0 ? 0 : end + 1);
            const std::string key = path.substr(0, end) + (backward ? kBackward : "");
            const auto [it, added] = by_key.try_emplace(key, static_cast<int>(modules_.size()));
            if (added) {
                Module module;
                module.key = key;
                module.parent = parent;
                modules_[static_cast<size_t>(parent)].children.push_back(it->second);
                modules_.push_back(std::move(module));
            }
            parent = it->second;
            if (end == std::string::npos)
                break;
        }
        return parent;
    }

    NodeId lastInput(NodeId node) const {
        NodeId last = kNoNode;
        for (NodeId input : graph_.inputs(node)) {
            if (last == kNoNode || position_[input] > position_[last])
                last = input;
        }
        return last;
    }

    /// Level by level, while the picture stays small.
    void unfoldByDefault() {
        std::vector<int> level = modules_[0].children;
        while (!level.empty()) {
            std::vector<int> next;
            std::vector<bool> before = unfolded_;
            for (int index : level) {
                const Module& module = modules_[static_cast<size_t>(index)];
                unfolded_[static_cast<size_t>(index)] = !module.children.empty();
                next.insert(next.end(), module.children.begin(), module.children.end());
            }
            if (unfolded_ == before || picture().boxes.size() > options_.default_boxes) {
                unfolded_ = std::move(before);
                return;
            }
            level = std::move(next);
        }
    }

    LayoutBox folded(const Module& module, std::vector<NodeId> nodes) const {
        LayoutBox box;
        const bool backward = module.key.ends_with(kBackward);
        const std::string path = backward ? module.key.substr(0, module.key.size() - 2) : module.key;
        box.id = fmt::format("module:{}", module.key);
        box.role = BoxRole::Folded;
        box.module = module.key;
        box.title = backward ? path + " · backward" : path;
        size_t gathers = 0;
        for (NodeId node : nodes) {
            const CollectiveKind kind = graph_.target(node).traits.collective;
            gathers += graph_.node(node).kind == NodeKind::Launch &&
                       (kind == CollectiveKind::AllGather || kind == CollectiveKind::AllGatherCoalesced);
        }
        box.detail = counted(nodes.size(), "node");
        if (gathers > 0)
            box.detail += " · " + counted(gathers, "gather");
        box.nodes = std::move(nodes);
        return box;
    }

    LayoutBox single(NodeId node) const {
        LayoutBox box;
        const NodeKind kind = graph_.node(node).kind;
        box.id = fmt::format("node:{}", graph_.name(node));
        box.title = graph_.name(node);
        box.detail = shortModule(moduleOf(graph_, node));
        box.role = kind == NodeKind::Placeholder ? BoxRole::Parameter
                   : kind == NodeKind::Launch
                       ? (opLabel(graph_, node) == "all_gather" ? BoxRole::Gather : BoxRole::Collective)
                   : kind == NodeKind::Wait    ? BoxRole::Wait
                   : kind == NodeKind::Compute ? BoxRole::Compute
                                               : BoxRole::View;
        box.nodes = {node};
        return box;
    }

    void collect(int index, std::vector<NodeId>& nodes) const {
        const Module& module = modules_[static_cast<size_t>(index)];
        nodes.insert(nodes.end(), module.own.begin(), module.own.end());
        for (int child : module.children)
            collect(child, nodes);
    }

    void addBoxes(int index, std::vector<LayoutBox>& boxes) const {
        const Module& module = modules_[static_cast<size_t>(index)];
        const auto by_position = [&](NodeId a, NodeId b) { return position_[a] < position_[b]; };
        if (!unfolded_[static_cast<size_t>(index)]) {
            std::vector<NodeId> nodes;
            collect(index, nodes);
            std::sort(nodes.begin(), nodes.end(), by_position);
            boxes.push_back(nodes.size() == 1 ? single(nodes.front()) : folded(module, std::move(nodes)));
            return;
        }
        if (module.children.empty()) {
            for (NodeId node : module.own)
                boxes.push_back(single(node));
        } else if (!module.own.empty()) { // what is left beside the parts stays one box
            LayoutBox box = module.own.size() == 1 ? single(module.own.front()) : folded(module, module.own);
            box.id += ":own";
            box.module.clear();
            boxes.push_back(std::move(box));
        }
        for (int child : module.children)
            addBoxes(child, boxes);
    }

    LayoutGraph picture() const {
        LayoutGraph out;
        addBoxes(0, out.boxes);
        for (LayoutBox& box : out.boxes)
            box.position = position_[box.nodes.front()];
        std::sort(out.boxes.begin(), out.boxes.end(),
                  [](const LayoutBox& a, const LayoutBox& b) { return a.position < b.position; });
        std::vector<uint32_t> owner(graph_.size(), 0);
        for (uint32_t i = 0; i < out.boxes.size(); ++i) {
            for (NodeId node : out.boxes[i].nodes)
                owner[node] = i;
        }
        linkBoxes(out, owner);
        replaceLongLinks(out, graph_, options_.max_ranks);
        return out;
    }

    void linkBoxes(LayoutGraph& out, const std::vector<uint32_t>& owner) const {
        const auto link = [&](NodeId from, NodeId to, LinkKind kind) {
            if (owner[from] != owner[to])
                out.links.push_back({owner[from], owner[to], kind, false});
        };
        for (NodeId node = 0; node < graph_.size(); ++node) {
            if (graph_.node(node).kind == NodeKind::Output) { // it uses everything; that tells nothing
                if (const NodeId last = lastInput(node); last != kNoNode)
                    link(last, node, LinkKind::Data);
                continue;
            }
            for (NodeId input : graph_.inputs(node))
                link(input, node, LinkKind::Data);
            for (const OrderEdge& edge : graph_.orderEdges(node))
                link(edge.node, node, edge.kind == EdgeKind::Effect ? LinkKind::Effect : LinkKind::Data);
            for (NodeId weak : graph_.weakInputs(node))
                link(weak, node, LinkKind::Advisory);
        }
        const auto key = [](const LayoutLink& l) { return std::tie(l.from, l.to, l.kind); };
        std::sort(out.links.begin(), out.links.end(),
                  [&](const LayoutLink& a, const LayoutLink& b) { return key(a) < key(b); });
        out.links.erase(std::unique(out.links.begin(), out.links.end()), out.links.end());
        // The program runs down a straight column where each module uses the one before it.
        for (LayoutLink& link : out.links)
            link.spine = link.to == link.from + 1 && link.kind == LinkKind::Data;
    }

    const Graph& graph_;
    const Order& order_;
    const FoldOptions& options_;
    std::vector<Module> modules_; ///< [0] = root
    std::vector<bool> unfolded_;
    std::vector<uint32_t> position_;
};

} // namespace

FoldedGraph foldByModule(const Graph& graph, const Order& order, const FoldOptions& options) {
    return Folder(graph, order, options).fold();
}

} // namespace gs
