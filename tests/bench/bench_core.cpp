// Time per stage and its growth from 1,000 to 100,000 nodes. `items_per_second` is nodes per second: equal
// down a column means linear growth; the closing table states it.
#include "cost/cost_sources.h"
#include "import/importer.h"
#include "passes/pass.h"
#include "schedule/scheduler.h"
#include "simulate/timeline.h"
#include "support/layered_graph.h"

#include <benchmark/benchmark.h>
#include <map>

using namespace gs;

namespace {

/// One program of a size with everything made from it, built once.
struct Fixture {
    GraphPtr graph;
    GraphPtr redistributes;
    InputText json;
    std::shared_ptr<CollectiveTable> collectives;
    CostChain chain;
    CostTablePtr costs;
    Settings settings;
    Schedule schedule;

    explicit Fixture(size_t nodes)
        : graph(test::layeredGraph(nodes)),
          redistributes(test::layeredRedistributes(nodes)), json{"layers.json", test::graphJson(*graph)},
          collectives(std::make_shared<CollectiveTable>(*graph)) {
        Diagnostics diagnostics;
        chain = makeCostChain({}, settings, diagnostics).value();
        costs = priceGraph(*graph, *collectives, chain);
        schedule = findScheduler("latest-safe-launch")->run(input());
        static_cast<void>(settings.set(Setting::BucketMode, "coalesced"));
    }
    ScheduleInput input() const { return {*graph, *collectives, *costs, settings, {}}; }
};

const Fixture& fixture(int64_t nodes) {
    static std::map<int64_t, std::unique_ptr<Fixture>> all;
    auto& item = all[nodes];
    if (!item)
        item = std::make_unique<Fixture>(static_cast<size_t>(nodes));
    return *item;
}

void count(benchmark::State& state, const Fixture& f) {
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(f.graph->size()));
    state.SetComplexityN(state.range(0));
}

void readJson(benchmark::State& state) {
    const Fixture& f = fixture(state.range(0));
    const GraphReader* reader = nullptr;
    for (const GraphReader& item : graphReaders()) {
        if (item.name == "gatherscope-json")
            reader = &item;
    }
    for (auto _ : state) {
        Diagnostics diagnostics;
        benchmark::DoNotOptimize(reader->read(f.json, reader->list(f.json).front(), diagnostics, {}));
    }
    count(state, f);
}

void findCollectives(benchmark::State& state) {
    const Fixture& f = fixture(state.range(0));
    for (auto _ : state)
        benchmark::DoNotOptimize(CollectiveTable(*f.graph));
    count(state, f);
}

void lower(benchmark::State& state) {
    const Fixture& f = fixture(state.range(0));
    for (auto _ : state)
        benchmark::DoNotOptimize(lowerRedistributes(f.redistributes, f.settings));
    count(state, f);
}

void bucket(benchmark::State& state) {
    const Fixture& f = fixture(state.range(0));
    for (auto _ : state)
        benchmark::DoNotOptimize(bucketCoalesced(f.graph, f.settings));
    count(state, f);
}

void price(benchmark::State& state) {
    const Fixture& f = fixture(state.range(0));
    for (auto _ : state)
        benchmark::DoNotOptimize(priceGraph(*f.graph, *f.collectives, f.chain));
    count(state, f);
}

void schedule(benchmark::State& state, const char* name) {
    const Fixture& f = fixture(state.range(0));
    for (auto _ : state)
        benchmark::DoNotOptimize(findScheduler(name)->run(f.input()));
    count(state, f);
}

void simulateStep(benchmark::State& state) {
    const Fixture& f = fixture(state.range(0));
    for (auto _ : state)
        benchmark::DoNotOptimize(
            simulate(*f.graph, *f.collectives, *f.costs, f.schedule.order, {1.5, 1.0, {}}));
    count(state, f);
}

void sizes(benchmark::internal::Benchmark* bench) {
    bench->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);
}

} // namespace

BENCHMARK(readJson)->Apply(sizes);
BENCHMARK(findCollectives)->Apply(sizes);
BENCHMARK(lower)->Apply(sizes);
BENCHMARK(bucket)->Apply(sizes);
BENCHMARK(price)->Apply(sizes);
BENCHMARK_CAPTURE(schedule, latest_safe_launch, "latest-safe-launch")->Apply(sizes);
BENCHMARK_CAPTURE(schedule, just_in_time, "just-in-time")->Apply(sizes);
BENCHMARK(simulateStep)->Apply(sizes);
BENCHMARK_MAIN();
