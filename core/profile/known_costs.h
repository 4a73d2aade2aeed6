// What earlier measurements of the same device already know, so that it is not measured again.
#pragma once

#include "cost/profile_store.h"
#include "profile/work_list.h"

#include <map>
#include <string>
#include <vector>

namespace gs {

/// In Profile::versions of what was measured with TimingPlan::cache_cold; absent otherwise.
inline constexpr const char* kCachesKey = "caches";
inline constexpr const char* kCachesCold = "flushed before each run";

struct KnownCosts {
    std::map<std::string, ProfileEntry> entries; ///< by key, only keys of the work list
    std::vector<ContentionPoint> contention;     ///< of these keys, whatever is asked
    std::vector<ContentionPoint> no_contention;  ///< what was tried and could not be measured, with reasons
    int64_t newest_id = 0;                       ///< of the profiles that were used; 0 = none
    bool one_profile = false;                    ///< newest_id alone has all of this
};

struct KnownQuery {
    std::string device;
    std::string backend;
    int32_t ranks = 1;
    int64_t samples = 1;     ///< entries with fewer are not good enough
    bool cache_cold = false; ///< only what was measured alike counts
    bool contention = false; ///< it is asked for, too
};

/// Newest first, the first answer for a key counts. What could not be measured is tried again, and what was
/// scaled up from another number of ranks is measured again. So are gathers whose contention is asked for
/// (WorkItem::contend) and not known, with the compute that takes longest: only what is timed in a run can
/// run beside each other in it. Contention that could not be measured is known: it would time the same
/// gathers anew each time. Errors: the store's.
Result<KnownCosts> findKnownCosts(const ProfileStore& store, const KnownQuery& query,
                                  const std::vector<WorkItem>& work);

/// `measured` with what was known before (provenance Reused, or Extrapolated as it was).
Profile withKnownCosts(Profile measured, const KnownCosts& known);

} // namespace gs
