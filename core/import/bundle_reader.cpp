// The graph of a bundle, as it was read when the bundle was made: with that file's name, lines and remarks.
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
    static constexpr std::array<std::string_view, 6> kParts{
        "versions", "request", "input_diagnostics", "ranks", "graph", "analysis"}; // the rest with the costs
    checkBundleParts(root, kParts, input.path, diagnostics);
    return made;
}

} // namespace

GraphReader bundleReader() {
    return {"gatherscope-bundle", "Gatherscope bundle", listBundle, readBundle};
}

} // namespace gs
