#include "schedule/overlap_scheduler/overlap_scheduler.h"

#include "schedule/overlap_bucketing/overlap_bucketing.h"
#include "schedule/overlap_scheduler/collective_list.h"
#include "schedule/overlap_scheduler/collectives.h"
#include "schedule/overlap_scheduler/relations.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace gs {

// Where the result depends on a detail of the reference (numbers of the corpus' list of quirks):
//  1. A heap key is made once, when the node gets ready, and never renewed; the input position ends every
//  tie.
//  2. Placeholders go through the heap, but stay in front. Nodes that get ready after the output (waits
//  without
//     users that can still be hidden) end up in front of it nevertheless.
//  3. A collective is whatever a wait names: a start that nobody waits for is an ordinary node, a wait on a
//     placeholder or on another wait makes that the start; such an inner wait never ends its own collective.
//  4. and 5. Several waits per start, and sizes of lists and symbols, are exceptions there. Here a start
//  stays in
//     flight until its last wait, and a list counts with all its tensors.
//  6. The size is that of the inputs: the shard of a gather, the whole tensor of a reduce-scatter.
//  7. A collective that costs nothing counts as exposed, though there is nothing to hide.
//  8. The look-out for collectives to launch early ends at the first one too far away, in order of their
//  waits,
//     not of their starts, though nearer ones may follow.
//  9. At the budget exactly, waits are forced, but a launch that just fits is made.
// 10. The chain from a node to the collective that it feeds goes through what PyTorch tags as view or
// pointwise;
//     `_to_copy` is neither, so a cast breaks it in graphs that were not decomposed.
// 11. and 13. Sets are walked in order of insertion. Graphs are sorted already, so a stable sort keeps them.
// 12. Higher-order operators are no compute, whatever else they are.
// 14. Ancestor sets are kept for collectives and waits over compute nodes only.
namespace {

constexpr std::string_view kNotInFlight = "a wait for a collective that is not in flight";
constexpr std::string_view kScheduledTwice = "a node is scheduled twice";

/// (dominated depth, deferred, input position) in one word; the least comes first.
using HeapKey = uint64_t;

class Scheduler {
public:
    Scheduler(const Graph& graph, std::span<const double> cost_ms, const OverlapParameters& parameters)
        : graph_(graph), cost_ms_(cost_ms), parameters_(parameters),
          is_compute_(overlapComputeNodes(graph, false)), dependencies_(graph, parameters.keep_order_edges),
          collectives_(findOverlapCollectives(graph, cost_ms)),
          max_in_flight_bytes_(static_cast<int64_t>(parameters.max_in_flight_gb * 1024 * 1024 * 1024)),
          compute_nodes_(findComputeNodes()), relations_(dependencies_, compute_nodes_, relatedItems()),
          unscheduled_(collectives_.items.size()), in_flight_(collectives_.items.size()) {
        prepare();
    }

    OverlapResult run() {
        while (!ready_.empty()) {
            if (in_flight_bytes_ >= max_in_flight_bytes_ && forceOldestWait())
                continue;
            const NodeId node = popReady();
            if (scheduled_[node])
                continue; // forced or pulled in front of its turn
            if (is_compute_[node])
                handleCompute(node);
            else if (collectives_.started_by[node] >= 0)
                handleStart(startedBy(node));
            else if (collectives_.waited_by[node] >= 0)
                handleWait(node);
            else
                schedule(node);
        }
        return finish();
    }

private:
    static constexpr size_t kNone = CollectiveList::kNone;

    std::vector<NodeId> findComputeNodes() {
        std::vector<NodeId> nodes;
        compute_index_.assign(graph_.size(), 0);
        for (NodeId id = 0; id < graph_.size(); ++id) {
            if (is_compute_[id]) {
                compute_index_[id] = static_cast<uint32_t>(nodes.size());
                nodes.push_back(id);
            }
        }
        return nodes;
    }

    /// Starts, in order of the collectives, then waits that are no starts.
    std::vector<NodeId> relatedItems() {
        std::vector<NodeId> items;
        for (const OverlapCollective& item : collectives_.items)
            items.push_back(item.start);
        wait_row_.assign(graph_.size(), -1);
        for (const OverlapCollective& item : collectives_.items) {
            for (const NodeId wait : item.waits) {
                wait_row_[wait] = collectives_.started_by[wait];
                if (wait_row_[wait] < 0) {
                    wait_row_[wait] = static_cast<int32_t>(items.size());
                    items.push_back(wait);
                }
            }
        }
        return items;
    }

    void prepare() {
        const auto count = static_cast<NodeId>(graph_.size());
        dominance_ = computeDominance(dependencies_, is_compute_);
        scheduled_.assign(count, 0);
        order_.reserve(count);
        waits_left_.resize(collectives_.items.size());
        for (size_t i = 0; i < collectives_.items.size(); ++i) {
            OverlapCollective& item = collectives_.items[i];
            unscheduled_.pushBack(i);
            waits_left_[i] = item.waits.size();
            item.potentially_hidden = relations_.firstUnrelated(i, {}) >= 0;
        }
        wait_can_hide_.assign(count, false);
        for (NodeId id = 0; id < count; ++id) {
            if (wait_row_[id] >= 0)
                wait_can_hide_[id] = relations_.firstUnrelated(static_cast<size_t>(wait_row_[id]), {}) >= 0;
        }
        findChains();
        in_degree_.resize(count);
        for (NodeId id = 0; id < count; ++id) {
            in_degree_[id] = static_cast<uint32_t>(dependencies_.before(id).size());
            if (in_degree_[id] == 0)
                pushReady(id);
        }
    }

    /// Nodes that lead, through views and pointwise ops of one user and one input each, to a collective that
    /// could be hidden. Nothing behind an unscheduled node is scheduled, so this never changes.
    void findChains() {
        feeds_hideable_.assign(graph_.size(), false);
        for (NodeId id = static_cast<NodeId>(graph_.size()); id-- > 0;) {
            const auto users = graph_.users(id);
            if (users.size() != 1 || graph_.inputs(users[0]).size() != 1)
                continue;
            const NodeId user = users[0];
            if (collectives_.started_by[user] >= 0)
                feeds_hideable_[id] = collectives_.items[startedBy(user)].potentially_hidden;
            else
                feeds_hideable_[id] =
                    (graph_.node(user).traits & (kTraitView | kTraitPointwise)) != 0 && feeds_hideable_[user];
        }
    }

    size_t startedBy(NodeId node) const { return static_cast<size_t>(collectives_.started_by[node]); }
    size_t waitedBy(NodeId node) const { return static_cast<size_t>(collectives_.waited_by[node]); }

    void fail(NodeId node, std::string_view what) { noteFailure(collectives_.failures, node, what); }

    void pushReady(NodeId node) {
        const bool is_wait = collectives_.waited_by[node] >= 0;
        const bool deferred = is_wait
                                  ? wait_can_hide_[node] && collectives_.items[waitedBy(node)].exposed_ms != 0
                                  : static_cast<bool>(feeds_hideable_[node]);
        ready_.push_back(uint64_t{dominance_[node]} << 33 | uint64_t{deferred} << 32 | node);
        std::push_heap(ready_.begin(), ready_.end(), std::greater<HeapKey>());
    }

    NodeId popReady() {
        std::pop_heap(ready_.begin(), ready_.end(), std::greater<HeapKey>());
        const auto node = static_cast<NodeId>(ready_.back() & 0xffffffff);
        ready_.pop_back();
        return node;
    }

    void schedule(NodeId node) {
        if (scheduled_[node])
            return fail(node, kScheduledTwice);
        scheduled_[node] = 1;
        order_.push_back(node);
        for (const NodeId user : dependencies_.after(node)) {
            if (--in_degree_[user] == 0)
                pushReady(user);
        }
    }

    void handleStart(size_t index) {
        const OverlapCollective& item = collectives_.items[index];
        in_flight_.pushBack(index);
        in_flight_bytes_ += item.size_bytes;
        unscheduled_.remove(index);
        schedule(item.start);
    }

    void handleWait(NodeId wait) {
        const size_t index = waitedBy(wait);
        if (!in_flight_.contains(index))
            fail(wait, kNotInFlight);
        else if (--waits_left_[index] == 0)
            land(index);
        schedule(wait);
    }

    void land(size_t index) {
        in_flight_bytes_ -= collectives_.items[index].size_bytes;
        in_flight_.remove(index);
    }

    bool forceOldestWait() {
        for (size_t index = in_flight_.first(); index != kNone; index = in_flight_.next(index)) {
            if (forceWaits(index))
                return true;
        }
        return false;
    }

    /// Schedules every wait of a collective in flight. False if none is ready, which only order edges can do.
    bool forceWaits(size_t index) {
        bool forced = false, left = false;
        for (const NodeId wait : collectives_.items[index].waits) {
            if (scheduled_[wait])
                continue;
            left = true;
            if (in_degree_[wait] == 0) {
                handleWait(wait);
                forced = true;
            }
        }
        if (left)
            return forced;
        fail(collectives_.items[index].wait, kScheduledTwice);
        land(index);
        return true;
    }

    void handleCompute(NodeId node) {
        double available_ms = cost_ms_[node] * parameters_.compute_overlap_multipler;
        for (size_t index = in_flight_.first(); index != kNone; index = in_flight_.next(index)) {
            OverlapCollective& item = collectives_.items[index];
            if (item.exposed_ms == 0)
                continue;
            const double overlap_ms = std::min(item.exposed_ms, available_ms);
            item.exposed_ms -= overlap_ms;
            available_ms -= overlap_ms;
            if (item.exposed_ms == 0)
                item.hiding_node = node;
            else if (available_ms == 0)
                break;
        }
        if (available_ms != 0)
            launchBeside(node, available_ms);
        schedule(node);
    }

    void launchBeside(NodeId compute, double available_ms) {
        possible_.clear();
        for (size_t index = unscheduled_.first(); index != kNone; index = unscheduled_.next(index)) {
            const int64_t distance = int64_t{compute} - int64_t{collectives_.items[index].start};
            if (std::abs(distance) > parameters_.max_coll_distance)
                break;
            possible_.push_back(index);
        }
        for (const size_t index : possible_) {
            if (available_ms == 0)
                return;
            if (!relations_.related(index, compute_index_[compute]))
                tryLaunch(index, compute, available_ms);
        }
    }

    void tryLaunch(size_t index, NodeId compute, double& available_ms) {
        OverlapCollective& item = collectives_.items[index];
        while (!in_flight_.empty() && max_in_flight_bytes_ - in_flight_bytes_ < item.size_bytes &&
               oldestIsHiddenBefore(compute)) {
            if (!forceWaits(in_flight_.first()))
                break;
        }
        if (max_in_flight_bytes_ - in_flight_bytes_ < item.size_bytes) {
            item.refused_by_budget = true;
            return;
        }
        if (scheduled_[item.start]) { // a wait that is a start, forced as a wait
            fail(item.start, kScheduledTwice);
            unscheduled_.remove(index);
            return;
        }
        if (!findPath(item, compute))
            return;
        schedulePath(compute);
        const double overlap_ms = std::min(item.estimated_ms, available_ms);
        item.exposed_ms -= overlap_ms;
        if (item.exposed_ms == 0)
            item.hiding_node = compute;
        available_ms -= overlap_ms;
        handleStart(index);
    }

    bool oldestIsHiddenBefore(NodeId compute) const {
        const OverlapCollective& oldest = collectives_.items[in_flight_.first()];
        return oldest.exposed_ms == 0 && oldest.hiding_node != compute;
    }

    /// Collects the unscheduled ancestors of a start in path_, unless one of them must not be pulled forward.
    /// That one is remembered: as long as it stands, there is no need to look again.
    bool findPath(OverlapCollective& item, NodeId compute) {
        path_.clear();
        if (item.blocked_by != kNoNode && !scheduled_[item.blocked_by] && blocks(item.blocked_by, compute))
            return false;
        item.blocked_by = kNoNode;
        seen_.resize(graph_.size(), 0);
        ++stamp_;
        const auto visit = [&](NodeId node) {
            for (const NodeId input : dependencies_.before(node)) {
                if (scheduled_[input] || seen_[input] == stamp_)
                    continue;
                seen_[input] = stamp_;
                if (blocks(input, compute)) {
                    item.blocked_by = input;
                    return;
                }
                path_.push_back(input);
            }
        };
        visit(item.start);
        for (size_t at = 0; at < path_.size() && item.blocked_by == kNoNode; ++at)
            visit(path_[at]);
        std::sort(path_.begin(), path_.end());
        return item.blocked_by == kNoNode;
    }

    bool blocks(NodeId node, NodeId compute) const {
        if (is_compute_[node])
            return true;
        if (collectives_.started_by[node] >= 0 && unscheduled_.contains(startedBy(node)))
            return true;
        if (collectives_.waited_by[node] < 0)
            return false;
        // Waiting for what this very compute hides, or for what could still be hidden, would expose it.
        const NodeId hiding = collectives_.items[waitedBy(node)].hiding_node;
        return !(hiding != kNoNode && hiding != compute) && wait_can_hide_[node];
    }

    void schedulePath(NodeId compute) {
        for (const NodeId node : path_) {
            if (collectives_.waited_by[node] < 0) {
                schedule(node);
                continue;
            }
            if (collectives_.items[waitedBy(node)].hiding_node == compute)
                fail(node, kNotInFlight);
            handleWait(node);
        }
    }

    OverlapResult finish() {
        OverlapResult result;
        result.order.reserve(graph_.size());
        for (NodeId id = 0; id < graph_.size(); ++id) {
            if (graph_.node(id).kind == NodeKind::Placeholder)
                result.order.push_back(id);
        }
        for (const NodeId id : order_) {
            const NodeKind kind = graph_.node(id).kind;
            if (kind != NodeKind::Placeholder && kind != NodeKind::Output)
                result.order.push_back(id);
        }
        if (graph_.output() != kNoNode)
            result.order.push_back(graph_.output());
        std::vector<uint64_t> used(relations_.words(), 0);
        for (size_t i = 0; i < collectives_.items.size(); ++i) {
            OverlapCollective& item = collectives_.items[i];
            if (item.hiding_node != kNoNode)
                item.hiding_nodes = {item.hiding_node};
            const int64_t compute = relations_.firstUnrelated(i, used);
            if (compute >= 0)
                used[static_cast<size_t>(compute) / 64] |= uint64_t{1} << (compute % 64);
            const bool exposed = item.exposed_ms == item.estimated_ms;
            result.exposed += exposed ? 1 : 0;
            result.potentially_hidden += compute >= 0 ? 1 : 0;
            result.bad_exposed += exposed && compute >= 0 ? 1 : 0;
        }
        if (parameters_.collective_bucketing)
            result.buckets = findBuckets();
        result.collectives = std::move(collectives_.items);
        result.failures = std::move(collectives_.failures);
        return result;
    }

    ScheduledBuckets findBuckets() const {
        OverlapBucketingOptions options;
        options.max_bucket_memory_gb = parameters_.max_bucket_memory_gb;
        options.max_coll_distance = parameters_.max_coll_distance;
        options.keep_order_edges = parameters_.keep_order_edges;
        const std::vector<HiddenCollective> items(collectives_.items.begin(), collectives_.items.end());
        return findOverlapBuckets(graph_, order_, items, is_compute_, options);
    }

    const Graph& graph_;
    std::span<const double> cost_ms_;
    const OverlapParameters& parameters_;
    std::vector<bool> is_compute_;
    Dependencies dependencies_;
    OverlapCollectives collectives_;
    int64_t max_in_flight_bytes_;
    std::vector<uint32_t> compute_index_; ///< per compute node: its place in compute_nodes_
    std::vector<NodeId> compute_nodes_;
    std::vector<int32_t> wait_row_; ///< per wait that ends a collective: its row in relations_, else -1
    NodeRelations relations_;
    std::vector<uint32_t> dominance_;
    std::vector<bool> wait_can_hide_;  ///< some compute node is unrelated to this wait
    std::vector<bool> feeds_hideable_; ///< see findChains()

    std::vector<HeapKey> ready_;
    std::vector<uint32_t> in_degree_;
    std::vector<uint8_t> scheduled_;
    std::vector<NodeId> order_;
    CollectiveList unscheduled_; ///< in order of the collectives
    CollectiveList in_flight_;   ///< in order of their launches
    int64_t in_flight_bytes_ = 0;
    std::vector<size_t> waits_left_; ///< per collective
    std::vector<size_t> possible_;
    std::vector<NodeId> path_;
    std::vector<uint32_t> seen_; ///< stamp of the last search that met the node
    uint32_t stamp_ = 0;
};

} // namespace

std::vector<bool> overlapComputeNodes(const Graph& graph, bool higher_order) {
    std::vector<bool> is_compute(graph.size(), false);
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.info().level == GraphLevel::Scheduler)
            is_compute[id] = graph.node(id).kind == NodeKind::Compute;
        else
            is_compute[id] = graph.hasTrait(id, kTraitCompute) &&
                             (higher_order || !graph.targetText(id).starts_with("higher_order."));
    }
    return is_compute;
}

OverlapResult scheduleOverlap(const Graph& graph, std::span<const double> cost_ms,
                              const OverlapParameters& parameters) {
    return Scheduler(graph, cost_ms, parameters).run();
}

} // namespace gs
