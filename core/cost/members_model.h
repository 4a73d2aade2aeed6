// Cost of a merged launch from those of its members, where no source knows the merged one.
#pragma once

#include "cost/cost_model.h"

namespace gs {

/// Answers for launches made of several launches of `members_of`, all of them priced in `costs`: the longest
/// latency once, and each member's time without its own latency. `latency_ns`: per node of that graph, see
/// launchLatencies(). PyTorch 2.15 expects the same of a bucket (assume_bucketing_reduces_latency). No answer
/// where the members' costs are the analytical model's: that one prices the merged launch itself.
/// `comm_scale` is the one in `costs` and `latency_ns`, which the chain applies again.
CostModelPtr makeMembersModel(const Graph& members_of, const CostTable& costs,
                              std::span<const int64_t> latency_ns, double comm_scale);

} // namespace gs
