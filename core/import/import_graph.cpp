#include "import/fx_scan.h"
#include "import/importer.h"
#include "import/neighbours.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

/// One graph of a file and the reader that knows it.
struct Candidate {
    GraphEntry entry;
    const GraphReader* reader = nullptr;
};

/// Graphs of all readers that are sure of the text; one text may hold several forms. Only the surest reader
/// counts where none is sure, so that node lines in comments open only if there is nothing else.
std::vector<Candidate> findCandidates(const InputText& input, int least) {
    std::vector<std::pair<int, const GraphReader*>> sure;
    for (const GraphReader& reader : graphReaders()) {
        if (const int sureness = reader.sniff(input.text); sureness >= least)
            sure.emplace_back(sureness, &reader);
    }
    std::stable_sort(sure.begin(), sure.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Candidate> found;
    for (const auto& [sureness, reader] : sure) {
        if (!found.empty() && (sure.front().first == 100 || sureness < sure.front().first))
            break;
        for (GraphEntry& entry : reader->list(input))
            found.push_back({std::move(entry), reader});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.entry.offset < b.entry.offset; });
    return found;
}

size_t lineCount(const std::string& text, const GraphEntry& entry) {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(std::min(entry.offset, text.size()));
    const size_t length = std::min(entry.length, text.size() - std::min(entry.offset, text.size()));
    return static_cast<size_t>(std::count(begin, begin + static_cast<std::ptrdiff_t>(length), '\n'));
}

std::string listNames(const std::vector<Candidate>& found) {
    std::string names;
    for (size_t i = 0; i < found.size() && i < 20; ++i) {
        const GraphEntry& entry = found[i].entry;
        names += fmt::format("{}{}: {}, line {}", i ? "; " : "", i, entry.name, entry.line);
        if (entry.rank >= 0)
            names += fmt::format(", rank {}", entry.rank);
    }
    return found.size() > 20 ? names + "; …" : names;
}

/// Position of the wanted graph in `found`, or why there is none.
Result<size_t> choose(const InputText& input, const std::vector<Candidate>& found, int index, int rank) {
    const auto error = [&](std::string message) {
        return Error{"no-such-graph",
                     input.path + ": " + std::move(message),
                     {input.path, 0, 0},
                     "its graphs are: " + listNames(found)};
    };
    if (index >= 0) {
        if (static_cast<size_t>(index) >= found.size())
            return error(fmt::format("there is no graph {}, the file has {}", index, found.size()));
        const int32_t of = found[static_cast<size_t>(index)].entry.rank;
        if (rank >= 0 && of >= 0 && of != rank)
            return error(fmt::format("graph {} is of rank {}, not of rank {}", index, of, rank));
        return static_cast<size_t>(index);
    }
    size_t best = found.size();
    size_t most = 0;
    for (size_t i = 0; i < found.size(); ++i) {
        const int32_t of = found[i].entry.rank;
        if (rank >= 0 && of != rank && !(of < 0 && found.size() == 1))
            continue;
        const size_t lines = lineCount(input.text, found[i].entry) + 1;
        if (lines > most) {
            most = lines;
            best = i;
        }
    }
    if (best == found.size())
        return error(fmt::format("no graph of it is of rank {}", rank));
    return best;
}

} // namespace

Result<ImportedGraph> importGraph(const std::string& path, int index, int rank, Diagnostics& diagnostics,
                                  const JobContext& job) {
    const Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        return input.error();
    return importText(input.value(), index, rank, diagnostics, job);
}

Result<ImportedGraph> importText(const InputText& input, int index, int rank, Diagnostics& diagnostics,
                                 const JobContext& job) {
    std::vector<Candidate> found = findCandidates(input, kSureOfFragment);
    if (found.empty()) {
        const Neighbour neighbour = nameNeighbour(input.text);
        if (neighbour.what == "plain text") // node lines in comments of other code
            found = findCandidates(input, 1);
        if (found.empty())
            return Error{"not-a-graph",
                         fmt::format("{}: this is {}, not an FX graph", input.path, neighbour.what),
                         {input.path, 1, 0},
                         neighbour.hint};
    }
    const Result<size_t> chosen = choose(input, found, index, rank);
    if (!chosen)
        return chosen.error();
    const Candidate& wanted = found[chosen.value()];
    Result<GraphPtr> graph = wanted.reader->read(input, wanted.entry, diagnostics, job);
    if (!graph)
        return graph.error();
    ImportedGraph imported;
    imported.graph = graph.value();
    imported.reader = wanted.reader->name;
    imported.chosen = chosen.value();
    for (Candidate& candidate : found)
        imported.entries.push_back(std::move(candidate.entry));
    return imported;
}

} // namespace gs
