#include "schedule/overlap_scheduler_upstream/upstream_run.h"

#include "schedule/overlap_scheduler/overlap_scheduler.h"

#include <algorithm>

namespace gs {

namespace {

constexpr std::string_view kScheduledTwice = "a node is scheduled twice";
constexpr std::string_view kInputMissing = "a node is scheduled before its inputs";
constexpr std::string_view kNestedWait = "a wait is handled inside itself";

int64_t toBytes(double gb) {
    return static_cast<int64_t>(std::min(gb * 1024 * 1024 * 1024, 4e18));
}

} // namespace

UpstreamRun::UpstreamRun(const Graph& graph, std::span<const double> cost_ms,
                         std::span<const double> latency_ms, const UpstreamParameters& parameters)
    : graph_(graph), cost_ms_(cost_ms), parameters_(parameters),
      is_compute_(overlapComputeNodes(graph, true)), dependencies_(graph, parameters.keep_order_edges),
      collectives_(findUpstreamCollectives(graph, cost_ms, latency_ms)), overlap_nodes_(findOverlapNodes()),
      starts_(starts()), relations_(dependencies_, starts_, overlap_nodes_),
      max_in_flight_bytes_(toBytes(parameters.max_in_flight_gb)),
      max_off_bucket_bytes_(parameters.max_off_bucket_gb ? toBytes(*parameters.max_off_bucket_gb) : -1),
      tracks_memory_(parameters.max_memory_increase_gb || parameters.max_memory_increase_ratio),
      bytes_(storageBytes(graph)), memory_(graph, bytes_), ready_bytes_(collectives_.buckets, 0),
      in_degree_(graph.size()), scheduled_(graph.size(), false), unscheduled_(collectives_.items.size()),
      in_flight_(collectives_.items.size()), family_in_flight_(static_cast<size_t>(collectives_.families), 0),
      seen_(graph.size(), 0) {
    std::vector<bool> scatters(graph.size(), false);
    for (NodeId id = 0; id < graph.size(); ++id)
        scatters[id] = graph.target(id).traits.collective == CollectiveKind::ReduceScatter &&
                       graph.node(id).kind == NodeKind::Launch;
    compute_number_ = domination(is_compute_);
    for (const uint32_t number : domination(scatters))
        blocks_scatter_.push_back(number != kOffPath);
    findChains();
    setMemoryLimit();
    for (size_t i = 0; i < collectives_.items.size(); ++i)
        unscheduled_.pushBack(i);
    order_.reserve(graph.size());
    for (NodeId id = 0; id < graph.size(); ++id)
        in_degree_[id] = static_cast<uint32_t>(dependencies_.before(id).size());
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (in_degree_[id] == 0)
            pushReady(id);
    }
}

/// Compute nodes, whatever else takes time, and waits of collectives.
std::vector<NodeId> UpstreamRun::findOverlapNodes() {
    std::vector<NodeId> nodes;
    overlap_row_.assign(graph_.size(), -1);
    for (NodeId id = 0; id < graph_.size(); ++id) {
        if (!is_compute_[id] && collectives_.waited_by[id] < 0 &&
            (cost_ms_[id] == 0 || collectives_.started_by[id] >= 0))
            continue;
        overlap_row_[id] = static_cast<int32_t>(nodes.size());
        nodes.push_back(id);
    }
    return nodes;
}

std::vector<NodeId> UpstreamRun::starts() const {
    std::vector<NodeId> nodes;
    for (const UpstreamCollective& item : collectives_.items)
        nodes.push_back(item.start);
    return nodes;
}

/// Per node, the least number of a target that it blocks, itself included.
std::vector<uint32_t> UpstreamRun::domination(const std::vector<bool>& is_target) const {
    const auto count = static_cast<NodeId>(graph_.size());
    auto number = static_cast<uint32_t>(std::count(is_target.begin(), is_target.end(), true));
    std::vector<uint32_t> least(count, kOffPath);
    for (NodeId id = count; id-- > 0;) {
        if (is_target[id]) {
            least[id] = --number;
            continue;
        }
        for (const NodeId user : dependencies_.after(id))
            least[id] = std::min(least[id], least[user]);
    }
    return least;
}

/// Nodes that lead, through views and pointwise ops of one user and one input each, to a collective. Nothing
/// behind an unscheduled node is scheduled, so this never changes.
void UpstreamRun::findChains() {
    feeds_collective_.assign(graph_.size(), false);
    never_in_path_.assign(graph_.size(), false);
    for (NodeId id = static_cast<NodeId>(graph_.size()); id-- > 0;) {
        const std::string_view target = graph_.targetText(id);
        never_in_path_[id] =
            target.find("c10") != std::string_view::npos || target.find("_dtensor") != std::string_view::npos;
        const auto users = graph_.users(id);
        if (users.size() != 1 || graph_.inputs(users[0]).size() != 1)
            continue;
        const NodeId user = users[0];
        feeds_collective_[id] =
            collectives_.started_by[user] >= 0 ||
            ((graph_.node(user).traits & (kTraitView | kTraitPointwise)) != 0 && feeds_collective_[user]);
    }
}

void UpstreamRun::setMemoryLimit() {
    const size_t compute_nodes =
        static_cast<size_t>(std::count(is_compute_.begin(), is_compute_.end(), true));
    prefetched_bytes_.assign(compute_nodes, 0);
    if (!tracks_memory_)
        return;
    original_peak_ = baselineMemory();
    int64_t increase = 0;
    if (parameters_.max_memory_increase_gb)
        increase = toBytes(*parameters_.max_memory_increase_gb);
    if (parameters_.max_memory_increase_ratio) {
        const double ratio = static_cast<double>(original_peak_) * *parameters_.max_memory_increase_ratio;
        const auto part = static_cast<int64_t>(std::min(ratio, 4e18));
        increase = parameters_.max_memory_increase_gb ? std::max(increase, part) : part;
    }
    allowed_peak_ = original_peak_ + increase;
}

int64_t UpstreamRun::baselineMemory() {
    MemoryTracker tracker(graph_, bytes_);
    int64_t since_compute = 0, peak = 0;
    for (NodeId id = 0; id < graph_.size(); ++id) {
        tracker.schedule(id);
        since_compute = std::max(since_compute, tracker.current());
        if (is_compute_[id]) {
            baseline_bytes_.push_back(since_compute);
            since_compute = tracker.current();
        }
        peak = std::max(peak, tracker.current());
    }
    return peak;
}

void UpstreamRun::pushReady(NodeId node) {
    if (offPath(node)) {
        off_path_.push(uint64_t{!blocks_scatter_[node]} << 32 | node);
        if (collectives_.started_by[node] >= 0) {
            const size_t index = startedBy(node);
            ready_bytes_[collectives_.bucket[index]] += item(index).size_bytes;
        }
        return;
    }
    // Launches of the chain come first, exposed waits last among those that block the same compute node.
    uint64_t rank = 1;
    if (collectives_.waited_by[node] >= 0)
        rank = item(waitedBy(node)).exposed() ? 2 : 1;
    else if (feeds_collective_[node])
        rank = 0;
    on_path_.push(uint64_t{compute_number_[node]} << 34 | rank << 32 | node);
}

bool UpstreamRun::mayLeaveQueue(NodeId node) const {
    if (on_path_.empty() || scheduled_[node])
        return true;
    if (collectives_.waited_by[node] >= 0)
        return !item(waitedBy(node)).exposed() || (tracks_memory_ && memory_.current() > allowed_peak_);
    if (max_off_bucket_bytes_ >= 0 && collectives_.started_by[node] >= 0)
        return ready_bytes_[collectives_.bucket[startedBy(node)]] >= max_off_bucket_bytes_;
    return blocks_scatter_[node] && int64_t{node} <= last_on_path_;
}

void UpstreamRun::nextNodes() {
    next_.clear();
    if (!off_path_.empty()) {
        const auto node = static_cast<NodeId>(off_path_.front());
        if (mayLeaveQueue(node)) {
            off_path_.pop();
            next_.push_back(node);
            if (max_off_bucket_bytes_ >= 0 && collectives_.started_by[node] >= 0)
                takeKindAlong(node);
            return;
        }
    }
    next_.push_back(static_cast<NodeId>(on_path_.top()));
    on_path_.pop();
}

/// Ready collectives of the same kind, as far as they fit.
void UpstreamRun::takeKindAlong(NodeId node) {
    const uint32_t kind = collectives_.bucket[startedBy(node)];
    int64_t bytes = item(startedBy(node)).size_bytes;
    std::vector<size_t> positions;
    const std::vector<uint64_t>& keys = off_path_.keys();
    for (size_t at = 0; at < keys.size(); ++at) {
        const auto candidate = static_cast<NodeId>(keys[at]);
        if (scheduled_[candidate] || collectives_.started_by[candidate] < 0)
            continue;
        const size_t index = startedBy(candidate);
        if (collectives_.bucket[index] != kind || bytes + item(index).size_bytes > max_off_bucket_bytes_)
            continue;
        next_.push_back(candidate);
        bytes += item(index).size_bytes;
        positions.push_back(at);
    }
    off_path_.removeAt(positions);
}

UpstreamResult UpstreamRun::run() {
    while (!on_path_.empty() || !off_path_.empty()) {
        if (!in_flight_.empty() && in_flight_bytes_ >= max_in_flight_bytes_) {
            handleWait(item(in_flight_.first()).wait);
            continue;
        }
        nextNodes();
        const std::vector<NodeId> nodes = next_;
        for (const NodeId node : nodes) {
            if (scheduled_[node])
                continue; // forced or pulled in front of its turn
            handle(node);
            left(node);
        }
    }
    return finish();
}

void UpstreamRun::left(NodeId node) {
    if (!offPath(node))
        last_on_path_ = std::max(last_on_path_, int64_t{node});
    else if (collectives_.started_by[node] >= 0)
        ready_bytes_[collectives_.bucket[startedBy(node)]] -= item(startedBy(node)).size_bytes;
}

void UpstreamRun::handle(NodeId node) {
    if (collectives_.started_by[node] >= 0)
        handleStart(startedBy(node));
    else if (collectives_.waited_by[node] >= 0)
        handleWait(node);
    else if (graph_.node(node).op == NodeOp::Placeholder)
        schedule(node);
    else
        handleComputeOrOther(node);
}

void UpstreamRun::schedule(NodeId node) {
    if (scheduled_[node])
        return fail(node, kScheduledTwice);
    if (in_degree_[node] != 0) {
        fail(node, kInputMissing);
        scheduleAncestors(node);
        if (scheduled_[node])
            return;
    }
    scheduled_[node] = true;
    order_.push_back(node);
    if (tracks_memory_)
        memory_.schedule(node);
    for (const NodeId user : dependencies_.after(node)) {
        if (--in_degree_[user] == 0)
            pushReady(user);
    }
}

/// Only where the reference fails, or for edges that it does not know.
void UpstreamRun::scheduleAncestors(NodeId node) {
    std::vector<NodeId> missing, stack{node};
    while (!stack.empty()) {
        const NodeId at = stack.back();
        stack.pop_back();
        for (const NodeId before : dependencies_.before(at)) {
            if (scheduled_[before] || std::find(missing.begin(), missing.end(), before) != missing.end())
                continue;
            missing.push_back(before);
            stack.push_back(before);
        }
    }
    std::sort(missing.begin(), missing.end());
    for (const NodeId before : missing) {
        if (!scheduled_[before])
            handle(before);
    }
}

void UpstreamRun::handleStart(size_t index) {
    UpstreamCollective& start = item(index);
    const int32_t family = collectives_.family[index];
    if (family >= 0) {
        uint32_t& in_flight = family_in_flight_[static_cast<size_t>(family)];
        if (parameters_.assume_bucketing_reduces_latency && in_flight > 0)
            start.exposed_ms = std::max(0.0, start.exposed_ms - start.latency_ms);
        ++in_flight;
    }
    in_flight_.pushBack(index);
    in_flight_bytes_ += start.size_bytes;
    unscheduled_.remove(index);
    schedule(start.start);
}

void UpstreamRun::handleWait(NodeId wait) {
    const size_t index = waitedBy(wait);
    if (std::find(handled_waits_.begin(), handled_waits_.end(), index) != handled_waits_.end())
        return fail(wait, kNestedWait);
    if (unscheduled_.contains(index)) // its start is missing: only with edges the reference does not know
        scheduleAncestors(wait);
    if (!in_flight_.contains(index)) // one of several waits: the first has ended the collective
        return schedule(wait);
    handled_waits_.push_back(index);
    land(wait, index);
    handled_waits_.pop_back();
}

void UpstreamRun::land(NodeId wait, size_t index) {
    for (const size_t earlier : earlierInGroup(index))
        handleWait(item(earlier).wait);
    if (item(index).exposed_ms > 0) {
        Remaining remaining = reduceExposed(wait, item(index).exposed_ms, collectives_.group[index]);
        launchBeside(wait, remaining);
    }
    in_flight_bytes_ -= item(index).size_bytes;
    in_flight_.remove(index);
    if (collectives_.family[index] >= 0)
        --family_in_flight_[static_cast<size_t>(collectives_.family[index])];
    schedule(wait);
}

void UpstreamRun::handleComputeOrOther(NodeId node) {
    if (cost_ms_[node] == 0 && !is_compute_[node])
        return schedule(node);
    Remaining remaining =
        reduceExposed(node, cost_ms_[node] * parameters_.compute_overlap_multipler, kNothingExcluded);
    launchBeside(node, remaining);
    schedule(node);
    compute_index_ += is_compute_[node] ? 1 : 0;
}

UpstreamResult UpstreamRun::finish() {
    UpstreamResult result;
    result.order.reserve(graph_.size());
    for (NodeId id = 0; id < graph_.size(); ++id) {
        if (graph_.node(id).op == NodeOp::Placeholder)
            result.order.push_back(id);
    }
    for (const NodeId id : order_) {
        if (graph_.node(id).op != NodeOp::Placeholder && graph_.node(id).op != NodeOp::Output)
            result.order.push_back(id);
    }
    if (graph_.output() != kNoNode)
        result.order.push_back(graph_.output());
    for (size_t i = 0; i < collectives_.items.size(); ++i) {
        UpstreamCollective& collective = item(i);
        collective.potentially_hidden = potentiallyHidden(i);
        const bool exposed = collective.exposed_ms == collective.estimated_ms;
        result.exposed += exposed ? 1 : 0;
        result.potentially_hidden += collective.potentially_hidden ? 1 : 0;
        result.bad_exposed += exposed && collective.potentially_hidden ? 1 : 0;
    }
    result.scheduled = std::move(order_);
    result.wasted_ms = wasted_ms_;
    result.original_peak_bytes = original_peak_;
    result.rescheduled_peak_bytes = tracks_memory_ ? memory_.peak() : -1;
    result.collectives = std::move(collectives_.items);
    result.failures = std::move(failures_);
    return result;
}

bool UpstreamRun::potentiallyHidden(size_t index) const {
    for (size_t row = 0; row < overlap_nodes_.size(); ++row) {
        if (is_compute_[overlap_nodes_[row]] && !relations_.related(row, index))
            return true;
    }
    return false;
}

} // namespace gs
