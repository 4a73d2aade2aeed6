#include "cost/readers/nsys.h"

#include "cost/readers/cost_reader.h"
#include "cost/readers/sqlite_reader.h"
#include "cost/readers/trace_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <unordered_map>

namespace gs {

namespace {

/// A table of the export and what it has.
struct Table {
    std::string name;
    std::set<std::string> columns;

    bool has(const char* column) const { return columns.count(column) > 0; }
    /// First of the columns that is there, in quotes; "NULL" if none is.
    std::string pick(std::initializer_list<const char*> names) const {
        for (const char* column : names) {
            if (has(column))
                return quotedName(column);
        }
        return "NULL";
    }
};

class NsysReader {
public:
    NsysReader(const std::string& path, const JobContext& job) : path_(path), database_(job), job_(job) {}

    Result<TraceEvents> readFile() {
        if (const Status opened = database_.open(path_); !opened)
            return opened.error();
        return read();
    }
    Result<TraceEvents> readBytes(std::string bytes) {
        if (const Status opened = database_.openBytes(path_, std::move(bytes)); !opened)
            return opened.error();
        return read();
    }

private:
    Result<TraceEvents> read() {
        // A first query tells whether this is a database at all.
        if (const Status sound =
                database_.query("SELECT count(*) FROM sqlite_master", [](const SqliteRow&) {});
            !sound)
            return sound.error();
        tables_ = database_.tables();
        const Table kernels = find("CUPTI_ACTIVITY_KIND_KERNEL", "KERNEL");
        if (!kernels.has("start") || !kernels.has("end"))
            return noKernels();
        for (const Status& status :
             {readStrings(), readWork(kernels, DeviceWorkKind::Kernel),
              readWork(find("CUPTI_ACTIVITY_KIND_MEMCPY", nullptr), DeviceWorkKind::Copy),
              readWork(find("CUPTI_ACTIVITY_KIND_MEMSET", nullptr), DeviceWorkKind::Copy), readLaunches(),
              readRanges()}) {
            if (!status)
                return status.error();
        }
        return std::move(out_);
    }

    Error noKernels() const {
        std::vector<std::string> some(tables_.begin(),
                                      tables_.begin() +
                                          static_cast<std::ptrdiff_t>(std::min<size_t>(12, tables_.size())));
        return {
            "no-kernel-table",
            fmt::format(
                "{}: there is no table of kernels (CUPTI_ACTIVITY_KIND_KERNEL with start and end); tables "
                "in it: {}{}",
                path_, tables_.empty() ? "none" : fmt::format("{}", fmt::join(some, ", ")),
                some.size() < tables_.size() ? ", …" : ""),
            {path_, 1, 1},
            "profile with `nsys profile --trace=cuda,nvtx` and export with `nsys export --type sqlite`"};
    }

    /// A table by name; if `part` is given, else the first activity table whose name has it.
    Table find(const char* name, const char* part) {
        std::string found;
        for (const std::string& table : tables_) {
            if (table == name)
                found = table;
        }
        for (const std::string& table : tables_) {
            if (found.empty() && part && table.find("ACTIVITY_KIND") != std::string::npos &&
                table.find(part) != std::string::npos)
                found = table;
        }
        return found.empty() ? Table{} : Table{found, database_.columns(found)};
    }

    Status readStrings() {
        const Table table = find("StringIds", nullptr);
        if (!table.has("id") || !table.has("value"))
            return Unit{};
        return database_.query("SELECT id, value FROM StringIds", [&](const SqliteRow& row) {
            strings_.emplace(row.integer(0), out_.texts.intern(row.text(1)));
        });
    }

    /// A column that is an id into StringIds or the text itself.
    StringId textOf(const SqliteRow& row, int column) {
        if (row.isText(column))
            return out_.texts.intern(row.text(column));
        if (row.isNull(column))
            return kEmptyString;
        const auto found = strings_.find(row.integer(column));
        return found == strings_.end() ? kEmptyString : found->second;
    }

    /// Process of a global id; launches and kernels of one process share their correlation ids.
    static int64_t processOf(int64_t global) { return (global / 0x1000000) & 0xffffff; }
    static int64_t correlationOf(int64_t process, int64_t id) {
        return id < 0 || id > 0xffffffff ? -1 : (process << 32) | id;
    }

    uint32_t streamOf(int64_t device, int64_t stream) {
        std::string name = fmt::format("device {}, stream {}", device, stream);
        const auto [found, added] = streams_.try_emplace(name, static_cast<uint32_t>(out_.streams.size()));
        if (added)
            out_.streams.push_back(std::move(name));
        return found->second;
    }

    bool soundTimes(int64_t start, int64_t end) {
        constexpr int64_t kLatest = INT64_MAX / 4;
        const bool sound = start > -kLatest && end >= start && end < kLatest;
        out_.malformed += sound ? 0 : 1;
        return sound;
    }

    Status readWork(const Table& table, DeviceWorkKind kind) {
        if (!table.has("start") || !table.has("end"))
            return Unit{};
        job_.report("costs", kind == DeviceWorkKind::Kernel ? 0.2 : 0.4);
        const std::string sql = fmt::format(
            "SELECT start, \"end\", {}, {}, {}, {}, {} FROM {}", table.pick({"deviceId"}),
            table.pick({"streamId"}), table.pick({"correlationId"}), table.pick({"globalPid", "globalTid"}),
            table.pick({"demangledName", "shortName", "name", "mangledName"}), quotedName(table.name));
        return database_.query(sql, [&](const SqliteRow& row) {
            ++out_.events;
            DeviceWork work;
            work.start = row.integer(0);
            work.end = row.integer(1);
            if (!soundTimes(work.start, work.end))
                return;
            work.stream = streamOf(row.integer(2), row.integer(3));
            work.correlation = row.isNull(4) ? -1 : correlationOf(processOf(row.integer(5)), row.integer(4));
            work.name = textOf(row, 6);
            work.kind = kind;
            out_.work.push_back(work);
        });
    }

    uint32_t threadOf(int64_t global) {
        return threads_.try_emplace(global, static_cast<uint32_t>(threads_.size())).first->second;
    }

    Status readLaunches() {
        const Table table = find("CUPTI_ACTIVITY_KIND_RUNTIME", nullptr);
        if (!table.has("start") || !table.has("correlationId"))
            return Unit{};
        job_.report("costs", 0.5);
        const std::string sql = fmt::format("SELECT start, correlationId, {} FROM {}",
                                            table.pick({"globalTid", "globalPid"}), quotedName(table.name));
        return database_.query(sql, [&](const SqliteRow& row) {
            ++out_.events;
            const int64_t thread = row.integer(2);
            if (soundTimes(row.integer(0), row.integer(0)))
                out_.launches.push_back(
                    {row.integer(0), correlationOf(processOf(thread), row.integer(1)), -1, threadOf(thread)});
        });
    }

    Status readRanges() {
        const Table table = find("NVTX_EVENTS", nullptr);
        if (!table.has("start") || !table.has("end"))
            return Unit{};
        job_.report("costs", 0.7);
        const std::string sql = fmt::format(
            "SELECT start, \"end\", {}, {}, {} FROM {} WHERE \"end\" >= start", table.pick({"globalTid"}),
            table.pick({"text"}), table.pick({"textId"}), quotedName(table.name));
        return database_.query(sql, [&](const SqliteRow& row) {
            ++out_.events;
            const StringId text = row.isNull(3) ? textOf(row, 4) : textOf(row, 3);
            if (text != kEmptyString && soundTimes(row.integer(0), row.integer(1)))
                addRange(row.integer(0), row.integer(1), threadOf(row.integer(2)), text);
        });
    }

    void addRange(int64_t start, int64_t end, uint32_t thread, StringId text) {
        HostRange range;
        range.start = start;
        range.end = end;
        range.thread = thread;
        const std::string whole(out_.texts.view(text));
        const std::string name = whole.substr(0, whole.find(", "));
        range.annotation = name.find("::") == std::string::npos;
        if (name.size() > 4 && name.compare(0, 4, "nccl") == 0 && name[4] >= 'A' && name[4] <= 'Z')
            range.name = out_.texts.intern("nccl:" + name.substr(4)); // NCCL's own ranges: ncclAllGather
        else
            range.name = out_.texts.intern(name);
        constexpr std::string_view kSizes = ", sizes = ";
        if (const size_t at = whole.find(kSizes); at != std::string::npos) {
            const size_t begin = at + kSizes.size();
            size_t to = begin;
            int depth = 0;
            for (; to < whole.size(); ++to) {
                depth += whole[to] == '[' ? 1 : whole[to] == ']' ? -1 : 0;
                if (depth <= 0)
                    break;
            }
            range.signature = out_.texts.intern(whole.substr(begin, to + 1 - begin));
        }
        out_.ranges.push_back(range);
    }

    std::string path_;
    SqliteReader database_;
    const JobContext& job_;
    std::vector<std::string> tables_;
    std::unordered_map<int64_t, StringId> strings_;
    std::unordered_map<std::string, uint32_t> streams_;
    std::unordered_map<int64_t, uint32_t> threads_;
    TraceEvents out_;
};

constexpr std::string_view kMagic = "SQLite format 3";

int sniff(std::string_view head) {
    return head.substr(0, kMagic.size()) == kMagic ? 95 : 0;
}

Result<CostModelPtr> read(const std::string& path, Diagnostics& diagnostics, const JobContext& job) {
    Result<TraceEvents> events = Error{};
    std::ifstream file(path, std::ios::binary);
    if (file.get() == kMagic.front()) {
        events = readNsys(path, job);
    } else { // compressed
        Result<InputText> input = readInput(path, diagnostics);
        if (!input)
            return input.error();
        events = readNsysBytes(path, std::move(input->text), job);
    }
    if (!events)
        return events.error();
    return costsOfTrace(events.value(), path, diagnostics, job);
}

} // namespace

Result<TraceEvents> readNsys(const std::string& path, const JobContext& job) {
    return NsysReader(path, job).readFile();
}

Result<TraceEvents> readNsysBytes(const std::string& path, std::string bytes, const JobContext& job) {
    return NsysReader(path, job).readBytes(std::move(bytes));
}

CostReader nsysReader() {
    return {"nsys", "Nsight Systems export (SQLite)", sniff, read};
}

} // namespace gs
