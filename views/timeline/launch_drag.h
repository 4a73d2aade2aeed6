// Moving a launch by hand along the time axis: places between the nodes of the compute stream, where it may
// stand, and why not elsewhere. What is legal is core/schedule/manual_moves.h's; here are only times.
#pragma once

#include "lod/time_axis.h"
#include "schedule/manual_moves.h"
#include "views/view.h"

namespace gs {

class LaunchDrag {
public:
    /// A boundary of two nodes of the compute stream.
    struct Place {
        int64_t time_ns = 0;
        uint32_t position = 0; ///< in the order shown: in front of the node that is there
        size_t boundary = 0;
        std::string refusal; ///< why the launch may not stand there; empty if it may
        bool legal() const { return refusal.empty(); }
    };

    /// For a launch of snapshot->after. O(nodes + edges).
    LaunchDrag(SnapshotPtr snapshot, NodeId launch);

    NodeId launch() const { return launch_; }
    /// From the first to the last legal place.
    TimeRange legalTimes() const { return legal_; }
    /// The boundary nearest to a time.
    Place placeAt(int64_t time_ns) const;
    /// The boundary so many nodes of the compute stream from where the launch is now.
    Place placeBeside(int steps) const;
    /// Where the launch is now.
    Place home() const { return placeBeside(0); }
    /// The node in front of which the launch stands then; it does not move along.
    NodeId anchorAt(const Place& place) const;
    /// Whether the launch is at this boundary already.
    bool changesNothing(const Place& place) const { return place.boundary == here_; }
    /// The move as an edit; `place` must be legal.
    Edit edit(const Place& place, Edit::Kind kind = Edit::Kind::Move) const;
    /// "in front of mm_37", or why not.
    QString text(const Place& place) const;

private:
    /// Order positions [first, last] are all at this time: what is between takes none.
    struct Boundary {
        int64_t time_ns = 0;
        uint32_t first = 0;
        uint32_t last = 0;
    };

    const Graph& graph() const { return *snapshot_->after.graph; }
    const Order& order() const { return snapshot_->after.schedule->order; }
    Place placeOf(size_t boundary) const;
    int64_t timeOf(uint32_t position) const;
    void findBoundaries();

    SnapshotPtr snapshot_;
    NodeId launch_;
    std::vector<NodeId> group_;
    std::vector<bool> inside_; ///< per node: moves along
    MoveRange range_;
    TimeRange legal_;
    std::vector<Boundary> boundaries_; ///< in time order; the end of the step is the last
    size_t here_ = 0;                  ///< boundary at which the launch stands
};

} // namespace gs
