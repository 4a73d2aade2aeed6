// Two analyses of one program, gather by gather.
#pragma once

#include "analysis/analysis.h"

#include <optional>

namespace gs {

/// One side of a line: one gather, or the several that stand where the other side has one bucket.
struct GatherSide {
    std::vector<NodeId> launches;  ///< of that analysis' scheduled graph, in program order
    uint32_t cur = 0;              ///< position of the first launch before scheduling
    uint32_t target = 0;           ///< position of the first launch in the scheduled order
    int64_t launched_ns = 0;       ///< when the compute stream reaches that launch
    int64_t bytes = 0;             ///< gathered, all ranks together
    int64_t exposed_before_ns = 0; ///< in program order, unbucketed
    int64_t exposed_after_ns = 0;
    Verdict verdict = Verdict::NotCandidate; ///< of several the worst
    BindingReason reason = BindingReason::None;
};

enum class GatherDifference : uint8_t {
    None = 0,
    OneSided = 1, ///< only one analysis has it
    Buckets = 2,  ///< another number of launches
    Place = 4,    ///< another position in the order, of equal graphs
    Verdict = 8,
    Exposure = 16
};

struct GatherDiffRow {
    std::string label; ///< the parameters gathered, or the launch
    std::string name;  ///< first launch in the unbucketed program; stable for selections
    std::optional<GatherSide> a, b;
    uint8_t differs = 0; ///< GatherDifference bits

    /// b − a; a side that is not there counts 0.
    int64_t change_ns() const;
    bool has(GatherDifference what) const { return (differs & static_cast<uint8_t>(what)) != 0; }
};

struct GatherDiff {
    std::vector<GatherDiffRow> rows; ///< greatest change of exposure first, equal ones in program order
    bool same_graph = false;         ///< positions of both sides mean the same nodes
    size_t changed = 0;              ///< rows in which anything differs
    /// Exposure of all gathers, and of the collectives that are none.
    int64_t gathers_a_ns = 0, gathers_b_ns = 0;
    int64_t others_a_ns = 0, others_b_ns = 0;
};

/// Matches gathers by the launches that they were before bucketing, so that a bucket stands against its
/// members and every gather is in exactly one row; what then has no partner is matched by parameter, the n-th
/// gather of it with the n-th.
GatherDiff compareGathers(const Analysis& a, const Analysis& b);

} // namespace gs
