// Unions of time intervals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gs {

/// Length of the union of intervals that come in order of their start.
class Union {
public:
    void add(int64_t start, int64_t end) {
        if (empty_ || start > end_) {
            total_ += end - start;
            end_ = end;
        } else if (end > end_) {
            total_ += end - end_;
            end_ = end;
        }
        empty_ = false;
    }
    int64_t total() const { return total_; }

private:
    bool empty_ = true;
    int64_t end_ = 0;
    int64_t total_ = 0;
};

/// What ran on a stream.
struct Stretch {
    uint32_t stream = 0;
    int64_t start = 0;
    int64_t end = 0;
};

struct Overlap {
    int64_t first_ns = 0;  ///< union of the first list, all devices added up
    int64_t second_ns = 0; ///< … of the second
    int64_t both_ns = 0;   ///< time in which both lists are busy on one device
};

/// `streams` names each stream ("device 0, stream 7"); what stands before the comma is its device.
Overlap measureOverlap(const std::vector<Stretch>& first, const std::vector<Stretch>& second,
                       const std::vector<std::string>& streams);

} // namespace gs
