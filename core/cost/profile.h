// What a measurement leaves behind: the content of the profile store (profiling.md). Plain values, no device.
#pragma once

#include "cost/cost_table.h"

#include <map>
#include <string>
#include <vector>

namespace gs {

/// One measured key.
struct ProfileEntry {
    std::string key;   ///< StructuralKey, or the key of a fused region (cost/fused_regions.h)
    std::string kind;  ///< "compute", "fused", "all_gather", "reduce_scatter", …
    std::string label; ///< for people
    int64_t ns = 0;    ///< per call: the greatest median of the ranks (step "Reconcile")
    int64_t samples = 0;
    int64_t spread_ns = -1;    ///< distance between the quartiles, of the slowest rank
    int64_t rank_skew_ns = -1; ///< greatest minus least median of the ranks; -1 = one rank
    int64_t calls = 0;         ///< of the key in the graph that was measured
    /// Measured; Extrapolated where a collective was timed on fewer ranks than its group has; Analytical
    /// where it could not be measured, `note` says why.
    Provenance provenance = Provenance::Measured;
    std::string note;
    bool operator==(const ProfileEntry&) const = default;
};

/// A gather that runs while a kernel computes, against both alone (step "Contention").
struct ContentionPoint {
    std::string key;    ///< StructuralKey of the collective
    std::string beside; ///< key of the compute it ran beside; empty where there was none
    int64_t bytes = 0;  ///< that the collective yields
    int64_t alone_ns = 0;
    int64_t together_ns = 0;
    int64_t compute_alone_ns = 0;
    int64_t compute_together_ns = 0;
    std::string reason = {}; ///< why it could not be measured; then there are no times. Empty = it was
    /// How much longer the transfer takes beside compute; the setting contention_factor is this number.
    double factor() const { return alone_ns > 0 ? double(together_ns) / double(alone_ns) : 1; }
    double computeSlowdown() const {
        return compute_alone_ns > 0 ? double(compute_together_ns) / double(compute_alone_ns) : 1;
    }
    bool operator==(const ContentionPoint&) const = default;
};

/// One run of a measurement.
struct Profile {
    int64_t id = 0;          ///< given by the store; 0 = not stored
    int64_t unix_time_s = 0; ///< when it ended, UTC
    std::string device;      ///< as the backend names it: "NVIDIA H200", "AMD EPYC 9B14, 2 cores"
    std::string driver;
    std::map<std::string, std::string> versions; ///< library → version
    std::string clocks;                          ///< "1980 MHz of 1980 MHz, not throttled"
    std::string backend;                         ///< "host", "cuda", "aten"
    int32_t ranks = 1;
    std::string graph_name;
    std::string graph_hash;                     ///< structural hash of rank 0's graph, hexadecimal
    std::string mode;                           ///< rankModeName() of the agreement
    std::vector<ProfileEntry> entries;          ///< sorted by key; one per key
    std::vector<ContentionPoint> contention;    ///< by rising size, one per key
    std::vector<ContentionPoint> no_contention; ///< those with a reason; none of a key that has a point
    bool operator==(const Profile&) const = default;
};

} // namespace gs
