#include "explain/rank_parts.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace gs::ranks {

namespace {

constexpr size_t kNever = std::numeric_limits<size_t>::max();

/// Where each value stands in a list.
class Places {
public:
    Places(std::span<const uint64_t> list, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
            places_[list[i]].push_back(i);
    }
    /// First place of `value` behind `from`, or kNever.
    size_t next(uint64_t value, size_t from) const {
        const auto found = places_.find(value);
        if (found == places_.end())
            return kNever;
        const auto at = std::upper_bound(found->second.begin(), found->second.end(), from);
        return at == found->second.end() ? kNever : *at;
    }

private:
    std::unordered_map<uint64_t, std::vector<size_t>> places_;
};

} // namespace

Alignment alignHashes(std::span<const uint64_t> a, std::span<const uint64_t> b) {
    Alignment out;
    const auto push = [&](size_t i, size_t j) {
        out.emplace_back(i == kNever ? -1 : static_cast<int32_t>(i),
                         j == kNever ? -1 : static_cast<int32_t>(j));
    };
    size_t i = 0;
    while (i < a.size() && i < b.size() && a[i] == b[i]) {
        push(i, i);
        ++i;
    }
    size_t j = i, end_a = a.size(), end_b = b.size();
    while (end_a > i && end_b > j && a[end_a - 1] == b[end_b - 1]) {
        --end_a;
        --end_b;
    }
    const Places in_a(a, i, end_a), in_b(b, j, end_b);
    while (i < end_a && j < end_b) {
        if (a[i] == b[j]) {
            push(i++, j++);
            continue;
        }
        const size_t next_a = in_a.next(b[j], i), next_b = in_b.next(a[i], j);
        if (next_a == kNever && next_b == kNever)
            push(i++, j++);
        else if (next_a == kNever || (next_b != kNever && next_b - j <= next_a - i))
            push(kNever, j++);
        else
            push(i++, kNever);
    }
    while (i < end_a)
        push(i++, kNever);
    while (j < end_b)
        push(kNever, j++);
    for (; i < a.size(); ++i, ++j)
        push(i, j);
    return out;
}

} // namespace gs::ranks
