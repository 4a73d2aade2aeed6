// Finds the host ranges behind device work.
#pragma once

#include "cost/readers/trace_events.h"

namespace gs {

inline constexpr uint32_t kNoRange = UINT32_MAX;

/// Nested ranges by thread, launches by correlation, ranges by id. Sorts the events it is built on; they must
/// outlive it.
class TraceIndex {
public:
    /// False if cancelled.
    bool build(TraceEvents& events, const JobContext& job);

    uint32_t parent(uint32_t range) const { return parents_[range]; }
    /// Launch of a correlation id, or null.
    const LaunchCall* launch(int64_t correlation) const;
    /// Innermost range of a thread at a time.
    uint32_t innermost(uint32_t thread, int64_t time) const;
    /// Range with this id.
    uint32_t byExternal(int64_t external) const;
    /// Innermost range that started the work; kNoRange if the file does not say.
    uint32_t rangeOf(const DeviceWork& work) const;

private:
    void findParents();

    const TraceEvents* events_ = nullptr;
    std::vector<uint32_t> parents_;
    std::vector<uint32_t> thread_begin_; ///< first range of each thread; one more at the end
    std::vector<std::pair<int64_t, uint32_t>> external_;
    bool external_tells_ = false;
};

} // namespace gs
