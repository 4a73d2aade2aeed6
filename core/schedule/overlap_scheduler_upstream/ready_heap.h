// A binary heap laid out as Python's heapq lays it out: the scheduler also walks its array in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gs {

/// Keys are distinct; the least comes first. Source: Lib/heapq.py (sift to a leaf, then back up).
class ReadyHeap {
public:
    bool empty() const { return keys_.empty(); }
    uint64_t front() const { return keys_.front(); }
    const std::vector<uint64_t>& keys() const { return keys_; }

    void push(uint64_t key) {
        keys_.push_back(key);
        siftDown(0, keys_.size() - 1);
    }

    uint64_t pop() {
        const uint64_t last = keys_.back();
        keys_.pop_back();
        if (keys_.empty())
            return last;
        const uint64_t first = keys_.front();
        keys_.front() = last;
        siftUp(0);
        return first;
    }

    /// Takes out the keys at these positions of the array, given in rising order.
    void removeAt(const std::vector<size_t>& positions) {
        if (positions.empty())
            return;
        size_t kept = positions.front(), next = 0;
        for (size_t i = kept; i < keys_.size(); ++i) {
            if (next < positions.size() && positions[next] == i)
                ++next;
            else
                keys_[kept++] = keys_[i];
        }
        keys_.resize(kept);
        for (size_t i = keys_.size() / 2; i-- > 0;)
            siftUp(i);
    }

private:
    void siftDown(size_t start, size_t at) {
        const uint64_t key = keys_[at];
        while (at > start) {
            const size_t parent = (at - 1) / 2;
            if (key >= keys_[parent])
                break;
            keys_[at] = keys_[parent];
            at = parent;
        }
        keys_[at] = key;
    }

    void siftUp(size_t at) {
        const size_t start = at;
        const uint64_t key = keys_[at];
        for (size_t child = 2 * at + 1; child < keys_.size(); child = 2 * at + 1) {
            if (child + 1 < keys_.size() && keys_[child] >= keys_[child + 1])
                ++child;
            keys_[at] = keys_[child];
            at = child;
        }
        keys_[at] = key;
        siftDown(start, at);
    }

    std::vector<uint64_t> keys_;
};

} // namespace gs
