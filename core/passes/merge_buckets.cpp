#include "passes/merge_buckets.h"

#include "passes/bucket_order.h"
#include "passes/fsdp_bucketing/merge.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr const char* kPassName = "bucket-overlap";

class BucketMerger {
public:
    BucketMerger(const Graph& graph, const Order& order, const ScheduledBuckets& buckets)
        : graph_(graph), buckets_(buckets), draft_(graph, order), extra_(graph.size()) {
        for (const auto& [before, after] : buckets.order)
            extra_.add(before, after);
        key_.resize(graph.size());
        for (NodeId id = 0; id < graph.size(); ++id)
            key_[id] = id;
    }

    MergedBuckets run() {
        out_.report.pass = kPassName;
        for (const std::vector<NodeId>& bucket : buckets_.members)
            merge(bucket);
        extra_.resize(draft_.size());
        finish();
        size_t merged = 0;
        for (const NodeId launch : out_.launches)
            merged += launch != kNoNode ? 1 : 0;
        out_.report.summary = fmt::format("{} collectives merged into {} buckets that keep what overlaps.",
                                          out_.report.done, merged);
        return std::move(out_);
    }

private:
    void merge(const FsdpBucket& bucket) {
        const std::string reason = whyNotMergeable(draft_, bucket);
        if (!reason.empty()) {
            launches_.push_back(kNoNode);
            for (const NodeId member : bucket)
                addLine(member, false, fmt::format("its bucket was left alone: {}", reason));
            out_.report.diagnostics.add(
                {Severity::Warning,
                 "reference-fails",
                 {},
                 std::string(graph_.name(bucket.front())),
                 fmt::format("PyTorch's overlap scheduler raises an exception on this graph: {}", reason),
                 "the other buckets are merged"});
            return;
        }
        const auto first_added = static_cast<DraftId>(draft_.size());
        ErasedNodes erased = erasedBy(bucket);
        DraftId place = bucket.front();
        while (std::find(bucket.begin(), bucket.end(), place) != bucket.end())
            place = draft_.next(place);
        const DraftId launch = mergeBucket(draft_, bucket, FsdpMergeMode::Default, place);
        extra_.resize(draft_.size());
        transferOrder(draft_, extra_, erased, launch, waitOf(launch));
        setKeys(bucket, first_added, launch);
        launches_.push_back(launch);
        for (const NodeId member : bucket)
            addLine(member, true,
                    fmt::format("in {} with {} other{}", draft_.name(launch), bucket.size() - 1,
                                bucket.size() == 2 ? "" : "s"));
    }

    ErasedNodes erasedBy(const FsdpBucket& bucket) const {
        ErasedNodes erased;
        erased.starts = bucket;
        for (const DraftId start : bucket) {
            erased.waits.push_back(draft_.users(start)[0]);
            if (const DraftId cast = privateCast(draft_, start); cast != kNoNode)
                erased.casts.push_back(cast);
        }
        return erased;
    }

    DraftId waitOf(DraftId launch) const { return draft_.users(launch)[0]; }

    /// New nodes up to the launch belong to the first member's place, the others to the first wait's.
    void setKeys(const FsdpBucket& bucket, DraftId first_added, DraftId launch) {
        NodeId start = kNoNode, wait = kNoNode;
        for (const NodeId member : bucket) {
            start = std::min(start, member);
            for (const NodeId user : graph_.users(member))
                wait = std::min(wait, user);
        }
        for (DraftId id = first_added; id < draft_.size(); ++id)
            key_.push_back(id <= launch ? start : wait);
    }

    void finish() {
        const std::vector<DraftId> present = draft_.order();
        std::vector<DraftId> scheduled = draft_.stableOrder(extra_);
        if (scheduled.size() != present.size()) {
            fails(removeCycles(draft_, extra_));
            scheduled = draft_.stableOrder(extra_);
        }
        const std::vector<DraftId> program = orderNearest(draft_, key_);
        if (program.size() != present.size())
            return drop();
        std::vector<NodeId> made;
        out_.graph = draft_.finish(program, made, out_.report.diagnostics);
        for (const DraftId id : scheduled)
            out_.order.push_back(made[id]);
        for (const DraftId launch : launches_)
            out_.launches.push_back(launch == kNoNode ? kNoNode : made[launch]);
        out_.node_of.assign(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(graph_.size()));
        keepOrderEdges();
    }

    void keepOrderEdges() {
        const auto broken = findBrokenEdge(*out_.graph, out_.order);
        if (!broken)
            return;
        out_.report.diagnostics.add(
            {Severity::Info,
             "order-edges-kept",
             {},
             broken->after == kNoNode ? std::string() : std::string(out_.graph->name(broken->after)),
             "PyTorch's order of the merged graph would break a mutation or an effect",
             "nodes that would break it come later"});
        out_.order = orderNearest(*out_.graph, out_.order);
    }

    void fails(size_t removed) {
        out_.report.diagnostics.add(
            {Severity::Warning,
             "reference-fails",
             {},
             {},
             "PyTorch's overlap scheduler raises an exception on this graph: the order that keeps the "
             "overlap "
             "has a cycle",
             fmt::format("{} pair{} that close{} it {} left out, as with overlap_scheduling_autofix_cycles",
                         removed, removed == 1 ? "" : "s", removed == 1 ? "s" : "",
                         removed == 1 ? "is" : "are")});
    }

    void drop() {
        out_.report.diagnostics.add(
            {Severity::Warning,
             "order-dropped",
             {},
             {},
             "the buckets were dropped: an in-place write, a free or a barrier forbids "
             "them",
             "the schedule is used without buckets"});
        out_.report.done = 0;
        out_.launches.assign(buckets_.members.size(), kNoNode);
        for (PassReportLine& line : out_.report.lines)
            line.done = false;
    }

    void addLine(NodeId member, bool done, std::string reason) {
        out_.report.lines.push_back({std::string(graph_.name(member)), done, std::move(reason)});
        (done ? out_.report.done : out_.report.skipped) += 1;
    }

    const Graph& graph_;
    const ScheduledBuckets& buckets_;
    Draft draft_;
    ExtraOrder extra_;
    std::vector<uint32_t> key_; ///< per node of the draft: where in the input's order it belongs
    std::vector<DraftId> launches_;
    MergedBuckets out_;
};

} // namespace

MergedBuckets mergeScheduledBuckets(const Graph& graph, const Order& order, const ScheduledBuckets& buckets) {
    return BucketMerger(graph, order, buckets).run();
}

} // namespace gs
