// Command line of gatherscope-rank. Without Qt: the machines that measure need not have it.
#pragma once

#include "analysis/analysis.h"
#include "profile/backend.h"

#include <string>
#include <vector>

namespace gs {

struct RankOptions {
    AnalysisRequest request;        ///< without graph_file
    std::vector<std::string> files; ///< one for all ranks, or one a rank
    std::string backend;
    std::vector<std::string> benchmark_inputs; ///< files with rows for the registry, later ones win
    TimingPlan plan;
    bool compute = true;
    bool collectives = true;
    bool contention = true;
    bool launched = false; ///< stdin comes from a launcher: `start` line, its end means "leave"
    bool probe = false;
    bool help = false;
    bool version = false;
    int32_t time_limit_s = 600; ///< of one key

    /// Everything that must be equal on all ranks, a line each. Reads the files of benchmark inputs.
    std::string settingsText() const;
};

std::string rankUsage();
/// Error "usage", or what a setting says.
Result<RankOptions> parseRankOptions(const std::vector<std::string>& arguments);

} // namespace gs
