// Log lines of document 000 as costs: the ESTLINE table and the placement lines, which
// core/export/magi_log.cpp writes. Prefixes of PyTorch's logging are taken off.
#include "cost/cost_file.h"
#include "cost/readers/cost_reader.h"
#include "cost/readers/log_model.h"
#include "import/text_lines.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr std::string_view kRow = "ESTLINE|";
constexpr std::string_view kPlacement = "FSDP overlap placement: launch ";

int sniff(std::string_view head) {
    if (head.find("ESTLINE|compute|") != std::string_view::npos ||
        head.find("ESTLINE|collective|") != std::string_view::npos)
        return 88;
    return head.find(kPlacement) != std::string_view::npos ? 88 : 0;
}

std::optional<int64_t> microsOf(std::string_view text) {
    const std::string copy(text);
    char* end = nullptr;
    const double us = std::strtod(copy.c_str(), &end);
    if (copy.empty() || *end != 0 || !(us >= 0) || us > static_cast<double>(kMaxFileCostNs) / 1e3)
        return std::nullopt;
    return std::llround(us * 1e3);
}

std::optional<int64_t> countOf(std::string_view text) {
    const std::string copy(text);
    char* end = nullptr;
    const long long value = std::strtoll(copy.c_str(), &end, 10);
    if (copy.empty() || *end != 0 || value < 0 || value > 1'000'000'000)
        return std::nullopt;
    return value;
}

class LogReader {
public:
    LogReader(const InputText& input, Diagnostics& diagnostics) : input_(input), diagnostics_(diagnostics) {}

    Result<CostModelPtr> read() {
        LineReader lines(input_.text, 0, input_.text.size(), 1, true);
        for (TextLine line; lines.next(line);) {
            if (const size_t at = line.text.find(kRow); at != std::string_view::npos)
                readRow(line, line.text.substr(at + kRow.size()));
            else if (const size_t place = line.text.find(kPlacement); place != std::string_view::npos)
                readPlacement(line, line.text.substr(place + kPlacement.size()));
        }
        if (costs_.rows.empty() && costs_.launches.empty())
            return Error{"no-costs",
                         fmt::format("{}: no ESTLINE row and no placement line can be read", input_.path),
                         {input_.path, 1, 1},
                         "rows are ESTLINE|kind|label|per_call_us|calls|total_us|measured"};
        costs_.path = input_.path;
        costs_.file_name = std::filesystem::path(input_.path).filename().string();
        return makeLogModel(std::move(costs_));
    }

private:
    /// kind|label|per call in µs|calls|total in µs|measured or analytical. A label may hold bars.
    void readRow(const TextLine& line, std::string_view text) {
        std::string_view fields[4];
        for (int i = 3; i >= 0; --i) {
            const size_t bar = text.rfind('|');
            if (bar == std::string_view::npos)
                return fault(line,
                             "an ESTLINE row needs kind, label, time per call, calls, total and measured");
            fields[i] = trimmed(text.substr(bar + 1));
            text = text.substr(0, bar);
        }
        const size_t bar = text.find('|');
        const auto ns = microsOf(fields[0]);
        const auto calls = countOf(fields[1]);
        if (bar == std::string_view::npos || !ns || !calls)
            return fault(line, fmt::format("\"{}\" and \"{}\" are no time per call in µs and number of calls",
                                           fields[0].substr(0, 50), fields[1].substr(0, 50)));
        LogRow row;
        row.ns = *ns;
        row.calls = *calls;
        row.word = fields[3].substr(0, 20);
        const std::string key(text);
        auto& rows = costs_.rows[key];
        for (LogRow& other : rows) {
            if (other.ns == row.ns && other.calls == row.calls)
                return; // the same table of another rank, or printed twice
        }
        rows.push_back(std::move(row));
    }

    /// NAME(target) cur=… | comm=123.4us …
    void readPlacement(const TextLine& line, std::string_view text) {
        const size_t name_end = text.find('(');
        const size_t comm = text.find(" comm=");
        const size_t unit = comm == std::string_view::npos ? comm : text.find("us", comm);
        if (name_end == std::string_view::npos || name_end == 0 || unit == std::string_view::npos)
            return fault(line, "a placement line needs a name and comm= with a time in us");
        const std::string_view value = text.substr(comm + 6, unit - comm - 6);
        const auto ns = microsOf(value);
        if (!ns)
            return fault(line, fmt::format("\"{}\" is no time in µs", value.substr(0, 50)));
        costs_.launches.emplace(text.substr(0, name_end), *ns);
    }

    void fault(const TextLine& line, std::string what) {
        diagnostics_.add({Severity::Warning,
                          "bad-cost",
                          {input_.path, line.number, line.column},
                          {},
                          std::move(what),
                          "the line is ignored"});
    }

    const InputText& input_;
    Diagnostics& diagnostics_;
    LogCosts costs_;
};

Result<CostModelPtr> read(const std::string& path, Diagnostics& diagnostics, const JobContext&) {
    const Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        return input.error();
    reportOpenEnd(input.value(), diagnostics);
    return LogReader(input.value(), diagnostics).read();
}

} // namespace

CostReader logCostReader() {
    return {"magi-log", "Log with ESTLINE rows or placement lines of document 000", sniff, read};
}

} // namespace gs
