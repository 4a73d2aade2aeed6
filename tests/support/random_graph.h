// Random FSDP-like programs for property tests: seeded, the same on every machine.
#pragma once

#include "cost/cost_model.h"
#include "graph/collectives.h"
#include "graph/graph.h"

#include <cstdint>
#include <functional>
#include <random>

namespace gs::test {

struct RandomGraphOptions {
    int layers = 6;
    int groups = 2;         ///< process groups
    double coalesced = 0.3; ///< share of coalesced gathers
    double prep = 0.6;      ///< share of gathers with a private cast (and sometimes a pad)
    double in_place = 0.1;  ///< share of layers with an in-place op
    double reduce_scatter = 0.5;
};

/// Placeholders, then per layer gathers, waits, compute over the gathered and the previous activations.
GraphPtr randomGraph(uint32_t seed, const RandomGraphOptions& options = {});

/// Costs by node name hash and seed: compute 1…3,000 µs (a fifth is 0), transfers 5…4,000 µs.
CostTablePtr randomCosts(const Graph& graph, const CollectiveTable& collectives, uint32_t seed);

/// Costs from a function per node.
CostTablePtr makeCosts(const Graph& graph, const CollectiveTable& collectives,
                       std::function<std::optional<int64_t>(const Graph&, NodeId)> cost);

} // namespace gs::test
