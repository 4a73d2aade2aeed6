// What both overlap schedulers say of a collective, and what bucketing needs of it.
#pragma once

#include "schedule/schedule.h"

namespace gs {

/// One collective as the schedulers see it: found through its waits.
struct HiddenCollective {
    NodeId start = kNoNode;
    NodeId wait = kNoNode;     ///< the one that stands for all
    std::vector<NodeId> waits; ///< all of them, in program order
    int64_t size_bytes = 0;
    double estimated_ms = 0;
    double exposed_ms = 0;            ///< what nothing hides
    std::vector<NodeId> hiding_nodes; ///< compute nodes and waits that hide some of it, in order
    bool potentially_hidden = false;  ///< some compute node neither needs it nor feeds it
    bool refused_by_budget = false;   ///< an early launch would have broken a limit of memory
    NodeId blocked_by = kNoNode;      ///< last unscheduled ancestor that kept it from an early launch

    bool exposed() const { return exposed_ms != 0; }
};

/// Why the reference raises an exception on this graph; ours goes on.
struct ReferenceFailure {
    NodeId node = kNoNode;
    std::string_view what;
};

/// Adds a failure unless there is one of this kind already.
void noteFailure(std::vector<ReferenceFailure>& failures, NodeId node, std::string_view what);

} // namespace gs
