// The graph of a bundle, as it was read when the bundle was made: with that file's name, lines and remarks.
#include "base/hash.h"
#include "import/bundle_json.h"
#include "import/json_graph.h"
#include "import/json_nodes.h"
#include "import/readers.h"

#include <fmt/format.h>

namespace gs {

namespace {

namespace dom = simdjson::dom;

std::vector<GraphEntry> listBundle(const InputText& input) {
    if (!looksLikeBundle(input.text))
        return {};
    return {jsonGraphEntry(input.text)};
}

Result<GraphPtr> readBundle(const InputText& input, const GraphEntry&, Diagnostics& diagnostics,
                            const JobContext& job) {
    job.report("parsing", 0.1);
    dom::parser parser;
    dom::object root, graph, request;
    dom::array nodes;
    const simdjson::error_code code = parser.parse(input.text).get(root);
    if (code != simdjson::SUCCESS || root["graph"].get(graph) != simdjson::SUCCESS ||
        graph["nodes"].get(nodes) != simdjson::SUCCESS || nodes.size() == 0)
        return Error{"bad-bundle",
                     fmt::format("{}: the bundle has no readable graph{}", input.path,
                                 code == simdjson::SUCCESS
                                     ? std::string()
                                     : fmt::format(" ({})", simdjson::error_message(code))),
                     {input.path, 1, 0},
                     "export it again"};
    if (const Status status = checkBundleVersion(root, input.path); !status)
        return status.error();
    if (job.cancelled())
        return Error{"cancelled", "cancelled", {}, ""};
    std::string file = input.path;
    if (root["request"].get(request) == simdjson::SUCCESS)
        file = stringOr(request, "graph_file", file);
    Diagnostics again; // was said when the bundle was made, and is among its diagnostics
    GraphPtr made = graphOfJson(graph, nodes, file, again);
    readDiagnostics(root, "input_diagnostics", diagnostics);
    const std::string hash = hexDigits(made->structuralHash());
    std::string_view stated;
    if (root["hashes"]["source"].get(stated) != simdjson::SUCCESS || stated != hash)
        diagnostics.add({Severity::Warning,
                         std::string(kBundleEdited),
                         {input.path, 1, 0},
                         {},
                         fmt::format("the graph is not the one that the bundle was made of: its structural "
                                     "hash is {}, stated is {}",
                                     hash, stated.empty() ? "none" : stated),
                         "the file was changed by hand or by another program"});
    return made;
}

} // namespace

Status checkBundleVersion(const dom::object& root, const std::string& path) {
    const int64_t version = intOr(root, "version", 0);
    if (version == kBundleVersion)
        return Unit{};
    return Error{"bundle-version",
                 fmt::format("{}: the bundle states version {}; this program knows version {}", path, version,
                             kBundleVersion),
                 {path, 1, 0},
                 "open it with the program that wrote it, or export it again"};
}

void readDiagnostics(const dom::object& root, std::string_view key, Diagnostics& diagnostics) {
    dom::array items;
    if (root[key].get(items) != simdjson::SUCCESS)
        return;
    for (const dom::element item : items) {
        dom::object object, where;
        if (item.get(object) != simdjson::SUCCESS)
            continue;
        const std::string_view severity = stringOr(object, "severity");
        Diagnostic diagnostic{severity == "error"     ? Severity::Error
                              : severity == "warning" ? Severity::Warning
                                                      : Severity::Info,
                              std::string(stringOr(object, "code")),
                              {},
                              std::string(stringOr(object, "node")),
                              std::string(stringOr(object, "message")),
                              std::string(stringOr(object, "hint"))};
        if (object["where"].get(where) == simdjson::SUCCESS)
            diagnostic.where = {std::string(stringOr(where, "file")),
                                static_cast<uint32_t>(intOr(where, "line", 0)),
                                static_cast<uint32_t>(intOr(where, "column", 0))};
        diagnostics.add(std::move(diagnostic));
    }
}

GraphReader bundleReader() {
    return {"gatherscope-bundle", "Gatherscope bundle", listBundle, readBundle};
}

} // namespace gs
