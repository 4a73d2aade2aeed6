// Which gathers run beside compute (profiling.md, "Contention"), and what earlier profiles know of it.
#pragma once

#include "cost/profile.h"
#include "profile/work_list.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace gs {

/// Sets WorkItem::contend: per group up to six gathers of different sizes, the largest and the smallest among
/// them. Those that take next to no time by the model tell how long a launch waits, not how links are shared.
/// Hangs on the list alone, so that launcher and ranks choose alike, whatever is known of it.
void chooseContention(std::map<std::string, WorkItem>& items);

/// What profiles know of the gathers of a work list. Per key, which names size, group and topology.
class KnownContention {
public:
    /// `asked`: by key. `ranks`: how many measure; a gather that is scaled, or that stands for another group,
    /// is only known from as many.
    KnownContention(const std::map<std::string, const WorkItem*>& asked, int32_t ranks)
        : asked_(asked), ranks_(ranks) {}

    /// The first answer for a key counts, a point before a reason why there is none. `good`: keys of entries
    /// with enough samples.
    void take(const Profile& profile, const std::set<std::string>& good);
    /// `compute`: an operator that a gather can run beside is known. Then, or where one can be measured that
    /// was not tried, "there was no compute" is no answer any more.
    void finish(bool compute);

    bool knows(const std::string& key) const { return points_.count(key) > 0 || gaps_.count(key) > 0; }
    std::vector<ContentionPoint> points() const { return values(points_); }
    std::vector<ContentionPoint> gaps() const { return values(gaps_); }
    const std::set<int64_t>& profiles() const { return profiles_; } ///< ids of those that answered

private:
    struct Answer {
        ContentionPoint point;
        int64_t profile = 0;
        bool compute_tried = false; ///< the profile has compute, measured or not
    };
    using Answers = std::map<std::string, Answer>;
    static std::vector<ContentionPoint> values(const Answers& answers);

    const std::map<std::string, const WorkItem*>& asked_;
    int32_t ranks_;
    Answers points_;
    Answers gaps_;
    std::set<int64_t> profiles_;
};

/// By rising size.
void sortContention(std::vector<ContentionPoint>& points);

} // namespace gs
