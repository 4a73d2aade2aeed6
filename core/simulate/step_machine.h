// Clock, compute stream and serial streams of a simulated step (passes.md §8). The simulator and the
// schedulers that look ahead on the time axis drive the same machine, so that they agree to the nanosecond.
#pragma once

#include "simulate/timeline.h"

namespace gs {

/// What the machine needs to know of a graph, once for all its orders.
struct StepModel {
    StepModel(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
              const SimulationSettings& settings);

    std::vector<GroupId> groups;     ///< per stream; kNoGroup: collectives of an unknown group
    std::vector<char> is_in_flight;  ///< per stream: of a collective in flight at entry
    std::vector<uint32_t> link;      ///< per stream; streams of one link share its bandwidth
    std::vector<uint32_t> stream_of; ///< per collective
    std::vector<int64_t> alone_ns;   ///< per collective: duration without contention
    std::vector<int32_t> in_flight;  ///< collectives that run when the graph starts
    double comm_rate = 1;            ///< of a transfer while compute runs
    double compute_rate = 1;         ///< of compute while a transfer runs
};

/// A plain value apart from the model it refers to: a copy continues by itself.
class StepMachine {
public:
    explicit StepMachine(const StepModel& model);

    double now() const { return now_; }
    bool finished(int32_t collective) const { return run(collective).finished; }
    /// When its stream took it up and was done with it; valid once that has happened.
    double startOf(int32_t collective) const { return run(collective).start_ns; }
    double endOf(int32_t collective) const { return run(collective).end_ns; }
    double computed() const { return computed_ns_; } ///< busy time of the compute stream
    bool anyActive() const { return active_ > 0; }
    /// Time that the stream needs for what was launched on it, at full speed.
    double backlog(uint32_t stream) const {
        return streams_[stream].queued_ns + streams_[stream].remaining_ns;
    }
    /// Per collective in flight (indices of the table), the time that its stream needs until it is done, at
    /// full speed and with each stream by itself; 0 for all others.
    std::vector<double> workUntilDone() const;
    /// Transfers launched on it that have not started.
    size_t queued(uint32_t stream) const { return streams_[stream].queued; }
    /// Collectives in the order in which they were done; grows as the clock advances.
    const std::vector<int32_t>& finishOrder() const { return finish_order_; }

    void launch(int32_t collective);
    /// Stalls the compute stream until the collective is done. Returns the stall.
    double wait(int32_t collective);
    /// Stalls until any transfer ends; false if none is active.
    bool waitAny();
    void compute(double work_ns);
    /// Lets all transfers end.
    void drain();

private:
    struct Stream {
        int32_t first = -1; ///< of those launched and not started
        int32_t last = -1;
        int32_t active = -1;
        uint32_t queued = 0;
        double remaining_ns = 0; ///< of the active transfer, at full speed
        double queued_ns = 0;    ///< of those not started
    };
    struct Run {
        double start_ns = 0;
        double end_ns = 0;
        int32_t next = -1; ///< launched on the same stream after it
        bool finished = false;
    };

    const Run& run(int32_t collective) const { return runs_[static_cast<size_t>(collective)]; }
    Run& run(int32_t collective) { return runs_[static_cast<size_t>(collective)]; }
    double advance(double work_ns);
    void startNext(uint32_t stream);
    void finish(uint32_t stream);

    const StepModel* model_;
    std::vector<Stream> streams_;
    std::vector<uint32_t> active_on_link_;
    std::vector<Run> runs_; ///< per collective
    std::vector<int32_t> finish_order_;
    uint32_t active_ = 0;
    double now_ = 0;
    double computed_ns_ = 0;
};

} // namespace gs
