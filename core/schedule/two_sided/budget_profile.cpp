#include "schedule/two_sided/budget_profile.h"

#include <algorithm>
#include <limits>

namespace gs {

BudgetProfile::BudgetProfile(size_t positions) {
    while (leaves_ < positions)
        leaves_ *= 2;
    most_.assign(2 * leaves_, 0);
    added_.assign(2 * leaves_, 0);
}

void BudgetProfile::add(size_t begin, size_t end, int64_t bytes) {
    if (begin < end)
        add(1, 0, leaves_, begin, std::min(end, leaves_), bytes);
}

int64_t BudgetProfile::highest(size_t begin, size_t end) const {
    return begin < end ? highest(1, 0, leaves_, begin, std::min(end, leaves_)) : 0;
}

void BudgetProfile::add(size_t node, size_t low, size_t high, size_t begin, size_t end, int64_t bytes) {
    if (end <= low || high <= begin)
        return;
    if (begin <= low && high <= end) {
        added_[node] += bytes;
        most_[node] += bytes;
        return;
    }
    const size_t middle = (low + high) / 2;
    add(2 * node, low, middle, begin, end, bytes);
    add(2 * node + 1, middle, high, begin, end, bytes);
    most_[node] = std::max(most_[2 * node], most_[2 * node + 1]) + added_[node];
}

int64_t BudgetProfile::highest(size_t node, size_t low, size_t high, size_t begin, size_t end) const {
    if (end <= low || high <= begin)
        return std::numeric_limits<int64_t>::min() / 4;
    if (begin <= low && high <= end)
        return most_[node];
    const size_t middle = (low + high) / 2;
    return std::max(highest(2 * node, low, middle, begin, end),
                    highest(2 * node + 1, middle, high, begin, end)) +
           added_[node];
}

} // namespace gs
