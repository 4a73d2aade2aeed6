// A profile as text: document 000's log lines, and JSON.
#pragma once

#include "cost/profile.h"

#include <string>

namespace gs {

/// "rank-synchronized profiling done (N cost entries reconciled)", then ESTLINE rows, the greatest total
/// first: ESTLINE|kind|label|per_call_us|calls|total_us|measured. The log reader takes them as costs.
std::string profileLog(const Profile& profile);

/// {"format":"gatherscope.profile","version":1,…} with every field of entries and contention.
std::string profileJson(const Profile& profile);

} // namespace gs
