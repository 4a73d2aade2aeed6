// Slices of one lane, searchable by time at any zoom: what is long enough is found one by one, what is not is
// found as runs with their shares of time. The cost of a query depends on the pixels, not on the slices.
// Method: a max-duration tree over the sorted slices, as in Perfetto's slice mipmap.
#pragma once

#include "lod/range_tree.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace gs {

/// Kinds of slices that a lane tells apart; at most kSliceCategories.
inline constexpr size_t kSliceCategories = 5;

struct Slice {
    int64_t start_ns = 0;
    int64_t end_ns = 0;   ///< ≥ start_ns
    uint32_t id = 0;      ///< the caller's
    uint8_t category = 0; ///< < kSliceCategories
    bool marked = false;  ///< e.g. on the critical path

    int64_t duration() const { return end_ns - start_ns; }
};

/// Slices [first, last) of an index that are drawn as one mark. One slice: last = first + 1.
struct SliceRun {
    uint32_t first = 0;
    uint32_t last = 0;
    uint32_t longest = 0;
    int64_t start_ns = 0;
    int64_t end_ns = 0;

    uint32_t count() const { return last - first; }
    bool operator==(const SliceRun&) const = default;
};

using CategoryTimes = std::array<int64_t, kSliceCategories>;

class SliceIndex {
public:
    SliceIndex() = default;
    /// The slices of a lane never overlap (a stream is serial); they are sorted here. O(n log n), O(n) if
    /// sorted.
    explicit SliceIndex(std::vector<Slice> slices);

    size_t size() const { return slices_.size(); }
    bool empty() const { return slices_.empty(); }
    const Slice& operator[](size_t index) const { return slices_[index]; }
    std::span<const Slice> slices() const { return slices_; }

    /// Marks for [begin, end), in time order and without overlap. Slices of at least `single_ns` get a mark
    /// of their own; shorter ones that start in the same bucket of `bucket_ns` (buckets are aligned to time
    /// 0, so that panning does not change them) share one. O((end − begin) / bucket_ns · log n).
    std::vector<SliceRun> query(int64_t begin_ns, int64_t end_ns, int64_t single_ns, int64_t bucket_ns) const;

    /// Busy time per category within [begin, end). O(log n).
    CategoryTimes busy(int64_t begin_ns, int64_t end_ns) const;
    /// Busy time per category of slices [first, last). O(1).
    CategoryTimes busyOf(uint32_t first, uint32_t last) const;
    /// Duration of the marked ones among slices [first, last). O(1).
    int64_t markedNs(uint32_t first, uint32_t last) const { return marked_ns_[last] - marked_ns_[first]; }

    /// First slice that ends after `time_ns`; size() if there is none.
    size_t firstEndingAfter(int64_t time_ns) const;
    /// First slice that starts at or after `time_ns`; size() if there is none.
    size_t firstStartingFrom(int64_t time_ns) const;
    /// The start or end nearest to `time_ns`; `time_ns` itself if the index is empty.
    int64_t nearestEdge(int64_t time_ns) const;

private:
    std::vector<Slice> slices_;
    std::vector<CategoryTimes> busy_; ///< prefix sums, size() + 1
    std::vector<int64_t> marked_ns_;  ///< prefix sums, size() + 1
    MaxTree durations_;
};

} // namespace gs
