#include "import/fx_scan.h"

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
    bool returned = false;
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
    };

    void take(State& state, const TextLine& line) {
        const std::string_view text = trimmed(line.text);
        if (text.empty())
            return;
        const size_t indent = indentOf(line.text);
        OpenGraph& graph = state.graph;
        if (graph.active && graph.in_header) {
            extend(graph, line);
            graph.in_header = !headerEnds(line.text);
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
        } else if (const auto function = functionName(line.text)) {
            openFunction(state, line, *function, indent);
        } else {
            close(graph);
            state.heading.read(line);
        }
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
        pending.entry = entryAt(state, line, name);
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
            graph.entry = entryAt(state, line, name);
        }
        state.pending = {};
        state.heading = {};
        graph.in_header = !headerEnds(line.text);
        graph.inputs = namesInputs(line.text) || (graph.in_header && !line.text.empty());
        extend(graph, line);
    }

    static GraphEntry entryAt(const State& state, const TextLine& line, std::string_view name) {
        GraphEntry entry;
        entry.name = state.heading.title(name, line);
        entry.offset = line.offset;
        entry.line = line.number;
        entry.rank = line.rank >= 0 ? line.rank : state.heading.rank;
        return entry;
    }

    void extend(OpenGraph& graph, const TextLine& line) const {
        const size_t end = std::min(text_.find('\n', line.offset), text_.size() - 1) + 1;
        graph.entry.length = end - graph.entry.offset;
    }

    static void count(OpenGraph& graph, std::string_view text) {
        if (text.front() == '#' || text == "pass" || text == "...")
            return;
        ++graph.statements;
        graph.nodes += looksLikeNode(text) ? 1 : 0;
        graph.returned = graph.returned || text.substr(0, 6) == "return";
    }

    /// Keeps the graph if it is one: other functions than forward must have nodes.
    void close(OpenGraph& graph) {
        const bool whole = graph.forward && (graph.inputs || graph.statements > 0);
        if (graph.active && (graph.nodes > 0 || (whole && (graph.returned || graph.inputs))))
            found_.push_back(graph.entry);
        graph = {};
    }

    std::string_view text_;
    LineReader reader_;
    std::unordered_map<uint64_t, State> states_;
    std::vector<GraphEntry> found_;
};

/// Runs of node statements outside any function. `commented` = those that are comments.
std::vector<GraphEntry> findFragments(std::string_view text, bool commented) {
    std::vector<GraphEntry> found;
    LineReader reader(text, 0, text.size(), 1, isTorchTrace(text));
    TextLine line;
    bool open = false;
    uint64_t stream = 0;
    while (reader.next(line)) {
        std::string_view content = trimmed(line.text);
        const bool comment = !content.empty() && content.front() == '#';
        if (content.empty() || (comment && !commented))
            continue;
        if (commented)
            content = comment ? trimmed(content.substr(1)) : std::string_view();
        const size_t end = std::min(text.find('\n', line.offset), text.size() - 1) + 1;
        if (looksLikeNode(content)) {
            if (!open || stream != line.stream)
                found.push_back({"fragment", line.offset, 0, line.number, line.rank});
            open = true;
            stream = line.stream;
            found.back().length = end - found.back().offset;
        } else if (open && content.find(" = ") != std::string_view::npos && isNameChar(content.front())) {
            found.back().length = end - found.back().offset; // getitem, get_attr, …
        } else if (open && content.substr(0, 7) == "return ") {
            found.back().length = end - found.back().offset;
            open = false;
        } else if (!commented || !comment) {
            open = false;
        }
    }
    return found;
}

} // namespace

std::vector<GraphEntry> findCodeGraphs(std::string_view text) {
    if (text.find("def ") == std::string_view::npos && text.find("= torch.") == std::string_view::npos)
        return {};
    std::vector<GraphEntry> found = CodeScan(text).run();
    if (found.empty())
        found = findFragments(text, false);
    if (found.empty())
        found = findFragments(text, true);
    return found;
}

} // namespace gs
