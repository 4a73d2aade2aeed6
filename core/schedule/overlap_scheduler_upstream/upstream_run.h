// One run of PyTorch 2.15's overlap scheduler: its state and its steps. Private to this folder.
#pragma once

#include "schedule/overlap_scheduler/collective_list.h"
#include "schedule/overlap_scheduler/relations.h"
#include "schedule/overlap_scheduler_upstream/ready_heap.h"
#include "schedule/overlap_scheduler_upstream/upstream_collectives.h"
#include "schedule/overlap_scheduler_upstream/upstream_memory.h"

#include <queue>

namespace gs {

// Where the result depends on a detail of the reference:
//  1. A queue's key is made once, when the node gets ready, and never renewed.
//  2. Compute nodes are numbered in input order; a node counts with the least number that it blocks.
//  3. Collectives off that path wait until half a GiB of their kind is ready; the count of what is ready is
//     lowered only where they leave through their queue, not where they were launched early.
//  4. What is launched with the first of a kind is found in the order of the heap's array.
//  5. An exposed wait is compute of its own: it hides collectives of other groups.
//  6. Waiting for a collective first waits for every earlier one of its group; a nested wait leaves alone
//     what is being waited for.
//  7. A collective whose kind is in flight already is taken to cost its latency less.
//  8. Sizes are inputs and outputs together, for an all-reduce half of that.
//  9. The limit of bytes in flight holds against prefetched bytes per compute node even without a budget.
class UpstreamRun {
public:
    UpstreamRun(const Graph& graph, std::span<const double> cost_ms, std::span<const double> latency_ms,
                const UpstreamParameters& parameters);
    UpstreamResult run();

private:
    static constexpr size_t kNone = CollectiveList::kNone;
    static constexpr uint32_t kOffPath = 0xffffffff; ///< blocks nothing
    static constexpr uint32_t kNothingExcluded = 0xffffffff;

    // Before scheduling.
    std::vector<NodeId> findOverlapNodes();
    std::vector<NodeId> starts() const;
    std::vector<uint32_t> domination(const std::vector<bool>& is_target) const;
    void findChains();
    void setMemoryLimit();
    int64_t baselineMemory();

    // Queues.
    void pushReady(NodeId node);
    void nextNodes();
    bool mayLeaveQueue(NodeId node) const;
    void takeKindAlong(NodeId node);
    bool offPath(NodeId node) const { return compute_number_[node] == kOffPath; }
    void left(NodeId node);

    // Scheduling.
    void schedule(NodeId node);
    void scheduleAncestors(NodeId node);
    void handle(NodeId node);
    void handleStart(size_t index);
    void handleWait(NodeId wait);
    void land(NodeId wait, size_t index);
    void handleComputeOrOther(NodeId node);

    // Launching beside something.
    struct Remaining {
        std::vector<double> ms; ///< per group
        uint32_t excluded = kNothingExcluded;
        bool none() const;
        double sum() const;
        double least() const;
    };
    Remaining reduceExposed(NodeId node, double available_ms, uint32_t excluded);
    void launchBeside(NodeId node, Remaining& remaining);
    void collectCandidates(const Remaining& remaining);
    bool anyLaunchable(NodeId node);
    void sortCandidates(const Remaining& remaining);
    void tryLaunch(size_t index, NodeId node, Remaining& remaining);
    bool makeRoom(size_t index, NodeId node);
    bool wouldExceedMemory(size_t index) const;
    void countPrefetch(size_t index);
    bool findPath(size_t index, NodeId node, std::vector<NodeId>& path);
    bool blocks(NodeId ancestor, NodeId node) const;
    void schedulePath(const std::vector<NodeId>& path, NodeId node);
    bool hiddenBefore(size_t index, NodeId node) const;
    bool wouldReenter(size_t index) const;
    std::vector<size_t> earlierInGroup(size_t index) const;

    UpstreamResult finish();
    bool potentiallyHidden(size_t index) const;

    size_t startedBy(NodeId node) const { return static_cast<size_t>(collectives_.started_by[node]); }
    size_t waitedBy(NodeId node) const { return static_cast<size_t>(collectives_.waited_by[node]); }
    UpstreamCollective& item(size_t index) { return collectives_.items[index]; }
    const UpstreamCollective& item(size_t index) const { return collectives_.items[index]; }
    void fail(NodeId node, std::string_view what) { noteFailure(failures_, node, what); }

    const Graph& graph_;
    std::span<const double> cost_ms_;
    const UpstreamParameters& parameters_;
    std::vector<bool> is_compute_;
    Dependencies dependencies_;
    UpstreamCollectives collectives_;
    std::vector<int32_t> overlap_row_; ///< per node: its row in relations_, or -1
    std::vector<NodeId> overlap_nodes_;
    std::vector<NodeId> starts_;
    NodeRelations relations_; ///< of nodes that can hide something, to collectives
    int64_t max_in_flight_bytes_;
    int64_t max_off_bucket_bytes_;

    std::vector<uint32_t> compute_number_; ///< least number of a compute node that this one blocks
    std::vector<bool> blocks_scatter_;     ///< a reduce-scatter depends on it
    std::vector<bool> feeds_collective_;   ///< see findChains()
    std::vector<bool> never_in_path_;

    bool tracks_memory_;
    std::vector<int64_t> bytes_;
    MemoryTracker memory_;
    std::vector<int64_t> baseline_bytes_; ///< per compute node: most bytes alive since the one before
    std::vector<int64_t> prefetched_bytes_;
    int64_t original_peak_ = 0;
    int64_t allowed_peak_ = 0;

    std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> on_path_;
    ReadyHeap off_path_;
    std::vector<int64_t> ready_bytes_; ///< per bucket kind: ready off the path
    std::vector<NodeId> next_;         ///< what the main loop schedules next
    std::vector<uint32_t> in_degree_;
    std::vector<bool> scheduled_;
    std::vector<NodeId> order_;
    CollectiveList unscheduled_;
    CollectiveList in_flight_;
    std::vector<uint32_t> family_in_flight_;
    int64_t in_flight_bytes_ = 0;
    std::vector<size_t> handled_waits_; ///< collectives whose waits are being handled
    uint32_t compute_index_ = 0;
    int64_t last_on_path_ = -1;
    double wasted_ms_ = 0;
    std::vector<size_t> candidates_;
    std::vector<uint32_t> seen_;
    uint32_t stamp_ = 0;
    std::vector<ReferenceFailure> failures_;
};

} // namespace gs
