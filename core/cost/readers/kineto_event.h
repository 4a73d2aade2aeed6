// One event of a Chrome trace.
#pragma once

#include "cost/readers/json_cursor.h"
#include "cost/readers/trace_events.h"

#include <unordered_map>

namespace gs {

/// Texts of one event's fields as the file writes them; they live as long as the block that they lie in.
struct RawEvent {
    std::string_view phase, category, name, pid, tid, start, duration;
    std::string_view external, index, correlation, device, stream, dims, types;
    std::string_view comm_name, dtype, group, ranks, in_elements, out_elements, group_size;
};

/// Reads one event, an object. False: see JsonCursor.
bool readEvent(JsonCursor& cursor, RawEvent& event);

/// Files events into TraceEvents.
class EventFiler {
public:
    explicit EventFiler(TraceEvents& out) : out_(out) {}
    void add(const RawEvent& event);

private:
    uint32_t threadOf(const RawEvent& event);
    uint32_t streamOf(const RawEvent& event);
    uint32_t commOf(const RawEvent& event);
    void addRange(const RawEvent& event, int64_t start, int64_t end, bool annotation);
    void addWork(const RawEvent& event, int64_t start, int64_t end, DeviceWorkKind kind);

    TraceEvents& out_;
    std::unordered_map<std::string, uint32_t> threads_;
    std::unordered_map<std::string, uint32_t> streams_;
    std::string scratch_;
    std::string last_thread_;
    uint32_t last_thread_number_ = 0;
};

} // namespace gs
