// Step "Agree" of the lockstep: may these ranks measure together, and what is it that they measure?
#pragma once

#include "explain/rank_compare.h"
#include "import/importer.h"
#include "profile/control_plane.h"
#include "profile/work_list.h"

#include <functional>
#include <string>
#include <vector>

namespace gs {

/// What a rank brings.
struct RankOffer {
    std::string version; ///< of the program
    std::string backend;
    std::string settings; ///< everything that must be equal, as text
    std::string label;    ///< file of the graph
    GraphPtr graph;       ///< as read, before all passes
    /// Text that `graph` was read from; asked for only if the ranks' graphs differ.
    std::function<Result<InputText>()> text;
};

struct Agreement {
    RankMode mode = RankMode::Identical;
    std::string verdict;          ///< one sentence
    std::string first_what;       ///< what differs first: "shape", …; empty if nothing does
    std::string first_a, first_b; ///< the node on each side, with its rank
};

/// Collective. `work` (this rank's list) becomes the list of all: the union by key, equal on all ranks.
/// Errors, the same on all ranks: "other-version", "other-settings", "rank-abort" (numbers of gathers differ;
/// names the first differing node on each side), "rank-lost".
Result<Agreement> agree(ControlPlane& plane, const RankOffer& offer, std::vector<WorkItem>& work);

} // namespace gs
