// Bytes held by position, where everything not yet launched is booked at its latest place: what a scheduler
// may launch early without breaking the budget later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gs {

/// Range additions and range maxima over positions, O(log n) each.
class BudgetProfile {
public:
    explicit BudgetProfile(size_t positions);

    void add(size_t begin, size_t end, int64_t bytes); ///< [begin, end)
    int64_t highest(size_t begin, size_t end) const;   ///< 0 for an empty range

private:
    size_t leaves_ = 1;
    std::vector<int64_t> most_;  ///< of the subtree, without the additions above it
    std::vector<int64_t> added_; ///< to the whole subtree

    void add(size_t node, size_t low, size_t high, size_t begin, size_t end, int64_t bytes);
    int64_t highest(size_t node, size_t low, size_t high, size_t begin, size_t end) const;
};

} // namespace gs
