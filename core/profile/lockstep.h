// The engine of gatherscope-rank (profiling.md, "Rank lockstep"): all ranks take the same steps, whatever
// fails on one of them. Knows neither MPI nor a device.
//
// Each key takes two exchanges among the ranks. Before it, everyone says whether it has prepared the
// operator; if one has not, nobody runs it. After it, everyone says its median or what failed; the greatest
// median is the key's. Both say whether a rank has to stop, so that all stop at the same place. What cannot
// be measured gets the analytical number and the reason.
#pragma once

#include "profile/agreement.h"
#include "profile/backend.h"
#include "profile/protocol.h"

#include <functional>
#include <string>

namespace gs {

struct LockstepJob {
    RankOffer offer;
    std::vector<WorkItem> work; ///< this rank's list
    TimingPlan plan;
    bool contention = true;
    std::string graph_name;
    /// Why this rank has to stop ("signal 15", …); empty = it need not. Asked between operators.
    std::function<std::string()> stop;
    /// Progress, entries, contention and warnings as they come; entries and contention are said on rank 0
    /// only.
    std::function<void(const MessageBody&)> say;
};

struct LockstepResult {
    Profile profile;  ///< equal on all ranks, but for device, driver, versions and clocks
    std::string hash; ///< tableHash() in hexadecimal
    int64_t runs = 0; ///< how often operators ran on this rank: equal on all ranks with identical graphs
};

/// An error and the key at which it happened.
struct LockstepFailure {
    Error error;
    std::string key;
};

/// Collective. Errors: those of agree(), "stopped" (names the rank and why), "rank-lost", "tables-differ".
/// After an error the ranks are no longer in step: end the process.
std::variant<LockstepResult, LockstepFailure> runLockstep(ControlPlane& plane, Backend& backend,
                                                          LockstepJob job);

} // namespace gs
