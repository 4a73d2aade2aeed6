// A stored profile as a cost source: the source "measured".
#pragma once

#include "cost/cost_model.h"
#include "cost/profile.h"

namespace gs {

using ProfilePtr = std::shared_ptr<const Profile>;

/// Answers for nodes whose StructuralKey was measured, and for members of fused regions that were measured as
/// one kernel. Entries that could not be measured (provenance analytical) answer nothing.
CostModelPtr makeProfileModel(ProfilePtr profile);

} // namespace gs
