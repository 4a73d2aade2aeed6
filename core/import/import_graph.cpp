#include "import/importer.h"

#include <fmt/format.h>

namespace gs {

Result<ImportedGraph> importGraph(const std::string& path, int index, int, Diagnostics& diagnostics,
                                  const JobContext& job) {
    Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        return input.error();
    const GraphReader* best = nullptr;
    for (const GraphReader& reader : graphReaders()) {
        if (reader.sniff(input->text) > (best ? best->sniff(input->text) : 0))
            best = &reader;
    }
    if (!best)
        return Error{"not-a-graph", fmt::format("{}: no reader knows this file", path), {path, 0, 0}, ""};
    ImportedGraph imported;
    imported.reader = best->name;
    imported.entries = best->list(input.value());
    imported.chosen = index < 0 ? 0 : static_cast<size_t>(index);
    if (imported.chosen >= imported.entries.size())
        return Error{"no-such-graph", fmt::format("{}: there is no graph {}", path, index), {path, 0, 0}, ""};
    Result<GraphPtr> graph = best->read(input.value(), imported.entries[imported.chosen], diagnostics, job);
    if (!graph)
        return graph.error();
    imported.graph = graph.value();
    return imported;
}

} // namespace gs
