#include "cost/analytical_model.h"

#include "base/units.h"
#include "cost/region_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <unordered_set>

namespace gs {

namespace {

/// Operators that only arrange metadata or reserve memory. PyTorch's own estimate charges for them.
bool startsNoKernel(const Graph& graph, NodeId id) {
    static const std::unordered_set<std::string_view> kPackets = {
        "aten._unsafe_view",      "aten.empty",    "aten.empty_like", "aten.empty_strided", "aten.new_empty",
        "aten.new_empty_strided", "aten.sym_size", "aten.sym_stride", "aten.sym_numel",     "MultiOutput"};
    const std::string_view target = graph.targetText(id);
    if (kPackets.count(target) || kPackets.count(target.substr(0, target.rfind('.'))))
        return true;
    const Value& value = graph.value(id);
    return value.kind == Value::Kind::Number || value.kind == Value::Kind::Symbol;
}

CostEstimate analytical(double ns, std::string note) {
    const double least = ns > 0 ? 1 : 0;
    const double cut = std::min(std::max(std::nearbyint(ns), least), static_cast<double>(kMaxCostNs));
    return {static_cast<int64_t>(cut), Provenance::Analytical, std::move(note)};
}

class AnalyticalModel : public CostModel {
public:
    AnalyticalModel(const DevicePreset& device, bool fused_regions)
        : device_(device), fused_regions_(fused_regions) {}

    std::string name() const override { return "analytical"; }
    std::string source() const override { return device_.name; }
    bool structural() const override { return true; }

    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                         NodeId id) const override {
        if (graph.node(id).kind == NodeKind::Launch) {
            const int32_t index = collectives.indexOf(id);
            if (index < 0)
                return std::nullopt;
            const Collective& collective = collectives[static_cast<size_t>(index)];
            return device_.uses_nccl ? ncclCost(graph, collective) : linearCost(graph, collective);
        }
        if (isStructuralZero(graph.node(id).kind)) // a collective in flight at entry: its kind is not known
            return std::nullopt;
        if (startsNoKernel(graph, id))
            return CostEstimate{0, Provenance::Analytical, "starts no kernel"};
        const auto found = roofline(graph, id, device_.roofline);
        if (!found)
            return std::nullopt;
        return CostEstimate{rooflineNs(*found, device_.roofline), Provenance::Analytical,
                            rooflineNote(*found, device_.roofline)};
    }

    std::vector<CostModelPtr> boundTo(const CostModelPtr& self, const Graph& graph,
                                      const CollectiveTable&) const override {
        if (!fused_regions_)
            return {};
        const auto cost = [&](const FusedRegion& region) -> std::optional<CostEstimate> {
            const auto found = regionRoofline(graph, region, device_.roofline);
            if (!found)
                return std::nullopt;
            return CostEstimate{rooflineNs(*found, device_.roofline), Provenance::Analytical,
                                rooflineNote(*found, device_.roofline)};
        };
        CostModelPtr regions = makeRegionModel(graph, name(), source(), cost);
        return regions ? std::vector<CostModelPtr>{std::move(regions), self} : std::vector<CostModelPtr>{};
    }

    int64_t latencyNs(const Graph& graph, const Collective& collective) const {
        if (collective.group_size < 2)
            return 0;
        const NcclGroup group = groupOf(graph, collective);
        if (!device_.uses_nccl) {
            const LinearLinks& links = device_.links;
            return std::llround((group.nodes == 1 ? links.intra_latency_us : links.inter_latency_us) * 1000);
        }
        const auto kind = ncclCollective(collective.kind);
        const auto found = kind ? ncclEstimate(device_.nccl, group, *kind, 0) : std::nullopt;
        return found ? std::llround(found->us * 1000) : 0;
    }

private:
    NcclGroup groupOf(const Graph& graph, const Collective& collective) const {
        NcclGroup group{collective.group_size, 0};
        if (device_.place_by_ranks)
            group.nodes = nodesOfGroup(graph, collective, device_.nccl.gpus_per_node);
        group.nodes = ncclNodes(device_.nccl, group);
        return group;
    }

    static std::string where(const NcclGroup& group) {
        return group.nodes == 1 ? fmt::format("{} ranks on one node", group.ranks)
                                : fmt::format("{} ranks on {} nodes", group.ranks, group.nodes);
    }

    std::optional<CostEstimate> ncclCost(const Graph& graph, const Collective& collective) const {
        // A broadcast moves what an all-gather of the same result moves; NCCL's tuner has no row for it here.
        const bool broadcast = collective.kind == CollectiveKind::Broadcast;
        const auto kind = broadcast ? NcclCollective::AllGather : ncclCollective(collective.kind);
        const int64_t bytes = collectiveMessageBytes(graph, collective);
        if (!kind || bytes < 0 || collective.group_size < 1)
            return std::nullopt;
        const NcclGroup group = groupOf(graph, collective);
        const auto found = ncclEstimate(device_.nccl, group, *kind, bytes);
        if (!found)
            return std::nullopt;
        if (group.ranks == 1)
            return analytical(0, "one rank: nothing to exchange");
        return analytical(found->us * 1000.0,
                          fmt::format("NCCL {} {}: {}, {} in and out{}", ncclAlgorithmName(found->algorithm),
                                      ncclProtocolName(found->protocol), where(group), formatBytes(bytes),
                                      broadcast ? ", priced as an all-gather" : ""));
    }

    std::optional<CostEstimate> linearCost(const Graph& graph, const Collective& collective) const {
        const int64_t bytes = std::max(collective.input_bytes, collective.output_bytes);
        if (std::min(collective.input_bytes, collective.output_bytes) < 0 || collective.group_size < 1 ||
            collective.kind == CollectiveKind::None || collective.kind == CollectiveKind::Other)
            return std::nullopt;
        const NcclGroup group = groupOf(graph, collective);
        if (group.ranks == 1)
            return analytical(0, "one rank: nothing to exchange");
        const LinearLinks& links = device_.links;
        const bool inside = group.nodes == 1;
        const double gbps = (inside ? links.intra_gbps : links.inter_gbps) * links.efficiency;
        if (!(gbps > 0))
            return std::nullopt;
        const double ranks = group.ranks;
        const bool twice = collective.kind == CollectiveKind::AllReduce ||
                           collective.kind == CollectiveKind::AllReduceCoalesced;
        const double factor = (ranks - 1) / ranks * (twice ? 2 : 1);
        const double ns = (inside ? links.intra_latency_us : links.inter_latency_us) * 1000.0 +
                          factor * static_cast<double>(bytes) / gbps;
        return analytical(
            ns, fmt::format("links: {}, {} at {:.3g} GB/s", where(group), formatBytes(bytes), gbps));
    }

    DevicePreset device_;
    bool fused_regions_;
};

} // namespace

CostModelPtr makeAnalyticalModel(const DevicePreset& device, bool fused_regions) {
    return std::make_shared<AnalyticalModel>(device, fused_regions);
}

std::vector<int64_t> launchLatencies(const DevicePreset& device, const Graph& graph,
                                     const CollectiveTable& collectives, const CostTable& costs) {
    const AnalyticalModel model(device, false);
    std::map<std::tuple<CollectiveKind, GroupId, int32_t>, int64_t> least;
    const auto latency = [&](const Collective& item) -> int64_t& {
        const auto [found, added] = least.try_emplace(std::tuple(item.kind, item.group, item.group_size), 0);
        if (added)
            found->second = model.latencyNs(graph, item);
        return found->second;
    };
    for (const Collective& item : collectives.all()) {
        const CostEntry* entry = item.launch == kNoNode ? nullptr : costs.entry(item.launch);
        if (entry && entry->provenance != Provenance::Missing)
            latency(item) = std::min(latency(item), costs.ns(item.launch));
    }
    std::vector<int64_t> ns(graph.size(), 0);
    for (const Collective& item : collectives.all()) {
        if (item.launch != kNoNode)
            ns[item.launch] = latency(item);
    }
    return ns;
}

int64_t collectiveMessageBytes(const Graph& graph, const Collective& collective) {
    int64_t in = collective.input_bytes;
    if (collective.launch == kNoNode || in < 0 || collective.output_bytes < 0)
        return kUnknownSize;
    if (const Arg* out = graph.kwarg(collective.launch, "out"); out && out->kind == Arg::Kind::Node)
        in -= std::min(in, std::max<int64_t>(graph.value(out->node()).bytes(), 0));
    int64_t sum = 0;
    return __builtin_add_overflow(in, collective.output_bytes, &sum) ? kHugeSize : sum;
}

int32_t nodesOfGroup(const Graph& graph, const Collective& collective, int32_t gpus_per_node) {
    if (collective.group == kNoGroup || gpus_per_node < 1)
        return 0;
    const std::vector<int32_t>& ranks = graph.groups()[collective.group].ranks;
    // A launch may state another size than the table's ranks; then those are not its ranks.
    if (ranks.empty() || static_cast<int32_t>(ranks.size()) != collective.group_size)
        return 0;
    std::vector<int32_t> nodes;
    for (int32_t rank : ranks)
        nodes.push_back(rank / gpus_per_node);
    std::sort(nodes.begin(), nodes.end());
    return static_cast<int32_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

} // namespace gs
