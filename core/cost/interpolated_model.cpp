#include "cost/interpolated_model.h"

#include "base/median.h"
#include "base/units.h"
#include "cost/key_size.h"
#include "cost/readers/measured_model.h"
#include "cost/region_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

namespace gs {

namespace {

/// (size, ns) by rising size, one per size.
using Points = std::vector<std::pair<int64_t, int64_t>>;
using PointsByKind = std::unordered_map<std::string, Points>;

bool isMeasured(Provenance provenance) {
    return provenance == Provenance::Measured || provenance == Provenance::Reused ||
           provenance == Provenance::Imported;
}

void addPoint(PointsByKind& points, std::string_view key, int64_t ns) {
    if (auto of = keySize(key); of && ns > 0)
        points[std::move(of->kind)].emplace_back(of->size, ns);
}

/// The median where a size occurs several times.
void tidy(Points& points) {
    std::sort(points.begin(), points.end());
    Points kept;
    for (size_t first = 0; first < points.size();) {
        size_t end = first;
        while (end < points.size() && points[end].first == points[first].first)
            ++end;
        std::vector<int64_t> times;
        for (size_t i = first; i < end; ++i)
            times.push_back(points[i].second);
        kept.emplace_back(points[first].first, median(std::move(times)));
        first = end;
    }
    points = std::move(kept);
}

class InterpolatedModel : public CostModel {
public:
    explicit InterpolatedModel(PointsByKind points, std::string source)
        : points_(std::move(points)), source_(std::move(source)) {}

    std::string name() const override { return "interpolated"; }
    std::string source() const override { return source_; }
    bool structural() const override { return true; }
    bool knowsRegions() const {
        return std::any_of(points_.begin(), points_.end(),
                           [](const auto& item) { return item.first.starts_with("fused{"); });
    }

    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                         NodeId id) const override {
        return estimateOf(structuralKey(graph, collectives, id));
    }

    std::optional<CostEstimate> estimateOf(const std::string& key) const {
        const auto of = keySize(key);
        const auto found = of ? points_.find(of->kind) : points_.end();
        if (found == points_.end())
            return std::nullopt;
        const Points& points = found->second;
        constexpr int64_t kReach = 2;
        if (of->size / kReach > points.back().first || of->size < points.front().first / kReach ||
            double(of->size) > double(points.back().first) * kReach ||
            double(of->size) * kReach < double(points.front().first))
            return std::nullopt;
        const CurveTime time = timeOnCurve(points, of->size);
        const bool outside = time.below || time.factor > 1;
        return CostEstimate{std::min(time.ns, kMaxCostNs),
                            outside ? Provenance::Extrapolated : Provenance::Interpolated,
                            note(points, of->size)};
    }

private:
    static std::string pointText(const std::pair<int64_t, int64_t>& point, int64_t size) {
        return fmt::format("{} at {:.3g}× the size", formatTime(point.second),
                           double(point.first) / double(size));
    }

    static std::string note(const Points& points, int64_t size) {
        const auto high = std::lower_bound(points.begin(), points.end(), std::pair(size, int64_t{-1}));
        if (points.size() == 1 || high == points.begin())
            return "from " + pointText(points.front(), size);
        const auto right = high == points.end() ? high - 1 : high;
        if (right->first == size)
            return "from " + pointText(*right, size);
        return fmt::format("from {} and {}", pointText(*(right - 1), size), pointText(*right, size));
    }

    PointsByKind points_;
    std::string source_;
};

/// Without a graph it knows only the profile's points.
class PointsModel : public CostModel {
public:
    PointsModel(ProfilePtr profile, std::vector<CostModelPtr> files)
        : profile_(std::move(profile)), files_(std::move(files)) {}

    std::string name() const override { return "interpolated"; }
    std::string source() const override { return "measured at other sizes"; }

    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                         NodeId id) const override {
        for (const CostModelPtr& model : boundTo(nullptr, graph, collectives)) {
            if (auto found = model->estimate(graph, collectives, id))
                return found;
        }
        return std::nullopt;
    }

    std::vector<CostModelPtr> boundTo(const CostModelPtr&, const Graph& graph,
                                      const CollectiveTable& collectives) const override {
        PointsByKind points;
        if (profile_) {
            for (const ProfileEntry& entry : profile_->entries) {
                if (isMeasured(entry.provenance)) // a reused entry was measured by an earlier profile
                    addPoint(points, entry.key, entry.ns);
            }
        }
        if (!files_.empty())
            addFilePoints(graph, collectives, points);
        for (auto& [kind, of] : points)
            tidy(of);
        const auto sizes = std::make_shared<InterpolatedModel>(std::move(points), source());
        CostModelPtr regions;
        if (sizes->knowsRegions())
            regions = makeRegionModel(graph, name(), source(), [&](const FusedRegion& region) {
                return sizes->estimateOf(fusedRegionKey(graph, region));
            });
        return regions ? std::vector<CostModelPtr>{regions, sizes} : std::vector<CostModelPtr>{sizes};
    }

private:
    void addFilePoints(const Graph& graph, const CollectiveTable& collectives, PointsByKind& points) const {
        std::unordered_set<std::string> seen;
        for (NodeId id = 0; id < graph.size(); ++id) {
            if (isStructuralZero(graph.node(id).kind))
                continue;
            std::string key = structuralKey(graph, collectives, id);
            if (seen.count(key) > 0)
                continue;
            for (const CostModelPtr& file : files_) {
                const auto found = file->estimate(graph, collectives, id);
                if (!found || !isMeasured(found->provenance))
                    continue;
                addPoint(points, key, found->ns);
                seen.insert(std::move(key));
                break;
            }
        }
    }

    ProfilePtr profile_;
    std::vector<CostModelPtr> files_;
};

} // namespace

CostModelPtr makeInterpolatedModel(ProfilePtr profile, std::vector<CostModelPtr> files) {
    return std::make_shared<PointsModel>(std::move(profile), std::move(files));
}

} // namespace gs
