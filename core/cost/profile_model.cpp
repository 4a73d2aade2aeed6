#include "cost/profile_model.h"

#include "cost/region_model.h"

#include <fmt/format.h>
#include <unordered_map>

namespace gs {

namespace {

using EntriesByKey = std::unordered_map<std::string_view, const ProfileEntry*>;

class ProfileModel : public CostModel {
public:
    explicit ProfileModel(ProfilePtr profile) : profile_(std::move(profile)) {
        for (const ProfileEntry& entry : profile_->entries) {
            if (entry.ns < 0 || entry.provenance == Provenance::Analytical ||
                entry.provenance == Provenance::Missing)
                continue;
            by_key_.emplace(entry.key, &entry);
            has_regions_ = has_regions_ || entry.kind == "fused";
        }
    }

    std::string name() const override { return "measured"; }
    std::string source() const override {
        return profile_->id > 0 ? fmt::format("profile {}, {}", profile_->id, profile_->device)
                                : profile_->device;
    }
    bool structural() const override { return true; }

    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                         NodeId id) const override {
        return find(structuralKey(graph, collectives, id));
    }

    std::vector<CostModelPtr> boundTo(const CostModelPtr& self, const Graph& graph,
                                      const CollectiveTable&) const override {
        if (!has_regions_)
            return {};
        CostModelPtr regions = makeRegionModel(graph, name(), source(), [&](const FusedRegion& region) {
            return find(fusedRegionKey(graph, region));
        });
        return regions ? std::vector<CostModelPtr>{std::move(regions), self} : std::vector<CostModelPtr>{};
    }

private:
    std::optional<CostEstimate> find(const std::string& key) const {
        const auto found = by_key_.find(key);
        if (found == by_key_.end())
            return std::nullopt;
        const ProfileEntry& entry = *found->second;
        return CostEstimate{entry.ns,      entry.provenance, entry.note,
                            entry.samples, entry.spread_ns,  entry.rank_skew_ns};
    }

    ProfilePtr profile_;
    EntriesByKey by_key_; ///< keys and entries lie in profile_
    bool has_regions_ = false;
};

} // namespace

CostModelPtr makeProfileModel(ProfilePtr profile) {
    return std::make_shared<ProfileModel>(std::move(profile));
}

} // namespace gs
