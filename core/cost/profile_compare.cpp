#include "cost/profile_compare.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace gs {

namespace {

bool isMeasured(const ProfileEntry& entry) {
    return entry.provenance != Provenance::Analytical && entry.provenance != Provenance::Missing;
}

} // namespace

std::vector<ProfileDifference> compareProfiles(const Profile& a, const Profile& b) {
    std::map<std::string, ProfileDifference> rows;
    for (const Profile* profile : {&a, &b}) {
        for (const ProfileEntry& entry : profile->entries) {
            if (!isMeasured(entry))
                continue;
            ProfileDifference& row = rows[entry.key];
            row.key = entry.key;
            row.kind = entry.kind;
            row.label = entry.label;
            row.calls = std::max(row.calls, entry.calls);
            (profile == &a ? row.a_ns : row.b_ns) = entry.ns;
        }
    }
    std::vector<ProfileDifference> found;
    for (auto& [key, row] : rows)
        found.push_back(std::move(row));
    const auto rank = [](const ProfileDifference& row) {
        const int part = row.inBoth() ? 0 : row.a_ns >= 0 ? 1 : 2;
        const double change =
            row.inBoth() ? double(std::abs(row.b_ns - row.a_ns)) * double(std::max<int64_t>(row.calls, 1))
                         : 0;
        return std::pair(part, -change);
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](const auto& x, const auto& y) { return rank(x) < rank(y); });
    return found;
}

MeasuredContention overallContention(const Profile& profile) {
    ContentionPoint total;
    for (const ContentionPoint& point : profile.contention) {
        total.alone_ns += point.alone_ns;
        total.together_ns += point.together_ns;
        total.compute_alone_ns += point.compute_alone_ns;
        total.compute_together_ns += point.compute_together_ns;
    }
    return {total.factor(), total.computeSlowdown()};
}

} // namespace gs
