// Tables of collective times by group and size, as AutoParallel's overlap simulator reads them:
//
//       Group    Group Size  Collective                1MB (ms)    2MB (ms)
//     -------  ------------  ----------------------  ----------  ----------
//           0             8  all_gather_into_tensor      0.2397      0.4059
//
// Sizes are MiB of the input of one rank. Below the first column its time is used, beyond the last the line
// of the last two goes on.
#include "cost/readers/collective_names.h"
#include "cost/readers/cost_reader.h"
#include "cost/readers/json_cursor.h"
#include "cost/readers/measured_model.h"
#include "import/text_lines.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace gs {

namespace {

struct Column {
    int64_t bytes = 0;
    double unit_ns = 0;
};

/// Parts of a line between runs of spaces; bars of Markdown tables count as spaces.
std::vector<std::string> wordsOf(std::string_view line) {
    std::vector<std::string> words(1);
    for (char c : line) {
        if (c != ' ' && c != '\t' && c != '|')
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty())
        words.pop_back();
    return words;
}

bool readNumber(const std::string& text, double& out) {
    char* end = nullptr;
    out = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == 0 && std::isfinite(out);
}

/// Columns of "… Collective  1MB (ms)  512KB (us)": each word with a unit in brackets behind it.
std::vector<Column> columnsOf(const std::vector<std::string>& words) {
    std::vector<Column> columns;
    for (size_t i = 0; i + 1 < words.size(); ++i) {
        const std::string& unit = words[i + 1];
        const double ns = unit == "(ms)"   ? 1e6
                          : unit == "(us)" ? 1e3
                          : unit == "(ns)" ? 1
                          : unit == "(s)"  ? 1e9
                                           : 0;
        const size_t digits = words[i].find_first_not_of("0123456789.");
        double size = 0;
        if (ns == 0 || digits == std::string::npos || !readNumber(words[i].substr(0, digits), size))
            continue;
        const char scale = words[i][digits];
        const int power = scale == 'K' ? 10 : scale == 'M' ? 20 : scale == 'G' ? 30 : 0;
        const double bytes = std::ldexp(size, power);
        if (bytes >= 1 && bytes < 1e15)
            columns.push_back({static_cast<int64_t>(bytes), ns});
    }
    return columns;
}

bool isHeader(std::string_view line) {
    return line.find("Group Size") != std::string_view::npos &&
           line.find("Collective") != std::string_view::npos;
}

int sniff(std::string_view head) {
    return isHeader(head) && head.find("B (") != std::string_view::npos ? 90 : 0;
}

class TableReader {
public:
    TableReader(const InputText& input, Diagnostics& diagnostics) : input_(input), diagnostics_(diagnostics) {
        costs_.path = input.path;
        costs_.file_name = std::filesystem::path(input.path).filename().string();
        costs_.what = "table";
        costs_.provenance = Provenance::Imported;
        costs_.reach = 1e9;
        costs_.strict_groups = true;
    }

    Result<CostModelPtr> read() {
        LineReader lines(input_.text, 0, input_.text.size(), 1, false);
        for (TextLine line; lines.next(line);)
            readLine(line);
        if (costs_.collectives.empty())
            return Error{"no-costs",
                         fmt::format("{}: no row of the table has a group, a size and times", input_.path),
                         {input_.path, 1, 1},
                         "rows are: group, group size, collective, one time per column"};
        costs_.hint =
            fmt::format("the table has times of collectives only, for {}; the analytical model can fill "
                        "the rest: cost_sources=file,analytical",
                        rows_);
        return makeMeasuredModel(std::move(costs_));
    }

private:
    void readLine(const TextLine& line) {
        if (isHeader(line.text)) {
            columns_ = columnsOf(wordsOf(line.text));
            return;
        }
        const std::vector<std::string> words = wordsOf(line.text);
        if (columns_.empty() || words.empty() || words.front().find_first_not_of("-+=:") == std::string::npos)
            return;
        int64_t size = 0;
        const CollectiveKind kind = words.size() < 4 ? CollectiveKind::None : collectiveOfName(words[2]);
        if (words.size() < 4 || !parseInteger(words[1], size) || size <= 0 || kind == CollectiveKind::None)
            return fault(line, "no row of group, group size, collective and times");
        if (words.size() != columns_.size() + 3)
            fault(line, fmt::format("{} times, the head has {} columns", words.size() - 3, columns_.size()));
        rows_ += fmt::format("{}group {} {}", rows_.empty() ? "" : ", ", words[0], words[2]);
        for (size_t i = 0; i < std::min(columns_.size(), words.size() - 3); ++i) {
            double value = 0;
            if (!readNumber(words[i + 3], value) || value < 0) {
                fault(line, fmt::format("\"{}\" is no time", words[i + 3]));
                continue;
            }
            MeasuredCollective point;
            point.kind = plainKind(kind);
            point.input_bytes = columns_[i].bytes;
            point.group_size = size;
            point.group = words[0];
            point.time.ns = static_cast<int64_t>(
                std::llround(std::min(value * columns_[i].unit_ns, static_cast<double>(kMaxCostNs))));
            point.time.note = fmt::format("line {} of the table", line.number);
            costs_.collectives.push_back(std::move(point));
        }
    }

    void fault(const TextLine& line, std::string what) {
        diagnostics_.add({Severity::Warning,
                          "bad-cost",
                          {input_.path, line.number, line.column},
                          {},
                          std::move(what),
                          "the row is used as far as it can be read"});
    }

    const InputText& input_;
    Diagnostics& diagnostics_;
    MeasuredCosts costs_;
    std::vector<Column> columns_;
    std::string rows_;
};

Result<CostModelPtr> read(const std::string& path, Diagnostics& diagnostics, const JobContext&) {
    const Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        return input.error();
    reportOpenEnd(input.value(), diagnostics);
    return TableReader(input.value(), diagnostics).read();
}

} // namespace

CostReader collectiveTableReader() {
    return {"collective-table", "Table of collective times", sniff, read};
}

} // namespace gs
