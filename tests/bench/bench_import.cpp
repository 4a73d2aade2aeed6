// How fast graphs are read: MB/s of the corpus's largest text, in its forms and as a list of graphs. Texts
// are in memory and decompressed; `bytes_per_second` is of the text.
#include "import/importer.h"
#include "support/test_data.h"

#include <benchmark/benchmark.h>
#include <map>

using namespace gs;

namespace {

/// The largest text of a form that this checkout has.
const InputText& largest(const std::string& ending) {
    static std::map<std::string, InputText> all;
    InputText& best = all[ending];
    if (!best.text.empty())
        return best;
    for (const std::string& name : test::corpusGraphs()) {
        const auto path = test::corpusPath("graphs/" + name + ending);
        std::string text = path ? test::readAll(*path) : std::string();
        if (text.size() > best.text.size())
            best = {*path, std::move(text)};
    }
    return best;
}

void count(benchmark::State& state, const InputText& input) {
    state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(input.text.size()));
    state.counters["MB/s"] = benchmark::Counter(static_cast<double>(input.text.size()) / 1e6,
                                                benchmark::Counter::kIsIterationInvariantRate);
    state.SetLabel(input.path.substr(input.path.rfind('/') + 1));
}

void readText(benchmark::State& state, const std::string& ending) {
    const InputText& input = largest(ending);
    if (input.text.empty()) {
        state.SkipWithError("no such text in this checkout");
        return;
    }
    for (auto _ : state) {
        Diagnostics diagnostics;
        benchmark::DoNotOptimize(importText(input, -1, -1, diagnostics, {}));
    }
    count(state, input);
}

void listText(benchmark::State& state, const std::string& ending) {
    const InputText& input = largest(ending);
    if (input.text.empty()) {
        state.SkipWithError("no such text in this checkout");
        return;
    }
    for (auto _ : state) {
        for (const GraphReader& reader : graphReaders())
            benchmark::DoNotOptimize(reader.list(input));
    }
    count(state, input);
}

} // namespace

BENCHMARK_CAPTURE(readText, code, ".readable.txt")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(readText, graph, ".graph.txt")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(readText, table, ".tabular.txt")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(readText, json, ".json")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(listText, code, ".readable.txt")->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
