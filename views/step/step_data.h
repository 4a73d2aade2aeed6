// What the step-through shows, prepared once per snapshot: the recorded sweep on an axis of compute time.
#pragma once

#include "lod/slice_index.h"
#include "lod/time_axis.h"
#include "schedule/sweep_steps.h"
#include "views/view.h"

#include <memory>

namespace gs {

struct StepData {
    SnapshotPtr snapshot;
    SweepSteps sweep;
    std::vector<int64_t> at_ns; ///< per position, the compute in front of it; one more for the end
    SliceIndex compute;         ///< Slice::id = NodeId; the axis has no gaps
    int64_t lead_ns = 0;
    std::vector<TimeRange> pages; ///< per step, the range to show; consecutive steps share one while it fits
    QString message;              ///< why there is nothing to step through; empty if there is

    /// Never null. O(nodes + edges).
    static std::shared_ptr<const StepData> build(SnapshotPtr snapshot);

    const Program& program() const { return snapshot->after; }
    const Graph& graph() const { return *snapshot->after.graph; }
    size_t size() const { return message.isEmpty() ? sweep.steps.size() : 0; }
    const SweepStep& step(size_t index) const { return sweep.steps[index]; }
    const Decision& decision(size_t index) const { return sweep.decisions[sweep.steps[index].decision]; }
    int64_t at(uint32_t position) const { return at_ns[std::min<size_t>(position, at_ns.size() - 1)]; }
    /// The program's compute.
    TimeRange full() const { return {0, at_ns.empty() || at_ns.back() == 0 ? 1 : at_ns.back()}; }
    /// What can be shown: also some room in front of the program, into which needs reach.
    TimeRange reach() const { return {-lead_ns, full().end_ns}; }

    /// Step of the gather that a selection is, or belongs to; -1 if it has none.
    int stepOf(const Selection& selection) const;
    Selection selectionFor(size_t index) const;
    /// Compute that a step uses up: as long as the need where it is covered, carry included.
    TimeRange claim(size_t index) const;
    /// Where the walk stands when `fill` (0…1) of its compute is counted.
    int64_t front(size_t index, double fill) const;
    /// Carry and compute of the whole nodes up to there.
    double found(size_t index, double fill) const;
    /// `fill` after one more (+1) or one less (−1) of the walked nodes.
    double nextFill(size_t index, double fill, int by) const;
    /// The last step before `limit` whose claim touches a range, which is that of the leftmost claim; -1 if
    /// none does.
    int claimOver(TimeRange range, size_t limit) const;
};

using StepDataPtr = std::shared_ptr<const StepData>;

} // namespace gs
