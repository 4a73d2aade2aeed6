#include "schedule/parameter_prefetch/prefetch_anchors.h"

#include "schedule/parameter_prefetch/prefetch_ops.h"

#include <algorithm>
#include <array>

namespace gs {

bool isPrefetchAttention(const Graph& graph, NodeId id) {
    if (graph.node(id).op != NodeOp::CallFunction)
        return false;
    const std::string_view target = graph.targetText(id);
    constexpr std::array<std::string_view, 3> kParts = {"npu_fusion_attention", "scaled_dot_product",
                                                        "flash_attention"};
    return std::any_of(kParts.begin(), kParts.end(),
                       [&](std::string_view part) { return target.find(part) != std::string_view::npos; });
}

bool isPrefetchHeavy(const Graph& graph, NodeId id) {
    if (graph.node(id).op != NodeOp::CallFunction)
        return false;
    const std::string_view target = graph.targetText(id);
    const std::string_view packet = target.substr(0, target.rfind('.'));
    constexpr std::array<std::string_view, 5> kPackets = {"aten.mm", "aten.addmm", "aten.bmm", "aten.matmul",
                                                          "aten.linear"};
    return std::find(kPackets.begin(), kPackets.end(), packet) != kPackets.end() ||
           isPrefetchAttention(graph, id);
}

namespace {

class AnchorFinder {
public:
    AnchorFinder(const std::vector<const PrefetchMatch*>& matches, const PrefetchPhase& phase)
        : matches_(matches), phase_(phase), anchor_(matches.size(), kNoNode) {
        for (size_t i = 0; i < matches.size(); ++i)
            by_user_.push_back(i);
        std::stable_sort(by_user_.begin(), by_user_.end(), [&](size_t a, size_t b) {
            return at(matches_[a]->first_user) < at(matches_[b]->first_user);
        });
        for (size_t i = 0; i < by_user_.size(); ++i) {
            if (i == 0 || user(i) != user(i - 1))
                group_begin_.push_back(i);
        }
    }

    std::vector<NodeId> run(int64_t depth) {
        for (size_t group = 1; group < group_begin_.size(); ++group) {
            const auto ahead = static_cast<size_t>(std::min(depth, static_cast<int64_t>(group)));
            forEachMember(group, [&](size_t match) { anchor_[match] = userOf(group - ahead); });
        }
        if (!phase_.attention.empty())
            addIntervals();
        return std::move(anchor_);
    }

private:
    int64_t at(NodeId id) const { return phase_.position[id]; }
    NodeId user(size_t sorted) const { return matches_[by_user_[sorted]]->first_user; }
    NodeId userOf(size_t group) const { return user(group_begin_[group]); }

    template <typename Function>
    void forEachMember(size_t group, Function function) const {
        const size_t end = group + 1 < group_begin_.size() ? group_begin_[group + 1] : by_user_.size();
        for (size_t i = group_begin_[group]; i < end; ++i)
            function(by_user_[i]);
    }

    /// Groups whose consumer lies behind `left`, up to and including `right`.
    std::pair<size_t, size_t> groupsIn(int64_t left, int64_t right) const {
        const auto bound = [&](int64_t limit) {
            const auto found =
                std::upper_bound(group_begin_.begin(), group_begin_.end(), limit,
                                 [&](int64_t value, size_t begin) { return value < at(user(begin)); });
            return static_cast<size_t>(found - group_begin_.begin());
        };
        return {bound(left), std::max(bound(left), bound(right))};
    }

    /// Intervals between attention ops; each spreads the consumers of the next one over its heavy nodes. The
    /// first one spreads its own too.
    void addIntervals() {
        std::vector<int64_t> boundaries{-1};
        for (const NodeId id : phase_.attention)
            boundaries.push_back(at(id));
        boundaries.push_back(static_cast<int64_t>(phase_.position.size()));
        for (size_t i = 0; i + 1 < boundaries.size(); ++i) {
            const int64_t left = boundaries[i], right = boundaries[i + 1];
            const int64_t end = i + 2 < boundaries.size() ? boundaries[i + 2] : right;
            // Own and next consumers are neighbours in the sorted groups, own ones first.
            const auto [first, last] = groupsIn(i == 0 ? left : right, end);
            spread(std::max<int64_t>(left, 0), right, first, last);
        }
    }

    void spread(int64_t left, int64_t right, size_t first, size_t last) {
        const auto begin = std::lower_bound(phase_.heavy.begin(), phase_.heavy.end(), left,
                                            [&](NodeId id, int64_t value) { return at(id) < value; });
        const auto end = std::upper_bound(begin, phase_.heavy.end(), right,
                                          [&](int64_t value, NodeId id) { return value < at(id); });
        const auto count = static_cast<size_t>(end - begin);
        if (count == 0)
            return;
        for (size_t group = first; group < last; ++group) {
            const NodeId anchor = *(begin + static_cast<long>((group - first) * count / (last - first)));
            forEachMember(group, [&](size_t match) {
                const NodeId existing =
                    anchor_[match] == kNoNode ? matches_[match]->first_user : anchor_[match];
                if (at(anchor) < at(existing))
                    anchor_[match] = anchor;
            });
        }
    }

    const std::vector<const PrefetchMatch*>& matches_;
    const PrefetchPhase& phase_;
    std::vector<NodeId> anchor_;
    std::vector<size_t> by_user_;     ///< matches by the position of their first user
    std::vector<size_t> group_begin_; ///< where in by_user_ each consumer group starts
};

} // namespace

std::vector<NodeId> prefetchAnchors(const std::vector<const PrefetchMatch*>& matches,
                                    const PrefetchPhase& phase, int64_t depth) {
    return AnchorFinder(matches, phase).run(depth);
}

} // namespace gs
