// Two analyses of one program with other costs: what changed of the costs and of the order.
#pragma once

#include "analysis/analysis.h"

namespace gs {

/// One key of either analysis. Entries that share a key (a source gave equal ops different numbers) are one
/// change with their average.
struct CostChange {
    std::string key;
    std::string kind;
    std::string label;
    int64_t calls = 0;   ///< in the later program; in the earlier one if the later has none
    int64_t old_ns = -1; ///< per call; -1 = missing, or no such key
    int64_t new_ns = -1;
    Provenance old_source = Provenance::Missing;
    Provenance new_source = Provenance::Missing;
    int64_t samples = 0; ///< these four are of the later one
    int64_t spread_ns = -1;
    int64_t rank_skew_ns = -1;
    std::string note;
    /// new ÷ old; 0 unless both are known and the old one took time.
    double ratio() const { return old_ns > 0 && new_ns >= 0 ? double(new_ns) / double(old_ns) : 0; }
    /// Change of the time of all calls; a time that is not known counts as 0.
    int64_t stepNs() const { return calls * (std::max<int64_t>(new_ns, 0) - std::max<int64_t>(old_ns, 0)); }
    bool changed() const { return old_ns != new_ns || old_source != new_source; }
};

/// Of the scheduled programs, the greatest change of time per step first.
std::vector<CostChange> costChanges(const Analysis& before, const Analysis& after);

/// Gathers that the two analyses put in different places.
size_t movedLaunches(const Analysis& before, const Analysis& after);

} // namespace gs
