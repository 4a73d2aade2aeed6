#include "passes/bucket_coalesced.h"

#include <algorithm>
#include <numeric>

namespace gs {

namespace {

/// First parts of a module path; Dynamo's root "L['m']." is no part.
std::string_view modulePrefix(std::string_view path, int depth) {
    if (path.substr(0, 3) == "L['") {
        const size_t root = path.find("']");
        path.remove_prefix(root == std::string_view::npos ? 0 : std::min(path.size(), root + 3));
    }
    size_t end = 0;
    for (int i = 0; i < depth && end != std::string_view::npos; ++i)
        end = path.find('.', i == 0 ? 0 : end + 1);
    return path.substr(0, end);
}

std::vector<uint32_t> boundaryRegions(const Graph& graph, const std::vector<NodeId>& consumers,
                                      const std::string& boundary) {
    const bool attention = boundary.empty() || boundary == "attention";
    std::vector<bool> named(graph.targetCount(), false);
    for (TargetId id = 0; id < graph.targetCount() && !attention; ++id)
        named[id] = graph.text(graph.targetById(id).text).find(boundary) != std::string_view::npos;
    std::vector<uint32_t> boundaries_before(graph.size() + 1, 0);
    for (NodeId id = 0; id < graph.size(); ++id) {
        const bool is_boundary = graph.isCall(id) && (attention ? graph.hasTrait(id, kTraitAttention)
                                                                : bool(named[graph.node(id).target]));
        boundaries_before[id + 1] = boundaries_before[id] + (is_boundary ? 1 : 0);
    }
    std::vector<uint32_t> regions;
    for (NodeId consumer : consumers)
        regions.push_back(boundaries_before[consumer]);
    return regions;
}

/// A module that runs twice (shared layers, forward and backward) makes a region each time.
std::vector<uint32_t> moduleRegions(const Graph& graph, const std::vector<NodeId>& consumers,
                                    const std::vector<NodeId>& launches, int depth) {
    std::vector<size_t> by_consumer(consumers.size());
    std::iota(by_consumer.begin(), by_consumer.end(), size_t{0});
    std::stable_sort(by_consumer.begin(), by_consumer.end(),
                     [&](size_t a, size_t b) { return consumers[a] < consumers[b]; });
    std::vector<uint32_t> regions(consumers.size());
    uint32_t region = 0;
    std::string_view last_module;
    Phase last_phase = Phase::Unknown;
    for (size_t item : by_consumer) {
        const Node& consumer = graph.node(consumers[item]);
        const StringId path =
            consumer.module != kEmptyString ? consumer.module : graph.node(launches[item]).module;
        const std::string_view module = modulePrefix(graph.text(path), depth);
        if (region == 0 || module != last_module || consumer.phase != last_phase)
            ++region;
        regions[item] = region;
        last_module = module;
        last_phase = consumer.phase;
    }
    return regions;
}

} // namespace

std::vector<uint32_t> gatherRegions(const Graph& graph, const CollectiveTable& collectives,
                                    const std::vector<uint32_t>& candidates, const BucketOptions& options) {
    std::vector<NodeId> consumers, launches;
    for (uint32_t index : candidates) {
        consumers.push_back(collectives[index].consumers.front());
        launches.push_back(collectives[index].launch);
    }
    switch (options.region) {
    case BucketOptions::Region::Boundary:
        return boundaryRegions(graph, consumers, options.boundary);
    case BucketOptions::Region::Module:
        return moduleRegions(graph, consumers, launches, options.module_depth);
    case BucketOptions::Region::Adjacent:
        break;
    }
    std::vector<uint32_t> regions;
    for (uint32_t index : candidates) {
        const bool new_run =
            regions.empty() || collectives[index].group != collectives[candidates[regions.size() - 1]].group;
        regions.push_back(regions.empty() ? 0 : regions.back() + (new_run ? 1 : 0));
    }
    return regions;
}

} // namespace gs
