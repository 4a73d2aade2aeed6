#include "import/companions.h"
#include "import/complete_graph.h"
#include "import/fx_scan.h"
#include "import/graph_list.h"
#include "import/importer.h"
#include "import/neighbours.h"
#include "import/readers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>

namespace gs {

namespace {

/// Entries below this are node lines in comments of other code: they open only if the text has nothing else.
constexpr int kLeastSureness = 50;

bool containsWord(std::string_view text, std::string_view word) {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

/// The later in the compilation before code is generated, the closer to what really runs.
int stageScore(std::string_view stage) {
    constexpr std::array kStages = {"dynamo", "pre_grad",    "joint",    "runnable",
                                    "aot",    "transformed", "post_grad"};
    int score = 0;
    for (size_t i = 0; i < kStages.size(); ++i)
        score = stage.find(kStages[i]) != std::string_view::npos ? static_cast<int>(i) + 1 : score;
    return score;
}

std::string listNames(const std::vector<Candidate>& found) {
    std::string names;
    for (size_t i = 0; i < found.size() && i < 20; ++i) {
        const GraphEntry& entry = found[i].entry;
        names += fmt::format("{}{}: {}", i ? "; " : "", i, entry.name);
        if (!entry.file.empty())
            names += fmt::format(", {}", std::filesystem::path(entry.file).filename().string());
        names += fmt::format(", line {}", entry.line);
        if (entry.rank >= 0)
            names += fmt::format(", rank {}", entry.rank);
    }
    return found.size() > 20 ? names + "; …" : names;
}

bool isOfRank(const GraphEntry& entry, int rank, size_t graphs) {
    return rank < 0 || entry.rank == rank || (entry.rank < 0 && graphs == 1);
}

bool isOfStage(const GraphEntry& entry, const std::string& stage, bool exact) {
    if (stage.empty())
        return true;
    const std::string_view of = entry.stage.empty() ? std::string_view(entry.name) : entry.stage;
    return exact ? of == stage : containsWord(of, stage);
}

/// Position of the wanted graph in `found`, or why there is none.
Result<size_t> choose(const std::string& path, const std::vector<Candidate>& found,
                      const GraphChoice& choice) {
    const auto error = [&](std::string message) {
        return Error{"no-such-graph",
                     path + ": " + std::move(message),
                     {path, 0, 0},
                     "its graphs are: " + listNames(found)};
    };
    if (choice.index >= 0) {
        const auto index = static_cast<size_t>(choice.index);
        if (index >= found.size())
            return error(fmt::format("there is no graph {}, the file has {}", index, found.size()));
        const GraphEntry& entry = found[index].entry;
        if (choice.rank >= 0 && entry.rank >= 0 && entry.rank != choice.rank)
            return error(
                fmt::format("graph {} is of rank {}, not of rank {}", index, entry.rank, choice.rank));
        if (!isOfStage(entry, choice.stage, false))
            return error(
                fmt::format("graph {} is \"{}\", not of stage \"{}\"", index, entry.name, choice.stage));
        return index;
    }
    const bool exact = std::any_of(found.begin(), found.end(), [&](const Candidate& candidate) {
        return isOfStage(candidate.entry, choice.stage, true);
    });
    size_t best = found.size();
    bool rank_exists = false;
    for (size_t i = 0; i < found.size(); ++i) {
        if (!isOfRank(found[i].entry, choice.rank, found.size()))
            continue;
        rank_exists = true;
        if (isOfStage(found[i].entry, choice.stage, exact) &&
            (best == found.size() || isBetterGraph(found[i].entry, found[best].entry)))
            best = i;
    }
    if (!rank_exists)
        return error(fmt::format("no graph of it is of rank {}", choice.rank));
    if (best == found.size())
        return error(fmt::format("no graph of it is of stage \"{}\"", choice.stage));
    return best;
}

/// Reads the chosen graph and fills in what a second file of it supplies.
Result<ImportedGraph> readChosen(const InputText& input, std::vector<Candidate> found,
                                 std::vector<Companion> companions, size_t chosen, const GraphChoice& choice,
                                 Diagnostics& diagnostics, const JobContext& job) {
    const Candidate& wanted = found[chosen];
    Result<GraphPtr> graph = wanted.reader->read(input, wanted.entry, diagnostics, job);
    if (!graph)
        return graph.error();
    ImportedGraph imported;
    imported.graph = graph.value();
    imported.reader = wanted.reader->name;
    imported.chosen = chosen;
    reportCompanions(companions, wanted.entry, *imported.graph, input, diagnostics);
    imported.companions = std::move(companions);
    if (!choice.shapes_file.empty()) {
        Result<GraphPtr> completed = completeGraph(imported.graph, choice.shapes_file, diagnostics, job);
        if (!completed)
            return completed.error();
        imported.graph = completed.value();
    }
    for (Candidate& candidate : found)
        imported.entries.push_back(std::move(candidate.entry));
    return imported;
}

/// The graphs of a file or a folder with what lies beside them. `input` is filled for a file.
Result<FolderContent> contentOf(const std::string& path, InputText& input, Diagnostics& diagnostics,
                                const JobContext& job) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return readFolder(path, diagnostics, job);
    Result<InputText> text = readInput(path, diagnostics);
    if (!text)
        return text.error();
    input = std::move(text).value();
    FolderContent content;
    content.candidates = findCandidates(input);
    if (content.candidates.empty())
        return notAGraph(input);
    if (content.candidates.front().reader->name == bundleReader().name)
        return content; // what lies beside it has nothing to do with it
    content.companions = companionsInLog(input);
    std::vector<Companion> beside = companionsBeside(path);
    content.companions.insert(content.companions.end(), beside.begin(), beside.end());
    return content;
}

} // namespace

bool isBetterGraph(const GraphEntry& a, const GraphEntry& b) {
    if (a.sureness != b.sureness)
        return a.sureness > b.sureness;
    if (a.level != b.level)
        return a.level == GraphLevel::Fx;
    if (const int first = stageScore(a.stage), second = stageScore(b.stage); first != second)
        return first > second;
    if (a.gathers != b.gathers)
        return a.gathers > b.gathers;
    return a.nodes > b.nodes;
}

std::vector<Candidate> findCandidates(const InputText& input) {
    std::vector<Candidate> found;
    int best = 0;
    for (const GraphReader& reader : graphReaders()) {
        for (GraphEntry& entry : reader.list(input)) {
            best = std::max(best, entry.sureness);
            found.push_back({std::move(entry), &reader});
        }
        // a form that nothing else looks like, or one graph that is all of the text
        const bool all =
            found.size() == 1 && found[0].entry.length >= input.text.size() - input.text.size() / 16;
        if (best == 100 || (all && best >= kSureOfGraph))
            break;
    }
    // Whole graphs hide fragments: those would be parts of code that is something else.
    const auto last = std::remove_if(found.begin(), found.end(), [&](const Candidate& candidate) {
        return candidate.entry.sureness < best;
    });
    found.erase(last, found.end());
    if (best < kLeastSureness && best > 0 && nameNeighbour(input.text).what != kPlainText)
        return {};
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.entry.offset < b.entry.offset; });
    return found;
}

Error notAGraph(const InputText& input) {
    const Neighbour neighbour = nameNeighbour(input.text);
    return {"not-a-graph",
            fmt::format("{}: this is {}, not an FX graph", input.path, neighbour.what),
            {input.path, 1, 0},
            neighbour.hint};
}

Result<GraphList> listGraphs(const std::string& path, Diagnostics& diagnostics, const JobContext& job) {
    InputText input;
    Result<FolderContent> content = contentOf(path, input, diagnostics, job);
    if (!content)
        return content.error();
    GraphList list;
    list.companions = std::move(content->companions);
    list.preferred = choose(path, content->candidates, {}).value();
    for (Candidate& candidate : content->candidates) {
        list.readers.emplace_back(candidate.reader->name);
        list.graphs.push_back(std::move(candidate.entry));
    }
    return list;
}

Result<ImportedGraph> importGraph(const std::string& path, const GraphChoice& choice,
                                  Diagnostics& diagnostics, const JobContext& job) {
    InputText input;
    Result<FolderContent> content = contentOf(path, input, diagnostics, job);
    if (!content)
        return content.error();
    const Result<size_t> chosen = choose(path, content->candidates, choice);
    if (!chosen)
        return chosen.error();
    if (const std::string& file = content->candidates[chosen.value()].entry.file; !file.empty()) {
        Result<InputText> text = readInput(file, diagnostics);
        if (!text)
            return text.error();
        input = std::move(text).value();
    }
    return readChosen(input, std::move(content->candidates), std::move(content->companions), chosen.value(),
                      choice, diagnostics, job);
}

Result<ImportedGraph> importGraph(const std::string& path, int index, int rank, Diagnostics& diagnostics,
                                  const JobContext& job) {
    return importGraph(path, GraphChoice{index, rank, {}, {}}, diagnostics, job);
}

Result<ImportedGraph> importText(const InputText& input, int index, int rank, Diagnostics& diagnostics,
                                 const JobContext& job) {
    std::vector<Candidate> found = findCandidates(input);
    if (found.empty())
        return notAGraph(input);
    const GraphChoice choice{index, rank, {}, {}};
    const Result<size_t> chosen = choose(input.path, found, choice);
    if (!chosen)
        return chosen.error();
    return readChosen(input, std::move(found), companionsInLog(input), chosen.value(), choice, diagnostics,
                      job);
}

} // namespace gs
