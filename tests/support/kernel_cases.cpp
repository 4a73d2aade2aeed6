#include "support/kernel_cases.h"

#include "cost/cost_model.h"
#include "import/importer.h"
#include "support/test_data.h"

#include <filesystem>
#include <set>

namespace gs::test {

namespace {

class Collector {
public:
    void add(const std::string& path) {
        Diagnostics diagnostics;
        const auto imported = importGraph(path, -1, -1, diagnostics, {});
        if (!imported || imported.value().graph->info().level != GraphLevel::Fx)
            return;
        const GraphPtr& graph = imported.value().graph;
        for (const FusedRegion& region : findFusedRegions(*graph))
            keep(graph, fusedRegionKey(*graph, region), region);
        const CollectiveTable collectives(*graph);
        for (NodeId id = 0; id < graph->size(); ++id) {
            if (graph->node(id).kind != NodeKind::Compute || !graph->isCall(id))
                continue;
            FusedRegion one;
            one.nodes = {id};
            keep(graph, structuralKey(*graph, collectives, id), one);
        }
    }
    std::vector<KernelCase> take() { return std::move(cases_); }

private:
    void keep(const GraphPtr& graph, const std::string& key, const FusedRegion& region) {
        if (seen_.insert(key).second)
            cases_.push_back({graph, region, key, graph->info().name});
    }

    std::set<std::string> seen_;
    std::vector<KernelCase> cases_;
};

} // namespace

std::vector<KernelCase> kernelCasesOf(const std::vector<std::string>& paths) {
    Collector collector;
    for (const std::string& path : paths)
        collector.add(path);
    return collector.take();
}

std::vector<KernelCase> kernelCases() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(GATHERSCOPE_SOURCE_DIR "/samples")) {
        const std::string file = entry.path().filename().string();
        if (file.ends_with(".json.gz"))
            paths.push_back(entry.path().string());
    }
    for (const std::string& name : corpusGraphs()) {
        // The largest models repeat the layers of the smaller ones of their family in other sizes.
        const bool huge = name.find("405b") != std::string::npos || name.find("70b") != std::string::npos;
        if (const auto path = corpusPath("graphs/" + name + ".json"); path && !huge)
            paths.push_back(*path);
    }
    return kernelCasesOf(paths);
}

} // namespace gs::test
