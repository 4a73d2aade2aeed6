// What the ranks of a job run, from their files: one file a rank, several files of one rank, or files that
// hold several ranks.
#pragma once

#include "explain/rank_compare.h"
#include "import/importer.h"

#include <optional>

namespace gs {

/// The graphs of an input that really run. A log has each graph at several stages of compilation: of each
/// compile id and rank the latest stage counts (post-grad before AOT before Dynamo). Of an input without
/// stages all graphs count. Indices into `entries`.
std::vector<size_t> graphsThatRun(const std::vector<GraphEntry>& entries);
/// 3 of "dir/torch_trace_rank_3_x.log" or "input_rank3.log"; -1 if the name states none.
int32_t rankOfFileName(const std::string& path);

/// The programs of all ranks in `files`, ordered by rank. The rank is what the file's name states, else what
/// its text states. Files of one rank are its graphs in the order given; if all files state the same rank,
/// each stands for a rank of its own. Timeouts in logs of NCCL's watchdog are given to their ranks; such a
/// log needs no graph. Files that cannot be read are an error.
Result<std::vector<RankProgram>> readRanks(const std::vector<std::string>& files, Diagnostics& diagnostics,
                                           const JobContext& job);

/// A comparison, or why there is none.
struct RanksResult {
    RankComparisonPtr comparison;
    std::optional<Error> error; ///< of a file, or "one-rank" where there is nothing to compare with
};
RanksResult compareRankFiles(const std::vector<std::string>& files, std::string_view communicating,
                             const JobContext& job);

} // namespace gs
