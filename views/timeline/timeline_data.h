// What the timeline draws, prepared once per snapshot: bands, lanes, and their sorted slices.
#pragma once

#include "explain/measured_run.h"
#include "lod/slice_index.h"
#include "lod/step_curve.h"
#include "lod/time_axis.h"
#include "views/view.h"

#include <memory>
#include <optional>
#include <vector>

namespace gs {

/// Categories of slices; the order is that of the stack in a merged mark, from the bottom.
enum class SliceKind : uint8_t {
    Compute, ///< Slice::id = NodeId
    Stall,   ///< Slice::id = index into Timeline::stalls
    Gather,  ///< Slice::id = index of the collective
    OtherComm,
    InFlight ///< a transfer that was launched before the graph
};

struct TimelineLane {
    enum class Kind : uint8_t { Compute, Comm, LiveBytes };
    Kind kind = Kind::Compute;
    QString label; ///< "compute", "fsdp · 64", "live bytes"
    QString tip;   ///< facts about the group
    SliceIndex slices;
};

/// One program on the axis. Lane 0 is compute; then one lane per stream of its timeline, in that order; then
/// live bytes if anything is gathered.
struct TimelineBand {
    const Program* program = nullptr;
    const MeasuredRun* measured = nullptr; ///< of the third band
    std::shared_ptr<const Program> own;    ///< of the third band: what `program` points to
    QString title;                         ///< "before", "after", "measured"
    std::vector<TimelineLane> lanes;
    StepCurve live_bytes;

    const Graph& graph() const { return *program->graph; }
    const CollectiveTable& collectives() const { return *program->collectives; }
    const Timeline& timeline() const { return *program->timeline; }
    /// Of the third band: is the collective in the trace?
    bool has(size_t collective) const { return !measured || measured->transfers[collective].collective >= 0; }
};

/// What a selection means in one band: collectives (several if a bucket merged them), or a node.
struct BandSelection {
    std::vector<int32_t> collectives;
    NodeId node = kNoNode;

    bool empty() const { return collectives.empty() && node == kNoNode; }
};

/// A place in the lanes.
struct SliceRef {
    size_t band = 0;
    size_t lane = 0;
    size_t slice = 0;

    bool operator==(const SliceRef&) const = default;
};

/// A launch of the scheduled band.
struct LaunchPoint {
    int64_t time_ns = 0; ///< when the compute stream reaches it
    int32_t collective = -1;
    std::optional<Edit::Kind> by_hand; ///< what a person last did to it
};

struct TimelineData {
    SnapshotPtr snapshot;
    /// Before, after, a measured run; only those that have a timeline.
    std::vector<TimelineBand> bands;
    size_t simulated = 0;              ///< how many of them are simulated; they come first
    int64_t end_ns = 0;                ///< the longest step
    int64_t simulated_end_ns = 0;      ///< the longest simulated one
    std::vector<LaunchPoint> launches; ///< in time order

    /// Never null; without a snapshot there are no bands. O(n).
    static std::shared_ptr<const TimelineData> build(SnapshotPtr snapshot);

    /// The third band, or null.
    const TimelineBand* measuredBand() const { return simulated < bands.size() ? &bands.back() : nullptr; }
    TimeRange full() const { return {0, end_ns > 0 ? end_ns : 1}; }
    bool has(SliceKind kind) const { return has_[static_cast<size_t>(kind)]; }
    /// The band whose launches can be moved, if it is there.
    std::optional<size_t> scheduledBand() const;
    BandSelection resolve(size_t band, const Selection& selection) const;
    /// Where a collective's transfer or a node's span lies; nothing for a node without time.
    std::optional<SliceRef> findCollective(size_t band, int32_t collective) const;
    std::optional<SliceRef> findNode(size_t band, NodeId node) const;
    /// What to select for a slice: the gather for transfers and stalls, else the node.
    Selection selectionFor(const SliceRef& ref) const;
    const Slice& slice(const SliceRef& ref) const {
        return bands[ref.band].lanes[ref.lane].slices[ref.slice];
    }
    /// From the first launch to the end of the last wait of what is selected, per band; nothing if the
    /// selection is not there.
    std::optional<TimeRange> spanOf(size_t band, const BandSelection& selection) const;

private:
    std::array<bool, kSliceCategories> has_{};
};

using TimelineDataPtr = std::shared_ptr<const TimelineData>;

/// One lane per stream of the band's timeline; what is on the critical path is marked (by node).
std::vector<TimelineLane> commLanes(const TimelineBand& band, const std::vector<bool>& on_path);

/// From the launch of a collective to the compute stream's arrival at its first wait: the compute in between
/// hides the transfer.
TimeRange hidingWindow(const TimelineBand& band, int32_t collective);

} // namespace gs
