#include "profile/contention_choice.h"

#include "cost/readers/collective_names.h"

#include <algorithm>
#include <tuple>

namespace gs {

namespace {

/// Enough sizes to see how the factor depends on them.
constexpr size_t kMostPoints = 6;
constexpr int64_t kShareOfLongest = 50;

bool isCompute(const ProfileEntry& entry) {
    return entry.kind == "compute" || entry.kind == "fused";
}

bool canContend(const WorkItem& item) {
    return item.work == WorkKind::Collective && !item.latency_probe && item.cannot.empty() &&
           item.spec.ranks.size() > 1 && plainKind(item.spec.kind) == CollectiveKind::AllGather;
}

/// Some of them, the first and the last included.
void chooseAmong(const std::vector<WorkItem*>& by_size) {
    int64_t longest = 0;
    for (const WorkItem* item : by_size)
        longest = std::max(longest, item->model_ns);
    std::vector<WorkItem*> all;
    for (WorkItem* item : by_size) {
        if (item->model_ns < 0 || item->model_ns >= longest / kShareOfLongest)
            all.push_back(item);
    }
    const size_t count = std::min(all.size(), kMostPoints);
    for (size_t i = 0; i < count; ++i)
        all[count == 1 ? 0 : i * (all.size() - 1) / (count - 1)]->contend = true;
}

} // namespace

void chooseContention(std::map<std::string, WorkItem>& items) {
    using Group = std::pair<int32_t, std::vector<int32_t>>;
    std::map<Group, std::map<int64_t, WorkItem*>> groups; // the first key of a size
    for (auto& [key, item] : items) {
        item.contend = false;
        if (canContend(item))
            groups[{item.group_ranks, item.spec.ranks}].try_emplace(item.spec.output_bytes, &item);
    }
    for (const auto& [group, sizes] : groups) {
        std::vector<WorkItem*> by_size;
        for (const auto& [bytes, item] : sizes)
            by_size.push_back(item);
        chooseAmong(by_size);
    }
}

void KnownContention::take(const Profile& profile, const std::set<std::string>& good) {
    const bool compute = std::any_of(profile.entries.begin(), profile.entries.end(), isCompute);
    const auto takeInto = [&](Answers& answers, const std::vector<ContentionPoint>& points) {
        for (const ContentionPoint& point : points) {
            const auto item = asked_.find(point.key);
            if (item == asked_.end() || good.count(point.key) == 0)
                continue;
            const bool stands_for_others = item->second->scaled() || !item->second->placement.empty();
            if (!stands_for_others || profile.ranks == ranks_)
                answers.try_emplace(point.key, Answer{point, profile.id, compute});
        }
    };
    takeInto(points_, profile.contention);
    takeInto(gaps_, profile.no_contention);
}

void KnownContention::finish(bool compute) {
    const bool could_try = std::any_of(asked_.begin(), asked_.end(), [](const auto& item) {
        return !item.second->communicates && item.second->cannot.empty();
    });
    std::erase_if(gaps_, [&](const auto& gap) {
        const bool alone = gap.second.point.beside.empty();
        return points_.count(gap.first) > 0 ||
               (alone && (compute || (could_try && !gap.second.compute_tried)));
    });
    for (const Answers* answers : {&points_, &gaps_}) {
        for (const auto& [key, answer] : *answers)
            profiles_.insert(answer.profile);
    }
}

std::vector<ContentionPoint> KnownContention::values(const Answers& answers) {
    std::vector<ContentionPoint> out;
    for (const auto& [key, answer] : answers)
        out.push_back(answer.point);
    sortContention(out);
    return out;
}

void sortContention(std::vector<ContentionPoint>& points) {
    std::sort(points.begin(), points.end(), [](const ContentionPoint& a, const ContentionPoint& b) {
        return std::tie(a.bytes, a.key) < std::tie(b.bytes, b.key);
    });
}

} // namespace gs
