#include "base/units.h"
#include "passes/lint/checks.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace gs {

namespace {

/// How far behind the wait a cast may stand: scaling and clamping come before one to fp8.
constexpr int kDepth = 6;
/// Less than this is worth knowing, but no finding.
constexpr int64_t kWorthBytes = 1 << 20;

/// Follows what a gather delivers to where it is cast.
class CastSearch {
public:
    CastSearch(const Graph& graph, DType wire) : graph_(graph), wire_bytes_(dtypeBytes(wire)) {}

    /// True if every path from `node` ends in a cast to a narrower dtype or in a reduction (the maximum that
    /// a scale is made of), and at least one in a cast.
    bool onlyCasts(NodeId from) {
        todo_.assign(1, {from, 0});
        while (!todo_.empty()) {
            const auto [node, depth] = todo_.back();
            todo_.pop_back();
            for (const NodeId user : graph_.users(node)) {
                if (!follow(user, depth))
                    return false;
            }
        }
        return true;
    }
    NodeId cast() const { return cast_; }
    DType narrow() const { return narrow_; }

private:
    bool follow(NodeId user, int depth) {
        const Node& node = graph_.node(user);
        if (node.kind == NodeKind::Free)
            return true;
        if (node.kind == NodeKind::View || node.kind == NodeKind::Unpack || node.kind == NodeKind::Wait) {
            todo_.emplace_back(user, depth);
            return true;
        }
        if (graph_.hasTrait(user, kTraitReduction))
            return true;
        const TensorMeta* result = graph_.value(user).firstTensor();
        if (graph_.hasTrait(user, kTraitCast) && result && dtypeBytes(result->dtype) > 0 &&
            dtypeIsFloat(result->dtype) && dtypeBytes(result->dtype) < wire_bytes_) {
            if (cast_ != kNoNode && narrow_ != result->dtype)
                return false;
            cast_ = std::min(cast_, user);
            narrow_ = result->dtype;
            return true;
        }
        const bool passes =
            graph_.hasTrait(user, kTraitPointwise) && depth < kDepth && !graph_.users(user).empty();
        if (passes)
            todo_.emplace_back(user, depth + 1);
        return passes;
    }

    const Graph& graph_;
    std::vector<std::pair<NodeId, int>> todo_; ///< values to follow, and how many operations lie before them
    int64_t wire_bytes_;
    NodeId cast_ = kNoNode;
    DType narrow_ = DType::Unknown;
};

} // namespace

void lintWireDtype(LintContext& context) {
    const Graph& graph = context.graph;
    for (const Collective& item : context.collectives.all()) {
        if (!item.isGather() || item.inFlightAtEntry() || !dtypeIsFloat(item.dtype) || item.waits.empty() ||
            item.consumers.empty())
            continue;
        CastSearch search(graph, item.dtype);
        const bool only = std::all_of(item.waits.begin(), item.waits.end(),
                                      [&](NodeId wait) { return search.onlyCasts(wait); });
        if (!only || search.cast() == kNoNode)
            continue;
        const int64_t saved = item.output_bytes < 0
                                  ? kUnknownSize
                                  : item.output_bytes - item.output_bytes / dtypeBytes(item.dtype) *
                                                            dtypeBytes(search.narrow());
        const std::string parameters = gatheredParameters(graph, item);
        context.report(
            saved < 0 || saved >= kWorthBytes ? Severity::Warning : Severity::Info, "wire-dtype", item.launch,
            fmt::format("{} gathers {}in {}, and every consumer casts it to {} right behind ({}){}",
                        context.quoted(item.launch), parameters.empty() ? "" : parameters + " ",
                        dtypeAbbreviation(item.dtype), dtypeAbbreviation(search.narrow()),
                        context.quoted(search.cast()),
                        saved > 0 ? fmt::format(": {} less on the wire", formatBytes(saved)) : std::string()),
            "cast the shard before the gather (for fp8 the scale then needs a maximum over all ranks)");
    }
}

} // namespace gs
