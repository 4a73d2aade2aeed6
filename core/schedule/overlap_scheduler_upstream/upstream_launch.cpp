// Launching collectives beside something that takes time.
#include "schedule/overlap_scheduler_upstream/upstream_run.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace gs {

namespace {

constexpr std::string_view kHiddenByItself = "a path holds a wait for what the same node hides";
constexpr std::string_view kLaunchedTwice = "a collective is launched twice";

} // namespace

bool UpstreamRun::Remaining::none() const {
    return std::all_of(ms.begin(), ms.end(), [](double time) { return time <= 0; });
}

double UpstreamRun::Remaining::sum() const {
    return std::accumulate(ms.begin(), ms.end(), 0.0);
}

double UpstreamRun::Remaining::least() const {
    double least = std::numeric_limits<double>::infinity();
    for (size_t group = 0; group < ms.size(); ++group) {
        if (group != excluded)
            least = std::min(least, ms[group]);
    }
    return least;
}

UpstreamRun::Remaining UpstreamRun::reduceExposed(NodeId node, double available_ms, uint32_t excluded) {
    Remaining remaining{std::vector<double>(collectives_.groups, available_ms), excluded};
    if (excluded != kNothingExcluded)
        remaining.ms[excluded] = 0;
    for (size_t index = in_flight_.first(); index != kNone; index = in_flight_.next(index)) {
        UpstreamCollective& hidden = item(index);
        double& left = remaining.ms[collectives_.group[index]];
        if (hidden.exposed_ms == 0 || left <= 0 ||
            std::find(handled_waits_.begin(), handled_waits_.end(), index) != handled_waits_.end())
            continue;
        const double overlap_ms = std::min(hidden.exposed_ms, left);
        hidden.exposed_ms -= overlap_ms;
        left -= overlap_ms;
        if (std::find(hidden.hiding_nodes.begin(), hidden.hiding_nodes.end(), node) ==
            hidden.hiding_nodes.end())
            hidden.hiding_nodes.push_back(node);
    }
    return remaining;
}

void UpstreamRun::launchBeside(NodeId node, Remaining& remaining) {
    if (remaining.none())
        return;
    collectCandidates(remaining);
    if (anyLaunchable(node)) {
        sortCandidates(remaining);
        // Nested waits launch too and collect candidates of their own.
        const std::vector<size_t> candidates = candidates_;
        for (const size_t index : candidates) {
            if (!unscheduled_.contains(index) || remaining.ms[collectives_.group[index]] <= 0)
                continue;
            tryLaunch(index, node, remaining);
            if (remaining.sum() == 0)
                break;
        }
    }
    wasted_ms_ += remaining.least();
}

void UpstreamRun::collectCandidates(const Remaining& remaining) {
    candidates_.clear();
    for (size_t index = unscheduled_.first(); index != kNone; index = unscheduled_.next(index)) {
        if (remaining.ms[collectives_.group[index]] <= 0)
            continue;
        const NodeId start = item(index).start;
        if (!offPath(start) &&
            int64_t{compute_number_[start]} - int64_t{compute_index_} > parameters_.max_compute_pre_fetch)
            continue;
        candidates_.push_back(index);
        if (static_cast<int64_t>(candidates_.size()) >= parameters_.max_coll_distance)
            break;
    }
}

/// False if every candidate is certain to be left alone, so that their order does not matter.
bool UpstreamRun::anyLaunchable(NodeId node) {
    const auto row = static_cast<size_t>(overlap_row_[node]);
    return std::any_of(candidates_.begin(), candidates_.end(), [&](size_t index) {
        if (relations_.related(row, index))
            return false;
        const UpstreamCollective& candidate = item(index);
        if (!in_flight_.empty() && max_in_flight_bytes_ - in_flight_bytes_ < candidate.size_bytes)
            return true; // may force a wait
        return candidate.blocked_by == kNoNode || scheduled_[candidate.blocked_by] ||
               !blocks(candidate.blocked_by, node);
    });
}

/// By urgency, then by number of the compute node they block, then by what they would hide; each kind of
/// bucket together at the place of its first.
void UpstreamRun::sortCandidates(const Remaining& remaining) {
    using Key = std::tuple<int, uint32_t, double, NodeId>;
    std::vector<std::pair<Key, size_t>> keyed;
    for (const size_t index : candidates_) {
        const NodeId start = item(index).start;
        const bool off_path = offPath(start);
        const int urgency = !off_path && compute_number_[start] == compute_index_ + 1 ? 0
                            : off_path && blocks_scatter_[start]                      ? 1
                            : !off_path                                               ? 2
                                                                                      : 3;
        const double overlap = std::min(remaining.ms[collectives_.group[index]], item(index).exposed_ms);
        keyed.push_back({{urgency, compute_number_[start], -overlap, start}, index});
    }
    std::sort(keyed.begin(), keyed.end());
    candidates_.clear();
    if (!parameters_.prioritize_bucketing_during_scheduling) {
        for (const auto& [key, index] : keyed)
            candidates_.push_back(index);
        return;
    }
    std::vector<int32_t> place(collectives_.buckets, -1);
    std::vector<std::vector<size_t>> kinds;
    for (const auto& [key, index] : keyed) {
        int32_t& at = place[collectives_.bucket[index]];
        if (at < 0) {
            at = static_cast<int32_t>(kinds.size());
            kinds.emplace_back();
        }
        kinds[static_cast<size_t>(at)].push_back(index);
    }
    for (const std::vector<size_t>& kind : kinds)
        candidates_.insert(candidates_.end(), kind.begin(), kind.end());
}

void UpstreamRun::tryLaunch(size_t index, NodeId node, Remaining& remaining) {
    double& left = remaining.ms[collectives_.group[index]];
    if (relations_.related(static_cast<size_t>(overlap_row_[node]), index))
        return;
    if (wouldExceedMemory(index)) {
        item(index).refused_by_budget = true;
        return;
    }
    if (!makeRoom(index, node))
        return;
    std::vector<NodeId> path;
    if (!findPath(index, node, path))
        return;
    schedulePath(path, node);
    if (!unscheduled_.contains(index))
        return fail(item(index).start, kLaunchedTwice);
    handleStart(index);
    countPrefetch(index);
    UpstreamCollective& launched = item(index);
    const double overlap_ms = std::min(left, launched.exposed_ms);
    launched.exposed_ms -= overlap_ms;
    if (std::find(launched.hiding_nodes.begin(), launched.hiding_nodes.end(), node) ==
        launched.hiding_nodes.end())
        launched.hiding_nodes.push_back(node);
    left -= overlap_ms;
}

/// Forces hidden waits until the collective fits. False if it does not, or was launched meanwhile.
bool UpstreamRun::makeRoom(size_t index, NodeId node) {
    const int64_t size = item(index).size_bytes;
    while (!in_flight_.empty() && max_in_flight_bytes_ - in_flight_bytes_ < size) {
        const size_t oldest = in_flight_.first();
        if (wouldReenter(oldest) || !hiddenBefore(oldest, node))
            break;
        handleWait(item(oldest).wait);
    }
    if (!unscheduled_.contains(index))
        return false;
    if (max_in_flight_bytes_ - in_flight_bytes_ >= size)
        return true;
    item(index).refused_by_budget = true;
    return false;
}

bool UpstreamRun::wouldExceedMemory(size_t index) const {
    const int64_t size = item(index).size_bytes;
    const NodeId start = item(index).start;
    if (offPath(start))
        return false;
    if (tracks_memory_ && memory_.current() + size > allowed_peak_)
        return true;
    for (uint32_t at = compute_index_; at < compute_number_[start]; ++at) {
        if (prefetched_bytes_[at] + size > max_in_flight_bytes_)
            return true;
        if (tracks_memory_ && baseline_bytes_[at] + prefetched_bytes_[at] + size > allowed_peak_)
            return true;
    }
    return false;
}

void UpstreamRun::countPrefetch(size_t index) {
    const uint32_t end = compute_number_[item(index).start];
    for (uint32_t at = compute_index_; end != kOffPath && at < end; ++at)
        prefetched_bytes_[at] += item(index).size_bytes;
}

/// Collects the unscheduled ancestors of a start, unless one of them must not be pulled forward. That one is
/// remembered: as long as it stands, there is no need to look again.
bool UpstreamRun::findPath(size_t index, NodeId node, std::vector<NodeId>& path) {
    UpstreamCollective& target = item(index);
    if (target.blocked_by != kNoNode && !scheduled_[target.blocked_by] && blocks(target.blocked_by, node))
        return false;
    target.blocked_by = kNoNode;
    ++stamp_;
    const auto visit = [&](NodeId of) {
        for (const NodeId before : dependencies_.before(of)) {
            if (scheduled_[before] || seen_[before] == stamp_)
                continue;
            seen_[before] = stamp_;
            if (blocks(before, node)) {
                target.blocked_by = before;
                return;
            }
            path.push_back(before);
        }
    };
    visit(target.start);
    for (size_t at = 0; at < path.size() && target.blocked_by == kNoNode; ++at)
        visit(path[at]);
    std::sort(path.begin(), path.end());
    return target.blocked_by == kNoNode;
}

bool UpstreamRun::blocks(NodeId ancestor, NodeId node) const {
    if (is_compute_[ancestor])
        return true;
    if (collectives_.started_by[ancestor] >= 0 && unscheduled_.contains(startedBy(ancestor)))
        return true;
    if (collectives_.waited_by[ancestor] < 0)
        return never_in_path_[ancestor];
    // Waiting for what this very node hides, or for what could still be hidden, would expose it.
    const size_t index = waitedBy(ancestor);
    return wouldReenter(index) || !hiddenBefore(index, node);
}

bool UpstreamRun::hiddenBefore(size_t index, NodeId node) const {
    const UpstreamCollective& hidden = item(index);
    return !hidden.exposed() && std::find(hidden.hiding_nodes.begin(), hidden.hiding_nodes.end(), node) ==
                                    hidden.hiding_nodes.end();
}

void UpstreamRun::schedulePath(const std::vector<NodeId>& path, NodeId node) {
    for (const NodeId on_path : path) {
        if (collectives_.waited_by[on_path] < 0) {
            schedule(on_path);
            continue;
        }
        if (scheduled_[on_path])
            continue; // forced by an earlier wait of the path
        const UpstreamCollective& hidden = item(waitedBy(on_path));
        if (std::find(hidden.hiding_nodes.begin(), hidden.hiding_nodes.end(), node) !=
            hidden.hiding_nodes.end())
            fail(on_path, kHiddenByItself);
        handleWait(on_path);
    }
}

/// Would waiting for this one, and so for all earlier ones of its group, handle a wait inside itself?
bool UpstreamRun::wouldReenter(size_t index) const {
    if (handled_waits_.empty())
        return false;
    const auto handled = [&](size_t at) {
        return std::find(handled_waits_.begin(), handled_waits_.end(), at) != handled_waits_.end();
    };
    if (handled(index))
        return true;
    const std::vector<size_t> earlier = earlierInGroup(index);
    return std::any_of(earlier.begin(), earlier.end(), handled);
}

std::vector<size_t> UpstreamRun::earlierInGroup(size_t index) const {
    std::vector<size_t> earlier;
    if (!in_flight_.contains(index))
        return earlier;
    for (size_t at = in_flight_.first(); at != index; at = in_flight_.next(at)) {
        if (collectives_.group[at] == collectives_.group[index])
            earlier.push_back(at);
    }
    return earlier;
}

} // namespace gs
