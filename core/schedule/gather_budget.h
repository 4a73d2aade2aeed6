// Bookkeeping of gathered bytes alive by program position.
#pragma once

#include "schedule/gather_moves.h"

namespace gs {

/// Setting `gather_budget_mib` in bytes; -1 = no budget.
int64_t gatherBudgetBytes(const Settings& settings);

/// Bytes alive over positions, where every candidate is booked from its launch to its last use.
class GatherBudget {
public:
    /// Books every candidate at its unhoisted place. `budget_bytes` < 0: nothing is ever refused.
    GatherBudget(const CollectiveTable& collectives, const GatherCandidates& candidates,
                 int64_t budget_bytes);

    /// Moves candidate `index` as near to `wanted` as the budget allows: the first position p ≥ wanted such
    /// that the bytes alive stay within the budget on [p, cur). Books it there and returns it.
    uint32_t place(size_t index, uint32_t wanted);

private:
    struct Change {
        uint32_t position = 0;
        int64_t delta = 0;
    };

    const GatherCandidates& candidates_;
    int64_t budget_bytes_;
    std::vector<int64_t> bytes_;
    std::vector<Change> changes_; ///< sorted by position
};

} // namespace gs
