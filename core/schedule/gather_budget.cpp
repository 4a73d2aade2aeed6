#include "schedule/gather_budget.h"

#include <algorithm>

namespace gs {

int64_t gatherBudgetBytes(const Settings& settings) {
    const std::optional<double> mib = settings.limit(Setting::GatherBudgetMib);
    return mib ? static_cast<int64_t>(*mib * 1024 * 1024) : -1;
}

GatherBudget::GatherBudget(const CollectiveTable& collectives, const GatherCandidates& candidates,
                           int64_t budget_bytes)
    : candidates_(candidates), budget_bytes_(budget_bytes) {
    if (budget_bytes < 0)
        return;
    for (const GatherCandidate& item : candidates.items) {
        const Collective& gather = collectives[static_cast<size_t>(item.collective)];
        bytes_.push_back(std::max<int64_t>(gather.output_bytes, 0));
        const NodeId last =
            std::max(gather.waits.back(), gather.consumers.empty() ? 0u : gather.consumers.back());
        changes_.push_back({item.launch, bytes_.back()});
        changes_.push_back({last + 1, -bytes_.back()});
    }
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.position < b.position; });
}

uint32_t GatherBudget::place(size_t index, uint32_t wanted) {
    const uint32_t cur = candidates_.items[index].launch;
    if (budget_bytes_ < 0 || wanted >= cur)
        return wanted;
    // Bytes alive are constant between two changes: walk back from cur while there is room.
    int64_t live = 0;
    size_t end = 0;
    for (; end < changes_.size() && changes_[end].position < cur; ++end)
        live += changes_[end].delta;
    uint32_t place = cur;
    while (place > wanted && live + bytes_[index] <= budget_bytes_) {
        const uint32_t segment = end == 0 ? 0 : changes_[end - 1].position;
        place = std::max(wanted, segment);
        while (end > 0 && changes_[end - 1].position == segment)
            live -= changes_[--end].delta;
        if (segment == 0)
            break;
    }
    if (place < cur) {
        const Change booked{place, bytes_[index]};
        const auto less = [](const Change& a, const Change& b) { return a.position < b.position; };
        changes_.insert(std::upper_bound(changes_.begin(), changes_.end(), booked, less), booked);
        const Change released{cur, -bytes_[index]};
        changes_.insert(std::upper_bound(changes_.begin(), changes_.end(), released, less), released);
    }
    return place;
}

} // namespace gs
