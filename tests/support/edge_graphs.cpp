#include "support/edge_graphs.h"

#include "import/importer.h"
#include "support/test_data.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gs::test {

std::vector<GraphPtr> edgeGraphs() {
    std::vector<GraphPtr> graphs;
    const auto path = corpusPath("golden/fuzz/fuzz.jsonl");
    if (!path)
        return graphs;
    for (const std::string& line : readLines(*path)) {
        const auto row = nlohmann::ordered_json::parse(line);
        if (row.at("graph").at("source").at("model") != "edge")
            continue;
        Diagnostics diagnostics;
        Result<ImportedGraph> graph = importText({"fuzz", row.at("graph").dump()}, -1, -1, diagnostics, {});
        if (!graph)
            throw std::runtime_error(graph.error().message);
        graphs.push_back(graph->graph);
    }
    return graphs;
}

} // namespace gs::test
