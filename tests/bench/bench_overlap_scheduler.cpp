// Time and growth of both overlap schedulers; 100,000 nodes hold 2,000 gathers. Target: 2 s and 1 GiB there.
// With bucketing, the search for buckets and their merge are on top. Then the time of document 003's
// scheduler on the corpus graphs of over 1,000 nodes that the reference was timed on: `times_faster`,
// target 100.
#include "cost/cost_sources.h"
#include "import/importer.h"
#include "passes/merge_buckets.h"
#include "schedule/overlap_scheduler/overlap_scheduler.h"
#include "schedule/overlap_scheduler_upstream/overlap_upstream.h"
#include "support/layered_graph.h"
#include "support/test_data.h"

#include <benchmark/benchmark.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

using namespace gs;

namespace {

struct Fixture {
    GraphPtr graph;
    std::vector<double> cost_ms;

    explicit Fixture(size_t nodes) : graph(test::layeredGraph(nodes)) {
        const CollectiveTable collectives(*graph);
        Diagnostics diagnostics;
        const CostChain chain = makeCostChain({}, Settings(), diagnostics).value();
        const CostTablePtr costs = priceGraph(*graph, collectives, chain);
        for (const int64_t ns : costs->all())
            cost_ms.push_back(static_cast<double>(ns) / 1e6);
    }
};

const Fixture& fixture(int64_t nodes) {
    static std::map<int64_t, std::unique_ptr<Fixture>> all;
    auto& item = all[nodes];
    if (!item)
        item = std::make_unique<Fixture>(static_cast<size_t>(nodes));
    return *item;
}

/// Highest resident size of the process so far, in MiB; 0 where the system does not tell.
double peakMib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:"))
            return std::stod(line.substr(6)) / 1024;
    }
    return 0;
}

void schedule(benchmark::State& state, const OverlapParameters& parameters) {
    const Fixture& f = fixture(state.range(0));
    size_t collectives = 0;
    for (auto _ : state)
        collectives = scheduleOverlap(*f.graph, f.cost_ms, parameters).collectives.size();
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(f.graph->size()));
    state.SetComplexityN(state.range(0));
    state.counters["collectives"] = static_cast<double>(collectives);
    state.counters["peak_mib"] = peakMib();
}

void scheduleUpstream(benchmark::State& state, UpstreamParameters parameters) {
    const Fixture& f = fixture(state.range(0));
    const std::vector<double> latency_ms(f.cost_ms.size(), 0.005);
    size_t buckets = 0, merged = 0;
    for (auto _ : state) {
        const UpstreamResult result = scheduleOverlapUpstream(*f.graph, f.cost_ms, latency_ms, parameters);
        buckets = result.buckets.members.size();
        if (parameters.collective_bucketing)
            merged = mergeScheduledBuckets(*f.graph, result.order, result.buckets).report.done;
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(f.graph->size()));
    state.SetComplexityN(state.range(0));
    state.counters["buckets"] = static_cast<double>(buckets);
    state.counters["merged"] = static_cast<double>(merged);
    state.counters["peak_mib"] = peakMib();
}

UpstreamParameters bucketing(double max_in_flight_gb) {
    UpstreamParameters parameters;
    parameters.collective_bucketing = true;
    parameters.max_in_flight_gb = max_in_flight_gb;
    return parameters;
}

void addReferenceGraphs() {
    const auto timing = test::corpusPath("golden/timing.json");
    if (!timing)
        return;
    const auto rows = nlohmann::json::parse(test::readAll(*timing)).at("graphs");
    for (const auto& [name, row] : rows.items()) {
        const auto path = test::corpusPath("graphs/" + name + ".json");
        const auto costs = test::corpusPath("costs/" + name + ".roofline.json");
        if (row.at("nodes") < 1000 || !row.contains("overlap003_s") || row.at("overlap003_s").is_null() ||
            !path || !costs)
            continue;
        Diagnostics diagnostics;
        const GraphPtr graph = importGraph(*path, -1, -1, diagnostics, {}).value().graph;
        std::vector<double> cost_ms(graph->size(), 0);
        for (const auto& [node, ns] : nlohmann::json::parse(test::readAll(*costs)).at("nodes").items())
            cost_ms[graph->find(node).value()] = ns.get<double>() / 1e6;
        const double reference_s = row.at("overlap003_s");
        benchmark::RegisterBenchmark(("reference/" + name).c_str(), [=](benchmark::State& state) {
            for (auto _ : state)
                benchmark::DoNotOptimize(scheduleOverlap(*graph, cost_ms, {}));
            state.counters["times_faster"] =
                benchmark::Counter(reference_s, benchmark::Counter::kIsIterationInvariantRate);
        })->Unit(benchmark::kMillisecond);
    }
}

void sizes(benchmark::internal::Benchmark* bench) {
    bench->Arg(1000)->Arg(10000)->Arg(30000)->Arg(100000)->Unit(benchmark::kMillisecond)->Complexity();
}

} // namespace

BENCHMARK_CAPTURE(schedule, defaults, OverlapParameters{})->Apply(sizes);
BENCHMARK_CAPTURE(schedule, no_distance_limit, OverlapParameters{2.0, 1.0, int64_t{1} << 40})->Apply(sizes);
BENCHMARK_CAPTURE(schedule, small_budget, OverlapParameters{0.1, 2.0, 1000})->Apply(sizes);
BENCHMARK_CAPTURE(scheduleUpstream, defaults, UpstreamParameters{})->Apply(sizes);
BENCHMARK_CAPTURE(scheduleUpstream, bucketing, bucketing(5))->Apply(sizes);
BENCHMARK_CAPTURE(scheduleUpstream, bucketing_small_budget, bucketing(0.1))->Apply(sizes);

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    addReferenceGraphs();
    benchmark::RunSpecifiedBenchmarks();
}
