// Internal to measured_run: sequences of collectives matched with each other.
#pragma once

#include "cost/readers/trace_link.h"

#include <string>
#include <vector>

namespace gs {

/// What a collective is told by, of the program or of a trace.
struct CollectiveMark {
    CollectiveKind kind = CollectiveKind::None; ///< plain
    int64_t input_bytes = kUnknownSize;
    int64_t output_bytes = kUnknownSize;
    size_t index = 0; ///< of the collective, or of the call

    bool fits(const CollectiveMark& other) const;
};

/// Pairs (position in `program`, position in `calls`) of every step found, in time order. Whole repetitions
/// of the program's sequence first; where there is none, one longest common subsequence.
std::vector<std::vector<std::pair<size_t, size_t>>> matchSteps(const std::vector<CollectiveMark>& program,
                                                               const std::vector<CollectiveMark>& calls);

} // namespace gs
