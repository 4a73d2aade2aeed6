#include "cost/readers/kineto_event.h"

#include <fmt/format.h>

namespace gs {

namespace {

enum class Category : uint8_t { Other, Op, Annotation, Launch, Kernel, Copy, DeviceAnnotation };

Category categoryOf(std::string_view text) {
    if (text == "cpu_op" || text == "Operator")
        return Category::Op;
    if (text == "kernel" || text == "Kernel")
        return Category::Kernel;
    if (text == "cuda_runtime" || text == "cuda_driver" || text == "Runtime" || text == "hip_runtime" ||
        text == "privateuse1_runtime" || text == "xpu_runtime")
        return Category::Launch;
    if (text == "user_annotation")
        return Category::Annotation;
    if (text == "gpu_user_annotation")
        return Category::DeviceAnnotation;
    if (text == "gpu_memcpy" || text == "gpu_memset" || text == "Memcpy" || text == "Memset")
        return Category::Copy;
    return Category::Other;
}

/// Where the value of a key of "args" goes; null = it is not needed.
std::string_view* argumentField(RawEvent& event, std::string_view key) {
    if (key.empty())
        return nullptr;
    switch (key.front()) {
    case 'E':
    case 'e':
        if (key == "External id" || key == "external id" || key == "External ID" || key == "external_id")
            return &event.external;
        return key == "Ev Idx" || key == "ev_idx" ? &event.index : nullptr;
    case 'c':
        return key == "correlation" ? &event.correlation : nullptr;
    case 'd':
        return key == "device" ? &event.device : key == "dtype" ? &event.dtype : nullptr;
    case 's':
        return key == "stream" ? &event.stream : nullptr;
    case 'I':
        return key == "Input Dims" || key == "Input dims"                             ? &event.dims
               : key == "Input type" || key == "Input types" || key == "Input dtypes" ? &event.types
               : key == "In msg nelems" || key == "In msg size"                       ? &event.in_elements
                                                                                      : nullptr;
    case 'O':
        return key == "Out msg nelems" || key == "Out msg size" ? &event.out_elements : nullptr;
    case 'C':
        return key == "Collective name" ? &event.comm_name : nullptr;
    case 'G':
        return key == "Group size" ? &event.group_size : nullptr;
    case 'P':
        return key == "Process Group Name"    ? &event.group
               : key == "Process Group Ranks" ? &event.ranks
                                              : nullptr;
    default:
        return nullptr;
    }
}

std::string_view* eventField(RawEvent& event, std::string_view key) {
    if (key.size() == 2)
        return key == "ph" ? &event.phase : key == "ts" ? &event.start : nullptr;
    if (key.size() == 3)
        return key == "cat"   ? &event.category
               : key == "pid" ? &event.pid
               : key == "tid" ? &event.tid
               : key == "dur" ? &event.duration
                              : nullptr;
    return key == "name" ? &event.name : nullptr;
}

bool readArguments(JsonCursor& cursor, RawEvent& event) {
    if (!cursor.space())
        return false;
    if (*cursor.at != '{')
        return cursor.skipValue();
    ++cursor.at;
    std::string_view key;
    std::string_view unused;
    bool last = false;
    for (bool first = true; cursor.member(key, first, last); first = false) {
        if (last)
            return true;
        std::string_view* field = argumentField(event, key);
        if (!cursor.value(field ? *field : unused))
            return false;
    }
    return false;
}

int64_t integerOr(std::string_view text, int64_t otherwise) {
    int64_t value = 0;
    return parseInteger(text, value) ? value : otherwise;
}

} // namespace

bool readEvent(JsonCursor& cursor, RawEvent& event) {
    event = RawEvent();
    if (!cursor.expect('{', "an event (an object in braces) was expected"))
        return false;
    std::string_view key;
    std::string_view unused;
    bool last = false;
    for (bool first = true; cursor.member(key, first, last); first = false) {
        if (last)
            return true;
        if (key == "args") {
            const bool wanted = event.category.empty() || categoryOf(event.category) != Category::Other;
            if (!(wanted ? readArguments(cursor, event) : cursor.skipValue()))
                return false;
            continue;
        }
        std::string_view* field = eventField(event, key);
        if (!cursor.value(field ? *field : unused))
            return false;
    }
    return false;
}

uint32_t EventFiler::threadOf(const RawEvent& event) {
    scratch_.assign(event.pid);
    scratch_ += '\x1f';
    scratch_ += event.tid;
    if (scratch_ == last_thread_)
        return last_thread_number_;
    last_thread_ = scratch_;
    last_thread_number_ =
        threads_.try_emplace(scratch_, static_cast<uint32_t>(threads_.size())).first->second;
    return last_thread_number_;
}

uint32_t EventFiler::streamOf(const RawEvent& event) {
    // Lanes of device events are device (pid) and stream (tid); the arguments repeat them in newer files.
    scratch_ = fmt::format("device {}, stream {}", event.device.empty() ? event.pid : event.device,
                           event.stream.empty() ? event.tid : event.stream);
    const auto [found, added] = streams_.try_emplace(scratch_, static_cast<uint32_t>(out_.streams.size()));
    if (added)
        out_.streams.push_back(scratch_);
    return found->second;
}

uint32_t EventFiler::commOf(const RawEvent& event) {
    if (event.comm_name.empty())
        return 0;
    CommFacts facts;
    facts.name = out_.texts.intern(event.comm_name);
    facts.dtype = out_.texts.intern(event.dtype);
    facts.group = out_.texts.intern(event.group);
    facts.ranks = out_.texts.intern(event.ranks);
    facts.in_elements = integerOr(event.in_elements, -1);
    facts.out_elements = integerOr(event.out_elements, -1);
    facts.group_size = integerOr(event.group_size, -1);
    out_.comms.push_back(facts);
    return static_cast<uint32_t>(out_.comms.size());
}

void EventFiler::addRange(const RawEvent& event, int64_t start, int64_t end, bool annotation) {
    HostRange range;
    range.start = start;
    range.end = end;
    range.external = integerOr(event.external.empty() ? event.index : event.external, -1);
    range.name = out_.texts.intern(event.name);
    if (!event.dims.empty()) {
        scratch_.assign(event.dims);
        scratch_ += '\x1f';
        scratch_ += event.types;
        range.signature = out_.texts.intern(scratch_);
    }
    range.thread = threadOf(event);
    range.comm = commOf(event);
    range.annotation = annotation;
    out_.ranges.push_back(range);
}

void EventFiler::addWork(const RawEvent& event, int64_t start, int64_t end, DeviceWorkKind kind) {
    DeviceWork work;
    work.start = start;
    work.end = end;
    work.correlation = integerOr(event.correlation, -1);
    work.external = integerOr(event.external.empty() ? event.index : event.external, -1);
    work.name = out_.texts.intern(event.name);
    work.stream = streamOf(event);
    work.comm = commOf(event);
    work.kind = kind;
    out_.work.push_back(work);
}

void EventFiler::add(const RawEvent& event) {
    ++out_.events;
    const Category category = categoryOf(event.category);
    if (category == Category::Other || event.phase != "X")
        return;
    int64_t start = 0;
    int64_t duration = 0;
    if (!parseMicros(event.start, start) || !parseMicros(event.duration, duration) || duration < 0) {
        ++out_.malformed;
        return;
    }
    const int64_t end = start + duration;
    switch (category) {
    case Category::Op:
    case Category::Annotation:
        return addRange(event, start, end, category == Category::Annotation);
    case Category::Launch:
        out_.launches.push_back(
            {start, integerOr(event.correlation, -1), integerOr(event.external, -1), threadOf(event)});
        return;
    default:
        return addWork(event, start, end,
                       category == Category::Kernel ? DeviceWorkKind::Kernel
                       : category == Category::Copy ? DeviceWorkKind::Copy
                                                    : DeviceWorkKind::Annotation);
    }
}

} // namespace gs
