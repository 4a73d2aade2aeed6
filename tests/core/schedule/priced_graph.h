// A graph with its collectives and costs, as schedulers take them.
#pragma once

#include "cost/cost_sources.h"
#include "import/importer.h"
#include "schedule/scheduler.h"
#include "simulate/timeline.h"
#include "support/random_graph.h"
#include "support/test_data.h"

namespace gs::test {

struct PricedGraph {
    std::string name;
    GraphPtr graph;
    CollectiveTablePtr collectives;
    CostTablePtr costs;

    Schedule run(std::string_view scheduler, const Settings& settings, const JobContext& job = {}) const {
        return findScheduler(scheduler)->run({*graph, *collectives, *costs, settings, job});
    }
    TimelinePtr simulate(const Order& order, const SimulationSettings& settings = {}) const {
        return gs::simulate(*graph, *collectives, *costs, order, settings);
    }
    int64_t bound(const SimulationSettings& settings = {}) const {
        return stepLowerBound(*graph, *collectives, *costs, settings);
    }
    size_t gathers() const {
        size_t count = 0;
        for (const Collective& item : collectives->all())
            count += item.isGather() && item.launch != kNoNode ? 1 : 0;
        return count;
    }
};

/// Corpus graph with one of its cost tables; an empty graph if the checkout lacks one of them.
inline PricedGraph corpusGraph(const std::string& name, const std::string& table) {
    PricedGraph out;
    const auto graph = corpusPath("graphs/" + name + ".json");
    const auto costs = corpusPath("costs/" + name + "." + table + ".json");
    if (!graph || !costs)
        return out;
    Diagnostics diagnostics;
    out.name = name + " " + table;
    out.graph = importGraph(*graph, -1, -1, diagnostics, {}).value().graph;
    out.collectives = std::make_shared<CollectiveTable>(*out.graph);
    out.costs =
        priceGraph(*out.graph, *out.collectives, makeCostChain({*costs}, Settings(), diagnostics).value());
    return out;
}

inline PricedGraph randomPricedGraph(uint32_t seed, const RandomGraphOptions& options = {}) {
    PricedGraph out;
    out.name = "random " + std::to_string(seed);
    out.graph = randomGraph(seed, options);
    out.collectives = std::make_shared<CollectiveTable>(*out.graph);
    out.costs = randomCosts(*out.graph, *out.collectives, seed);
    return out;
}

/// Names of corpus graphs that have cost tables and fewer than `most_nodes` nodes.
inline std::vector<PricedGraph> corpusGraphsWithCosts(const std::string& table, size_t most_nodes) {
    std::vector<PricedGraph> out;
    for (const std::string& name : corpusGraphs()) {
        if (name.starts_with("tagged_") || name.starts_with("dynamo_") || name.starts_with("prim29_"))
            continue; // no cost tables
        PricedGraph item = corpusGraph(name, table);
        if (item.graph && item.graph->size() < most_nodes && item.collectives->size() > 0)
            out.push_back(std::move(item));
    }
    return out;
}

/// Contention 1: what a scheduler plans with is then what `simulate` with default settings does.
inline Settings quietSettings() {
    Settings settings;
    (void)settings.set(Setting::Contention, "1");
    return settings;
}

} // namespace gs::test
