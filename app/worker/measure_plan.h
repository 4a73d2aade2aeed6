// What is to be measured and what the store knows of it already; shared by the command line and the window.
#pragma once

#include "app/worker/worker_command.h"
#include "profile/known_costs.h"

namespace gs {

struct MeasureRequest {
    WorkerRequest worker;
    std::string store;  ///< file of profiles that may know some keys; need not exist
    bool again = false; ///< measure what the store knows, too
};

struct MeasurePlan {
    KnownCosts known;
    size_t unknown = 0; ///< keys to measure, those of nodes inside fused regions not counted
    bool nothingToDo() const { return unknown == 0 && known.one_profile; }
    /// For WorkerRequest::reuse.
    std::vector<std::string> reuse() const;
};

/// `device` as the backend names it. Never changes the store. Errors: the store's.
Result<MeasurePlan> planMeasuring(const Analysis& analysis, const MeasureRequest& request,
                                  const std::string& device);

/// One transaction; makes the store if it is not there. Returns the profile's id. Errors: the store's.
Result<int64_t> storeProfile(const std::string& path, const Profile& profile);

} // namespace gs
