// Texts with costs: ESTLINE logs, tables, CSV, lists of estimates, our own format. What is read is matched
// with a graph.
#include "cost/cost_file.h"
#include "support/cost_graph.h"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

using namespace gs;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    // Readers take files, so that is what they get.
    static const std::string kPath = "/dev/shm/gatherscope_fuzz_" + std::to_string(::getpid());
    static const GraphPtr kGraph = test::CostGraph::make();
    std::ofstream(kPath, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    Diagnostics diagnostics;
    const auto model = loadCostFile(kPath, diagnostics);
    if (!model) {
        if (model.error().message.empty())
            std::abort();
        return 0;
    }
    model.value()->check(*kGraph, diagnostics);
    const CollectiveTable table(*kGraph);
    for (NodeId id = 0; id < kGraph->size(); ++id) {
        const auto cost = model.value()->estimate(*kGraph, table, id);
        if (cost && cost->ns < 0)
            std::abort();
    }
    return 0;
}
