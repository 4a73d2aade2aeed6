// A set of indices that remembers the order of insertion: every operation takes constant time.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace gs {

/// Doubly linked through two arrays. Removing an index that is not in it does nothing.
class CollectiveList {
public:
    static constexpr size_t kNone = std::numeric_limits<size_t>::max();

    explicit CollectiveList(size_t capacity)
        : next_(capacity, kNone), previous_(capacity, kNone), in_(capacity) {}

    bool empty() const { return first_ == kNone; }
    size_t first() const { return first_; }
    size_t next(size_t index) const { return next_[index]; }
    bool contains(size_t index) const { return in_[index]; }

    void pushBack(size_t index) {
        if (in_[index])
            return;
        in_[index] = true;
        previous_[index] = last_;
        next_[index] = kNone;
        (last_ == kNone ? first_ : next_[last_]) = index;
        last_ = index;
    }

    void remove(size_t index) {
        if (!in_[index])
            return;
        in_[index] = false;
        (previous_[index] == kNone ? first_ : next_[previous_[index]]) = next_[index];
        (next_[index] == kNone ? last_ : previous_[next_[index]]) = previous_[index];
    }

private:
    std::vector<size_t> next_, previous_;
    std::vector<bool> in_;
    size_t first_ = kNone, last_ = kNone;
};

} // namespace gs
