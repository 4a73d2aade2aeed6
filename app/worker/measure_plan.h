// What is to be measured, and what the store knows of it; shared by the command line and the window.
#pragma once

#include "app/worker/worker_command.h"
#include "profile/known_costs.h"

namespace gs {

struct MeasureRequest {
    WorkerRequest worker; ///< `reuse` is the plan's
    std::string store;    ///< file of profiles that may know some keys; need not exist
    bool again = false;   ///< measure what the store knows, too
};

/// Of one measurement; never changes the store.
class MeasurePlan {
public:
    /// Error: the store's, where there is one that cannot be read. Better now than after an hour.
    static Result<MeasurePlan> make(const Analysis& analysis, MeasureRequest request);

    const MeasureRequest& request() const { return request_; }
    size_t keys() const { return countKeys({}); } ///< those of nodes inside fused regions not counted
    size_t known() const { return known_ ? known_->entries.size() : 0; }
    size_t unknown() const { return known_ ? countKeys(known_->entries) : keys(); }

    /// For WorkerRequest::reuse: looks into the store for this device.
    std::vector<std::string> reuse(const std::string& device);
    /// `measured` with what was reused, and with what was known of all that was not asked for: the newest
    /// profile stands for all that is known. If nothing was new, the profile that knew it all, with its id.
    /// Error: the store's.
    Result<Profile> whole(Profile measured) const;

private:
    explicit MeasurePlan(MeasureRequest request) : request_(std::move(request)) {}
    size_t countKeys(const std::map<std::string, ProfileEntry>& known) const;
    Result<KnownCosts> readKnown(const std::string& device) const;
    /// With what an earlier profile of the device knows of the kinds that were not asked for.
    Result<Profile> withTheRest(Profile profile) const;

    MeasureRequest request_;
    std::vector<WorkItem> work_;
    std::vector<WorkItem> all_; ///< `work_` if everything was asked for
    std::string device_;
    Result<KnownCosts> known_ = KnownCosts{};
};

/// One transaction; makes the store if it is not there. Returns the profile's id. Errors: the store's;
/// "nothing-measured" for a profile without costs, which would hide the one before it.
Result<int64_t> storeProfile(const std::string& path, const Profile& profile);

} // namespace gs
