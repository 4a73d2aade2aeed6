#include "cost/readers/kineto.h"

#include "cost/readers/kineto_event.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string.h> // memrchr

namespace gs {

namespace {

using Json = nlohmann::json;

/// A value longer than this is no part of a trace.
constexpr size_t kLongestValue = size_t{256} << 20;

/// Groups and rank of "distributedInfo"; pg_config is a list of groups, or an object of them by name.
void readDistributedInfo(std::string_view text, TraceEvents& out) {
    const Json info = Json::parse(text, nullptr, false);
    if (!info.is_object())
        return;
    const auto number = [](const Json& object, const char* key) -> int64_t {
        const auto found = object.find(key);
        return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
    };
    const auto small = [](int64_t value, int64_t otherwise) {
        return static_cast<int32_t>(value >= 0 && value < 10'000'000 ? value : otherwise);
    };
    out.rank = small(number(info, "rank"), -1);
    out.world_size = small(number(info, "world_size"), 0);
    const auto config = info.find("pg_config");
    if (config == info.end() || !config->is_structured())
        return;
    for (const auto& [key, group] : config->items()) {
        if (!group.is_object())
            continue;
        TraceGroup item;
        item.name = config->is_object() ? key : std::string();
        for (const char* field : {"pg_name", "name"}) {
            if (const auto name = group.find(field); name != group.end() && name->is_string())
                item.name = name->get<std::string>();
        }
        for (const char* field : {"pg_size", "group_size", "size"})
            item.size = std::max(item.size, number(group, field));
        if (const auto ranks = group.find("ranks"); item.size <= 0 && ranks != group.end())
            item.size = static_cast<int64_t>(ranks->size());
        out.groups.push_back(std::move(item));
    }
}

class KinetoReader {
public:
    KinetoReader(const std::string& path, ByteSource& bytes, const JobContext& job, size_t block)
        : path_(path), bytes_(bytes), job_(job), block_(block), filer_(out_) {}

    Result<TraceEvents> read() {
        refill();
        if (fill_ >= 3 && ::memcmp(buffer_.data(), "\xef\xbb\xbf", 3) == 0)
            done_ = 3;
        const bool finished = readAll();
        if (cancelled_)
            return Error{"cancelled", "cancelled", {}, ""};
        if (!finished)
            noteStop();
        if (out_.stopped.empty())
            out_.stopped_at = {path_, 1, 1};
        if (!found_events_)
            return Error{"not-a-trace",
                         fmt::format("{}:{}:{}: no list of trace events: {}", path_, out_.stopped_at.line,
                                     out_.stopped_at.column,
                                     out_.stopped.empty() ? "the file has no \"traceEvents\"" : out_.stopped),
                         out_.stopped_at, "record the run with torch.profiler and export_chrome_trace()"};
        return std::move(out_);
    }

private:
    /// Drops what is done and reads one more block; false at the end of the file.
    bool refill() {
        job_.report("costs", bytes_.fraction());
        if (job_.cancelled()) {
            cancelled_ = true;
            return false;
        }
        countLines(done_);
        if (fill_ - done_ > kLongestValue) {
            problem_ = "one value is longer than 256 MiB";
            return false;
        }
        ::memmove(buffer_.data(), buffer_.data() + done_, fill_ - done_);
        before_ += done_;
        fill_ -= done_;
        done_ = 0;
        counted_ = 0;
        buffer_.resize(std::max(buffer_.size(), fill_ + block_));
        const size_t got = bytes_.read(buffer_.data() + fill_, block_);
        fill_ += got;
        return got > 0;
    }

    /// Runs one step from `done_` on, with more text each time it asks for it. False: the file ends or breaks
    /// here.
    template <typename Step>
    bool run(Step step) {
        for (;;) {
            JsonCursor cursor{buffer_.data() + done_, buffer_.data() + fill_, nullptr};
            if (step(cursor)) {
                done_ = static_cast<size_t>(cursor.at - buffer_.data());
                return true;
            }
            if (cursor.problem) {
                problem_ = cursor.problem;
                fault_ = static_cast<size_t>(cursor.at - buffer_.data());
                return false;
            }
            if (!refill()) {
                fault_ = fill_;
                return false;
            }
        }
    }

    bool readAll() {
        char first = 0;
        if (!run([&](JsonCursor& cursor) {
                if (!cursor.space())
                    return false;
                first = *cursor.at;
                if (first != '{' && first != '[') {
                    cursor.problem = "an object or a list was expected";
                    return false;
                }
                ++cursor.at;
                return true;
            }))
            return false;
        return first == '[' ? readEvents() : readObject();
    }

    bool readObject() {
        for (bool first = true;; first = false) {
            bool last = false;
            bool events = false;
            std::string_view key;
            std::string_view value;
            const auto member = [&](JsonCursor& cursor) {
                events = false;
                if (!cursor.member(key, first, last))
                    return false;
                if (last)
                    return true;
                if (!cursor.space())
                    return false;
                events = key == "traceEvents" && *cursor.at == '[';
                if (events) {
                    ++cursor.at;
                    return true;
                }
                if (!cursor.value(value))
                    return false;
                if (key == "distributedInfo")
                    readDistributedInfo(value, out_);
                return true;
            };
            if (!run(member))
                return false;
            if (last)
                return true;
            if (events && !readEvents())
                return false;
        }
    }

    bool readEvents() {
        found_events_ = true;
        RawEvent event;
        bool last = false;
        for (bool first = true; !last; first = false) {
            const auto step = [&](JsonCursor& cursor) {
                if (!cursor.space())
                    return false;
                last = *cursor.at == ']';
                if (!last && !first) {
                    if (!cursor.expect(',', "a comma or the end of the list was expected") || !cursor.space())
                        return false;
                    last = *cursor.at == ']'; // a comma too many
                }
                if (last) {
                    ++cursor.at;
                    return true;
                }
                return readEvent(cursor, event);
            };
            if (!run(step))
                return false;
            if (!last)
                filer_.add(event);
        }
        return true;
    }

    /// Counts the line ends of the block up to `to`.
    void countLines(size_t to) {
        const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(counted_);
        const auto end = buffer_.begin() + static_cast<std::ptrdiff_t>(to);
        lines_ += static_cast<uint64_t>(std::count(begin, end, '\n'));
        const void* line_end = to > 0 ? ::memrchr(buffer_.data(), '\n', to) : nullptr;
        if (line_end)
            line_begin_ =
                before_ + static_cast<uint64_t>(static_cast<const char*>(line_end) - buffer_.data()) + 1;
        counted_ = to;
    }

    void noteStop() {
        countLines(std::max(fault_, counted_));
        out_.stopped_byte = before_ + fault_;
        const uint64_t column = out_.stopped_byte - std::min(line_begin_, out_.stopped_byte) + 1;
        out_.stopped_at = {path_, static_cast<uint32_t>(lines_ + 1),
                           static_cast<uint32_t>(std::min<uint64_t>(column, UINT32_MAX))};
        const std::string problem = bytes_.problem();
        out_.stopped = !problem_.empty() ? problem_ : !problem.empty() ? problem : "the file ends here";
    }

    std::string path_;
    ByteSource& bytes_;
    const JobContext& job_;
    size_t block_;
    TraceEvents out_;
    EventFiler filer_;
    std::string buffer_;
    size_t fill_ = 0;    ///< bytes in the buffer
    size_t done_ = 0;    ///< bytes of it that were read
    size_t counted_ = 0; ///< bytes of it whose line ends were counted
    size_t fault_ = 0;
    uint64_t before_ = 0; ///< bytes of the file before the buffer
    uint64_t lines_ = 0;
    uint64_t line_begin_ = 0; ///< where the line begins that `counted_` lies in
    std::string problem_;
    bool found_events_ = false;
    bool cancelled_ = false;
};

} // namespace

Result<TraceEvents> readKineto(const std::string& path, ByteSource& bytes, const JobContext& job,
                               size_t block) {
    return KinetoReader(path, bytes, job, block).read();
}

} // namespace gs
