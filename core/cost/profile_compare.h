// Two profiles side by side.
#pragma once

#include "cost/profile.h"

namespace gs {

struct ProfileDifference {
    std::string key;
    std::string kind;
    std::string label;
    int64_t a_ns = -1; ///< -1 = not in this profile, or not measured there
    int64_t b_ns = -1;
    int64_t calls = 0; ///< the greater of the two
    bool inBoth() const { return a_ns >= 0 && b_ns >= 0; }
    /// b ÷ a; 0 unless both are known and a took time.
    double ratio() const { return inBoth() && a_ns > 0 ? double(b_ns) / double(a_ns) : 0; }
};

/// A row per key of either: first those in both, the greatest change of time per step first; then those in a
/// only; then those in b only. Entries that could not be measured count as not there.
std::vector<ProfileDifference> compareProfiles(const Profile& a, const Profile& b);

/// How much longer all transfers of the contention points took together beside compute than alone, and the
/// compute beside them; 1 without points. By time, so that short transfers, whose factors are noise, count
/// little.
struct MeasuredContention {
    double factor = 1;
    double compute_slowdown = 1;
};
MeasuredContention overallContention(const Profile& profile);

} // namespace gs
