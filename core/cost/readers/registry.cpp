// Which reader reads a cost file, and what is said of files that are none.
#include "cost/cost_file.h"
#include "cost/readers/byte_source.h"
#include "cost/readers/cost_reader.h"
#include "import/bundle_json.h"
#include "import/fx_scan.h"
#include "import/json_scan.h"
#include "import/neighbours.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr size_t kHeadBytes = 64 * 1024;
/// A reader that is less sure only says what is wrong with a file.
constexpr int kSureOfCosts = 50;

const CostReader* surest(std::string_view head) {
    const CostReader* best = nullptr;
    int most = 0;
    for (const CostReader& reader : costReaders()) {
        if (const int sure = reader.sniff(head); sure > most) {
            most = sure;
            best = &reader;
        }
    }
    return best;
}

/// A graph that was given as costs; null for other texts.
const GraphReader* graphReaderOf(std::string_view head) {
    const InputText text{{}, std::string(head)};
    for (const GraphReader& reader : graphReaders()) {
        for (const GraphEntry& entry : reader.list(text)) {
            if (entry.sureness >= kSureOfFragment)
                return &reader;
        }
    }
    return nullptr;
}

/// Files of neighbouring formats and what to do with them as costs, by their signs.
struct Foreign {
    std::string_view sign;
    std::string_view hint;
};
constexpr std::string_view kWhatIsRead = "costs are read from torch.profiler traces, Nsight Systems SQLite "
                                         "exports, ESTLINE logs, Inductor's estimates, "
                                         "tables of collectives and gatherscope.costs files";
constexpr std::array<Foreign, 5> kForeign = {{
    {"chakra",
     "execution traces have no times of kernels; record torch.profiler's export_chrome_trace() beside it"},
    {"\"workload_graph\"",
     "it has times of host operators only; record torch.profiler's export_chrome_trace()"},
    {"\"Stream\": 0x", "record the run with torch.profiler instead"},
    {"graph_execution_order",
     "it has no times; open the TORCH_TRACE log that it was taken from as the graph"},
    {"torch.ops.",
     "a collective schedule has names only; the inductor_runtime_and_tensor_meta file of the same "
     "compilation has times"},
}};

Error notCosts(const std::string& path, const std::string& head) {
    SourcePos where{path, 1, 1};
    std::string hint(kWhatIsRead);
    if (const GraphReader* graph = graphReaderOf(head))
        return {"not-a-cost-file", fmt::format("{}: this is a graph ({}), not costs", path, graph->title),
                where, "open it as the graph; " + hint};
    Neighbour neighbour = nameNeighbour(head);
    for (const Foreign& foreign : kForeign) {
        if (head.find(foreign.sign) != std::string::npos) {
            hint = foreign.hint;
            break;
        }
    }
    if (neighbour.what.find("not valid JSON") != std::string::npos) {
        const JsonFault fault = findJsonFault(head);
        where.line = std::max(fault.line, 1U);
        where.column = std::max(fault.column, 1U);
        neighbour.what += fmt::format("; line {}, column {}: {}", where.line, where.column, fault.message);
    }
    return {"not-a-cost-file", fmt::format("{}: this is {}, not costs", path, neighbour.what), where, hint};
}

} // namespace

std::span<const CostReader> costReaders() {
    static const std::array<CostReader, 8> kReaders = {
        bundleCostReader(), gatherscopeCostReader(), kinetoReader(),      nsysReader(),
        logCostReader(),    inductorRuntimeReader(), inductorCsvReader(), collectiveTableReader()};
    return kReaders;
}

void reportOpenEnd(const InputText& input, Diagnostics& diagnostics) {
    if (input.text.empty() || input.text.back() == '\n')
        return;
    const auto line = static_cast<uint32_t>(1 + std::count(input.text.begin(), input.text.end(), '\n'));
    diagnostics.add({Severity::Info,
                     "open-end",
                     {input.path, line, 0},
                     {},
                     "the text stops without a line end: its last line may be cut",
                     "compare the last number with the source"});
}

Result<std::string> fileHead(const std::string& path) {
    auto bytes = openBytes(path);
    if (!bytes)
        return bytes.error();
    std::string head(kHeadBytes, '\0');
    head.resize(bytes.value()->read(head.data(), head.size()));
    if (head.empty()) {
        const std::string problem = bytes.value()->problem();
        if (problem.empty())
            return Error{"empty-file",
                         fmt::format("{}: the compressed file is empty", path),
                         {path, 0, 0},
                         "write it again"};
        return Error{"cut-gzip", fmt::format("{}: {}", path, problem), {path, 0, 0}, "copy the file again"};
    }
    if (head.compare(0, 3, "\xef\xbb\xbf") == 0)
        head.erase(0, 3);
    return head;
}

bool looksLikeCosts(std::string_view head) {
    if (looksLikeBundle(head)) // it has both, and opens as a graph
        return false;
    const CostReader* reader = surest(head);
    const int sure = reader ? reader->sniff(head) : 0;
    // Logs may hold graphs and costs; they are opened as graphs.
    return sure >= kSureOfGraph || (sure >= kSureOfCosts && !graphReaderOf(head));
}

Result<CostModelPtr> loadCostFile(const std::string& path, Diagnostics& diagnostics, const JobContext& job) {
    const Result<std::string> head = fileHead(path);
    if (!head)
        return head.error();
    const CostReader* reader = surest(head.value());
    const bool ours = head->find("\"gatherscope.") != std::string::npos; // its reader says what is wrong
    if (!reader || (reader->sniff(head.value()) < kSureOfCosts && !ours &&
                    nameNeighbour(head.value()).what != "JSON of another kind"))
        return notCosts(path, head.value());
    return reader->read(path, diagnostics, job);
}

} // namespace gs
