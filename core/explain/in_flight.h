// What is known of collectives in flight when the graph starts (document 004), for cards, tables and exports.
#pragma once

#include "analysis/analysis.h"

namespace gs {

struct InFlightFacts {
    int32_t index = -1; ///< in after.collectives
    NodeId input = kNoNode;
    InFlightTime time;
    const CostEntry* cost = nullptr;     ///< of the duration; may be missing
    NodeId first_use = kNoNode;          ///< first node that reads it, in program order; kNoNode for none
    std::optional<uint32_t> wait_before; ///< place of the first wait before scheduling
    uint32_t wait_after = 0;             ///< … and after
    int64_t exposed_before_ns = -1;      ///< simulated stall at its waits; -1 = not known
    int64_t exposed_after_ns = -1;
};

/// In the order of their first waits in the program after all passes.
std::vector<InFlightFacts> inFlightFacts(const Analysis& analysis);

} // namespace gs
