// What a person can change by hand about a launch, and what was changed: choices for menus and keys. Whether
// a place is legal is the core's.
#pragma once

#include "views/view.h"

#include <optional>

namespace gs {

/// Launches of the lowered graph that a launch of the scheduled program stands for: itself, or the members of
/// the bucket.
std::vector<std::string> bucketMembers(const Analysis& analysis, NodeId launch);

/// The edits that are about a launch: placements of it, buckets it is or was taken from.
std::vector<Edit> editsOf(const Analysis& analysis, NodeId launch);

/// Per node of the scheduled program, the last edit that is about its launch, if any.
std::vector<std::optional<Edit::Kind>> editedLaunches(const Analysis& analysis);

/// The next (+1) or previous (−1) gather of the same group in program order; kNoNode if there is none.
NodeId gatherBeside(const Analysis& analysis, NodeId launch, int direction);

/// One bucket of two gathers and all their members.
Edit bucketOf(const Analysis& analysis, NodeId one, NodeId other);
/// A member that stands alone.
Edit aloneEdit(const std::string& member);
Edit forbidEdit(const Analysis& analysis, NodeId launch);
/// Stay right where it is now.
Edit pinEdit(const SnapshotPtr& snapshot, NodeId launch);

/// The request without what was done by hand to a launch.
AnalysisRequest withoutHand(const Analysis& analysis, NodeId launch);

} // namespace gs
