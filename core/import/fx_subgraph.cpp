#include "import/fx_subgraph.h"

#include "import/fx_scan.h"

#include <algorithm>

namespace gs {

namespace {

/// Position of the first of `stops` outside quotes and brackets, or the end.
size_t findOutside(std::string_view text, size_t from, std::string_view stops) {
    int depth = 0;
    for (size_t i = from; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            const size_t close = text.find(c, i + 1);
            if (close == std::string_view::npos)
                return text.size();
            i = close;
            continue;
        }
        if (depth == 0 && stops.find(c) != std::string_view::npos)
            return i;
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    }
    return text.size();
}

std::string_view unquoted(std::string_view text) {
    text = trimmed(text);
    if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
        return text.substr(1, text.size() - 2);
    return text;
}

/// Takes the call out of "x: "f32[2]" = torch.ops.aten.mm.default(arg_0, arg_1);  arg_0 = None".
void readCallLine(std::string_view line, Subgraph& graph) {
    const size_t equals = line.find(" = ");
    const size_t open = line.find('(', equals == std::string_view::npos ? line.size() : equals);
    if (open == std::string_view::npos)
        return;
    const size_t close = findOutside(line, open + 1, ")");
    if (close >= line.size())
        return;
    graph.target = line.substr(equals + 3, open - equals - 3);
    graph.arguments = line.substr(open + 1, close - open);
}

/// Inside of "return (a, b)", "return a" or "return [a]".
std::string_view returnedItems(std::string_view line) {
    std::string_view items = trimmed(line.substr(6));
    if (items.size() >= 2 && (items.front() == '(' || items.front() == '[') &&
        findOutside(items, 1, ")]") == items.size() - 1)
        items = items.substr(1, items.size() - 2);
    return items;
}

void takeStatement(std::string_view content, const TextLine& line, TargetCounter& targets, Subgraph& graph) {
    if (content.substr(0, 6) == "return") {
        graph.results = returnedItems(content);
        return;
    }
    GraphEntry counted;
    const size_t call = content.find("torch.ops.");
    if (call != std::string_view::npos)
        targets.count(content.substr(call, content.find('(', call) - call), counted);
    graph.collectives += counted.collectives;
    constexpr std::string_view kAttribute = " = self.";
    if (const size_t attribute = content.find(kAttribute); attribute != std::string_view::npos) {
        const size_t begin = attribute + kAttribute.size();
        graph.calls.emplace_back(content.substr(begin, content.find(';', begin) - begin));
    }
    graph.statements.push_back(
        {std::string(content), line.number, line.column + static_cast<uint32_t>(indentOf(line.text))});
    if (graph.statements.size() == 1)
        readCallLine(content, graph);
    else
        graph.target.clear();
}

} // namespace

bool parseHeaderArguments(std::string_view inside,
                          std::vector<std::pair<std::string_view, std::string_view>>& arguments) {
    for (size_t at = 0; at < inside.size();) {
        const size_t end = findOutside(inside, at, ",");
        std::string_view item = trimmed(inside.substr(at, end - at));
        at = end + 1;
        while (!item.empty() && item.front() == '#') { // "# description" of the argument before, own line
            const size_t line_end = item.find('\n');
            item = line_end == std::string_view::npos ? "" : trimmed(item.substr(line_end + 1));
        }
        if (item.empty() || item.front() == '*' || item == "self" || item == "/")
            continue;
        size_t name_end = 0;
        while (name_end < item.size() && isNameChar(item[name_end]))
            ++name_end;
        if (name_end == 0)
            return false;
        std::string_view annotation = trimmed(item.substr(name_end));
        if (!annotation.empty() && annotation.front() == ':')
            annotation = annotation.substr(1, findOutside(annotation, 1, "=") - 1);
        else if (annotation.empty() || annotation.front() == '=')
            annotation = {};
        else
            return false;
        arguments.emplace_back(item.substr(0, name_end), unquoted(annotation));
    }
    return true;
}

std::unordered_map<std::string, Subgraph> readSubgraphs(const InputText& input, const GraphEntry& entry,
                                                        bool trace) {
    std::unordered_map<std::string, Subgraph> graphs;
    const std::string_view text = std::string_view(input.text).substr(entry.offset, entry.length);
    if (!containsText(text, "control_deps(") && !containsText(text, "invoke_subgraph("))
        return graphs;
    LineReader reader(input.text, entry.offset, entry.offset + entry.length, entry.line, trace);
    TextLine line;
    Subgraph* graph = nullptr;
    bool first = true;
    uint64_t stream = 0;
    TargetCounter targets;
    while (reader.next(line)) {
        const std::string_view content = trimmed(line.text);
        stream = first ? line.stream : stream;
        if (line.stream != stream)
            continue; // another rank or another message
        if (const auto name = moduleClassName(line.text)) {
            graph = first ? nullptr : &graphs[std::string(*name)];
            if (graph)
                *graph = {};
        } else if (!graph || content.empty() || content.front() == '#') {
            first = false;
            continue;
        } else if (functionName(line.text)) {
            const size_t open = content.find('(');
            std::vector<std::pair<std::string_view, std::string_view>> arguments;
            parseHeaderArguments(content.substr(open + 1, content.rfind(')') - open - 1), arguments);
            for (const auto& [name, annotation] : arguments)
                graph->inputs.emplace_back(name);
        } else {
            takeStatement(content, line, targets, *graph);
        }
        first = false;
    }
    return graphs;
}

} // namespace gs
