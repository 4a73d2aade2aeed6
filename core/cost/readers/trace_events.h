// Events of a profiler trace, whatever file they come from: ranges on host threads, launches, and what ran on
// the devices. Times are nanoseconds on the trace's own clock.
#pragma once

#include "base/progress.h"
#include "base/result.h"
#include "base/string_pool.h"

#include <algorithm>
#include <string>
#include <vector>

namespace gs {

/// A range on a host thread: an operator, or an annotation such as "nccl:all_reduce".
struct HostRange {
    int64_t start = 0;
    int64_t end = 0;
    int64_t external = -1;             ///< id that device work may name; -1 = none
    StringId name = kEmptyString;      ///< "aten::mm"
    StringId signature = kEmptyString; ///< input sizes and types as the file writes them, see op_signature.h
    uint32_t thread = 0;               ///< number of the thread, from 0
    uint32_t comm = 0;                 ///< 1 + index into TraceEvents::comms; 0 = none
    bool annotation = false;
};

/// A call of the runtime that started device work.
struct LaunchCall {
    int64_t start = 0;
    int64_t correlation = -1;
    int64_t external = -1;
    uint32_t thread = 0;
};

enum class DeviceWorkKind : uint8_t { Kernel, Copy, Annotation };

struct DeviceWork {
    int64_t start = 0;
    int64_t end = 0;
    int64_t correlation = -1;
    int64_t external = -1;
    StringId name = kEmptyString;
    uint32_t stream = 0; ///< number of the (device, stream) pair, index into TraceEvents::streams
    uint32_t comm = 0;   ///< 1 + index into TraceEvents::comms; 0 = none
    DeviceWorkKind kind = DeviceWorkKind::Kernel;
};

/// What the file says of one collective. -1 and empty = not said.
struct CommFacts {
    StringId name = kEmptyString; ///< "_allgather_base"
    StringId dtype = kEmptyString;
    StringId group = kEmptyString;
    StringId ranks = kEmptyString; ///< "[0, 1, ..., 62, 63]"
    int64_t in_elements = -1;
    int64_t out_elements = -1;
    int64_t group_size = -1;
};

struct TraceGroup {
    std::string name;
    int64_t size = 0;
};

struct TraceEvents {
    StringPool texts;
    std::vector<HostRange> ranges;
    std::vector<LaunchCall> launches;
    std::vector<DeviceWork> work;
    std::vector<CommFacts> comms;
    std::vector<TraceGroup> groups;
    std::vector<std::string> streams; ///< "device 0, stream 7"
    int32_t rank = -1;                ///< -1 = the file does not say
    int32_t world_size = 0;
    size_t events = 0;    ///< all events of the file
    size_t malformed = 0; ///< events without a usable time
    /// Where and why reading stopped before the end; empty if it did not.
    std::string stopped;
    SourcePos stopped_at;
    uint64_t stopped_byte = 0;

    TraceEvents() = default;
    TraceEvents(TraceEvents&&) = default;
    TraceEvents& operator=(TraceEvents&&) = default;
};

/// Sorts in steps of a few milliseconds, so that a cancel is heard between them. False if cancelled.
template <typename T, typename Less>
bool sortUnlessCancelled(std::vector<T>& items, Less less, const JobContext& job) {
    if (std::is_sorted(items.begin(), items.end(), less))
        return !job.cancelled();
    constexpr size_t kStep = 1 << 16;
    const auto at = [&](size_t index) {
        return items.begin() + static_cast<std::ptrdiff_t>(std::min(index, items.size()));
    };
    for (size_t i = 0; i < items.size(); i += kStep) {
        std::stable_sort(at(i), at(i + kStep), less);
        if (job.cancelled())
            return false;
    }
    for (size_t width = kStep; width < items.size(); width *= 2) {
        for (size_t i = 0; i + width < items.size(); i += 2 * width) {
            std::inplace_merge(at(i), at(i + width), at(i + 2 * width), less);
            if (job.cancelled())
                return false;
        }
    }
    return true;
}

} // namespace gs
