#include "layout/labels.h"

#include <map>

namespace gs {

std::string opLabel(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    if (node.op == NodeOp::Placeholder || node.op == NodeOp::Output)
        return std::string(nodeOpName(node.op));
    const OpTraits& traits = graph.target(id).traits;
    if (node.kind == NodeKind::Launch && traits.collective != CollectiveKind::None &&
        traits.collective != CollectiveKind::Other)
        return std::string(collectiveKindName(traits.collective));
    if (node.kind == NodeKind::Wait)
        return "wait_tensor";
    if (graph.hasTrait(id, kTraitCast))
        return "cast";
    std::string_view target = graph.targetText(id);
    if (target.find("constant_pad_nd") != std::string_view::npos)
        return "pad";
    if (target.starts_with("operator."))
        return std::string(target.substr(9));
    // "namespace.op.overload" → "op"
    const size_t first = target.find('.');
    if (first == std::string_view::npos)
        return std::string(target);
    target.remove_prefix(first + 1);
    return std::string(target.substr(0, target.find('.')));
}

std::string_view moduleOf(const Graph& graph, NodeId id) {
    const std::string_view module = graph.text(graph.node(id).module);
    if (!module.empty())
        return module;
    const std::string_view fqn = graph.text(graph.meta(id).fqn);
    const size_t dot = fqn.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : fqn.substr(0, dot);
}

std::string commonModule(const Graph& graph, std::span<const NodeId> nodes, double share) {
    std::map<StringId, size_t> by_module;
    size_t total = 0;
    for (NodeId id : nodes) {
        if (const StringId module = graph.node(id).module; module != kEmptyString) {
            ++by_module[module];
            ++total;
        }
    }
    std::map<std::string_view, size_t> by_path; // every path in front of a dot counts, too
    for (const auto& [module, count] : by_module) {
        const std::string_view path = graph.text(module);
        for (size_t end = 0; end != std::string_view::npos;) {
            end = path.find('.', end == 0 ? 0 : end + 1);
            by_path[path.substr(0, end)] += count;
        }
    }
    std::string_view best;
    for (const auto& [path, count] : by_path) {
        if (static_cast<double>(count) >= share * static_cast<double>(total) && path.size() > best.size())
            best = path;
    }
    return std::string(best);
}

std::string_view shortModule(std::string_view module) {
    const size_t last = module.rfind('.');
    if (last == std::string_view::npos || last == 0)
        return module;
    const size_t before = module.rfind('.', last - 1);
    return before == std::string_view::npos ? module : module.substr(before + 1);
}

PortalLabel portalLabel(const Graph& graph, NodeId at, NodeId other, bool up) {
    std::string where(moduleOf(graph, other));
    if (where.empty())
        where = graph.name(other);
    const bool at_backward = graph.node(at).phase == Phase::Backward;
    const bool other_backward = graph.node(other).phase == Phase::Backward;
    if (graph.node(other).op == NodeOp::Placeholder)
        return {"↑ from input", std::move(where)};
    if (up)
        return {at_backward && !other_backward ? "↑ saved by" : "↑ from", std::move(where)};
    return {other_backward && !at_backward ? "↓ saved for" : "↓ to", std::move(where)};
}

} // namespace gs
