#include "import/fx_scan.h"

#include "import/fx_subgraph.h"

#include <algorithm>
#include <unordered_map>

namespace gs {

namespace {

/// A graph whose end is not found yet.
struct OpenGraph {
    GraphEntry entry;
    bool active = false;
    bool has_class = false;
    bool in_header = false; ///< between "def" and its ":"
    bool nested = false;    ///< inside a class below the graph's own forward
    bool forward = false;
    bool inputs = false; ///< the header names at least one input
    std::string header;  ///< between its parentheses, as far as it was read
    bool returned = false;
    bool ordered = false; ///< calls control_deps
    size_t class_indent = 0;
    size_t def_indent = 0;
    size_t nodes = 0;      ///< statements that look like nodes of FX
    size_t statements = 0; ///< all statements but `pass`
};

/// A class line that waits for its def.
struct PendingClass {
    GraphEntry entry;
    size_t indent = 0;
    bool active = false;
};

/// Functions that hold code of other kinds (Inductor's output code, runnable scripts).
bool isOtherFunction(std::string_view name) {
    return name == "__init__" || name == "call" || name == "load_args" || name == "benchmark_compiled_module";
}

bool headerEnds(std::string_view line) {
    const std::string_view text = trimmed(line.substr(0, line.rfind(" #")));
    return !text.empty() && text.back() == ':';
}

/// "def forward(self, *args, **kwargs)" of a stub names no input.
bool namesInputs(std::string_view header) {
    const size_t open = header.find('(');
    std::string_view inside = trimmed(header.substr(open + 1));
    if (inside.substr(0, 4) == "self")
        inside = trimmed(inside.substr(inside.substr(0, 5) == "self," ? 5 : 4));
    return !inside.empty() && (isNameChar(inside.front()));
}

/// Position of the value in "name = value", "name: "f32[2]" = value" and "name += value"; npos if the line is
/// none of them.
size_t assignmentSign(std::string_view text) {
    size_t end = 0;
    while (end < text.size() && isNameChar(text[end]))
        ++end;
    if (end == 0 || end >= text.size())
        return std::string_view::npos;
    if (text[end] == ':' || text[end] == ',') {
        size_t equals = text.find('=', end);
        while (equals != std::string_view::npos &&
               (text[equals - 1] != ' ' || text.substr(equals + 1, 1) != " "))
            equals = text.find('=', equals + 1);
        return equals == std::string_view::npos ? equals : equals + 2;
    }
    const size_t equals = text.find('=', end);
    if (equals == std::string_view::npos || equals - end > 60)
        return std::string_view::npos;
    return equals + 1 < text.size() && text[equals + 1] == ' ' ? equals + 2 : std::string_view::npos;
}

class CodeScan {
public:
    explicit CodeScan(std::string_view text)
        : text_(text), reader_(text, 0, text.size(), 1, isTorchTrace(text)) {}

    std::vector<GraphEntry> run() {
        TextLine line;
        while (reader_.next(line)) {
            if (line.stream != LineReader::kPayloadStream && line.logged && line.text.substr(0, 2) == "{\"") {
                State& payload = states_[LineReader::kPayloadStream]; // a new head ends the payload before it
                close(payload.graph);
                payload = {};
                payload.heading.read(line);
                continue;
            }
            take(states_[line.stream], line);
        }
        for (auto& [stream, state] : states_)
            close(state.graph);
        std::sort(found_.begin(), found_.end(),
                  [](const GraphEntry& a, const GraphEntry& b) { return a.offset < b.offset; });
        return std::move(found_);
    }

private:
    struct State {
        OpenGraph graph;
        PendingClass pending;
        GraphHeading heading;
        bool decorated = false; ///< the line before began with "@"
    };

    void take(State& state, const TextLine& line) {
        const std::string_view text = trimmed(line.text);
        if (text.empty())
            return;
        const size_t indent = indentOf(line.text);
        OpenGraph& graph = state.graph;
        if (graph.active && graph.in_header) {
            extend(graph, line);
            readHeader(graph, line.text);
            return;
        }
        if (graph.active && indent > graph.def_indent && !graph.nested) {
            extend(graph, line);
            count(graph, text);
            return;
        }
        if (const auto name = moduleClassName(line.text)) {
            openClass(state, line, *name, indent);
        } else if (graph.active && graph.has_class && indent > graph.class_indent) {
            graph.nested = true;
            extend(graph, line);
            countNested(graph, text);
        } else if (const auto function = functionName(line.text)) {
            if (state.decorated) // source code: the code generator of FX decorates nothing
                close(graph);
            else
                openFunction(state, line, *function, indent);
        } else {
            close(graph);
            state.heading.read(line);
        }
        state.decorated = text.front() == '@';
    }

    void openClass(State& state, const TextLine& line, std::string_view name, size_t indent) {
        OpenGraph& graph = state.graph;
        if (graph.active && graph.has_class && indent > graph.class_indent) {
            graph.nested = true;
            extend(graph, line);
            return;
        }
        close(graph);
        PendingClass& pending = state.pending;
        pending.active = true;
        pending.indent = indent;
        pending.entry = state.heading.entry(name, line);
    }

    void openFunction(State& state, const TextLine& line, std::string_view name, size_t indent) {
        OpenGraph& graph = state.graph;
        close(graph);
        if (isOtherFunction(name))
            return;
        graph = {};
        graph.active = true;
        graph.forward = name == "forward";
        graph.def_indent = indent;
        if (state.pending.active && indent > state.pending.indent) {
            graph.entry = state.pending.entry;
            graph.has_class = true;
            graph.class_indent = state.pending.indent;
        } else {
            graph.entry = state.heading.entry(name, line);
        }
        state.pending = {};
        state.heading = {};
        graph.inputs = namesInputs(line.text) || !headerEnds(line.text);
        extend(graph, line);
        readHeader(graph, line.text.substr(line.text.find('(') + 1));
    }

    /// A header may go over many lines; its inputs are counted at its end.
    static void readHeader(OpenGraph& graph, std::string_view text) {
        graph.in_header = !headerEnds(text);
        graph.header += text;
        graph.header += '\n';
        if (graph.in_header)
            return;
        std::vector<std::pair<std::string_view, std::string_view>> arguments;
        parseHeaderArguments(std::string_view(graph.header).substr(0, graph.header.rfind(')')), arguments);
        graph.entry.nodes = arguments.size();
        graph.header.clear();
    }

    void extend(OpenGraph& graph, const TextLine& line) const {
        const size_t end = std::min(text_.find('\n', line.offset), text_.size() - 1) + 1;
        graph.entry.length = end - graph.entry.offset;
    }

    void count(OpenGraph& graph, std::string_view text) {
        if (text.front() == '#' || text == "pass" || text == "...")
            return;
        ++graph.statements;
        if (text.substr(0, 6) == "return" && (text.size() == 6 || !isNameChar(text[6]))) {
            graph.entry.nodes += graph.returned ? 0 : 1;
            graph.returned = true;
            return;
        }
        const size_t equals = assignmentSign(text);
        if (equals == std::string_view::npos || graph.returned)
            return;
        const std::string_view value = text.substr(equals);
        if (value.substr(0, 9) == "fx_pytree" &&
            value.find("tree_flatten_spec") == 10) { // the names are the inputs
            graph.entry.nodes = static_cast<size_t>(
                std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), ','));
            return;
        }
        size_t end = 0;
        while (end < value.size() && (isNameChar(value[end]) || value[end] == '.'))
            ++end;
        graph.entry.nodes +=
            end < value.size() || value.substr(0, 5) == "self." ? 1 : 0; // else "l_x_ = L_x_"
        if (end == 0 || end >= value.size() || value[end] != '(')
            return;
        targets_.count(value.substr(0, end), graph.entry);
        graph.ordered = graph.ordered || value.substr(0, end) == "torch.ops.higher_order.control_deps" ||
                        value.substr(0, end) == "torch.ops.higher_order.invoke_subgraph";
        graph.nodes += value.substr(0, 10) == "torch.ops." ? 1 : 0;
    }

    /// Inductor's overlap scheduling puts single operators into nested classes, and invoke_subgraph calls
    /// whole ones: reading takes them out again.
    void countNested(OpenGraph& graph, std::string_view text) {
        const size_t equals = graph.ordered ? assignmentSign(text) : std::string_view::npos;
        if (equals == std::string_view::npos)
            return;
        const std::string_view value = text.substr(equals);
        const size_t open = value.find('(');
        if (value.substr(0, 10) == "torch.ops." && open != std::string_view::npos)
            targets_.count(value.substr(0, open), graph.entry);
    }

    /// Keeps the graph if it is one: other functions than forward must have nodes.
    void close(OpenGraph& graph) {
        const bool whole = graph.forward && (graph.inputs || graph.statements > 0);
        if (graph.active && (graph.nodes > 0 || (whole && (graph.returned || graph.inputs)))) {
            found_.push_back(std::move(graph.entry));
            found_.back().sureness = kSureOfGraph;
        }
        graph = {};
    }

    std::string_view text_;
    LineReader reader_;
    std::unordered_map<uint64_t, State> states_;
    std::vector<GraphEntry> found_;
    TargetCounter targets_;
};

/// Runs of node statements outside any function. `commented` = those that are comments.
class FragmentScan {
public:
    FragmentScan(std::string_view text, bool commented)
        : text_(text), commented_(commented), reader_(text, 0, text.size(), 1, isTorchTrace(text)) {}

    std::vector<GraphEntry> run() {
        TextLine line;
        while (reader_.next(line)) {
            std::string_view content = trimmed(line.text);
            const bool comment = !content.empty() && content.front() == '#';
            if (content.empty() || (comment && !commented_))
                continue;
            if (commented_)
                content = comment ? trimmed(content.substr(1)) : std::string_view();
            take(line, content, comment);
        }
        return std::move(found_);
    }

private:
    void take(const TextLine& line, std::string_view content, bool comment) {
        if (looksLikeNode(content)) {
            if (!open_ || stream_ != line.stream)
                begin(line);
            extend(line, 1);
            const size_t call = content.find(" = ") + 3;
            targets_.count(content.substr(call, content.find('(', call) - call), found_.back());
        } else if (open_ && content.find(" = ") != std::string_view::npos && isNameChar(content.front())) {
            extend(line, 1); // getitem, get_attr, …
        } else if (open_ && content.substr(0, 7) == "return ") {
            extend(line, 1);
            open_ = false;
        } else if (!commented_ || !comment) {
            open_ = false;
        }
    }

    void begin(const TextLine& line) {
        GraphEntry entry;
        entry.name = "fragment";
        entry.offset = line.offset;
        entry.line = line.number;
        entry.rank = line.rank;
        entry.sureness = commented_ ? kSureOfComment : kSureOfFragment;
        found_.push_back(std::move(entry));
        open_ = true;
        stream_ = line.stream;
    }

    void extend(const TextLine& line, size_t nodes) {
        found_.back().length =
            std::min(text_.find('\n', line.offset), text_.size() - 1) + 1 - found_.back().offset;
        found_.back().nodes += nodes;
    }

    std::string_view text_;
    bool commented_;
    LineReader reader_;
    std::vector<GraphEntry> found_;
    TargetCounter targets_;
    bool open_ = false;
    uint64_t stream_ = 0;
};

} // namespace

std::vector<GraphEntry> findCodeGraphs(std::string_view text) {
    if (!containsText(text, "def ") && !containsText(text, "= torch."))
        return {};
    std::vector<GraphEntry> found = CodeScan(text).run();
    if (found.empty())
        found = FragmentScan(text, false).run();
    if (found.empty())
        found = FragmentScan(text, true).run();
    return found;
}

} // namespace gs
