#include "cost/members_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>

namespace gs {

namespace {

class MembersModel : public CostModel {
public:
    struct Member {
        int64_t ns = 0;
        int64_t latency_ns = 0;
        bool analytical = false;
    };
    std::unordered_map<std::string, Member> members;

    std::string name() const override { return "members"; }
    std::string source() const override { return "its members"; }

    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable&,
                                         NodeId id) const override {
        const auto origins = graph.origins(id);
        if (graph.node(id).kind != NodeKind::Launch || origins.size() < 2)
            return std::nullopt;
        int64_t transfer_ns = 0, latency_ns = 0;
        bool analytical = true;
        for (const StringId origin : origins) {
            const auto found = members.find(std::string(graph.text(origin)));
            if (found == members.end())
                return std::nullopt;
            const Member& member = found->second;
            latency_ns = std::max(latency_ns, member.latency_ns);
            transfer_ns = std::min(transfer_ns + member.ns - member.latency_ns, kMaxCostNs);
            analytical = analytical && member.analytical;
        }
        if (analytical)
            return std::nullopt;
        return CostEstimate{latency_ns + transfer_ns, Provenance::Interpolated,
                            fmt::format("{} members: their transfers without latency, {} ns in all, and a "
                                        "latency of {} ns once",
                                        origins.size(), transfer_ns, latency_ns)};
    }
};

} // namespace

CostModelPtr makeMembersModel(const Graph& members_of, const CostTable& costs,
                              std::span<const int64_t> latency_ns, double comm_scale) {
    auto model = std::make_shared<MembersModel>();
    for (NodeId id = 0; id < members_of.size(); ++id) {
        const CostEntry* entry = costs.entry(id);
        if (members_of.node(id).kind != NodeKind::Launch || !entry ||
            entry->provenance == Provenance::Missing)
            continue;
        const auto unscaled = [&](int64_t ns) {
            return static_cast<int64_t>(std::llround(static_cast<double>(ns) / comm_scale));
        };
        const int64_t ns = unscaled(costs.ns(id));
        model->members[std::string(members_of.name(id))] = {
            ns, std::clamp<int64_t>(unscaled(latency_ns[id]), 0, ns),
            entry->provenance == Provenance::Analytical};
    }
    return model;
}

} // namespace gs
