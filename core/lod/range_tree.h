// Index of the extreme value in a range of an array, in O(log n): an implicit segment tree.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace gs {

/// `Better(a, b)` tells whether value a wins over value b; of equal values the earlier one wins.
template <typename Better>
class RangeTree {
public:
    RangeTree() = default;
    /// Keeps its own copy. O(n).
    explicit RangeTree(std::vector<int64_t> values) : values_(std::move(values)) {
        const size_t n = values_.size();
        best_.resize(2 * n);
        for (size_t i = 0; i < n; ++i)
            best_[n + i] = static_cast<uint32_t>(i);
        for (size_t i = n; i-- > 1;)
            best_[i] = pick(best_[2 * i], best_[2 * i + 1]);
    }

    size_t size() const { return values_.size(); }
    int64_t value(size_t index) const { return values_[index]; }

    /// Index of the winner among [first, last); the range must not be empty.
    size_t best(size_t first, size_t last) const {
        const size_t n = values_.size();
        uint32_t winner = static_cast<uint32_t>(first);
        for (size_t low = first + n, high = last + n; low < high; low /= 2, high /= 2) {
            if (low & 1)
                winner = pick(winner, best_[low++]);
            if (high & 1)
                winner = pick(winner, best_[--high]);
        }
        return winner;
    }

private:
    uint32_t pick(uint32_t a, uint32_t b) const {
        if (Better{}(values_[a], values_[b]))
            return a;
        if (Better{}(values_[b], values_[a]))
            return b;
        return a < b ? a : b;
    }

    std::vector<int64_t> values_;
    std::vector<uint32_t> best_; ///< best_[n + i] = i; inner node k covers 2k and 2k + 1
};

using MaxTree = RangeTree<std::greater<int64_t>>;
using MinTree = RangeTree<std::less<int64_t>>;

} // namespace gs
