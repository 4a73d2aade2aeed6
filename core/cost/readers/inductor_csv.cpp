// Inductor's estimate tables (artifacts fx_compute_nodes_runtime_estimation and
// fx_collectives_analytical_estimation, or the log lines of node_runtime_estimation):
//
//     Node,Benchmarked Est(us),Analytical Est(us),Diff(ratio),Diff(us),Flops
//     mm f32(512, 256) f32(256, 256),12.1,11.9,1.01,0.2,67108864
//     # World size: 8
//     Collective Key,NCCL Est(ms),Inductor Est(ms)
//     _c10d_functional.all_gather_into_tensor_out.default group_size:8 group_name:0
//     input_bytes:196608,0.02,0.03
//
// The first column holds commas without quotes, so rows are split from the right. Without a GPU all times of
// operators are zero, which means nothing.
#include "cost/cost_file.h"
#include "cost/readers/cost_reader.h"
#include "cost/readers/inductor_keys.h"
#include "cost/readers/measured_model.h"
#include "import/text_lines.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr std::string_view kOpsHead = "Node,Benchmarked Est(";
constexpr std::string_view kCollectivesHead = "Collective Key,";

int sniff(std::string_view head) {
    const bool ours = head.find(kOpsHead) != std::string_view::npos ||
                      head.find(kCollectivesHead) != std::string_view::npos;
    return ours ? 85 : 0;
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        parts.push_back(trimmed(text.substr(at, end - at)));
        at = end + 1;
    }
    return parts;
}

/// A column of times: where it stands, its unit, its title for notes.
struct TimeColumn {
    size_t index = 0;
    double unit_ns = 0;
    std::string title;
};

class CsvReader {
public:
    CsvReader(const InputText& input, Diagnostics& diagnostics) : input_(input), diagnostics_(diagnostics) {
        costs_.path = input.path;
        costs_.file_name = std::filesystem::path(input.path).filename().string();
        costs_.what = "table of estimates";
        costs_.provenance = Provenance::Imported;
        costs_.hint =
            "the table has what Inductor estimated: matrix products, attention and collectives; the "
            "analytical model can fill the rest: cost_sources=file,analytical";
    }

    Result<CostModelPtr> read() {
        LineReader lines(input_.text, 0, input_.text.size(), 1, true);
        for (TextLine line; lines.next(line);)
            readLine(line);
        if (zero_ > 0)
            diagnostics_.add({Severity::Warning,
                              "zero-estimates",
                              {input_.path, 0, 0},
                              {},
                              fmt::format("{} rows have no time but 0 and are ignored", zero_),
                              "Inductor writes zeros where it finds no GPU"});
        if (costs_.typed.empty() && costs_.collectives.empty())
            return Error{"no-costs",
                         fmt::format("{}: no row of the table has a time", input_.path),
                         {input_.path, 1, 1},
                         "estimate on a machine with a GPU"};
        return makeMeasuredModel(std::move(costs_));
    }

private:
    void readLine(const TextLine& line) {
        if (line.text.substr(0, kOpsHead.size()) == kOpsHead ||
            line.text.substr(0, kCollectivesHead.size()) == kCollectivesHead)
            return readHead(line.text);
        if (columns_ == 0 || line.text.empty() || line.text.front() == '#')
            return;
        const auto parts = split(line.text);
        if (parts.size() < columns_) {
            if (parts.size() > 1)
                fault(line, fmt::format("{} fields, the head has {}", parts.size(), columns_));
            return;
        }
        const size_t first = parts.size() - columns_; // fields of the first column besides its last one
        size_t key_end = line.text.size();
        for (size_t i = 1; i < columns_; ++i)
            key_end = line.text.rfind(',', key_end - 1);
        const std::string_view key = line.text.substr(0, key_end);
        addRow(line, key, {parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end()});
    }

    void readHead(std::string_view text) {
        const auto titles = split(text);
        columns_ = titles.size();
        collectives_ = text.substr(0, kCollectivesHead.size()) == kCollectivesHead;
        times_.clear();
        for (size_t i = 1; i < titles.size(); ++i) {
            const bool estimate = titles[i].find("Est(") != std::string_view::npos ||
                                  titles[i].find("Benchmarked(") != std::string_view::npos;
            const double unit = titles[i].find("(us)") != std::string_view::npos   ? 1e3
                                : titles[i].find("(ms)") != std::string_view::npos ? 1e6
                                                                                   : 0;
            if (estimate && unit > 0)
                times_.push_back({i, unit, std::string(titles[i])});
        }
        std::stable_partition(times_.begin(), times_.end(), [](const TimeColumn& column) {
            return column.title.find("Benchmarked") != std::string::npos;
        });
    }

    void addRow(const TextLine& line, std::string_view key, const std::vector<std::string_view>& parts) {
        MeasuredTime time;
        for (const TimeColumn& column : times_) {
            const std::string text(parts[column.index]);
            char* end = nullptr;
            const double ns = std::strtod(text.c_str(), &end) * column.unit_ns;
            if (text.empty() || *end != 0 || !(ns >= 0) || ns > static_cast<double>(kMaxFileCostNs))
                return fault(line, fmt::format("\"{}\" is no time", text.substr(0, 100)));
            if (time.ns == 0 && ns > 0) {
                time.ns = std::max<int64_t>(1, std::llround(ns));
                time.note = column.title;
            }
        }
        if (time.ns == 0) {
            ++zero_;
            return;
        }
        if (!collectives_) {
            const auto typed = typedKeyOf(key);
            if (!typed)
                return fault(line, "no operator with shapes such as f32(512, 256)");
            costs_.typed.emplace(*typed, std::move(time));
            return;
        }
        auto point = collectiveOfKey(key);
        if (!point)
            return fault(line, "no collective with input_bytes");
        point->time = std::move(time);
        costs_.collectives.push_back(std::move(*point));
    }

    void fault(const TextLine& line, std::string what) {
        diagnostics_.add({Severity::Warning,
                          "bad-cost",
                          {input_.path, line.number, line.column},
                          {},
                          std::move(what),
                          "the row is ignored"});
    }

    const InputText& input_;
    Diagnostics& diagnostics_;
    MeasuredCosts costs_;
    size_t columns_ = 0; ///< of the table at hand; 0 = before the first head
    bool collectives_ = false;
    std::vector<TimeColumn> times_;
    size_t zero_ = 0;
};

Result<CostModelPtr> read(const std::string& path, Diagnostics& diagnostics, const JobContext&) {
    const Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        return input.error();
    reportOpenEnd(input.value(), diagnostics);
    return CsvReader(input.value(), diagnostics).read();
}

} // namespace

CostReader inductorCsvReader() {
    return {"inductor-csv", "Inductor's estimate table (CSV)", sniff, read};
}

} // namespace gs
