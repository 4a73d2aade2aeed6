// Reads the table that Graph.print_tabular() writes: columns opcode, name, target, args, kwargs, each as wide
// as its widest cell. Arguments are in Python form, nodes by their names.
#include "import/fx_expr.h"
#include "import/fx_scan.h"
#include "import/fx_text.h"
#include "import/readers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr size_t kColumns = 5;

/// Where the columns begin; from the line of dashes under the header.
using Columns = std::array<size_t, kColumns>;

std::optional<Columns> columnsOf(std::string_view ruler) {
    Columns columns{};
    size_t count = 0;
    for (size_t at = ruler.find_first_not_of(' '); at != std::string_view::npos;) {
        if (ruler[at] != '-' || count == kColumns)
            return std::nullopt;
        columns[count++] = at;
        const size_t end = ruler.find_first_not_of('-', at);
        at = end == std::string_view::npos ? end : ruler.find_first_not_of(' ', end);
    }
    return count == kColumns ? std::optional(columns) : std::nullopt;
}

bool isHeader(std::string_view line) {
    const std::string_view text = trimmed(line);
    return text.substr(0, 6) == "opcode" && text.find(" name ") != std::string_view::npos &&
           text.find(" target ") != std::string_view::npos && text.find(" args ") != std::string_view::npos;
}

std::optional<NodeOp> opByName(std::string_view name) {
    for (const NodeOp op : {NodeOp::Placeholder, NodeOp::GetAttr, NodeOp::CallFunction, NodeOp::CallMethod,
                            NodeOp::CallModule, NodeOp::Output}) {
        if (nodeOpName(op) == name)
            return op;
    }
    return std::nullopt;
}

/// One row in its cells. A cell that is longer than its column (a name with wide letters) cannot be told
/// apart.
struct Row {
    std::string_view opcode, name, target, args, kwargs;
    size_t args_at = 0, kwargs_at = 0;
};

std::optional<Row> splitRow(std::string_view line, const Columns& columns) {
    const auto cell = [&](size_t column) {
        const size_t begin = std::min(columns[column], line.size());
        const size_t end = column + 1 < kColumns ? std::min(columns[column + 1], line.size()) : line.size();
        return trimmed(line.substr(begin, end - begin));
    };
    Row row{cell(0), cell(1), cell(2), cell(3), cell(4), columns[3], columns[4]};
    if (!opByName(row.opcode) || row.name.empty())
        return std::nullopt;
    return row;
}

std::vector<GraphEntry> listTables(const InputText& input) {
    const std::string_view text = input.text;
    std::vector<GraphEntry> found;
    if (!containsText(text, "opcode "))
        return found;
    LineReader reader(text, 0, text.size(), 1, isTorchTrace(text));
    TextLine line;
    GraphHeading heading;
    TargetCounter targets;
    std::optional<Columns> columns;
    bool headed = false;
    uint64_t stream = 0;
    while (reader.next(line)) {
        if (columns && line.stream != stream)
            continue;
        const std::optional<Row> row = columns ? splitRow(line.text, *columns) : std::nullopt;
        if (row) {
            GraphEntry& entry = found.back();
            entry.length = std::min(text.find('\n', line.offset), text.size() - 1) + 1 - entry.offset;
            ++entry.nodes;
            if (row->opcode == "call_function")
                targets.count(row->target, entry);
        } else if (headed) {
            headed = false;
            columns = columnsOf(line.text);
            if (!columns)
                found.pop_back();
        } else if (isHeader(line.text)) {
            found.push_back(heading.entry("table", line));
            found.back().sureness = kSureOfGraph;
            heading = {};
            headed = true;
            stream = line.stream;
            columns.reset();
        } else {
            columns.reset();
            heading.read(line);
        }
    }
    const auto last =
        std::remove_if(found.begin(), found.end(), [](const auto& item) { return item.nodes == 0; });
    found.erase(last, found.end());
    return found;
}

class TableReader : private NameResolver {
public:
    TableReader(const InputText& input, const GraphEntry& entry)
        : input_(input), entry_(entry),
          lines_(input.text, entry.offset, entry.offset + entry.length, entry.line,
                 input.text[entry.offset] == '\t' && isTorchTrace(input.text)) {}

    Result<GraphPtr> read(Diagnostics& diagnostics, const JobContext& job) {
        TextLine line;
        lines_.next(line);
        const uint64_t stream = line.stream;
        std::optional<Columns> columns;
        while (lines_.next(line)) {
            if (job.cancelled())
                return Error{"cancelled", "cancelled", {}, ""};
            if (line.stream != stream)
                continue;
            line_ = line.number;
            column_ = line.column;
            if (!columns)
                columns = columnsOf(line.text);
            else if (const auto row = splitRow(line.text, *columns))
                readRow(*row);
        }
        return finish(diagnostics);
    }

private:
    Result<GraphPtr> finish(Diagnostics& diagnostics) {
        const SourcePos start = {input_.path, entry_.line, 0};
        if (builder_.size() == 0)
            return Error{"empty-graph", fmt::format("{}: the graph has no nodes", input_.path), start,
                         "print the graph again"};
        if (!returned_)
            builder_.diagnostics().add({Severity::Warning,
                                        "cut-graph",
                                        {input_.path, line_, 0},
                                        {},
                                        "the table ends before its output row",
                                        "the end of the graph is missing: copy the whole text"});
        describeSource(builder_, input_.path, entry_, "print_tabular");
        completeFxGraph(builder_, start, false);
        return builder_.finish(&diagnostics);
    }

    void readRow(const Row& row) {
        const NodeOp op = opByName(row.opcode).value();
        std::string scratch;
        const std::string_view target =
            op == NodeOp::CallFunction ? normalTarget(row.target, scratch) : row.target;
        user_ = builder_.addNode(row.name, op, target, {input_.path, line_, column_});
        returned_ = returned_ || op == NodeOp::Output;
        std::vector<Arg> args, kwargs;
        ExprParser list(row.args, 0, ExprForm::Code, builder_, *this);
        at_ = row.args_at;
        if (!list.sequence(args))
            badCell(row, row.args_at + list.position(), list.error());
        at_ = row.kwargs_at;
        ExprParser dict(row.kwargs, 0, ExprForm::Code, builder_, *this);
        if (!dict.dictionary(kwargs))
            badCell(row, row.kwargs_at + dict.position(), dict.error());
        builder_.setArgs(user_, args);
        builder_.setKwargs(user_, kwargs);
        user_ = kNoNode;
    }

    void badCell(const Row& row, size_t at, const std::string& expected) {
        builder_.diagnostics().add({Severity::Error,
                                    "bad-line",
                                    {input_.path, line_, column_ + static_cast<uint32_t>(at)},
                                    std::string(row.name),
                                    fmt::format("expected {}", expected),
                                    "the rest of the cell is left out"});
    }

    Arg resolve(std::string_view name, size_t offset) override {
        const NodeId id = builder_.findNode(name);
        if (id != kNoNode && id != user_)
            return builder_.nodeArg(id);
        if (isSymbolName(name))
            return builder_.symbolArg(name, kUnknownSize);
        return builder_.nodeArg(name, user_,
                                {input_.path, line_, column_ + static_cast<uint32_t>(at_ + offset)});
    }

    const InputText& input_;
    const GraphEntry& entry_;
    LineReader lines_;
    GraphBuilder builder_;
    bool returned_ = false;
    NodeId user_ = kNoNode;
    uint32_t line_ = 0;
    uint32_t column_ = 1;
    size_t at_ = 0; ///< where the cell that is parsed begins
};

Result<GraphPtr> readTable(const InputText& input, const GraphEntry& entry, Diagnostics& diagnostics,
                           const JobContext& job) {
    job.report("reading nodes", 0.1);
    return TableReader(input, entry).read(diagnostics, job);
}

} // namespace

GraphReader fxTableReader() {
    return {"fx-table", "table form (print_tabular)", listTables, readTable};
}

} // namespace gs
