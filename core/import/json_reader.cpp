// Reader of our own complete form, `gatherscope.graph` version 1 (corpus FORMAT.md; formats.md).
#include "import/json_graph.h"
#include "import/json_nodes.h"
#include "import/json_scan.h"
#include "import/readers.h"
#include "import/text_lines.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

namespace dom = simdjson::dom;

constexpr int64_t kVersion = 1;

void readHeader(const dom::object& root, GraphBuilder& builder, const std::string& file) {
    GraphInfo& info = builder.info();
    info.name = stringOr(root, "name");
    info.source_file = file;
    info.level = stringOr(root, "level") == "scheduler" ? GraphLevel::Scheduler : GraphLevel::Fx;
    if (const int64_t version = intOr(root, "version", 0); version != kVersion)
        builder.diagnostics().add(
            {Severity::Warning,
             "graph-version",
             {file, 1, 0},
             {},
             fmt::format("the file states version {}; this program knows version {}", version, kVersion),
             "what it does not know is left out"});
    dom::object source;
    if (root["source"].get(source) == simdjson::SUCCESS) {
        info.producer = stringOr(source, "producer");
        info.capture = stringOr(source, "capture");
        info.model = stringOr(source, "model");
        info.world_size = static_cast<int32_t>(intOr(source, "world_size", 0));
        info.rank = static_cast<int32_t>(intOr(source, "rank", 0));
        bool has_shapes = true;
        info.has_shapes = source["has_shapes"].get(has_shapes) != simdjson::SUCCESS || has_shapes;
    }
    dom::object groups;
    if (root["groups"].get(groups) != simdjson::SUCCESS)
        return;
    for (const auto field : groups) {
        dom::object group;
        std::vector<int32_t> ranks;
        dom::array items;
        if (field.value.get(group) != simdjson::SUCCESS)
            continue;
        if (group["ranks"].get(items) == simdjson::SUCCESS) {
            for (const dom::element item : items) {
                int64_t rank = 0;
                if (item.get(rank) == simdjson::SUCCESS)
                    ranks.push_back(static_cast<int32_t>(rank));
            }
        }
        const bool sized = ranks.empty();
        const GroupId id = builder.addGroup(field.key, std::move(ranks), stringOr(group, "desc"));
        if (const int64_t size = intOr(group, "size", 0); sized && size > 0 && size <= INT32_MAX)
            builder.setGroupSize(id, static_cast<int32_t>(size));
    }
}

GraphPtr convertAll(const dom::object& root, const dom::array& nodes, const std::string& file,
                    const std::vector<JsonSpan>* spans, Diagnostics& diagnostics) {
    GraphBuilder builder;
    readHeader(root, builder, file);
    JsonNodeReader reader(builder, file);
    size_t index = 0;
    for (const dom::element node : nodes) {
        dom::object object;
        const int64_t stated = node.get(object) == simdjson::SUCCESS ? intOr(object, "line", 0) : 0;
        reader.read(node, spans && index < spans->size()
                              ? (*spans)[index].line
                              : static_cast<uint32_t>(std::max<int64_t>(stated, 0)));
        ++index;
    }
    return builder.finish(&diagnostics);
}

/// The file is no valid JSON: reads node by node what can be read and says where it breaks.
Result<GraphPtr> recover(const InputText& input, const std::string& reason, Diagnostics& diagnostics) {
    const JsonArrayScan scan = scanArray(input.text, "nodes");
    const JsonFault fault = findJsonFault(input.text);
    const std::string what = fault.found() ? fault.message : reason;
    Error error{"bad-json",
                fmt::format("{}: {}", input.path, what),
                {input.path, fault.line, fault.column},
                "write the file again, or mend the line"};
    if (!scan.found)
        return error;
    dom::parser header_parser, parser;
    dom::object header;
    const std::string header_text = input.text.substr(0, scan.begin) + "]}";
    if (header_parser.parse(header_text).get(header) != simdjson::SUCCESS)
        return error;
    diagnostics.add({Severity::Error, "bad-json", error.where, {}, what, error.hint});
    GraphBuilder builder;
    readHeader(header, builder, input.path);
    JsonNodeReader reader(builder, input.path);
    for (const JsonSpan& span : scan.items) {
        const std::string text = input.text.substr(span.begin, span.length);
        dom::element element;
        if (const auto code = parser.parse(text).get(element); code != simdjson::SUCCESS) {
            const JsonFault inner = findJsonFault(text);
            diagnostics.add({Severity::Error,
                             "bad-node",
                             {input.path, span.line + (inner.found() ? inner.line - 1 : 0), inner.column},
                             {},
                             fmt::format("a node was skipped: {}",
                                         inner.found() ? inner.message : simdjson::error_message(code)),
                             "mend this line"});
            continue;
        }
        reader.read(element, span.line);
    }
    if (scan.cut)
        diagnostics.add(
            {Severity::Error,
             "cut-file",
             {input.path, scan.last_line, 0},
             {},
             fmt::format("the file ends inside the node list, after {} whole nodes", scan.items.size()),
             "copy the file again"});
    if (builder.size() == 0)
        return error;
    return builder.finish(&diagnostics);
}

Result<GraphPtr> readJson(const InputText& input, const GraphEntry&, Diagnostics& diagnostics,
                          const JobContext& job) {
    job.report("parsing", 0.1);
    dom::parser parser;
    dom::element element;
    if (const auto code = parser.parse(input.text).get(element); code != simdjson::SUCCESS)
        return recover(input, simdjson::error_message(code), diagnostics);
    dom::object root;
    dom::array nodes;
    if (element.get(root) != simdjson::SUCCESS || root["nodes"].get(nodes) != simdjson::SUCCESS)
        return Error{"not-a-graph",
                     fmt::format("{}: the JSON has no \"nodes\" array", input.path),
                     {input.path, 1, 0},
                     "a graph file begins with {\"format\": \"gatherscope.graph\", \"version\": 1, …}"};
    if (nodes.size() == 0)
        return Error{"empty-graph",
                     fmt::format("{}: the graph has no nodes", input.path),
                     {input.path, 1, 0},
                     "capture the graph again"};
    if (job.cancelled())
        return Error{"cancelled", "cancelled", {}, ""};
    job.report("reading nodes", 0.3);
    Diagnostics found;
    GraphPtr graph = convertAll(root, nodes, input.path, nullptr, found);
    if (!found.all().empty()) { // rare: once more, with the lines for the messages
        const JsonArrayScan scan = scanArray(input.text, "nodes");
        found = Diagnostics();
        graph = convertAll(root, nodes, input.path, &scan.items, found);
    }
    diagnostics.append(found);
    return graph;
}

/// Count of `word` in the text.
size_t countOf(std::string_view text, std::string_view word) {
    size_t count = 0;
    for (size_t at = findText(text, word); at != std::string_view::npos;
         at = findText(text, word, at + word.size()))
        ++count;
    return count;
}

std::vector<GraphEntry> listJson(const InputText& input) {
    const std::string_view text = input.text;
    const size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first == std::string_view::npos || text[first] != '{' ||
        text.substr(0, 4096).find("\"gatherscope.graph\"") == std::string_view::npos)
        return {};
    return {jsonGraphEntry(text)};
}

} // namespace

GraphPtr graphOfJson(const dom::object& root, const dom::array& nodes, const std::string& file,
                     Diagnostics& diagnostics) {
    return convertAll(root, nodes, file, nullptr, diagnostics);
}

GraphEntry jsonGraphEntry(std::string_view text) {
    GraphEntry entry;
    entry.name = "graph";
    entry.length = text.size();
    entry.level = text.substr(0, 4096).find("\"scheduler\"") == std::string_view::npos
                      ? GraphLevel::Fx
                      : GraphLevel::Scheduler;
    entry.nodes = countOf(text, "\"op\"");
    const auto targets = [&](std::string_view op) {
        return countOf(text, fmt::format("\"target\":\"_c10d_functional.{}", op)) +
               countOf(text, fmt::format("\"target\": \"_c10d_functional.{}", op));
    };
    entry.gathers = targets("all_gather_into_tensor");
    // Tags are optional, and other namespaces have collectives, too.
    entry.collectives = std::max(countOf(text, "\"collective\""), targets("") - targets("wait_tensor"));
    entry.sureness = 100;
    return entry;
}

GraphReader gatherscopeJsonReader() {
    return {"gatherscope-json", "Gatherscope graph JSON", listJson, readJson};
}

} // namespace gs
