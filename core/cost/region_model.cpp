#include "cost/region_model.h"

#include "base/units.h"
#include "cost/roofline.h"

#include <fmt/format.h>
#include <numeric>
#include <unordered_map>

namespace gs {

namespace {

class RegionModel : public CostModel {
public:
    std::string name_text;
    std::string source_text;
    std::unordered_map<NodeId, CostEstimate> of_node;

    std::string name() const override { return name_text; }
    std::string source() const override { return source_text; }
    std::optional<CostEstimate> estimate(const Graph&, const CollectiveTable&, NodeId id) const override {
        const auto found = of_node.find(id);
        return found == of_node.end() ? std::nullopt : std::optional(found->second);
    }
};

int64_t bytesMoved(const Graph& graph, NodeId id) {
    RooflineParams params;
    params.memory_bandwidth = 1;
    const auto found = roofline(graph, id, params);
    return found ? found->bytes : 0;
}

} // namespace

std::vector<int64_t> shareOut(int64_t total_ns, const std::vector<int64_t>& weights) {
    using Wide = unsigned __int128;
    Wide sum = 0;
    for (const int64_t weight : weights)
        sum += static_cast<Wide>(weight);
    const bool equal = sum == 0;
    if (equal)
        sum = weights.size();
    std::vector<int64_t> parts;
    Wide so_far = 0;
    int64_t given = 0;
    for (const int64_t weight : weights) { // up to here, rounded down: what is cut off goes to the next
        so_far += equal ? 1 : static_cast<Wide>(weight);
        const auto until = static_cast<int64_t>(static_cast<Wide>(total_ns) * so_far / sum);
        parts.push_back(until - given);
        given = until;
    }
    return parts;
}

CostModelPtr makeRegionModel(const Graph& graph, std::string name, std::string source,
                             const RegionCost& cost) {
    auto model = std::make_shared<RegionModel>();
    model->name_text = std::move(name);
    model->source_text = std::move(source);
    for (const FusedRegion& region : findFusedRegions(graph)) {
        const auto whole = cost(region);
        if (!whole || whole->ns < 0)
            continue;
        std::vector<int64_t> bytes;
        for (const NodeId id : region.nodes)
            bytes.push_back(bytesMoved(graph, id));
        const std::vector<int64_t> parts = shareOut(std::min(whole->ns, kMaxCostNs), bytes);
        for (size_t i = 0; i < parts.size(); ++i) {
            CostEstimate part = *whole;
            part.ns = parts[i];
            // The numbers of the kernel, not of the part, would be taken for the part's.
            part.spread_ns = part.rank_skew_ns = -1;
            const size_t others = parts.size() - 1;
            part.note = fmt::format("one kernel with {}: {}{}{}", counted(others, "other"),
                                    formatTime(whole->ns), whole->note.empty() ? "" : "; ", whole->note);
            model->of_node.emplace(region.nodes[i], std::move(part));
        }
    }
    return model->of_node.empty() ? nullptr : model;
}

} // namespace gs
