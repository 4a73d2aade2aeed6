// The graphs of one text and of one folder; what importGraph() chooses from.
#pragma once

#include "import/importer.h"

#include <filesystem>

namespace gs {

/// One graph and the reader that knows it.
struct Candidate {
    GraphEntry entry;
    const GraphReader* reader = nullptr;
};

/// Graphs of all readers that know the text, in its order. Fragments count only where there is no whole
/// graph, node lines in comments only where the text is nothing else.
std::vector<Candidate> findCandidates(const InputText& input);

/// "not-a-graph": says what the text is instead.
Error notAGraph(const InputText& input);

/// All files of a folder with graphs or their companions. Ranks, compile ids and stages come from the texts,
/// else from the names that torch and tlparse give to files and folders. Files that cannot be read, or only
/// in part, and logs of a rank that hold no graph are diagnostics with the file as their place.
struct FolderContent {
    std::vector<Candidate> candidates;
    std::vector<Companion> companions;
    size_t files = 0; ///< looked into
};
Result<FolderContent> readFolder(const std::string& path, Diagnostics& diagnostics, const JobContext& job);

/// Whether `a` opens rather than `b` when nobody chooses: see importGraph().
bool isBetterGraph(const GraphEntry& a, const GraphEntry& b);

/// Rank that a path names ("rank_3/…", "…_rank_3_ab.log", "input_rank0.log"); -1 = none.
int32_t rankOfPath(const std::filesystem::path& path);

} // namespace gs
